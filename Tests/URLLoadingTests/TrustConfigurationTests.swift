// The ready evaluations of a configuration, alone and composed, against a server (behaviour 3.5).

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingSystem
import URLLoadingTrust

@testable import URLLoading

@Suite("Server trust chosen in the configuration", .timeLimit(.minutes(5)))
struct TrustConfigurationTests {
    typealias Evaluation = URLSessionConfiguration.ServerTrustEvaluation

    /// A server below an intermediate below a root.
    private struct Place {
        let root: Certificate
        let identity: Identity
        let url: URL
        let server: LoopbackServer

        var leaf: Certificate { identity.chain.leaf }
        /// The server's authority alone.
        var base: Evaluation { .anchors(pem: root.pem) }
    }

    private func withPlace(_ body: (Place) async throws -> Void) async throws {
        let (root, identity) = try CertificateFactory.server("localhost")
        try await withServer(.init(tls: ServerTLS(identity: identity)), router: { _ in .text("secret") }) { server in
            try await body(
                Place(root: root, identity: identity, url: server.at("/", host: "localhost"), server: server))
        }
    }

    private let stranger = Result { try CertificateFactory.root("Stranger").certificate }

    @Test("B3.38: own anchors as PEM, DER and certificates, alone and beside the system's")
    func anchors() async throws {
        let stranger = try stranger.get()
        try await withPlace { place in
            let forms: [URLSessionConfiguration.CertificateList] = [
                .pem(stranger.pem + place.root.pem), .der([Data(place.root.der)]),
                .certificates([SecCertificate(stranger), SecCertificate(place.root)]),
            ]
            for list in forms {
                #expect(await LoadEnd(place.url, judgedBy: .anchors(list)).isWhole)
                #expect(await LoadEnd(place.url, judgedBy: .anchorsAndSystem(list)).isWhole)
            }
            #expect(await LoadEnd(place.url, judgedBy: .system).isRefused())
            #expect(await LoadEnd(place.url, judgedBy: .anchors(.pem(stranger.pem))).isRefused())
            #expect(place.server.stats.requests == 6)
        }
    }

    @Test("B3.40: the server's own certificate may be the anchor")
    func leafAnchor() async throws {
        try await withPlace { place in
            #expect(await LoadEnd(place.url, judgedBy: .anchors(pem: place.leaf.pem)).isWhole)
        }
    }

    @Test("B3.49, B3.50, B3.52: a pinned key may be the leaf's, an authority's or the root's; back-up pins do no harm")
    func pinnedKeys() async throws {
        let reserve = try stranger.get().pin
        try await withPlace { place in
            let intermediate = try #require(place.identity.chain.certificates.last)
            for pinned in [place.leaf, intermediate, place.root] {
                let evaluation = Evaluation.pinnedKeys([reserve, pinned.pin], besides: place.base)
                #expect(await LoadEnd(place.url, judgedBy: evaluation).isWhole)
                let marked = Evaluation.pinnedKeys(["sha256//\(pinned.pin)"], besides: place.base)
                #expect(marked.problem == nil)
                #expect(await LoadEnd(place.url, judgedBy: marked).isWhole, "the form of curl")
            }
            #expect(Evaluation.pinnedKeys(["sha256//sha256//\(reserve)"]).problem != nil)
            let wrong = await LoadEnd(place.url, judgedBy: .pinnedKeys([reserve], besides: place.base))
            #expect(wrong.isRefused("pinned"))
        }
    }

