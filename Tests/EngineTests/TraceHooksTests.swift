import Testing
import URLLoadingEngine
import URLLoadingSystem
import URLLoadingTestSupport

/// What the hooks are told, and in which order.
@Suite struct TraceHooksTests {
    /// Writes down every call.
    private final class Log: Sendable {
        private let lines = Guarded<[String]>([])

        var all: [String] { lines.withLock { $0 } }

        var hooks: TraceHooks {
            let note: @Sendable (String) -> Void = { [self] line in lines.withLock { $0.append(line) } }
            var hooks = TraceHooks()
            hooks.lookupStarted = { note("lookup \($0)") }
            hooks.lookupFinished = { note("looked up \($0): \($1?.map(\.description) ?? ["nothing"])") }
            hooks.connectStarted = { note("connect \($1)") }
            hooks.connectFinished = { note("connected \($1): \($2?.message ?? "yes")") }
            hooks.handshakeFinished = { _, negotiated, error in note("TLS: \(negotiated != nil), \(error != nil)") }
            hooks.connectionAssigned = { note("request \($0) assigned, reused: \($2)") }
            hooks.requestSent = { note("request \($0) sent") }
            hooks.responseReceived = { note("request \($0) answered \($1)") }
            hooks.replayed = { note("request \($0) replayed") }
            hooks.finished = { note("request \($0) finished, failed: \($1 != nil)") }
            hooks.connectionClosed = { _ in note("closed") }
            return hooks
        }
    }

    @Test("Each step of a request is told once and in order; a kept connection skips the first ones")
    func twoRequests() {
        let log = Log()
        let rig = EngineRig { $0.trace = log.hooks }
        rig.serve("host.test", [.receiveHead, .respond("a"), .receiveHead, .respond("b")])
        rig.submit()
        rig.settle()
        rig.submit()
        rig.settle()
        rig.expectClean()
        #expect(
            log.all == [
                "lookup host.test", "looked up host.test: [\"10.0.0.1:80\"]", "connect 10.0.0.1:80",
                "connected 10.0.0.1:80: yes", "request 1 assigned, reused: false", "request 1 sent",
                "request 1 answered 200", "request 1 finished, failed: false", "request 2 assigned, reused: true",
                "request 2 sent", "request 2 answered 200", "request 2 finished, failed: false", "closed",
            ])
    }

    @Test("B16.12: a literal is not looked up; an address that refuses is told with its reason")
    func literalRefuses() {
        let log = Log()
        let rig = EngineRig { $0.trace = log.hooks }
        rig.submit(host: "10.9.9.9")
        rig.settle()
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
        let rig = EngineRig { $0.trace = log.hooks }
        rig.submit(host: "unknown.test")
        rig.settle()
        rig.expectClean()
        #expect(
            log.all == [
                "lookup unknown.test", "looked up unknown.test: [\"nothing\"]", "request 1 finished, failed: true",
            ])
    }

    @Test("B6.26: a replay is told, and keeps the request's number")
    func replay() {
        let log = Log()
        let rig = EngineRig { $0.trace = log.hooks }
        rig.serve(
            "host.test", [.receiveHead, .respond("a"), .receiveHead, .close], [.receiveHead, .respond("b")])
        rig.submit()
        rig.settle()
        rig.submit()
        rig.settle()
        rig.expectClean()
        #expect(log.all.filter { $0 == "request 2 replayed" }.count == 1)
        #expect(
            log.all.filter { $0.hasPrefix("request 2 assigned") } == [
                "request 2 assigned, reused: true", "request 2 assigned, reused: false",
            ])
    }
}
