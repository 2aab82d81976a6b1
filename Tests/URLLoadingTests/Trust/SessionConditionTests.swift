// What the conditions of a session's evaluation mean for a trust that a delegate changes (behaviour 3.4).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingTrust

@Suite("Server trust: a delegate's settings and the session's conditions", .timeLimit(.minutes(5)))
struct SessionConditionTests {
    typealias Evaluation = URLSessionConfiguration.ServerTrustEvaluation

    /// A server below a root.
    private struct Place {
        let root: IssuedCertificate
        let leaf: IssuedCertificate
        let url: URL

        /// The server's authority alone.
        var base: Evaluation { .anchors(pem: root.certificate.pem) }

        /// Whether a delegate that does this to its trust, and evaluates it then, believes the server.
        func isBelieved(
            _ evaluation: Evaluation, _ change: @escaping @Sendable (SecTrust) -> Void = { _ in },
            by holds: @escaping @Sendable (SecTrust) -> Bool = { SecTrustEvaluateWithError($0, nil) }
        ) async -> Bool {
            let asked = Guarded(0)
            let judge = SessionJudge { challenge, reply in
                asked.add(1)
                guard let trust = challenge.protectionSpace.serverTrust else {
                    return reply(.performDefaultHandling, nil)
                }
                change(trust)
                if holds(trust) {
                    reply(.useCredential, URLCredential(trust: trust))
                } else {
                    reply(.cancelAuthenticationChallenge, nil)
                }
            }
            let configuration = URLSessionConfiguration.ephemeral
            configuration.serverTrustEvaluation = evaluation
            let end = await LoadEnd(url, configuration, delegate: judge)
            #expect(asked.value == 1)
            #expect(end.isWhole || end.error?.code == .cancelled, "\(end.error?.localizedDescription ?? "")")
            return end.isWhole
        }

        /// Whether a delegate that sets the server's authority as its own anchor believes the server, with the
        /// session's anchors or without.
        func isBelievedByAnchors(_ evaluation: Evaluation, only: Bool) async throws -> Bool {
            let anchor = try TrustSamples.face(root.certificate)
            return await isBelieved(evaluation) { trust in
                #expect(SecTrustSetAnchorCertificates(trust, [anchor] as CFArray) == errSecSuccess)
                #expect(SecTrustSetAnchorCertificatesOnly(trust, only) == errSecSuccess)
            }
        }

        /// Whether a delegate that sets these policies believes the server.
        func isBelieved(_ evaluation: Evaluation, under policies: [SecPolicy]) async -> Bool {
            await isBelieved(evaluation) { trust in
                #expect(SecTrustSetPolicies(trust, policies as CFArray) == errSecSuccess)
            }
        }
    }

    private func withPlace(
        _ template: CertificateTemplate = .server("localhost"), stapling answer: OCSPAnswer? = nil,
        _ body: (Place) async throws -> Void
    ) async throws {
        let root = try CertificateFactory.root()
        let leaf = try root.issue(template)
        let response = try answer.map { answer in try root.ocspResponse(about: leaf.certificate, answer) }
        let tls = ServerTLS(identity: leaf.identity, stapledResponse: response)
        try await withServer(.init(tls: tls), router: { _ in .text("secret") }) { server in
            try await body(Place(root: root, leaf: leaf, url: server.at("/", host: "localhost")))
        }
    }

    /// A server whose certificate breaks a rule of form.
    private static let informal = CertificateTemplate.server("localhost").with { $0.commonName = "LOCALHOST.test" }

    private static func ssl(_ host: String?) -> SecPolicy { SecPolicyCreateSSL(true, host.map { $0 as CFString }) }

    @Test(
        "B3.38, B3.47: a delegate's own anchors are under the lists, the hard mode, the profile and the date of the session"
    )
    func ownAnchors() async throws {
        try await withPlace(Self.informal) { (place) async throws in
            let full = try place.root.revocationList(revoking: [place.leaf.certificate])
            let empty = try place.root.revocationList(revoking: [])
            let end = try #require(place.leaf.certificate.notAfter)
            let late = Date(timeIntervalSince1970: Double(end) + 1)
            let cases: [(Evaluation, Bool)] = [
                (place.base, true),
                (place.base.checkingRevocation(.soft(.der([Data(full.der)]))), false),
                (place.base.checkingRevocation(.hard()), false),
                (place.base.checkingRevocation(.hard(.der([Data(empty.der)]))), true),
                (place.base.judgingStrictly(), false), (place.base.judging(asOf: late), false),
                (.perHost(["localhost": place.base.checkingRevocation(.hard())], otherwise: .system), false),
                (.perHost(["other.test": place.base.checkingRevocation(.hard())], otherwise: place.base), true),
                (.anyOf([.system, place.base.judgingStrictly()]), false),
            ]
            for (index, (evaluation, isGood)) in cases.enumerated() {
                for only in [true, false] {
                    let isBelieved = try await place.isBelievedByAnchors(evaluation, only: only)
                    #expect(isBelieved == isGood, "case \(index), only: \(only)")
                }
            }
        }
    }

    @Test("B3.41: the moment of evaluation is the session's unless the trust has one")
    func verifyTime() async throws {
        try await withPlace { (place) async throws in
            let end = try #require(place.leaf.certificate.notAfter)
            let late = Date(timeIntervalSince1970: Double(end) + 1)
            let isBelieved = await place.isBelieved(place.base.judging(asOf: late)) { trust in
                #expect(SecTrustGetVerifyTime(trust) == late.timeIntervalSinceReferenceDate)
                #expect(!SecTrustEvaluateWithError(trust, nil))
                SecTrustSetVerifyDate(trust, Date() as CFDate)
            }
            #expect(isBelieved)
        }
    }