    @Test("B3.51, B3.68: a pin adds to the default evaluation and does not replace it")
    func pinsDoNotReplace() async throws {
        try await withPlace { place in
            let pin = place.leaf.pin
            #expect(await LoadEnd(place.url, judgedBy: .pinnedKeys([pin])).isRefused("trusted root"))
            #expect(
                await LoadEnd(place.url, judgedBy: .pinnedCertificates(.pem(place.leaf.pem))).isRefused("trusted root"))
            #expect(place.server.stats.requests == 0)
        }
    }

    @Test("B3.50, B3.63: pinned certificates")
    func pinnedCertificates() async throws {
        let stranger = try stranger.get()
        try await withPlace { place in
            for pinned in [place.leaf, place.root] {
                let evaluation = Evaluation.pinnedCertificates(.pem(pinned.pem), besides: place.base)
                #expect(await LoadEnd(place.url, judgedBy: evaluation).isWhole)
            }
            let wrong = Evaluation.pinnedCertificates(.pem(stranger.pem), besides: place.base)
            #expect(await LoadEnd(place.url, judgedBy: wrong).isRefused("pinned"))
        }
    }

    @Test("A self-signed certificate that is trusted for one host is trusted for no other host")
    func selfSigned() async throws {
        let odd = try CertificateFactory.selfSigned(.server("elsewhere.test"))
        try await withServer(.init(tls: ServerTLS(identity: odd.identity)), router: { _ in .text("secret") }) {
            server async throws in
            let evaluation = Evaluation.selfSigned(.pem(odd.certificate.pem), host: "localhost")
            #expect(try await LoadEnd(server.at("/", host: "localhost"), judgedBy: evaluation).isWhole)
            #expect(try await LoadEnd(server.at("/", host: "other.test"), judgedBy: evaluation).isRefused())
            #expect(server.stats.requests == 1)
        }
    }

    @Test("B3.65: anyOf accepts what one of its evaluations accepts, allOf what all accept")
    func combinations() async throws {
        try await withPlace { place in
            let url = place.url
            let pinned = Evaluation.pinnedKeys([place.leaf.pin], besides: place.base)
            #expect(await LoadEnd(url, judgedBy: .anyOf([.system, place.base])).isWhole)
            #expect(await LoadEnd(url, judgedBy: .anyOf([.system])).isRefused())
            #expect(await LoadEnd(url, judgedBy: .anyOf([])).isRefused("no evaluator"))
            #expect(await LoadEnd(url, judgedBy: .allOf([place.base, pinned])).isWhole)
            #expect(await LoadEnd(url, judgedBy: .allOf([place.base, .system])).isRefused())
            #expect(await LoadEnd(url, judgedBy: .allOf([])).isRefused("no evaluator"))
        }
    }

    @Test("B3.66: each host has its own evaluation; a host without one is refused or judged by the rule for the others")
    func perHost() async throws {
        try await withPlace { place in
            let url = place.url
            #expect(await LoadEnd(url, judgedBy: .perHost(["LOCALHOST": place.base], otherwise: nil)).isWhole)
            #expect(await LoadEnd(url, judgedBy: .perHost(["other.test": place.base], otherwise: nil)).isRefused())
            #expect(await LoadEnd(url, judgedBy: .perHost(["*.test": .system], otherwise: place.base)).isWhole)
            #expect(await LoadEnd(url, judgedBy: .perHost(["localhost": .system], otherwise: place.base)).isRefused())
        }
    }

    @Test("B3.18: hosts in Unicode are read as patterns, and mean their A-labels")
    func unicodeHosts() async throws {
        let root = try CertificateFactory.root()
        let leaf = try root.issue(.server("xn--bcher-kva.test"))
        let base = Evaluation.anchors(pem: root.certificate.pem)
        try await withServer(.init(tls: ServerTLS(identity: leaf.identity)), router: { _ in .text("secret") }) {
            server async throws in
            let configuration = URLSessionConfiguration.ephemeral
            configuration.hostOverrides = ["xn--bcher-kva.test": "127.0.0.1"]
            configuration.serverTrustEvaluation = .perHost(["b\u{FC}cher.test": base], otherwise: nil)
            let session = URLSession(configuration: configuration)
            let (data, _) = try await session.data(from: server.at("/", host: "xn--bcher-kva.test"))
            #expect(data == Data("secret".utf8))
            session.invalidateAndCancel()
        }
        #expect(Evaluation.perHost(["*.b\u{FC}cher.test": base], otherwise: nil).problem == nil)
        #expect(Evaluation.selfSigned(.pem(leaf.certificate.pem), host: "b\u{FC}cher.test").problem == nil)
        let identity = URLSessionConfiguration.ClientIdentity.identity(SecIdentity(leaf.identity))
        _ = try URLSessionConfiguration.ClientIdentities.perHost(["b\u{FC}cher.test": identity])
        _ = try URLSessionConfiguration.AppTransportSecurity(dictionary: [
            "NSExceptionDomains": ["b\u{FC}cher.test": ["NSExceptionAllowsInsecureHTTPLoads": true]]
        ])
        for mistake in ["b\u{FC}cher.test/x", "x@b\u{FC}cher.test", "b\u{FC}cher.test:443", "b\u{FC}.*.test"] {
            #expect(Evaluation.perHost([mistake: base], otherwise: nil).problem != nil, "\(mistake)")
        }
    }

    @Test("B3.12, B3.13, B3.47: revocation is checked as the evaluation says, with the lists that it is given")
    func revocation() async throws {
        let root = try CertificateFactory.root()
        let leaf = try root.issue(.server("localhost"))
        let (full, empty) = try (
            root.revocationList(revoking: [leaf.certificate]), root.revocationList(revoking: [])
        )
        let text = Data(full.der).base64EncodedString(options: .lineLength64Characters)
        let pem = "-----BEGIN X509 CRL-----\n\(text)\n-----END X509 CRL-----\n"
        let base = Evaluation.anchors(pem: root.certificate.pem)
        try await withServer(.init(tls: ServerTLS(identity: leaf.identity)), router: { _ in .text("secret") }) {
            server in
            let url = try server.at("/", host: "localhost")
            #expect(await LoadEnd(url, judgedBy: base.checkingRevocation(.soft())).isWhole)
            #expect(await LoadEnd(url, judgedBy: base.checkingRevocation(.soft(.pem(pem)))).isRefused("revoked"))
            #expect(await LoadEnd(url, judgedBy: base.checkingRevocation(.hard())).isRefused("revo"))
            #expect(await LoadEnd(url, judgedBy: base.checkingRevocation(.hard(.der([Data(empty.der)])))).isWhole)
            let revoked = base.checkingRevocation(.hard(.der([Data(empty.der), Data(full.der)])))
            #expect(await LoadEnd(url, judgedBy: revoked).isRefused("revoked"))
            #expect(await LoadEnd(url, judgedBy: base.checkingRevocation(.none)).isWhole)
            let inner = Evaluation.perHost(["localhost": base.checkingRevocation(.hard())], otherwise: nil)
            #expect(await LoadEnd(url, judgedBy: inner).isRefused())
            #expect(server.stats.requests == 3)
        }
    }

    @Test("B3.15: certificates that only break rules of form are refused by judgingStrictly, below own anchors too")
    func strictly() async throws {
        let root = try CertificateFactory.root()
        let leaf = try root.issue(.server("localhost").with { $0.commonName = "LOCALHOST.test" })
        let base = Evaluation.anchors(pem: root.certificate.pem)
        try await withServer(.init(tls: ServerTLS(identity: leaf.identity)), router: { _ in .text("secret") }) {
            server in
            let url = try server.at("/", host: "localhost")
            #expect(await LoadEnd(url, judgedBy: base).isWhole)
            #expect(await LoadEnd(url, judgedBy: base.judgingStrictly()).isRefused("common name"))
            let inner = Evaluation.perHost(["localhost": base.judgingStrictly()], otherwise: nil)
            #expect(await LoadEnd(url, judgedBy: inner).isRefused("common name"))
            #expect(server.stats.requests == 1)
        }
    }

    @Test("B3.24, B3.41: an evaluation may judge as of another date, and ignore host names")
    func conditions() async throws {
        try await withPlace { place in
            // The intermediate may have been made a second before the leaf, and end as much earlier. The root's dates
            // are not checked (B3.28).
            let judged = place.identity.chain.certificates.filter { $0.der != place.root.der }
            let end = try #require(judged.compactMap(\.notAfter).min())
            let late = place.base.judging(asOf: Date(timeIntervalSince1970: Double(end) + 1))
            #expect(await LoadEnd(place.url, judgedBy: late).isRefused("expired"))
            let intime = place.base.judging(asOf: Date(timeIntervalSince1970: Double(end)))
            #expect(await LoadEnd(place.url, judgedBy: intime).isWhole)
            let other = try place.server.at("/", host: "other.test")
            #expect(await LoadEnd(other, judgedBy: place.base).isRefused("other.test"))
            #expect(await LoadEnd(other, judgedBy: place.base.dangerouslyIgnoringHostNames()).isWhole)
            // This date is no argument of the test, because Foundation cannot describe it.
            let never = place.base.judging(asOf: Date(timeIntervalSince1970: .nan))
            #expect(never.problem?.contains("no moment in time") == true)
            #expect(await LoadEnd(place.url, judgedBy: never).isRefused("no moment in time"))
        }
    }

    @Test("Known hosts: a lock that is kept holds up loads that need it, and no other session")
    func keptLock() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("known-\(UUID().uuidString)")
        defer {
            for name in [file.path, file.path + ".lock"] { try? FileManager.default.removeItem(atPath: name) }
        }
        try await withPlace { place in
            var lock: FileLock? = try FileLock.take(file.path + ".lock").get()
            async let held = LoadEnd(place.url, judgedBy: .knownHosts(file: file))
            // More sessions than there are loops: some share the loop of the one that waits.
            for _ in 0..<8 {
                #expect(await LoadEnd(place.url, judgedBy: place.base).isWhole)
            }
            lock?.hold()
            lock = nil
            // It depends on the machine whether the lock was given back in time.
            let end = await held
            #expect(end.isWhole || end.isRefused("locked"), "\(end.error?.localizedDescription ?? "")")
        }
    }

    @Test("Known hosts: the first key is written down, another one is refused by a later session")
    func knownHosts() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("known-\(UUID().uuidString)")
        defer {
            for name in [file.path, file.path + ".lock"] { try? FileManager.default.removeItem(atPath: name) }
        }
        try await withPlace { place in
            for _ in 0..<2 { #expect(await LoadEnd(place.url, judgedBy: .knownHosts(file: file)).isWhole) }
        }
        try await withPlace { place in
            let changed = await LoadEnd(place.url, judgedBy: .knownHosts(file: file))
            #expect(changed.isRefused("not the one that this host had before"))
            #expect(place.server.stats.requests == 0)
        }
    }

    @Test("B3.88: a host that is refused in the end is not written down, whoever refuses it")
    func refusedHosts() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("known-\(UUID().uuidString)")
        defer {
            for name in [file.path, file.path + ".lock"] { try? FileManager.default.removeItem(atPath: name) }
        }
        let stranger = try stranger.get()
        try await withPlace { place in
            let refused: [Evaluation] = [
                .allOf([.knownHosts(file: file), .anchors(pem: stranger.pem)]),
                .pinnedKeys([stranger.pin], besides: .knownHosts(file: file)),
            ]
            for evaluation in refused {
                #expect(await LoadEnd(place.url, judgedBy: evaluation).isRefused())
                #expect(!FileManager.default.fileExists(atPath: file.path))
            }
            let pinned = URLSessionConfiguration.ephemeral
            pinned.serverTrustEvaluation = .knownHosts(file: file)
            let pins = ["NSPinnedLeafIdentities": [["SPKI-SHA256-BASE64": stranger.pin]]]
            pinned.appTransportSecurity = try .init(dictionary: ["NSPinnedDomains": ["localhost": pins]])
            #expect(await LoadEnd(place.url, pinned).error?.code == .secureConnectionFailed)
            #expect(!FileManager.default.fileExists(atPath: file.path))
            let asking = URLSessionConfiguration.ephemeral
            asking.serverTrustEvaluation = .knownHosts(file: file)
            let refusing = Evaluating(accepts: false)
            #expect(await LoadEnd(place.url, asking, delegate: refusing).error?.code == .cancelled)
            #expect(refusing.verdicts.withLock { $0 } == [true])
            #expect(place.server.stats.requests == 0)
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
        try await withPlace { place in
            let asking = URLSessionConfiguration.ephemeral
            asking.serverTrustEvaluation = .knownHosts(file: file)
            #expect(await LoadEnd(place.url, asking, delegate: Evaluating(accepts: true)).isWhole)
        }
        try await withPlace { place in
            let changed = await LoadEnd(place.url, judgedBy: .knownHosts(file: file))
            #expect(changed.isRefused("not the one that this host had before"), "a delegate's server is remembered")
        }
    }

    @Test("B3.47: known hosts and a certificate for one host are refused where an answer about revocation is demanded")
    func demandedAnswer() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("known-\(UUID().uuidString)")
        defer {
            for name in [file.path, file.path + ".lock"] { try? FileManager.default.removeItem(atPath: name) }
        }
        let own = try CertificateFactory.selfSigned(.server("localhost"))
        let list = try own.revocationList(revoking: [])
        let hard = Evaluation.RevocationCheck.hard(.der([Data(list.der)]))
        let tls = ServerTLS(identity: own.identity)
        try await withServer(.init(tls: tls), router: { _ in .text("secret") }) { (server) async throws in
            let url = try server.at("/", host: "localhost")
            let choices: [Evaluation] = [
                .knownHosts(file: file), .selfSigned(.pem(own.certificate.pem), host: "localhost"),
            ]
            for choice in choices {
                #expect(
                    await LoadEnd(url, judgedBy: choice.checkingRevocation(hard)).isRefused("may have been revoked"))
                let inner = Evaluation.perHost(["localhost": choice], otherwise: nil).checkingRevocation(hard)
                #expect(await LoadEnd(url, judgedBy: inner).isRefused("may have been revoked"))
            }
            #expect(!FileManager.default.fileExists(atPath: file.path), "the host was not written down")
            for choice in choices {
                #expect(await LoadEnd(url, judgedBy: choice.checkingRevocation(.soft())).isWhole)
            }
            let others = Evaluation.selfSigned(
                .pem(own.certificate.pem), host: "localhost", otherwise: .system.checkingRevocation(hard))
            #expect(await LoadEnd(url, judgedBy: others).isWhole)
        }
    }

    @Test(
        "B3.58, B3.63, B3.64: an evaluation that cannot be carried out trusts no server and names the mistake",
        arguments: [
            (Evaluation.anchors(pem: "no certificate"), "No certificate was found"),
            (.anchors(.der([Data([1, 2, 3])])), "not a certificate"), (.anchors(.der([])), "No certificate was found"),
            (.anchorsAndSystem(.certificates([])), "No certificate was found"),
            (.pinnedCertificates(.pem("")), "No certificate was found"), (.pinnedKeys([]), "there is none"),
            (.pinnedKeys(["not base64!"]), "\"not base64!\" is not base64"),
            (.pinnedKeys(["AAAA"]), "\"AAAA\" has 3 bytes in place of 32"),
            (.pinnedKeys(["AAAA"], besides: .dangerouslyAcceptAnyCertificate), "3 bytes"),
            (.anyOf([.dangerouslyAcceptAnyCertificate, .pinnedKeys([])]), "there is none"),
            (.allOf([.dangerouslyAcceptAnyCertificate, .anchors(pem: "")]), "No certificate"),
            (.perHost(["https://localhost": .dangerouslyAcceptAnyCertificate], otherwise: nil), "is no host"),
            (
                .perHost(["localhost": .dangerouslyAcceptAnyCertificate, "*.*.test": .system], otherwise: nil),
                "is no host"
            ),
            (.perHost(["localhost": .pinnedKeys([])], otherwise: .dangerouslyAcceptAnyCertificate), "there is none"),
            (.selfSigned(.pem(""), host: "localhost"), "No certificate was found"),
            (.dangerouslyAcceptAnyCertificate.checkingRevocation(.soft(.pem(""))), "not a revocation list"),
            (.dangerouslyAcceptAnyCertificate.checkingRevocation(.hard(.der([Data([1])]))), "not a revocation list"),
            (.knownHosts(file: URL(fileURLWithPath: "/dev/null/none")), "known hosts"),
        ])
    func mistakes(evaluation: Evaluation, words: String) async throws {
        #expect(evaluation.problem?.contains(words) == true, "\(evaluation.problem ?? "nil")")
        try await withPlace { place in
            let end = await LoadEnd(place.url, judgedBy: evaluation)
            #expect(end.isRefused(words), "\(end.error?.localizedDescription ?? "")")
            #expect(place.server.stats.requests == 0)
        }
    }

    @Test("Evaluations that can be carried out have no problem, and equal ones compare equal")
    func values() throws {
        let pem = try stranger.get().pem
        let composed = Evaluation.perHost(
            ["*.a.test": .pinnedKeys([try stranger.get().pin], besides: .anchors(pem: pem)), "127.0.0.1": .system],
            otherwise: .anyOf([.system, .selfSigned(.pem(pem), host: "b.test")]))
        #expect(composed.problem == nil && composed == composed && composed != .system)
        #expect(
            Evaluation.anchors(pem: "a") == .anchors(.pem("a")) && Evaluation.anchors(pem: "a") != .anchors(pem: "b"))
    }
}

