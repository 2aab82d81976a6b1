// How streams and connections end: what is cancelled, reset, turned away and lost, and what a
// second try may know of it.

import Testing
import URLLoadingWire

@Suite("HTTP/2 ends")
struct HTTP2EndsTests {
    private func client(_ requests: Int, _ body: HTTP2DeclaredLength = .none) -> HTTP2Rig {
        var rig = HTTP2Rig.client()
        for _ in 0..<requests { rig.request(body) }
        rig.forget()
        return rig
    }

    private func id(_ number: UInt32) -> HTTP2StreamID {
        HTTP2StreamID(number: number, slot: Int32(number / 2))
    }

    private func answer(_ number: UInt32) -> [UInt8] { WireHTTP2.headers(number, StandIn.final, ends: true) }

    private func answered(_ number: UInt32) -> [Said] {
        [.head(number, .final, StandIn.final), .messageEnds(number), .closed(number, .finished)]
    }

    @Test("H6.1: cancelling resets the stream with CANCEL, and others notice nothing")
    func cancel() {
        var rig = client(2)
        rig.then { $0.cancel(id(1)) }
        rig.then { $0.cancel(id(1)) }
        #expect(rig.takeWritten() == WireHTTP2.reset(1, .cancel))
        #expect(rig.takeSaid() == [.closed(1, .cancelled)])
        rig.receive(answer(3))
        #expect(rig.takeSaid() == answered(3))
    }

    @Test("H6.2: what was under way for a stream that we have reset is taken, and blocks are decoded")
    func underWay() {
        var rig = client(1)
        rig.then { $0.cancel(id(1)) }
        rig.forget()
        rig.receive(
            WireHTTP2.headers(1, StandIn.final, isWhole: false) + WireHTTP2.continuation(1, [9], isWhole: true)
                + WireHTTP2.data(1, [1, 2]) + WireHTTP2.update(1, 1) + WireHTTP2.data(1, [], ends: true)
                + WireHTTP2.reset(1, .noError))
        #expect(rig.takeSaid() == [.discarded(StandIn.final + [9])])
        #expect(rig.takeWritten().isEmpty)
    }

    @Test("H6.2: a stream may be cancelled between any two pieces of what comes for it")
    func cancelAnywhere() {
        let bytes =
            WireHTTP2.headers(1, [1], isWhole: false) + WireHTTP2.continuation(1, [1], isWhole: true)
            + WireHTTP2.data(1, [1, 2, 3], padding: 2) + WireHTTP2.headers(1, StandIn.trailers, ends: true)
        for place in 0..<bytes.count {
            var rig = client(2)
            rig.receive(Array(bytes[..<place]))
            rig.then { $0.cancel(id(1)) }
            #expect(rig.takeSaid().last == .closed(1, .cancelled), "\(place)")
            rig.receive(Array(bytes[place...]) + answer(3))
            let said = rig.takeSaid()
            #expect(said.suffix(3) == answered(3), "\(place)")
            #expect(!said.contains { if case .data = $0 { true } else { false } }, "\(place)")
            #expect(rig.takeWritten() == WireHTTP2.reset(1, .cancel), "\(place)")
        }
    }

    @Test("H7.1: GOAWAY turns away what is above its number, at once, and the rest goes on to its end")
    func goAway() {
        var rig = client(3)
        rig.receive(WireHTTP2.goAway(3, .noError, "bye"))
        #expect(rig.takeSaid() == [.closed(5, .turnedAway(.noError)), .draining(.noError)])
        #expect(rig.request() == nil)
        #expect(rig.machine.capacity == 0)
        #expect(rig.machine.goodbyeText == Array("bye".utf8))
        rig.receive(answer(1))
        #expect(rig.takeSaid() == answered(1))
        rig.receive(answer(3))
        #expect(rig.takeSaid() == answered(3) + [.finished])
        #expect(rig.takeWritten().isEmpty)
    }

    @Test(
        "H7.3: whether a GOAWAY has left other streams to their ends, of which none was refused",
        arguments: [(UInt32(0), false, false), (1, false, true), (3, false, true), (3, true, false)])
    func goAwayBehindOthers(last: UInt32, isRefusing: Bool, hasTakenSome: Bool) {
        var rig = client(3)
        if isRefusing { rig.receive(WireHTTP2.reset(1, .refusedStream)) }
        rig.receive(WireHTTP2.goAway(last, .noError))
        #expect(rig.takeSaid().contains(.closed(5, .turnedAway(.noError))))
        #expect(rig.machine.hasTakenSome == hasTakenSome)
    }

