// A decision of a task's own delegate about a connection holds for the tasks of that delegate, and one of the session's
// delegate for all tasks (B2.8). Which delegate is asked, and in which order, is in `ChallengeRoutingTests`.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTrust

@Suite("Challenges: for which tasks an answer holds")
struct OwnJudgeTests {
    /// Has no method for challenges. Used by one test only: the library learns that about the class at its first load.
    private final class Quiet: NSObject, URLSessionTaskDelegate {}

    /// Classes without a method for challenges, each for the test that begins with it.
    private final class QuietFirst: NSObject, URLSessionTaskDelegate {}
    private final class QuietMany: NSObject, URLSessionTaskDelegate {}
    private final class QuietUnasked: NSObject, URLSessionTaskDelegate {}

    /// Has the tasks' method only, which is never called. Used by one test only, likewise.
    private final class Passed: NSObject, URLSessionTaskDelegate {
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping ChallengeReply
        ) {
            Issue.record("it was asked")
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    }

    /// Notes which certificate a server was shown.
    private struct Doorkeeper: TrustEvaluator {
        let seen: Guarded<[String?]>
        let inner: any TrustEvaluator

        func evaluate(_ chain: CertificateChain, policy: TrustPolicy) -> TrustVerdict {
            seen.change { $0.append(chain.leaf.commonName) }
            return inner.evaluate(chain, policy: policy)
        }
    }

    /// A server that asks for a certificate and can do without; `body` gets a credential for it
    /// and the names it has seen.
    private func withAskingServer(
        _ version: TLSVersion, router: @escaping LoopbackServer.Router,
        _ body: (JudgedServer, URLCredential, Guarded<[String?]>) async throws -> Void
    ) async throws {
        let authority = try CertificateFactory.root("Clients")
        let seen = Guarded<[String?]>([])
        let identity = SecIdentity(try authority.issue(.client("somebody")).identity)
        let credential = URLCredential(identity: identity, certificates: nil, persistence: .none)
        let change: (inout ServerTLS) -> Void = { tls in
            tls.maximum = version
            tls.clientAuthentication = .optional
            tls.clientAuthorities = [authority.certificate]
            tls.clientEvaluator = Doorkeeper(seen: seen, inner: AnchorsEvaluator(anchors: [authority.certificate]))
        }
        try await withJudgedServer(change, router: router) { try await body($0, credential, seen) }
    }

    private static let kept: LoopbackServer.Router = { _ in .text("secret") }

    @Test(
        "B2.8: a certificate from one task's delegate is not shown for another task, on a used or a new connection",
        arguments: [TLSVersion.v12, .v13], [true, false])
    func identity(version: TLSVersion, closes: Bool) async throws {
        try await withAskingServer(version, router: closes ? oneAnswer : Self.kept) { judged, credential, seen in
            let delegates: [any URLSessionTaskDelegate] = [
                FullJudge(Habit.forIdentity(.useCredential, credential)),
                TaskJudge(Habit.forIdentity(.useCredential, credential)),
            ]
            for delegate in delegates {
                seen.value = []
                let session = judged.session(nil, trusts: true)
                _ = try await session.data(from: judged.url, delegate: delegate)
                #expect(seen.value == ["somebody"])
                let before = judged.server.stats
                _ = try await session.data(from: judged.url)
                _ = try await session.data(from: judged.url, delegate: AsyncTaskJudge())
                #expect(seen.value == ["somebody"])
                #expect(judged.server.stats.connectionsAccepted == before.connectionsAccepted + 2)
                #expect(judged.server.stats.resumedHandshakes == before.resumedHandshakes)
                session.invalidateAndCancel()
            }
        }
    }