/// Evaluates the trust, and accepts the server or cancels whatever came of it.
private final class Evaluating: NSObject, URLSessionDelegate {
    let verdicts = Guarded<[Bool]>([])
    private let accepts: Bool

    init(accepts: Bool) { self.accepts = accepts }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let trust = challenge.protectionSpace.serverTrust else {
            return completionHandler(.performDefaultHandling, nil)
        }
        let isTrusted = SecTrustEvaluateWithError(trust, nil)
        verdicts.withLock { $0.append(isTrusted) }
        completionHandler(
            accepts ? .useCredential : .cancelAuthenticationChallenge, accepts ? URLCredential(trust: trust) : nil)
    }
}

@Suite("Identities chosen in the configuration", .timeLimit(.minutes(5)))
struct ClientIdentityConfigurationTests {
    typealias Identities = URLSessionConfiguration.ClientIdentities
    typealias ClientIdentity = URLSessionConfiguration.ClientIdentity

    /// Notes the name in each certificate that a client shows.
    private struct Doorkeeper: TrustEvaluator {
        let seen: Guarded<[String]>
        let inner: any TrustEvaluator

        func evaluate(_ chain: CertificateChain, policy: TrustPolicy) -> TrustVerdict {
            seen.change { $0.append(chain.leaf.commonName ?? "") }
            return inner.evaluate(chain, policy: policy)
        }
    }