    @Test(
        "B3.34, B3.35: an unchanged trust has the session's verdict; a policy with a host checks what the session ignores"
    )
    func hosts() async throws {
        try await withPlace(.server("elsewhere.test")) { (place) async throws in
            let open = place.base.dangerouslyIgnoringHostNames()
            #expect(await place.isBelieved(open))
            #expect(await place.isBelieved(open, under: [Self.ssl(nil)]))
            #expect(await place.isBelieved(open, under: [Self.ssl("elsewhere.test")]))
            #expect(await place.isBelieved(open, under: [Self.ssl("localhost")]) == false)
            // The trust's own policy has the connection's host.
            #expect(try await place.isBelievedByAnchors(open, only: true) == false)
        }
    }

    @Test("B3.34, B3.35: a policy changes what is compared, and not whom the session trusts for the connection's host")
    func choicesByHost() async throws {
        try await withPlace { (place) async throws in
            let wrong = place.root.certificate.spkiSHA256.map { $0 ^ 1 }
            let pinned = Evaluation.perHost(
                ["localhost": .pinnedKeys([Data(wrong).base64EncodedString()], besides: place.base)],
                otherwise: place.base)
            let own = Evaluation.perHost(["localhost": place.base], otherwise: .system)
            let policies = [Self.ssl(nil), SecPolicyCreateBasicX509(), Self.ssl("localhost")]
            for policy in policies {
                #expect(await place.isBelieved(pinned, under: [policy]) == false)
                #expect(await place.isBelieved(own, under: [policy]))
            }
            var policy = URLSession.ServerSecurityPolicy()
            policy.validatesDomainName = false
            for (evaluation, isGood) in [(pinned, false), (own, true)] {
                let isBelieved = await place.isBelieved(
                    evaluation, by: { [policy] trust in policy.evaluate(trust, forDomain: "localhost") })
                #expect(isBelieved == isGood)
            }
        }
    }

    @Test("B3.47: a revocation policy forces a check in a session that checks nothing")
    func forcedCheck() async throws {
        let check = try #require(SecPolicyCreateRevocation(kSecRevocationUseAnyAvailableMethod))
        for (answer, isGood) in [(OCSPAnswer.good, true), (.revoked, false)] {
            try await withPlace(stapling: answer) { (place) async throws in
                let unchecked = place.base.checkingRevocation(.none)
                #expect(await place.isBelieved(unchecked))
                #expect(await place.isBelieved(unchecked, under: [Self.ssl("localhost"), check]) == isGood)
                #expect(await place.isBelieved(unchecked, under: [check]) == isGood)
                #expect(try await place.isBelievedByAnchors(unchecked, only: true) == isGood)
            }
        }
    }

    @Test("B3.38, B3.41, B3.47: a security policy judges by what was set on the trust, but for exceptions")
    func securityPolicy() async throws {
        try await withPlace { (place) async throws in
            let root = try TrustSamples.face(place.root.certificate)
            let stranger = try TrustSamples.face(CertificateFactory.root("Stranger").certificate)
            let revoked = Data(try place.root.ocspResponse(about: place.leaf.certificate, .revoked))
            let required = try #require(SecPolicyCreateRevocation(kSecRevocationRequirePositiveResponse))
            let base = place.base
            let cases: [(String, Evaluation, Bool, @Sendable (SecTrust) -> Void)] = [
                ("nothing", base, true, { _ in }),
                ("own anchors", .system, true, { SecTrustSetAnchorCertificates($0, [root] as CFArray) }),
                ("others' anchors", base, false, { SecTrustSetAnchorCertificates($0, [stranger] as CFArray) }),
                ("a date", base, false, { SecTrustSetVerifyDate($0, Date.distantFuture as CFDate) }),
                ("a response", base, false, { SecTrustSetOCSPResponse($0, revoked as CFData) }),
                ("a demand for a response", base, false, { SecTrustSetPolicies($0, required) }),
                ("a policy for another host", base, true, { SecTrustSetPolicies($0, Self.ssl("other.test")) }),
                ("exceptions", .system, false, { SecTrustSetExceptions($0, SecTrustCopyExceptions($0)) }),
            ]
            for (name, evaluation, isGood, change) in cases {
                let isBelieved = await place.isBelieved(
                    evaluation, change, by: { URLSession.ServerSecurityPolicy().evaluate($0, forDomain: "localhost") })
                #expect(isBelieved == isGood, "\(name)")
            }
        }
    }

    @Test("B3.56: a security policy checks the domain also in a session that ignores host names")
    func securityPolicyDomain() async throws {
        try await withPlace(.server("elsewhere.test")) { (place) async throws in
            let open = place.base.dangerouslyIgnoringHostNames()
            for (validates, domain, isGood) in [
                (true, "localhost", false), (true, "elsewhere.test", true), (false, "localhost", true),
            ] {
                var policy = URLSession.ServerSecurityPolicy()
                policy.validatesDomainName = validates
                let isBelieved = await place.isBelieved(
                    open, by: { [policy] trust in policy.evaluate(trust, forDomain: domain) })
                #expect(isBelieved == isGood, "\(validates), \(domain)")
            }
        }
    }

    @Test("B3.34: a basic policy asks for no form in a session that judges strictly, and an SSL policy does")
    func form() async throws {
        try await withPlace(Self.informal) { (place) async throws in
            let strict = place.base.judgingStrictly()
            #expect(await place.isBelieved(strict) == false)
            #expect(await place.isBelieved(strict, under: [Self.ssl("localhost")]) == false)
            #expect(await place.isBelieved(strict, under: [SecPolicyCreateBasicX509()]))
        }
    }
}
