// Connections that are opened before there are requests for them.

import Testing
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingTrust

@Suite("Connections opened beforehand")
struct WarmingTests {
    @Test(
        "B16.81: a warm-up opens a connection and sends nothing; for the next request that connection is a reused one")
    func opens() throws {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .respond("1"), .receiveHead, .respond("2")])
        let warming = rig.submit(warms: 1)
        rig.settle()
        #expect(warming.warmth == .ready(isShared: false) && warming.error == nil && warming.head == nil)
        #expect(rig.core.counts == PoolCounts(idle: 1) && rig.peers[0].text.isEmpty)
        #expect(rig.submit(warms: 1).warmth == .ready(isShared: false))
        rig.advance(.seconds(30))
        let request = rig.submit()
        rig.settle()
        #expect(request.text == "1" && rig.peers.count == 1)
        let timeline = try #require(request.outcome?.timelines.last)
        #expect(timeline.reused && timeline.connectStart == nil)
        rig.expectClean()
    }

    @Test("B16.81: a warmed connection that dies under its first request is replaced")
    func dies() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .close], [.receiveHead, .respond("again")])
        rig.submit(warms: 1)
        rig.settle()
        rig.advance(.seconds(1))
        let request = rig.submit()
        rig.settle()
        #expect(request.text == "again" && request.outcome?.timelines.count == 2, "B6.26")
        rig.expectClean()
    }

    @Test("B16.81: warm-ups open several connections at once, within the limit of the host")
    func several() {
        let rig = EngineRig { $0.maximumConnectionsPerHost = 3 }
        rig.serve("host.test", [.receiveHead, .respond("1")])
        let journals = (1...4).map { rig.submit(warms: $0) }
        rig.settle()
        #expect(journals.map(\.warmth) == Array(repeating: .ready(isShared: false), count: 3) + [.full])
        #expect(rig.core.counts == PoolCounts(idle: 3) && rig.peers.count == 3)
        rig.expectClean()
    }

    @Test("B16.81: over HTTP/2 one connection is enough, and the warm-up says that it is shared")
    func http2() {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2()
        let first = rig.submit(warms: 1)
        rig.settle()
        #expect(first.warmth == .ready(isShared: true))
        #expect(rig.submit(warms: 4).warmth == .ready(isShared: true))
        let request = rig.submit()
        rig.settle()
        #expect(request.text == "hello" && peers.count == 1 && rig.core.counts == PoolCounts(idle: 1))
        rig.expectClean()
    }

    @Test("B16.81: a warm-up that opens no connection fails as a load would; time-outs and cancellations end it, too")
    func failures() {
        let rig = EngineRig()
        let refused = rig.submit(host: "10.0.0.9", warms: 1)
        rig.network.setName("slow.test", .hangs)
        let late = rig.submit(host: "slow.test", idleTimeout: .seconds(5), warms: 1)
        let cancelled = rig.submit(host: "slow.test", warms: 2)
        rig.settle()
        guard case .connect? = refused.error else {
            Issue.record("\(String(describing: refused.error))")
            return
        }
        cancelled.handle?.cancel()
        rig.advance(.seconds(5))
        guard case .idleTimeout(_, .lookingUpName, _)? = late.error else {
            Issue.record("\(String(describing: late.error))")
            return
        }
        #expect(cancelled.error.isCancelled && rig.network.cancelledLookups.count == 2)
        #expect(rig.core.counts.connections == 0 && refused.warmth == nil)
        rig.expectClean()
    }

    @Test("B16.81: a receiver that answers is asked about the connection that is opened for it")
    func asks() throws {
        let end = try TunnelEnd()
        let rig = EngineRig { $0.trust = AnchorsEvaluator(anchors: [end.root]) }
        let proxy = rig.serveProxy(
            "proxy.test", [{ [.receiveHead, .established, .tunnelTLS($0, $1, end.context)] }])
        let journal = rig.submit(scheme: .https, answers: true, route: .proxied(try testProxy()), warms: 1)
        rig.settle()
        guard case .peer(let question)? = journal.questions.last else {
            Issue.record("there was no question")
            return
        }
        #expect(journal.warmth == nil && rig.core.counts.idle == 0)
        question.answer(.accept)
        rig.settle()
        #expect(journal.warmth == .ready(isShared: false) && rig.core.counts == PoolCounts(idle: 1))
        #expect(proxy.texts.count == 1)
        rig.expectClean()
    }
}