    private struct Place {
        let clients: IssuedCertificate
        let url: URL
        let seen: Guarded<[String]>
        let anchor: String

        func load(_ identities: Identities, storage: URLCredentialStorage? = nil) async -> LoadEnd {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.serverTrustEvaluation = .anchors(pem: anchor)
            configuration.clientIdentities = identities
            configuration.urlCredentialStorage = storage
            return await LoadEnd(url, configuration)
        }
    }

    private func withPlace(
        required: Bool = true, _ body: (Place) async throws -> Void
    ) async throws {
        let clients = try CertificateFactory.root("Clients")
        let seen = Guarded<[String]>([])
        let (root, identity) = try CertificateFactory.server("localhost")
        let tls = ServerTLS(
            identity: identity, clientAuthentication: required ? .required : .optional,
            clientAuthorities: [clients.certificate],
            clientEvaluator: Doorkeeper(seen: seen, inner: AnchorsEvaluator(anchors: [clients.certificate])))
        try await withServer(.init(tls: tls), router: { _ in .text("secret") }) { server in
            try await body(
                Place(clients: clients, url: server.at("/", host: "localhost"), seen: seen, anchor: root.pem))
        }
    }

    @Test("A client identity is made from PEM with a plain or encrypted key, from PKCS #12, or from an identity")
    func forms() async throws {
        try await withPlace { place in
            let issued = try place.clients.issue(.client("somebody"))
            let pem = issued.certificate.pem
            let forms: [ClientIdentity] = [
                try .pem(certificates: pem, key: issued.identity.keyPEM),
                try .pem(
                    certificates: pem, key: try issued.identity.keyPEM(encryptedWith: "open"), passphrase: "open"),
                try .pkcs12(Data(try issued.pkcs12(passphrase: "open")), passphrase: "open"),
                .identity(SecIdentity(issued.identity)),
                .identity(SecIdentity(issued.identity), certificates: [SecCertificate(place.clients.certificate)]),
            ]
            for form in forms {
                #expect(await place.load(.allHosts(form)).isWhole)
                #expect(form.secIdentity == SecIdentity(issued.identity))
            }
            #expect(place.seen.value == Array(repeating: "somebody", count: forms.count))
            #expect(await place.load(.none).error?.code == .clientCertificateRequired)
        }
    }

