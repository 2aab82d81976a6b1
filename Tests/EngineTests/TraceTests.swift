import Testing
import URLLoadingEngine
import URLLoadingSystem
import URLLoadingTestSupport

/// What the observers of an engine's connections and requests are told, and in which order.
@Suite struct TraceTests {
    /// Writes down every call.
    private final class Log: Sendable {
        private let lines = Guarded<[String]>([])

        var all: [String] { lines.withLock { $0 } }

        private func note(_ line: String) { lines.withLock { $0.append(line) } }

        func followConnections(_ configuration: inout EngineConfiguration) {
            configuration.connectionObserver = { [self] _, step in
                switch step {
                case .lookupStarted(let host): note("lookup \(host)")
                case .lookupFinished(let host, let addresses):
                    note("looked up \(host): \(addresses?.map(\.description) ?? ["nothing"])")
                case .connectStarted(_, let address): note("connect \(address)")
                case .connectFinished(_, let address, let error):
                    note("connected \(address): \(error?.message ?? "yes")")
                case .opened(_, let spoken): note("open: \(spoken.name)")
                case .closed: note("closed")
                case .tunnelFinished, .handshakeFinished, .detached: note("\(step)")
                }
            }
        }

        /// A trace of one request.
        func requestTrace(_ name: Int) -> RequestTrace {
            RequestTrace { [self] step in
                switch step {
                case .assigned(let assignment): note("request \(name) assigned, reused: \(assignment.isReused)")
                case .sent: note("request \(name) sent")
                case .answered(let status): note("request \(name) answered \(status)")
                case .replayed: note("request \(name) replayed")
                case .ended(let error): note("request \(name) finished, failed: \(error != nil)")
                }
            }
        }
    }

    /// Submits a request that is followed, and waits for its end.
    private func load(_ name: Int, _ rig: EngineRig, _ log: Log, host: String = "host.test") {
        rig.trace = log.requestTrace(name)
        rig.submit(host: host)
        rig.settle()
    }

    @Test("Each step of a request is told once and in order; a kept connection skips the first ones")
    func twoRequests() {
        let log = Log()
        let rig = EngineRig { log.followConnections(&$0) }
        rig.serve("host.test", [.receiveHead, .respond("a"), .receiveHead, .respond("b")])
        load(1, rig, log)
        load(2, rig, log)
        rig.expectClean()
        #expect(
            log.all == [
                "lookup host.test", "looked up host.test: [\"10.0.0.1:80\"]", "connect 10.0.0.1:80",
                "connected 10.0.0.1:80: yes", "open: http/1.1", "request 1 assigned, reused: false", "request 1 sent",
                "request 1 answered 200", "request 1 finished, failed: false", "request 2 assigned, reused: true",
                "request 2 sent", "request 2 answered 200", "request 2 finished, failed: false", "closed",
            ])
    }

    @Test("B16.12: a literal is not looked up; an address that refuses is told with its reason")
    func literalRefuses() {
        let log = Log()
        let rig = EngineRig { log.followConnections(&$0) }
        load(1, rig, log, host: "10.9.9.9")
        rig.expectClean()
        #expect(
            log.all == [
                "connect 10.9.9.9:80", "connected 10.9.9.9:80: Connection refused",
                "request 1 finished, failed: true",
            ])
    }

    @Test("A name that cannot be looked up ends there")
    func unknownName() {
        let log = Log()
        let rig = EngineRig { log.followConnections(&$0) }
        load(1, rig, log, host: "unknown.test")
        rig.expectClean()
        #expect(
            log.all == [
                "lookup unknown.test", "looked up unknown.test: [\"nothing\"]", "request 1 finished, failed: true",
            ])
    }

    @Test("B6.26: a replay is told, and keeps the request's number")
    func replay() {
        let log = Log()
        let rig = EngineRig { log.followConnections(&$0) }
        rig.serve(
            "host.test", [.receiveHead, .respond("a"), .receiveHead, .close], [.receiveHead, .respond("b")])
        load(1, rig, log)
        load(2, rig, log)
        rig.expectClean()
        #expect(log.all.filter { $0 == "request 2 replayed" }.count == 1)
        #expect(
            log.all.filter { $0.hasPrefix("request 2 assigned") } == [
                "request 2 assigned, reused: true", "request 2 assigned, reused: false",
            ])
    }
}
