import Testing
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingWire

/// Connections that stay with one load from a request to the next, as NTLM and Negotiate need it.
@Suite struct KeptConnectionTests {
    private let rounds: [ScriptedPeer.Step] = [
        .receiveHead, .respond("no", status: "401 Unauthorized"), .receiveHead, .respond("yes"), .receiveHead,
        .respond("other"),
    ]

    /// Plays a first round to its end, its connection kept.
    private func firstRound(_ rig: EngineRig) -> Journal {
        let journal = rig.submit { count in count == 0 ? .pause : .more }
        rig.settle()
        journal.handle?.keepConnection()
        journal.handle?.resumeReading()
        rig.settle()
        #expect(journal.text == "no")
        return journal
    }

    @Test("B2.93: the next round goes out on the kept connection, before a request that waits")
    func nextRound() {
        let rig = EngineRig { $0.maximumConnectionsPerHost = 1 }
        rig.serve("host.test", rounds)
        let first = firstRound(rig)
        let other = rig.submit()
        rig.settle()
        #expect(!other.hasEnded)
        let second = rig.submit(continues: first)
        rig.settle()
        #expect(second.text == "yes" && second.outcome?.timelines.last?.reused == true)
        #expect(other.text == "other")
        #expect(rig.network.dialled.count == 1)
        rig.expectClean()
    }

    @Test("Where no next round comes the connection is closed, and a request that waits gets another")
    func abandoned() throws {
        let rig = EngineRig { $0.maximumConnectionsPerHost = 1 }
        rig.serve("host.test", rounds, [.receiveHead, .respond("new")])
        let first = firstRound(rig)
        let other = rig.submit()
        rig.settle()
        #expect(!other.hasEnded)
        let before = try #require(first.handle?.id)
        rig.core.abandonKept(after: before)
        rig.settle()
        #expect(other.text == "new" && rig.network.dialled.count == 2)
        rig.expectClean()
    }

    @Test("A next round that is cancelled gives the connection up")
    func cancelled() {
        let rig = EngineRig { $0.maximumConnectionsPerHost = 1 }
        rig.serve("host.test", rounds)
        let first = firstRound(rig)
        let second = rig.submit(continues: first)
        second.handle?.cancel()
        rig.settle()
        #expect(second.error.isCancelled)
        #expect(rig.core.counts.connections == 0)
        rig.expectClean()
    }

    @Test("A connection that the server closes between the rounds is replaced")
    func closedBetween() {
        let rig = EngineRig()
        rig.serve(
            "host.test", [.receiveHead, .respond("no", status: "401 Unauthorized"), .delay(.milliseconds(10)), .close],
            [.receiveHead, .respond("yes")])
        let first = firstRound(rig)
        rig.advance(.seconds(1))
        #expect(rig.core.counts.connections == 0)
        let second = rig.submit(continues: first)
        rig.settle()
        #expect(second.text == "yes" && rig.network.dialled.count == 2)
        rig.expectClean()
    }

    @Test(
        "RFC 4559 §6: what answers a challenge is sent on the kept connection only: where that has gone nothing is dialled"
    )
    func keptHasGone() {
        let rig = EngineRig()
        rig.serve(
            "host.test",
            [.receiveHead, .respond("no", status: "401 Unauthorized", fields: "Connection: close\r\n")],
            [.receiveHead, .respond("yes")])
        let first = firstRound(rig)
        let second = rig.submit(again: SecondSending(needsKept: true), continues: first)
        rig.settle()
        #expect(second.outcome?.again?.needsKept == true && second.outcome?.timelines.isEmpty == true)
        #expect(rig.network.dialled.count == 1)
        rig.expectClean()
    }

    @Test("RFC 4559 §6: nothing is dialled where the kept connection goes while the next round is suspended")
    func keptGoesMeanwhile() {
        let rig = EngineRig()
        rig.serve(
            "host.test", [.receiveHead, .respond("no", status: "401 Unauthorized"), .delay(.milliseconds(10)), .close],
            [.receiveHead, .respond("yes")])
        let first = firstRound(rig)
        let second = rig.submit(again: SecondSending(needsKept: true), continues: first, beginning: .suspended)
        rig.settle()
        #expect(!second.hasEnded && rig.core.counts.connections == 1)
        rig.advance(.seconds(1))
        #expect(!second.hasEnded && rig.core.counts.connections == 0)
        second.handle?.resume()
        rig.settle()
        #expect(second.outcome?.again?.needsKept == true && second.outcome?.timelines.isEmpty == true)
        #expect(rig.network.dialled.count == 1)
        rig.expectClean()
    }

    @Test("RFC 4559 §6: what answers a challenge is not sent again on another connection when the kept one is lost")
    func keptIsLost() {
        let rig = EngineRig()
        rig.serve(
            "host.test", [.receiveHead, .respond("no", status: "401 Unauthorized"), .receiveHead, .close],
            [.receiveHead, .respond("yes")])
        let first = firstRound(rig)
        let second = rig.submit(again: SecondSending(needsKept: true), continues: first)
        rig.settle()
        #expect(second.outcome?.again?.needsKept == true)
        #expect(rig.network.dialled.count == 1)
        rig.expectClean()
    }

    @Test("A connection that cannot be used again is not kept")
    func closing() {
        let rig = EngineRig()
        rig.serve(
            "host.test",
            [.receiveHead, .respond("no", status: "401 Unauthorized", fields: "Connection: close\r\n")],
            [.receiveHead, .respond("yes")])
        let first = firstRound(rig)
        #expect(rig.core.counts.connections == 0)
        let second = rig.submit(continues: first)
        rig.settle()
        #expect(second.text == "yes")
        rig.expectClean()
    }
}
