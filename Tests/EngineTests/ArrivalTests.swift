// The idle time of requests whose bytes the system has taken and sends by and by: what counts is
// when they reach the peer.

import Testing
import URLLoadingEngine
import URLLoadingSystem
import URLLoadingTestSupport

@Suite("Bytes on their way")
struct ArrivalTests {
    private let body = [UInt8](repeating: 1, count: 20_000)

    private func expectSilence(_ journal: Journal, sourceLocation: SourceLocation = #_sourceLocation) {
        guard case .idleTimeout("host.test", .waitingForResponse, .seconds(10)) = journal.error else {
            Issue.record("\(String(describing: journal.error))", sourceLocation: sourceLocation)
            return
        }
    }

    @Test(
        "B6.42: an upload lives while what the system has taken of it reaches the peer, and the idle time behind that")
    func slowLine() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .delay(.seconds(54)), .respond("ok")])
        let journal = rig.submit("POST", body: body, idleTimeout: .seconds(10))
        rig.advance(.seconds(1))
        // Asked after 10 s, and then 9 s after the time before.
        for left in [18_000, 15_000, 10_000, 5_000, 0] {
            rig.servers[0].told = Delivery(unacknowledged: left, age: .seconds(1))
            rig.advance(.seconds(9))
        }
        rig.advance(.seconds(8))
        #expect(journal.text == "ok" && journal.error == nil)
        rig.expectClean()
    }

    @Test("B6.42: an upload of which nothing more arrives ends after at most twice its time")
    func stuck() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead])
        let journal = rig.submit("POST", body: body, idleTimeout: .seconds(10))
        rig.advance(.seconds(1))
        for left in [18_000, 15_000] {
            rig.servers[0].told = Delivery(unacknowledged: left, age: .seconds(1))
            rig.advance(.seconds(9))
        }
        #expect(!journal.hasEnded)
        rig.advance(.milliseconds(8_999))
        #expect(!journal.hasEnded)
        rig.advance(.milliseconds(1))
        expectSilence(journal)
        rig.expectClean()
    }

    @Test(
        "B6.1, B6.42: when a request ends of which nothing arrives, or all has arrived, by what the peer was last heard to say",
        arguments: [
            // A peer that is gone; one that answers probes only.
            (15_000, 10, 10), (15_000, 0, 20), (15_000, 7, 13),
            // The last of it left at once; late.
            (0, 10, 10), (0, 4, 16),
        ])
    func still(left: Int, age: Int, end: Int) {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead])
        let journal = rig.submit("POST", body: body, idleTimeout: .seconds(10))
        rig.settle()
        rig.servers[0].told = Delivery(unacknowledged: left, age: .seconds(age))
        rig.advance(.milliseconds(end * 1000 - 1))
        #expect(!journal.hasEnded)
        rig.advance(.milliseconds(1))
        expectSilence(journal)
        rig.expectClean()
    }

    @Test("B6.42, H6.3: over HTTP/2 a stream lives by what arrives of it, and of what goes before it, not by others'")
    func streams() {
        let rig = EngineRig.http2()
        let peers = rig.serveHTTP2 { peer, _ in peer.onWhole = { _, _ in } }
        let first = rig.submit(idleTimeout: .seconds(10))
        let second = rig.submit("POST", body: body, idleTimeout: .seconds(10))
        rig.settle()
        let third = rig.submit("POST", body: body, idleTimeout: .seconds(10))
        rig.settle()
        let fourth = rig.submit(idleTimeout: .seconds(10))
        rig.settle()
        #expect(peers.count == 1 && peers[0].requests.count == 4)
        rig.advance(.seconds(1))
        peers[0].stream.told = Delivery(unacknowledged: 15_000, age: .seconds(1))
        rig.advance(.seconds(9))
        expectSilence(first)
        expectSilence(second)
        #expect(!third.hasEnded && !fourth.hasEnded)
        peers[0].stream.told = Delivery(unacknowledged: 0, age: .seconds(1))
        rig.advance(.seconds(9))
        #expect(!third.hasEnded && !fourth.hasEnded)
        rig.advance(.milliseconds(8_999))
        #expect(!third.hasEnded && !fourth.hasEnded)
        rig.advance(.milliseconds(1))
        expectSilence(third)
        expectSilence(fourth)
        rig.expectClean()
    }
}
