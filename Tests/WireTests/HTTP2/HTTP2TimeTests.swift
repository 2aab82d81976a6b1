// What time does to a connection: pings, suspicion, and a peer that is not there any more.

import Testing
import URLLoadingWire

@Suite("HTTP/2 and time")
struct HTTP2TimeTests {
    private let first = HTTP2StreamID(number: 1, slot: 0)

    private func ping(_ number: UInt64) -> [UInt8] { WireHTTP2.ping(number) }

    @Test("H6.5: while streams are open and nothing came for 30 s a PING is sent; 15 s later the connection is dead")
    func keepAlive() {
        var rig = HTTP2Rig.client()
        #expect(rig.timer == nil)
        rig.request()
        rig.forget()
        rig.wait(.seconds(29))
        #expect(rig.takeWritten().isEmpty)
        rig.wait(.seconds(1))
        #expect(rig.takeWritten() == ping(1))
        rig.wait(.seconds(14))
        #expect(rig.takeSaid().isEmpty)
        rig.wait(.seconds(1))
        #expect(rig.takeSaid() == [.closed(1, .connectionLost), .failed(.connection(.silence))])
        #expect(rig.takeWritten().isEmpty && rig.timer == nil)
    }

    @Test("H6.5: an answered PING begins anew; bytes of any kind count as life")
    func answered() {
        var rig = HTTP2Rig.client()
        rig.request()
        rig.forget()
        rig.wait(.seconds(20))
        rig.receive(WireHTTP2.ping(9))
        rig.wait(.seconds(29))
        #expect(rig.takeWritten() == WireHTTP2.ping(9, ack: true))
        rig.wait(.seconds(1))
        #expect(rig.takeWritten() == ping(1))
        rig.wait(.seconds(10))
        rig.receive(WireHTTP2.ping(1, ack: true))
        rig.wait(.seconds(29))
        #expect(rig.takeWritten().isEmpty)
        rig.wait(.seconds(1))
        #expect(rig.takeWritten() == ping(2))
        // The answer may stand behind much else.
        for _ in 0..<10 {
            rig.wait(.seconds(14))
            rig.receive(WireHTTP2.update(0, 1))
        }
        #expect(rig.takeSaid().isEmpty)
        rig.wait(.seconds(15))
        #expect(rig.takeSaid().last == .failed(.connection(.silence)))
    }

    @Test(
        "H6.5: an unanswered PING says nothing while the transport gets room again; that it takes a request is no sign")
    func movingOutput() {
        var rig = HTTP2Rig.client()
        rig.request()
        rig.forget()
        rig.wait(.seconds(30))
        #expect(rig.takeWritten() == ping(1))
        for _ in 0..<10 {
            rig.wait(.seconds(14))
            let now = rig.now
            rig.then { $0.outputMoved(now: now) }
        }
        rig.wait(.seconds(14))
        rig.request()
        #expect(rig.takeSaid().isEmpty)
        rig.wait(.seconds(1))
        #expect(rig.takeSaid().last == .failed(.connection(.silence)))
    }

    @Test("H6.5: no PING while idle; after 10 s one goes along with the next HEADERS, never a second one unanswered")
    func idle() {
        var rig = HTTP2Rig.client()
        rig.wait(.seconds(1000))
        #expect(rig.takeWritten().isEmpty)
        rig.request()
        #expect(rig.takeWritten() == WireHTTP2.headers(1, StandIn.final, ends: true) + ping(1))
        rig.then { $0.cancel(first) }
        rig.forget()
        rig.request()
        #expect(rig.takeWritten() == WireHTTP2.headers(3, StandIn.final, ends: true))
        rig.receive(WireHTTP2.headers(3, StandIn.final, ends: true) + WireHTTP2.ping(1, ack: true))
        rig.wait(.seconds(10))
        rig.forget()
        rig.request()
        #expect(rig.takeWritten() == WireHTTP2.headers(5, StandIn.final, ends: true))
    }

    @Test("H6.5: a request that is cancelled before it is written brings no PING along")
    func unwritten() {
        var rig = HTTP2Rig.client()
        rig.wait(.seconds(11))
        rig.then { if let id = $0.open(now: .seconds(11)) { $0.cancel(id) } }
        rig.receive(WireHTTP2.settings())
        rig.forget()
        rig.request()
        #expect(rig.takeWritten() == WireHTTP2.headers(1, StandIn.final, ends: true))
    }

