// The servers and passwords that a connection's delegate is asked about, and what becomes of the answers.

import Foundation
import Testing
import URLLoading
import URLLoadingLegacy
import URLLoadingLoopbackServer
import URLLoadingSamplesLegacy
import URLLoadingTestSupport
import URLLoadingTrust
import URLLoadingWire

@Suite("Challenges of older classes", .timeLimit(.minutes(3)))
struct ConnectionChallengeTests {
    /// A server that lets in requests with the password, in a realm of its own for each test,
    /// since credentials are shared.
    private static func door(_ realm: String) -> LoopbackServer.Router {
        { request in
            let proof = "Basic " + Data("u:p".utf8).base64EncodedString()
            if request.fields.first(.authorization) == proof { return .text("secret") }
            return .text("denied", status: 401).adding("WWW-Authenticate", "Basic realm=\"\(realm)\"")
        }
    }

    private static let right = URLCredential(user: "u", password: "p", persistence: .none)
    private static let wrong = URLCredential(user: "u", password: "x", persistence: .none)

    @available(*, deprecated)
    private func asked(
        _ realm: String, _ answer: @escaping @Sendable (URLAuthenticationChallenge) -> Void
    ) async throws -> AskedRecorder {
        try await withServer(.alone(), router: Self.door(realm)) { server async throws in
            let request = try server.request()
            let recorder = AskedRecorder()
            recorder.answer = answer
            await onRunLoop { _ = NSURLConnection(request: request, delegate: recorder) }
            return recorder
        }
    }

