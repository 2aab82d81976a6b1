// The server's end of a connection, which the servers for tests are made of.

import Testing
import URLLoadingWire

@Suite("HTTP/2, the server's end")
struct HTTP2ServerTests {
    private func id(_ number: UInt32, _ slot: Int32 = 0) -> HTTP2StreamID {
        HTTP2StreamID(number: number, slot: slot)
    }

    @Test("R9113 §3.4: a server begins with its settings, and hears the preface")
    func start() {
        var settings = HTTP2Settings()
        settings.maximumConcurrentStreams = 5
        var rig = HTTP2Rig(.server, settings: settings, connectionWindow: 100_000)
        rig.start()
        #expect(rig.takeWritten() == WireHTTP2.settings([(3, 5)]) + WireHTTP2.update(0, 100_000 - 65_535))
        rig.receive(WireHTTP2.preface + WireHTTP2.settings() + WireHTTP2.headers(1, StandIn.final, ends: true))
        #expect(rig.takeSaid() == [.head(1, .final, StandIn.final), .messageEnds(1)])
        #expect(rig.takeWritten() == WireHTTP2.settingsAck)
        #expect(rig.machine.open(now: .zero) == nil)
        #expect(rig.machine.capacity == 0)
    }

    @Test("R9113 §8.1: an answer of informational heads, a body and trailers")
    func answer() {
        var rig = HTTP2Rig.server()
        rig.receive(WireHTTP2.headers(3, StandIn.final) + WireHTTP2.data(3, [1]))
        rig.forget()
        rig.send(StandIn.informational, on: id(3), .informational)
        rig.send(StandIn.final, on: id(3), .final, body: .unknown)
        rig.then { $0.bodyReady(id(3)) }
        #expect(rig.fill(2) == ["3:2"])
        rig.send(StandIn.trailers, on: id(3), .trailers)
        #expect(
            rig.takeWritten() == WireHTTP2.headers(3, StandIn.informational) + WireHTTP2.headers(3, StandIn.final)
                + WireHTTP2.data(3, [0, 0]) + WireHTTP2.headers(3, StandIn.trailers, ends: true))
        #expect(rig.takeSaid().isEmpty)
        rig.receive(WireHTTP2.data(3, [2]) + WireHTTP2.headers(3, StandIn.trailers, ends: true))
        #expect(
            rig.takeSaid() == [
                .data(3, [2]), .head(3, .trailers, StandIn.trailers), .messageEnds(3), .closed(3, .finished),
            ])
    }

    @Test("R9113 §8.1: a server that needs no more of a request resets it with NO_ERROR behind its answer")
    func earlyAnswer() {
        var rig = HTTP2Rig.server()
        rig.receive(WireHTTP2.headers(1, StandIn.final))
        rig.send(StandIn.final, on: id(1))
        rig.then { $0.cancel(id(1), .noError) }
        #expect(
            rig.takeWritten() == WireHTTP2.headers(1, StandIn.final, ends: true) + WireHTTP2.reset(1, .noError))
    }

    @Test("R9113 §5.1.1: clients have odd numbers that rise; what they skip is over")
    func numbers() {
        for bytes in [WireHTTP2.headers(2, StandIn.final), WireHTTP2.data(1, [1]), WireHTTP2.update(1, 1)] {
            var rig = HTTP2Rig.server()
            rig.receive(bytes)
            #expect(rig.takeSaid().last == .failed(.connection(.idleStream, stream: bytes[8] == 2 ? 2 : 1)))
        }
        var rig = HTTP2Rig.server()
        rig.receive(WireHTTP2.headers(5, StandIn.final))
        rig.forget()
        rig.receive(WireHTTP2.headers(3, StandIn.final))
        #expect(rig.takeSaid() == [.discarded(StandIn.final)])
        #expect(rig.takeWritten() == WireHTTP2.reset(3, .streamClosed))
    }

    @Test("R9113 §5.1.2: more streams than announced are refused, and their blocks decoded")
    func refused() {
        var settings = HTTP2Settings()
        settings.maximumConcurrentStreams = 1
        var rig = HTTP2Rig.server(settings: settings)
        rig.receive(WireHTTP2.headers(1, StandIn.final) + WireHTTP2.headers(3, StandIn.final))
        #expect(rig.takeSaid() == [.head(1, .final, StandIn.final), .discarded(StandIn.final)])
        #expect(rig.takeWritten() == WireHTTP2.reset(3, .refusedStream))
        rig.receive(WireHTTP2.reset(1, .cancel) + WireHTTP2.headers(5, StandIn.final))
        #expect(rig.takeSaid() == [.closed(1, .reset(.cancel)), .head(5, .final, StandIn.final)])
    }

    @Test("R9113 §8.1: requests have no informational heads")
    func informational() {
        var rig = HTTP2Rig.server()
        rig.receive(WireHTTP2.headers(1, StandIn.informational))
        #expect(rig.takeSaid() == [.closed(1, .faulted(.stream(1, .malformed)))])
        #expect(rig.takeWritten() == WireHTTP2.reset(1, .protocolError))
    }

    @Test("R9113 §6.8: a warning, then the last word: what is above it is discarded, and the rest goes on")
    func goodbye() {
        var rig = HTTP2Rig.server()
        rig.receive(WireHTTP2.headers(1, StandIn.final, ends: true))
        rig.forget()
        rig.then { $0.goodbye(last: 0x7FFF_FFFF) }
        rig.receive(WireHTTP2.headers(3, StandIn.final, ends: true))
        #expect(rig.takeSaid() == [.head(3, .final, StandIn.final), .messageEnds(3)])
        rig.then { $0.goodbye(.noError, last: 1) }
        #expect(rig.takeSaid() == [.closed(3, .cancelled), .draining(.noError)])
        #expect(
            rig.takeWritten() == WireHTTP2.goAway(0x7FFF_FFFF, .noError) + WireHTTP2.goAway(1, .noError))
        rig.receive(
            WireHTTP2.headers(5, StandIn.final) + WireHTTP2.data(5, [1], ends: true) + WireHTTP2.data(3, [1])
                + WireHTTP2.update(7, 0) + WireHTTP2.reset(9, .cancel))
        #expect(rig.takeSaid() == [.discarded(StandIn.final)])
        #expect(rig.takeWritten().isEmpty)
        rig.send(StandIn.final, on: id(1))
        #expect(rig.takeSaid() == [.closed(1, .finished), .finished])
    }

    @Test("R9113 §6.8: a client's GOAWAY is about pushes, and it may still ask")
    func clientsGoodbye() {
        var rig = HTTP2Rig.server()
        rig.receive(WireHTTP2.goAway(0, .noError) + WireHTTP2.headers(1, StandIn.final, ends: true))
        #expect(rig.takeSaid() == [.head(1, .final, StandIn.final), .messageEnds(1)])
    }

    @Test("H8.9: HEADERS and DATA behind a request's end, while it is being answered")
    func afterEnd() {
        for bytes in [WireHTTP2.headers(1, StandIn.trailers, ends: true), WireHTTP2.data(1, [])] {
            var rig = HTTP2Rig.server()
            rig.receive(WireHTTP2.headers(1, StandIn.final, ends: true))
            rig.forget()
            rig.receive(bytes)
            #expect(rig.takeSaid().first == .closed(1, .faulted(.stream(1, .afterEnd))))
            #expect(rig.takeWritten() == WireHTTP2.reset(1, .streamClosed))
        }
    }

    @Test("R9113 §4.3: a block whose content is not told before more bytes come is our own fault")
    func untold() {
        var machine = HTTP2ConnectionMachine(role: .server, settings: HTTP2Settings())
        machine.start(now: .zero)
        let bytes = WireHTTP2.preface + WireHTTP2.settings() + WireHTTP2.headers(1, StandIn.final) + WireHTTP2.ping(1)
        var offset = 0
        var actions: [HTTP2ConnectionMachine.Action] = []
        while machine.received(bytes.span.bytes, offset: &offset, now: .zero) {
            while let action = machine.nextAction() { actions.append(action) }
        }
        while let action = machine.nextAction() { actions.append(action) }
        #expect(offset == bytes.count)
        #expect(actions.last == .failed(.connection(.misuse)))
    }

    @Test("R9113 §8.1: an answer out of order is our own fault")
    func misuse() {
        let misuses: [(inout HTTP2Rig) -> Void] = [
            { $0.send(StandIn.trailers, on: HTTP2StreamID(number: 1, slot: 0), .trailers) },
            {
                $0.send(StandIn.final, on: HTTP2StreamID(number: 1, slot: 0), body: .bytes(3))
                $0.send(StandIn.trailers, on: HTTP2StreamID(number: 1, slot: 0), .trailers)
            },
            {
                $0.send(StandIn.final, on: HTTP2StreamID(number: 1, slot: 0), body: .unknown)
                $0.send(StandIn.final, on: HTTP2StreamID(number: 1, slot: 0), body: .unknown)
            },
        ]
        for misuse in misuses {
            var rig = HTTP2Rig.server()
            rig.receive(WireHTTP2.headers(1, StandIn.final))
            rig.forget()
            misuse(&rig)
            #expect(rig.takeSaid().last == .failed(.connection(.misuse, stream: 1)))
            #expect(rig.takeWritten().suffix(17) == WireHTTP2.goAway(1, .internalError)[...])
        }
    }
}