    @Test("H6.3: a stream whose time is over is reset with CANCEL; a connection on which others were heard goes on")
    func timedOut() {
        var rig = HTTP2Rig.client()
        rig.request()
        rig.forget()
        rig.receive(WireHTTP2.ping(8))
        rig.forget()
        rig.then { $0.timedOut(first, now: .zero) }
        #expect(rig.takeSaid() == [.closed(1, .timedOut)])
        #expect(rig.takeWritten() == WireHTTP2.reset(1, .cancel))
        #expect(rig.request() != nil)
    }

    @Test("H6.4: a time-out without one byte since the request began makes suspect, until a PING is answered")
    func suspect() {
        var rig = HTTP2Rig.client()
        rig.request()
        rig.request()
        rig.forget()
        rig.then { $0.timedOut(first, now: .zero) }
        #expect(rig.takeSaid() == [.closed(1, .timedOut), .capacity(0)])
        #expect(rig.takeWritten() == WireHTTP2.reset(1, .cancel) + ping(1))
        #expect(rig.request() == nil)
        rig.receive(WireHTTP2.update(0, 1) + WireHTTP2.ping(55, ack: true))
        #expect(rig.request() == nil)
        rig.receive(WireHTTP2.ping(1, ack: true))
        #expect(rig.takeSaid() == [.capacity(0x7FFF_FFFF)])
        #expect(rig.request() != nil)
    }

    @Test("H6.4: without an answer a suspect connection is dead, also if nothing is open on it any more")
    func deadSuspect() {
        var rig = HTTP2Rig.client()
        rig.request()
        rig.then { $0.timedOut(first, now: .zero) }
        rig.forget()
        rig.wait(.seconds(15))
        #expect(rig.takeSaid() == [.failed(.connection(.silence))])
    }

    @Test("H8.12: settings that are not acknowledged in 10 s end a connection on which something comes")
    func settingsTimeout() {
        var rig = HTTP2Rig(.client)
        rig.start()
        rig.receive(WireHTTP2.settings())
        rig.request()
        rig.forget()
        rig.wait(.seconds(9))
        rig.receive(WireHTTP2.headers(1, StandIn.final) + WireHTTP2.data(1, [1]))
        #expect(rig.takeSaid() == [.head(1, .final, StandIn.final), .data(1, [1])])
        rig.wait(.seconds(2))
        #expect(rig.takeSaid().isEmpty)
        rig.receive(WireHTTP2.data(1, [2]))
        let fault = HTTP2Fault.connection(.settingsUnacknowledged)
        #expect(
            rig.takeSaid() == [.data(1, [2]), .closed(1, .connectionFailed(fault)), .failed(fault)])
        #expect(rig.takeWritten() == WireHTTP2.goAway(0, .settingsTimeout))
    }

    @Test("H8.12: an acknowledgement that comes late, with what else comes, is good")
    func lateAcknowledgement() {
        var rig = HTTP2Rig(.client)
        rig.start()
        rig.receive(WireHTTP2.settings())
        rig.request()
        rig.wait(.seconds(20))
        rig.forget()
        rig.receive(WireHTTP2.headers(1, StandIn.final) + WireHTTP2.settingsAck)
        rig.receive(WireHTTP2.data(1, [1], ends: true))
        #expect(rig.takeSaid().last == .closed(1, .finished))
    }

    @Test("R9113 §6.7: one timer is enough, and is set anew only where it would come too late")
    func timer() {
        var rig = HTTP2Rig.client()
        rig.request()
        #expect(rig.timer == .seconds(30))
        rig.wait(.seconds(10))
        rig.receive(WireHTTP2.headers(1, StandIn.final))
        #expect(rig.timer == .seconds(30))
        rig.wait(.seconds(20))
        #expect(rig.timer == .seconds(40))
        rig.then { $0.timedOut(first, now: .seconds(30)) }
        #expect(rig.timer == .seconds(40))
        rig.wait(.seconds(10))
        #expect(rig.timer == nil)
    }
}