    @Test("B2.51, B17.43: certificates beside the identity are shown; a server that lacks them refuses with −1205")
    func intermediates() async throws {
        try await withPlace { place in
            let department = try place.clients.issue(.authority("Department"))
            let bare = SecIdentity(try department.issue(.client("somebody")).identity(showing: []))
            let whole = ClientIdentity.identity(bare, certificates: [SecCertificate(department.certificate)])
            let (shown, hidden) = (
                try Identities.perHost(["localhost": whole]), try Identities.perHost(["localhost": .identity(bare)])
            )
            #expect(await place.load(shown).isWhole)
            let alone = await place.load(hidden)
            #expect(alone.error?.code == .clientCertificateRejected)
        }
    }

    @Test("B17.43: a certificate that is too weak to be shown is −1205, and the underlying error names it")
    func tooWeak() async throws {
        try await withPlace { place in
            let weak = try place.clients.issue(.client("Too Weak").with { $0.key = .rsa(512) })
            let error = await place.load(.allHosts(.identity(SecIdentity(weak.identity)))).error
            #expect(error?.code == .clientCertificateRejected)
            let underlying = error?.userInfo[NSUnderlyingErrorKey] as? NSError
            #expect(underlying?.domain == URLLoadingErrorDomain.tls)
            #expect(underlying?.localizedDescription.contains("\"Too Weak\"") == true)
        }
    }