    @Test("The newer method is asked until the password is right, and counts the refusals")
    @available(*, deprecated)
    func counting() async throws {
        let recorder = try await asked("counting") { challenge in
            let isFirst = challenge.previousFailureCount == 0
            #expect((challenge.failureResponse as? HTTPURLResponse)?.statusCode == 401)
            challenge.sender?.use(isFirst ? Self.wrong : Self.right, for: challenge)
            // The first answer counts.
            challenge.sender?.cancel(challenge)
        }
        #expect(
            recorder.notes.lines == [
                "send /", "storage", "asked counting 0", "asked counting 1", "response 200", "data", "store", "finish",
            ])
        #expect(recorder.text == "secret")
    }

    @Test("B17.24: a challenge that is cancelled ends the load with -1012")
    @available(*, deprecated)
    func cancelled() async throws {
        let recorder = try await asked("cancelled") { $0.sender?.cancel($0) }
        #expect(recorder.notes.lines == ["send /", "storage", "asked cancelled 0", "fail -1012"])
    }

    @Test(
        "Without a credential, with a refused space or nothing stored the refusal is the response",
        arguments: [
            "continue", "reject", "default",
        ])
    @available(*, deprecated)
    func refusals(answer: String) async throws {
        let recorder = try await asked("refusals") { challenge in
            switch answer {
            case "continue": challenge.sender?.continueWithoutCredential(for: challenge)
            case "reject": challenge.sender?.rejectProtectionSpaceAndContinue(with: challenge)
            default: challenge.sender?.performDefaultHandling(for: challenge)
            }
        }
        #expect(recorder.notes.lines.suffix(4) == ["asked refusals 0", "response 401", "data", "finish"])
    }

    @Test("An answer may come later, from another thread")
    @available(*, deprecated)
    func later() async throws {
        let recorder = try await asked("later") { challenge in
            DispatchQueue.global().async { challenge.sender?.use(Self.right, for: challenge) }
        }
        #expect(recorder.text == "secret")
    }

    @Test("A connection may be cancelled while it is asked")
    @available(*, deprecated)
    func cancelledWhileAsked() async throws {
        try await withServer(.alone(), router: Self.door("while")) { server async throws in
            let request = try server.request()
            let watch = Watch()
            let lines = await onRunLoop {
                let recorder = AskedRecorder()
                recorder.hook = { word, connection in if word == "asked" { connection.cancel() } }
                watch.note(NSURLConnection(request: request, delegate: recorder), recorder)
                return recorder.notes
            }.lines
            #expect(lines == ["send /", "storage", "asked while 0"])
            try await until { watch.isEmpty }
        }
    }

    @Test("B2.7: the older methods are asked about the space first, and yes makes them asked for a credential")
    @available(*, deprecated)
    func older() async throws {
        try await withServer(.alone(), router: Self.door("older")) { server async throws in
            let request = try server.request()
            let recorder = OlderRecorder()
            recorder.answer = { $0.sender?.use(Self.right, for: $0) }
            await onRunLoop { _ = NSURLConnection(request: request, delegate: recorder) }
            #expect(
                recorder.notes.lines == [
                    "send /", "storage", "can HTTPBasic", "asked", "response 200", "data", "store", "finish",
                ])
        }
    }

    @Test(
        "B2.7: no means default handling, which looks into the storage unless that is forbidden",
        arguments: [
            true, false,
        ])
    @available(*, deprecated)
    func storage(usesStorage: Bool) async throws {
        try await withServer(.alone(), router: Self.door("storage")) { server async throws in
            let request = try server.request()
            let space = URLProtectionSpace(
                host: server.address.host, port: server.port, protocol: "http", realm: "storage",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            let credential = URLCredential(user: "u", password: "p", persistence: .forSession)
            URLCredentialStorage.shared.setDefaultCredential(credential, for: space)
            defer { URLCredentialStorage.shared.remove(credential, for: space) }
            let recorder = OlderRecorder()
            recorder.can = false
            recorder.usesStorage = usesStorage
            await onRunLoop { _ = NSURLConnection(request: request, delegate: recorder) }
            #expect(
                recorder.notes.lines.prefix(4) == [
                    "send /", "storage", "can HTTPBasic", "response \(usesStorage ? 200 : 401)",
                ])
        }
    }

    @Test(
        "B2.109: what a delegate gives that wants no storage goes out with its own connection, and with no other",
        arguments: [
            URLCredential.Persistence.none, .forSession, .permanent,
        ])
    @available(*, deprecated)
    func withoutStorage(persistence: URLCredential.Persistence) async throws {
        let (door, proofs) = (Self.door("without"), Guarded<[String?]>([]))
        let router: LoopbackServer.Router = { request in
            proofs.change { $0.append(request.fields.first(.authorization)) }
            return door(request)
        }
        try await withServer(.alone(), router: router) { server async throws in
            for answers in [true, false] {
                let recorder = AskedRecorder()
                recorder.usesStorage = false
                recorder.answer = { challenge in
                    guard answers else { challenge.sender?.continueWithoutCredential(for: challenge); return }
                    let credential = URLCredential(user: "u", password: "p", persistence: persistence)
                    challenge.sender?.use(credential, for: challenge)
                }
                let request = try server.request()
                await onRunLoop { _ = NSURLConnection(request: request, delegate: recorder) }
                #expect(recorder.notes.lines.contains("asked without 0"))
            }
            let proof = "Basic " + Data("u:p".utf8).base64EncodedString()
            #expect(proofs.value == [nil, proof, nil])
        }
    }

    @Test("B2.7: a delegate that cannot say is asked about passwords, and not about servers")
    @available(*, deprecated)
    func unimplemented() async throws {
        try await withServer(.alone(), router: Self.door("bare")) { server async throws in
            let request = try server.request()
            let recorder = BareRecorder()
            recorder.answer = { $0.sender?.use(Self.right, for: $0) }
            await onRunLoop { _ = NSURLConnection(request: request, delegate: recorder) }
            #expect(recorder.notes.lines == ["asked", "response 200", "finish"])
        }
        try await withTLSServer { server async throws in
            let request = try server.request()
            let recorder = BareRecorder()
            await onRunLoop { _ = NSURLConnection(request: request, delegate: recorder) }
            #expect(recorder.notes.lines == ["fail \(URLError.Code.serverCertificateUntrusted.rawValue)"])
        }
    }

    /// A delegate that accepts every server.
    @available(*, deprecated)
    private func vouchingRecorder() -> OlderRecorder {
        let recorder = OlderRecorder()
        recorder.answer = { challenge in
            guard let trust = challenge.protectionSpace.serverTrust else { return }
            challenge.sender?.use(URLCredential(trust: trust), for: challenge)
        }
        return recorder
    }

    @Test("A server is believed if the delegate vouches for it")
    @available(*, deprecated)
    func trust() async throws {
        try await withTLSServer { server async throws in
            let request = try server.request()
            let recorder = vouchingRecorder()
            await onRunLoop { _ = NSURLConnection(request: request, delegate: recorder) }
            #expect(recorder.notes.lines.prefix(4) == ["send /", "storage", "can ServerTrust", "asked"])
            #expect(recorder.text == "hello")
        }
    }

    @Test("B2.8: what a delegate has answered about a server holds for its own loads only, which share")
    @available(*, deprecated)
    func trustOfOthers() async throws {
        try await withTLSServer { server async throws in
            let request = try server.request()
            let recorder = vouchingRecorder()
            for _ in 0..<20 { await onRunLoop { _ = NSURLConnection(request: request, delegate: recorder) } }
            // Another test that registers a class meanwhile makes new sessions necessary, but not for each request.
            #expect(server.stats.connectionsAccepted < 10 && server.stats.requests == 20)
            let bare = BareRecorder()
            await onRunLoop { _ = NSURLConnection(request: request, delegate: bare) }
            #expect(bare.notes.lines == ["fail \(URLError.Code.serverCertificateUntrusted.rawValue)"])
            #expect(server.stats.requests == 20)
        }
    }

    private func withTLSServer(_ body: (LoopbackServer) async throws -> Void) async throws {
        let root = try CertificateFactory.root("Legacy Root")
        let identity = try root.issue(.server("127.0.0.1")).identity
        let options = LoopbackServer.Options(tls: ServerTLS(identity: identity))
        try await withServer(options, router: { _ in .text("hello") }, body)
    }

    // MARK: Samples

    @Test("Sample: a password that is tried once", arguments: [("p", "secret", 0), ("x", "", -1012)])
    @available(*, deprecated)
    func sampleOfPasswords(password: String, text: String, failure: Int) async throws {
        try await withServer(.alone(), router: Self.door("sample")) { server async throws in
            let url = try #require(try server.request("/\(password)").url)
            let outcome = Guarded(("", 0))
            await onRunLoop {
                let fetcher = NoteFetcher(user: "u", password: password) { text, error in
                    outcome.value = (text ?? "", error.map { code($0) } ?? 0)
                }
                fetcher.fetch(url)
            }
            #expect(outcome.value == (text, failure))
        }
    }

    @Test("Sample: trust by protection space", arguments: [true, false])
    @available(*, deprecated)
    func sampleOfTrust(isListed: Bool) async throws {
        try await withTLSServer { server async throws in
            let url = try #require(try server.request().url)
            let outcome = Guarded(("", 0))
            await onRunLoop {
                let fetcher = TrustingFetcher(trustedHosts: isListed ? ["127.0.0.1"] : []) { data, error in
                    outcome.value = (String(decoding: data ?? Data(), as: UTF8.self), error.map { code($0) } ?? 0)
                }
                fetcher.fetch(url)
            }
            let refused = URLError.Code.serverCertificateUntrusted.rawValue
            #expect(outcome.value == (isListed ? ("hello", 0) : ("", refused)))
        }
    }
}