    @Test("H7.1: several GOAWAYs may come, whose number falls and must not rise")
    func severalGoAways() {
        var rig = client(3)
        rig.receive(WireHTTP2.goAway(0x7FFF_FFFF, .noError))
        #expect(rig.takeSaid() == [.draining(.noError)])
        rig.receive(WireHTTP2.goAway(3, .enhanceYourCalm) + WireHTTP2.goAway(3, .enhanceYourCalm))
        #expect(rig.takeSaid() == [.closed(5, .turnedAway(.enhanceYourCalm))])
        rig.receive(WireHTTP2.goAway(1, .noError))
        #expect(rig.takeSaid() == [.closed(3, .turnedAway(.noError))])
        rig.receive(WireHTTP2.goAway(3, .noError))
        let fault = HTTP2Fault.connection(.goAwayRises)
        #expect(rig.takeSaid() == [.closed(1, .connectionFailed(fault)), .failed(fault)])
        #expect(rig.takeWritten() == WireHTTP2.goAway(0, .protocolError))
    }

    @Test("H2.8: an idle connection that gets GOAWAY is finished at once")
    func idleGoAway() {
        var rig = client(0)
        rig.receive(WireHTTP2.ping(1) + WireHTTP2.goAway(0, .noError))
        #expect(rig.takeSaid() == [.draining(.noError), .finished])
        #expect(rig.takeWritten() == WireHTTP2.ping(1, ack: true))
    }

    @Test("H7.2: REFUSED_STREAM was not processed; H7.1: nor what was turned away; H7.4: anything else may have been")
    func unprocessed() {
        var rig = client(2)
        rig.receive(WireHTTP2.reset(1, .refusedStream) + WireHTTP2.reset(3, .cancel))
        #expect(rig.takeSaid() == [.closed(1, .reset(.refusedStream)), .closed(3, .reset(.cancel))])
        #expect(rig.takeWritten().isEmpty)
        #expect(HTTP2StreamEnd.reset(.refusedStream).isUnprocessed)
        #expect(HTTP2StreamEnd.turnedAway(.internalError).isUnprocessed)
        let fault = HTTP2Fault.connection(.silence)
        let others: [HTTP2StreamEnd] = [
            .finished, .cancelled, .timedOut, .bodyTooShort, .reset(.cancel), .reset(.noError), .faulted(fault),
            .connectionFailed(fault), .connectionLost,
        ]
        for end in others { #expect(!end.isUnprocessed, "\(end)") }
        #expect(HTTP2StreamEnd.reset(.http11Required).peerCode == .http11Required)
        #expect(HTTP2StreamEnd.turnedAway(.enhanceYourCalm).peerCode == .enhanceYourCalm)
        #expect(others.filter { $0.peerCode != nil } == [.reset(.cancel), .reset(.noError)])
    }

    @Test("H7.5: a whole answer while our body is unfinished is a success, and the body is stopped")
    func earlyAnswer() {
        var rig = client(1, .unknown)
        rig.then { $0.bodyReady(id(1)) }
        rig.receive(answer(1) + WireHTTP2.reset(1, .noError))
        #expect(rig.takeSaid() == answered(1))
        #expect(rig.takeWritten() == WireHTTP2.reset(1, .cancel))
        #expect(rig.fill(100) == [])
    }

    @Test("H7.5: NO_ERROR with an unfinished answer is not a success")
    func earlyReset() {
        var rig = client(1, .unknown)
        rig.receive(WireHTTP2.headers(1, StandIn.final) + WireHTTP2.data(1, [1]) + WireHTTP2.reset(1, .noError))
        #expect(
            rig.takeSaid() == [.head(1, .final, StandIn.final), .data(1, [1]), .closed(1, .reset(.noError))])
        #expect(rig.takeWritten().isEmpty)
    }

    @Test("H7.6: RST_STREAM after the end of the answer changes nothing")
    func lateReset() {
        var rig = client(1)
        rig.receive(answer(1) + WireHTTP2.reset(1, .internalError))
        #expect(rig.takeSaid() == answered(1))
        #expect(rig.takeWritten().isEmpty)
    }