    @Test("Each host is shown its own identity and no other")
    func perHost() async throws {
        try await withPlace(required: false) { place in
            let one = ClientIdentity.identity(SecIdentity(try place.clients.issue(.client("one")).identity))
            let two = ClientIdentity.identity(SecIdentity(try place.clients.issue(.client("two")).identity))
            let choices: [Identities] = [
                try .perHost(["localhost": one], otherwise: two), try .perHost(["*.test": one], otherwise: two),
                try .perHost(["*.test": one]), .none,
            ]
            for choice in choices { #expect(await place.load(choice).isWhole) }
            #expect(place.seen.value == ["one", "two"])
            #expect(choices[0] != choices[1] && choices[0] == choices[0])
        }
    }

    @Test("An identity for all hosts is kept from a server that accepts other issuers only")
    func otherIssuers() async throws {
        try await withPlace(required: false) { place in
            let foreign = ClientIdentity.identity(
                SecIdentity(try CertificateFactory.root("Foreign").issue(.client("foreign")).identity))
            #expect(await place.load(.allHosts(foreign)).isWhole)
            #expect(place.seen.value.isEmpty)
            // A program that names the host has decided.
            let named = await place.load(try .perHost(["localhost": foreign]))
            #expect(named.error?.code == .clientCertificateRejected && place.seen.value == ["foreign"])
        }
    }

    @Test("B2.36: without a delegate a stored identity is used; without a storage none (B2.70)")
    func stored() async throws {
        try await withPlace(required: false) { place in
            let space = URLProtectionSpace(
                host: "localhost", port: try #require(place.url.port), protocol: "https", realm: nil,
                authenticationMethod: NSURLAuthenticationMethodClientCertificate)
            let storage = URLCredentialStorage()
            storage.setDefaultCredential(
                URLCredential(
                    identity: SecIdentity(try place.clients.issue(.client("stored")).identity), certificates: nil,
                    persistence: .forSession), for: space)
            #expect(await place.load(.none, storage: nil).isWhole)
            #expect(place.seen.value.isEmpty)
            #expect(await place.load(.none, storage: storage).isWhole)
            #expect(place.seen.value == ["stored"])
        }
    }

    @Test("An identity that cannot be read throws an error that names the mistake and no secret")
    func mistakes() throws {
        let issued = try CertificateFactory.root().issue(.client("somebody"))
        let (pem, key) = (issued.certificate.pem, issued.identity.keyPEM)
        let sealed = try issued.identity.keyPEM(encryptedWith: "open")
        let other = try CertificateFactory.root().issue(.client("other")).identity.keyPEM
        func message(_ make: () throws -> ClientIdentity) -> String {
            do {
                _ = try make()
                return ""
            } catch {
                return error.localizedDescription
            }
        }
        #expect(message { try .pem(certificates: "", key: key) }.contains("No certificate"))
        #expect(message { try .pem(certificates: pem, key: "") }.contains("No private key"))
        #expect(message { try .pem(certificates: pem, key: other) }.contains("does not belong"))
        let wrong = message { try .pem(certificates: pem, key: sealed, passphrase: "hunter2") }
        #expect(wrong.contains("passphrase") && !wrong.contains("hunter2"))
        #expect(message { try .pkcs12(Data([1, 2]), passphrase: "hunter2") }.contains("PKCS #12"))
        #expect(throws: URLSessionConfiguration.ClientIdentityError.self) {
            try Identities.perHost(["not a host": .identity(SecIdentity(issued.identity))])
        }
    }
}