    @Test(
        "B2.8: a server that one task's delegate accepted is refused for a task that would refuse it",
        arguments: [true, false])
    func trust(closes: Bool) async throws {
        try await withJudgedServer(router: closes ? oneAnswer : Self.kept) { judged in
            let session = judged.session(nil)
            let accepting = FullJudge()
            _ = try await session.data(from: judged.url, delegate: accepting)
            #expect(await codeThrown { _ = try await session.data(from: judged.url) } == .serverCertificateUntrusted)
            let strict = FullJudge(Habit.says(.cancelAuthenticationChallenge))
            #expect(
                await codeThrown { _ = try await session.data(from: judged.url, delegate: strict) } == .cancelled)
            #expect(judged.server.stats.requests == 1)
            _ = try await session.data(from: judged.url, delegate: accepting)
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B2.8: a task's delegate is asked about the server although the session has an idle connection, and may refuse")
    func stricter() async throws {
        try await withJudgedServer { judged in
            let session = judged.session(nil, trusts: true)
            _ = try await session.data(from: judged.url)
            let strict = TaskJudge(Habit.says(.rejectProtectionSpace))
            let code = await codeThrown { _ = try await session.data(from: judged.url, delegate: strict) }
            #expect(code == .serverCertificateUntrusted)
            #expect(judged.server.stats.requests == 1)
            session.invalidateAndCancel()
        }
    }

    @Test("B16.2: tasks with the same delegate share connections; another delegate of the same class has its own")
    func sameDelegate() async throws {
        try await withJudgedServer { judged in
            let session = judged.session(nil)
            let (first, second) = (FullJudge(), FullJudge())
            for _ in 1...3 { _ = try await session.data(from: judged.url, delegate: first) }
            #expect(judged.server.stats.connectionsAccepted == 1)
            for _ in 1...3 { _ = try await session.data(from: judged.url, delegate: second) }
            #expect(judged.server.stats.connectionsAccepted == 2)
            session.invalidateAndCancel()
        }
    }

    @Test("B2.8: a delegate that is gone leaves its connections to no other, even at its old address in memory")
    func addressesAgain() async throws {
        try await withJudgedServer { judged in
            let session = judged.session(nil)
            for _ in 1...40 { _ = try await session.data(from: judged.url, delegate: FullJudge()) }
            #expect(judged.server.stats.connectionsAccepted == 40)
            #expect(judged.server.stats.resumedHandshakes == 0)
            session.invalidateAndCancel()
        }
    }

    @Test("B16.2: a task's delegate that has no method for challenges shares connections with all other tasks")
    func silentDelegates() async throws {
        try await withJudgedServer { judged in
            let session = judged.session(SessionJudge())
            // EventHandlers tells which closures are set; for other classes the library learns its
            // methods at the first question.
            _ = try await session.data(from: judged.url, delegate: URLSession.EventHandlers())
            _ = try await session.data(from: judged.url)
            _ = try await session.data(from: judged.url, delegate: URLSession.EventHandlers())
            #expect(judged.server.stats.connectionsAccepted == 1)
            for _ in 1...3 {
                _ = try await session.data(from: judged.url, delegate: Quiet())
                _ = try await session.data(from: judged.url)
            }
            #expect(judged.server.stats.connectionsAccepted == 2)
            session.invalidateAndCancel()
        }
    }

    @Test("B16.2: after its first load a delegate without a method for challenges leaves its connection to all tasks")
    func silentDelegateFirst() async throws {
        try await withJudgedServer { judged in
            let session = judged.session(nil, trusts: true)
            _ = try await session.data(from: judged.url, delegate: QuietFirst())
            _ = try await session.data(from: judged.url, delegate: QuietFirst())
            _ = try await session.data(from: judged.url)
            #expect(judged.server.stats.connectionsAccepted == 1)
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B16.2: a delegate without a method for challenges leaves its TLS sessions to all tasks too",
        arguments: [TLSVersion.v12, .v13])
    func silentDelegatesTickets(version: TLSVersion) async throws {
        // A class for each version: the library learns a class's methods at its first load.
        final class Quiet12: NSObject, URLSessionTaskDelegate {}
        final class Quiet13: NSObject, URLSessionTaskDelegate {}
        try await withJudgedServer({ $0.maximum = version }, router: oneAnswer) { judged in
            let session = judged.session(nil, trusts: true)
            let delegate: any URLSessionTaskDelegate = version == .v12 ? Quiet12() : Quiet13()
            _ = try await session.data(from: judged.url, delegate: delegate)
            #expect(judged.server.stats.resumedHandshakes == 0)
            _ = try await session.data(from: judged.url)
            #expect(judged.server.stats.resumedHandshakes == 1)
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B16.1, B16.2: many tasks at once whose delegate has no method for challenges keep to the connections of a host"
    )
    func silentDelegatesAtOnce() async throws {
        try await withJudgedServer { judged in
            let session = judged.session(nil, trusts: true)
            let delegate = QuietMany()
            try await withThrowingTaskGroup { group in
                for _ in 1...30 {
                    group.addTask { _ = try await session.data(from: judged.url, delegate: delegate) }
                }
                try await group.waitForAll()
            }
            #expect(judged.server.stats.connectionsAccepted <= 6)
            _ = try await session.data(from: judged.url)
            #expect(judged.server.stats.connectionsAccepted <= 6)
            session.invalidateAndCancel()
        }
    }

    @Test("B2.8: a delegate whose closure for challenges is taken away shares no connection that it has decided about")
    func methodsThatGo() async throws {
        try await withAskingServer(.v13, router: oneAnswer) { judged, credential, seen in
            let session = judged.session(nil, trusts: true)
            let delegate = URLSession.EventHandlers()
            delegate.didReceiveChallenge = { _, challenge in
                challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodClientCertificate
                    ? (.useCredential, credential) : (.performDefaultHandling, nil)
            }
            _ = try await session.data(from: judged.url, delegate: delegate)
            #expect(seen.value == ["somebody"])
            // The TLS session that is resumed is one in which this delegate has shown a certificate.
            delegate.didReceiveChallenge = nil
            _ = try await session.data(from: judged.url, delegate: delegate)
            _ = try await session.data(from: judged.url)
            #expect(seen.value == ["somebody"])
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B16.2: where delegates are not asked about servers all tasks share connections; the session's delegate gives certificates"
    )
    func notAskedAboutServers() async throws {
        try await withAskingServer(.v13, router: Self.kept) { judged, credential, seen in
            let delegate = SessionJudge(Habit.forIdentity(.useCredential, credential))
            let configuration = judged.configuration(trusts: true)
            configuration.asksDelegatesAboutServers = false
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            _ = try await session.data(from: judged.url, delegate: FullJudge(Habit.forIdentity(.useCredential, nil)))
            _ = try await session.data(from: judged.url, delegate: QuietUnasked())
            _ = try await session.data(from: judged.url)
            #expect(seen.value == ["somebody"])
            #expect(judged.server.stats.connectionsAccepted == 1)
            session.invalidateAndCancel()
        }
    }

    @Test("B1.99, B2.8: a task's delegate shares connections where the session delegate's method is asked in its place")
    func notAsked() async throws {
        try await withJudgedServer { judged in
            let session = judged.session(SessionJudge())
            for _ in 1...3 {
                _ = try await session.data(from: judged.url)
                _ = try await session.data(from: judged.url, delegate: Passed())
            }
            // The first task had a connection of its own: nothing was known about the class of its delegate.
            #expect(judged.server.stats.connectionsAccepted == 2)
            session.invalidateAndCancel()
        }
    }

    @Test("B2.8: a task whose own delegate is the session's delegate shares the session's connections")
    func sessionsOwn() async throws {
        try await withJudgedServer { judged in
            let delegate = FullJudge()
            let session = judged.session(delegate)
            _ = try await session.data(from: judged.url, delegate: delegate)
            _ = try await session.data(from: judged.url)
            #expect(judged.server.stats.connectionsAccepted == 1)
            session.invalidateAndCancel()
        }
    }

    @Test("B16.2: over plain http tasks share connections, whatever delegates they have")
    func plainText() async throws {
        try await withServer(router: Self.kept) { server in
            let session = URLSession(configuration: .ephemeral)
            for _ in 1...3 { _ = try await session.data(from: try server.at("/"), delegate: FullJudge()) }
            _ = try await session.data(from: try server.at("/"))
            #expect(server.stats.connectionsAccepted == 1)
            session.invalidateAndCancel()
        }
    }

    @Test("B2.8, B15.45: a certificate that a stream task or a web socket has shown is shown for no other task")
    func otherTasks() async throws {
        let router: LoopbackServer.Router = { $0.path == "/socket" ? .webSocket() : .text("secret") }
        try await withAskingServer(.v13, router: router) { judged, credential, seen in
            let session = judged.session(nil, trusts: true)
            let delegate = TaskJudge(Habit.forIdentity(.useCredential, credential))
            let stream = session.streamTask(withHostName: "localhost", port: judged.server.port)
            stream.delegate = delegate
            stream.resume()
            stream.startSecureConnection()
            try await stream.write(Data("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8), timeout: 60)
            // The TLS tickets have come with the answer.
            let (data, _) = try await stream.readData(ofMinLength: 20, maxLength: 4_096, timeout: 60)
            #expect(data?.starts(with: Data("HTTP/1.1 200".utf8)) == true)
            #expect(seen.value == ["somebody"])
            _ = try await session.data(from: judged.url)
            #expect(judged.server.stats.resumedHandshakes == 0)

            let place = "wss://localhost:\(judged.server.port)/socket"
            let socket = session.webSocketTask(with: try #require(URL(string: place)))
            socket.delegate = FullJudge(Habit.forIdentity(.useCredential, credential))
            socket.resume()
            await judged.server.wait { $0.webSocketsOpen == 1 }
            #expect(seen.value == ["somebody", "somebody"])
            _ = try await session.data(from: judged.url)
            #expect(judged.server.stats.resumedHandshakes == 0)
            #expect(judged.server.stats.connectionsAccepted == 3)
            session.invalidateAndCancel()
        }
    }
}