    @Test("R9113 §7: the code by which a peer asks for HTTP/1.1, or for calm, is kept as it came")
    func codes() {
        for code in [HTTP2ErrorCode.http11Required, .enhanceYourCalm, HTTP2ErrorCode(rawValue: 0xDEAD)] {
            var rig = client(1)
            rig.receive(WireHTTP2.reset(1, code))
            #expect(rig.takeSaid() == [.closed(1, .reset(code))])
            rig = client(1)
            rig.receive(WireHTTP2.goAway(0, code))
            #expect(rig.takeSaid() == [.closed(1, .turnedAway(code)), .draining(code), .finished])
        }
    }

    @Test("H7.9: the end of the transport loses what is open, and an answer whose END_STREAM came is whole")
    func transportEnds() {
        var rig = client(2)
        rig.receive(answer(1))
        rig.forget()
        rig.then { $0.connectionEnded() }
        rig.then { $0.connectionEnded() }
        #expect(rig.takeSaid() == [.closed(3, .connectionLost), .finished])
        rig = client(0)
        rig.then { $0.connectionEnded() }
        #expect(rig.takeSaid() == [.finished])
        #expect(rig.takeWritten().isEmpty && rig.timer == nil)
    }

    @Test("H7.10: while a connection drains its streams go on as before, bodies and windows included")
    func draining() {
        var rig = client(1, .unknown)
        rig.receive(WireHTTP2.goAway(1, .noError))
        rig.then { $0.bodyReady(id(1)) }
        rig.forget()
        #expect(rig.fill(5) == ["1:5"])
        rig.receive(WireHTTP2.ping(3) + WireHTTP2.settings([(4, 1)]))
        rig.forget()
        #expect(rig.endBody(id(1)) == true)
        rig.receive(answer(1))
        #expect(rig.takeSaid() == answered(1) + [.finished])
    }

    @Test("H7.11: we end a connection by GOAWAY(0, NO_ERROR); it is finished when nothing is open")
    func goodbye() {
        var rig = client(1)
        rig.then { $0.goodbye() }
        #expect(rig.takeWritten() == WireHTTP2.goAway(0, .noError))
        #expect(rig.takeSaid() == [.draining(.noError)])
        #expect(rig.request() == nil)
        rig.receive(answer(1))
        #expect(rig.takeSaid() == answered(1) + [.finished])
        rig.then { $0.goodbye() }
        #expect(rig.takeWritten().isEmpty)
        rig = client(0)
        rig.then { $0.goodbye() }
        #expect(rig.takeSaid() == [.draining(.noError), .finished])
    }

    @Test("R9113 §5.1: places of streams are used again, and an old name means nothing")
    func oldNames() {
        var rig = client(2)
        rig.receive(answer(1))
        let next = rig.request()
        #expect(next == HTTP2StreamID(number: 5, slot: 0))
        rig.forget()
        rig.then {
            $0.cancel(id(1))
            $0.taken(5, of: id(1), now: .zero)
            $0.bodyReady(id(1))
            $0.bodyPaused(id(1))
            $0.timedOut(id(1), now: .zero)
            $0.cancel(HTTP2StreamID(number: 0, slot: 0))
            $0.cancel(HTTP2StreamID(number: 3, slot: 77))
            $0.cancel(HTTP2StreamID(number: 3, slot: -1))
        }
        #expect(rig.takeWritten().isEmpty && rig.takeSaid().isEmpty)
        #expect(rig.machine.openStreams == 2)
    }

    @Test("R9113: before its start, and after its end, a connection does nothing")
    func outside() {
        var rig = HTTP2Rig(.client)
        #expect(rig.request() == nil)
        rig.receive(WireHTTP2.ping(1))
        rig.then { $0.goodbye() }
        #expect(rig.takeWritten().isEmpty && rig.takeSaid().isEmpty)
        rig.start()
        rig.forget()
        rig.start()
        #expect(rig.takeWritten().isEmpty)
        rig.then { $0.connectionEnded() }
        rig.forget()
        rig.start()
        rig.receive(WireHTTP2.settings())
        rig.then { $0.timerFired(now: .seconds(1000)) }
        rig.then { $0.blockDecoded(.malformed, now: .zero) }
        #expect(rig.request() == nil)
        #expect(rig.takeWritten().isEmpty && rig.takeSaid().isEmpty)
    }
}
