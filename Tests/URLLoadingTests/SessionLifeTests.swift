// Making, sharing and ending sessions (behaviour 1.1 to 1.3).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Life of sessions")
struct SessionLifeTests {
    @Test("B1.3: a session has its own copy of its configuration")
    func copiesConfiguration() {
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForRequest = 5
        let session = URLSession(configuration: configuration)
        configuration.timeoutIntervalForRequest = 6
        #expect(session.configuration.timeoutIntervalForRequest == 5)
        session.configuration.timeoutIntervalForRequest = 7
        #expect(session.configuration.timeoutIntervalForRequest == 5)
    }

    @Test("B1.6: the shared session has no delegate and cannot be ended")
    func sharedSession() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            #expect(URLSession.shared === URLSession.shared)
            #expect(URLSession.shared.delegate == nil)
            URLSession.shared.finishTasksAndInvalidate()
            URLSession.shared.invalidateAndCancel()
            let (data, _) = try await URLSession.shared.data(from: try server.at("/"))
            #expect(data == Data("hello".utf8))
        }
    }

    @Test("B1.4, B1.54: copying a session gives the session itself, and sessionDescription is kept")
    func copies() {
        let session = URLSession(configuration: .ephemeral)
        #expect(session.copy() as? URLSession === session)
        session.sessionDescription = "mine"
        #expect(session.sessionDescription == "mine")
        #expect(session.delegateQueue.maxConcurrentOperationCount == 1, "B1.27")
        let queue = OperationQueue()
        #expect(URLSession(configuration: .default, delegate: nil, delegateQueue: queue).delegateQueue === queue)
    }

    @Test("B1.14, B1.15, B1.17, B1.18: finishTasksAndInvalidate waits for the tasks, then tells the delegate last")
    func finishTasks() async throws {
        let gate = ServerGate()
        try await withServer(router: { _ in .slow([.init("hello", when: gate)]) }) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            session.dataTask(with: try server.at("/")).resume()
            let suspended = session.dataTask(with: try server.at("/"))
            session.finishTasksAndInvalidate()
            gate.open()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.invalidated.count == 0)
            suspended.resume()
            await delegate.transcript.invalidated.wait()
            let calls = delegate.transcript.calls
            #expect(calls.filter { $0 == "complete nil" }.count == 2)
            #expect(calls.last == "invalid nil")
            try await until { session.delegate == nil }
        }
    }

    /// The delegate of its own session, which it ends in its deinit.
    private final class Client: NSObject, URLSessionDelegate {
        private let made = Guarded<URLSession?>(nil)
        private let gone: Signal

        init(_ gone: Signal) {
            self.gone = gone
            super.init()
            made.value = URLSession(configuration: .ephemeral, delegate: self, delegateQueue: nil)
        }

        func finish() { made.value?.finishTasksAndInvalidate() }

        deinit {
            made.value?.invalidateAndCancel()
            gone.fire()
        }
    }

    @Test("B1.13: a delegate that only its session holds may call the session in its deinit")
    func delegateEndsSession() async {
        let gone = Signal()
        Client(gone).finish()
        await gone.wait()
    }

    @Test(
        "B16.7: no connection outlives its session, not even one whose handshake the peer leaves unanswered",
        .http1Only("Streams share a connection, and no second one is opened"))
    func unansweredHandshake() async throws {
        let gate = ServerGate()
        let (root, identity) = try CertificateFactory.server("127.0.0.1")
        let answer = ServerResponse.slow([.init("hello", when: gate)])
        try await withServer(.init(tls: ServerTLS(identity: identity)), router: { _ in answer }) { server in
            let proxy = try FaultProxy.start(before: server.port) { options in
                options.plan = { $0 == 1 ? FaultPlan() : FaultPlan(toServer: [Fault(at: 0, .delay(.seconds(3600)))]) }
            }
            let url = try #require(URL(string: "https://127.0.0.1:\(proxy.port)/"))
            let configuration = URLSessionConfiguration.ephemeral
            configuration.serverTrustEvaluation = .anchors(pem: root.pem)
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            session.dataTask(with: url).resume()
            await server.wait { $0.requests == 1 }
            session.dataTask(with: url).resume()
            try await until { ProcessSockets.connections(to: proxy.port) == 2 }
            gate.open()
            await delegate.transcript.completed.wait(times: 2)
            #expect(server.stats.handshakes == 1)
            session.finishTasksAndInvalidate()
            await delegate.transcript.invalidated.wait()
            try await until { ProcessSockets.connections(to: proxy.port) == 0 }
            await proxy.stop()
        }
    }

    @Test("B1.16, B1.19, B1.20: invalidateAndCancel cancels running and never resumed tasks, then tells the delegate")
    func invalidateAndCancel() async throws {
        let gate = ServerGate()
        try await withServer(router: { _ in .slow([.init("hello", when: gate)]) }) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let running = session.dataTask(with: try server.at("/"))
            running.resume()
            let suspended = session.dataTask(with: try server.at("/"))
            session.invalidateAndCancel()
            #expect(await session.allTasks.isEmpty)
            await delegate.transcript.invalidated.wait()
            let calls = delegate.transcript.calls
            #expect(calls.filter { $0 == "complete -999" }.count == 2)
            #expect(calls.last == "invalid nil")
            suspended.resume()
            #expect(suspended.state == .completed)
        }
    }

    @Test("B1.15: the delegate of a session without tasks hears of the session's end at once")
    func invalidateEmpty() async {
        let delegate = RecordingDelegate()
        let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
        session.finishTasksAndInvalidate()
        session.finishTasksAndInvalidate()
        session.invalidateAndCancel()
        await delegate.transcript.invalidated.wait()
        #expect(delegate.transcript.calls == ["invalid nil"])
    }

    @Test("B1.21: a task made on an ended session ends with −999 when resumed")
    func taskOnEndedSession() async throws {
        let delegate = RecordingDelegate()
        let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
        session.invalidateAndCancel()
        await delegate.transcript.invalidated.wait()
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let error = await withHandover { continuation in
            session.dataTask(with: url) { continuation.resume(returning: $2) }.resume()
        }
        #expect((error as? URLError)?.code == .cancelled)
        #expect(await codeThrown { _ = try await session.data(from: url) } == .cancelled)
    }

    @Test("B1.26: flush and reset make later requests use new connections, and call on the delegate queue")
    func flushing() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let session = URLSession(configuration: .default)
            let url = try server.at("/")
            _ = try await session.data(from: url)
            _ = try await session.data(from: url)
            #expect(server.stats.connectionsAccepted == 1)
            await session.flush()
            _ = try await session.data(from: url)
            #expect(server.stats.connectionsAccepted == 2)
            let queue = session.delegateQueue
            let isOnQueue = await withHandover { continuation in
                session.reset { continuation.resume(returning: OperationQueue.current === queue) }
            }
            #expect(isOnQueue)
            _ = try await session.data(from: url)
            #expect(server.stats.connectionsAccepted == 3)
        }
    }

    @Test("B1.26: a connection that is in use while a session is reset serves no later request")
    func flushingInUse() async throws {
        let gate = ServerGate()
        try await withServer(router: { $0.path == "/slow" ? .slow([.init("slow", when: gate)]) : .text("hello") }) {
            server async throws in
            let session = URLSession(configuration: .ephemeral)
            let (slow, url) = (try server.at("/slow"), try server.at("/"))
            async let first = session.data(from: slow)
            await server.wait { $0.requests == 1 }
            await session.reset()
            _ = try await session.data(from: url)
            #expect(server.stats.connectionsAccepted == 2)
            gate.open()
            #expect(try await first.0 == Data("slow".utf8))
            await server.wait { $0.connectionsOpen == 1 }
            _ = try await session.data(from: url)
            #expect(server.stats.connectionsAccepted == 2)
            session.invalidateAndCancel()
        }
    }

    @Test("B1.26: a connection that is being opened while a session is reset serves no later request")
    func resettingInHandshake() async throws {
        let (_, identity) = try CertificateFactory.server("127.0.0.1")
        try await withServer(.init(tls: ServerTLS(identity: identity)), router: { _ in .text("hello") }) {
            server async throws in
            let sessions = Guarded<URLSession?>(nil)
            let judge = SessionJudge { challenge, reply in
                sessions.value?.reset { Habit.accepts(challenge, reply) }
            }
            let session = URLSession(configuration: .ephemeral, delegate: judge, delegateQueue: nil)
            sessions.value = session
            for connections in 1...2 {
                #expect(try await session.data(from: server.at("/")).0 == Data("hello".utf8))
                #expect(server.stats.connectionsAccepted == connections)
            }
            session.invalidateAndCancel()
            sessions.value = nil
        }
    }

    @Test("B16.7: ending a session, or letting it go, closes its connections", arguments: [true, false])
    func closesConnections(invalidates: Bool) async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            try await load(server.at("/"), invalidates: invalidates)
            await server.wait { $0.connectionsAccepted == 1 && $0.connectionsOpen == 0 }
        }
    }

    private func load(_ url: URL, invalidates: Bool) async throws {
        let session = URLSession(configuration: .default)
        _ = try await session.data(from: url)
        if invalidates { session.finishTasksAndInvalidate() }
    }

    @Test("A delegate that ends its session inside a callback gets every call once", arguments: 0..<20)
    func invalidateInsideCallback(repetition: Int) async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let sessions = Guarded<URLSession?>(nil)
            let delegate = RecordingDelegate(onData: { _ in sessions.value?.invalidateAndCancel() })
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            sessions.value = session
            session.dataTask(with: try server.at("/")).resume()
            await delegate.transcript.invalidated.wait()
            sessions.value = nil
            #expect(
                delegate.transcript.calls == [
                    "created 1", "response 200", "data", "metrics 1", "complete -999", "invalid nil",
                ])
        }
    }
}
