// Flow control in both directions: the windows by themselves, and what the machine makes of them.

import Testing
import URLLoadingWire

@Suite("HTTP/2 windows")
struct HTTP2WindowTests {
    @Test("H5.1: of a window no more is used than it has, and no sum is above 2^31-1")
    func sendWindow() {
        var window = HTTP2FlowWindow(65_535)
        window.use(65_535)
        #expect(window.available == 0)
        #expect(window.move(by: 1) == true)
        window.use(5)
        #expect(window.available == 0)
        #expect(window.move(by: 0x7FFF_FFFF) == true)
        #expect(window.move(by: 1) == false)
        #expect(window.move(by: .max) == false)
        #expect(window.move(by: .min) == false)
        #expect(window.available == 0x7FFF_FFFF)
        window.use(0x7FFF_FFFF)
        #expect(window.move(by: -0x7FFF_FFFF) == true)
        window.use(10)
        #expect(window.available == -0x7FFF_FFFF)
    }

    @Test("H5.6: a window is announced when half of it was taken")
    func receiveWindow() {
        var window = HTTP2ReceiveWindow(size: 100)
        #expect(window.receive(100) == true)
        #expect(window.receive(1) == false)
        #expect(window.take(49) == 0)
        #expect(window.take(1) == 50)
        #expect(window.available == 50 && window.held == 50)
        #expect(window.take(1000) == 50)
        #expect(window.available == 100 && window.held == 0)
        #expect(window.take(1000) == 0)
        #expect(window.grow(to: 300) == 200)
        #expect(window.grow(to: 200) == 0)
        #expect(window.grow(to: .max) == 0x7FFF_FFFF - 300)
        #expect(window.available == 0x7FFF_FFFF)
    }

    @Test("H5.3: a window of one byte works, and so does none")
    func tiny() {
        var window = HTTP2ReceiveWindow(size: 1)
        for _ in 0..<3 {
            #expect(window.receive(1) == true)
            #expect(window.take(1) == 1)
        }
        window = HTTP2ReceiveWindow(size: 0)
        #expect(window.take(0) == 0)
        #expect(window.receive(1) == false)
        #expect(window.receive(0) == true)
    }

    @Test("H4.6: declared lengths")
    func declared() {
        var length = HTTP2DeclaredLength.bytes(3)
        #expect(length.limit == 3 && !length.mayEnd && !length.isReached)
        #expect(length.take(2) == true)
        #expect(length.take(2) == false)
        #expect(length.take(1) == true)
        #expect(length.mayEnd && length.isReached)
        length = .unknown
        #expect(length.take(.max) == true)
        #expect(length.mayEnd && !length.isReached && length.limit == .max)
        length = .none
        #expect(length.take(1) == false)
        #expect(length.take(0) == true)
        #expect(length.mayEnd && length.isReached)
        length = .bytes(.max)
        #expect(length.take(.max) == true)
        #expect(length.isReached)
        length = .bytes(.min)
        #expect(length == .unknown)
    }

    // MARK: What is sent

    /// A client with requests whose bodies are endless.
    private func uploads(_ count: Int, _ entries: [(UInt16, UInt32)] = []) -> HTTP2Rig {
        var rig = HTTP2Rig.client(entries)
        for _ in 0..<count {
            let id = rig.request(.unknown)
            rig.then { if let id { $0.bodyReady(id) } }
        }
        rig.forget()
        return rig
    }

    @Test("H5.1: bodies stop at the connection's window and at the stream's; H10.3: frames as large as allowed")
    func stops() {
        var rig = uploads(1)
        #expect(rig.fill(1_000_000) == ["1:16384", "1:16384", "1:16384", "1:16383"])
        rig.receive(WireHTTP2.update(1, 100))
        #expect(rig.fill(1_000_000) == [])
        rig.receive(WireHTTP2.update(0, 40))
        #expect(rig.fill(1_000_000) == ["1:40"])
        rig.receive(WireHTTP2.update(0, 1000))
        #expect(rig.fill(1_000_000) == ["1:60"])
        // Frames without payload always go.
        rig.forget()
        #expect(rig.request() != nil)
        #expect(rig.takeWritten() == WireHTTP2.headers(3, StandIn.final, ends: true))
        rig.endBody(HTTP2StreamID(number: 1, slot: 0))
        #expect(rig.takeWritten() == WireHTTP2.data(1, [], ends: true))
    }

    @Test("R9113 §6.5.2: the peer's frame size holds, as large as it may be")
    func frameSize() {
        var rig = uploads(1, [(5, 16_777_215), (4, 0x7FFF_FFFF)])
        rig.receive(WireHTTP2.update(0, 0x7FFF_FFFF - 65_535))
        #expect(rig.fill(20_000_000) == ["1:16777215", "1:3222785"])
    }

    @Test("H5.2: a new initial window moves those of all streams by the difference, also below zero")
    func initialWindow() {
        var rig = uploads(2, [(4, 100)])
        #expect(rig.fill(60) == ["1:60"])
        rig.receive(WireHTTP2.settings([(4, 40)]))
        #expect(rig.fill(1000) == ["3:40"])
        rig.receive(WireHTTP2.settings([(4, 60)]))
        #expect(rig.fill(1000) == ["3:20"])
        rig.receive(WireHTTP2.update(1, 1))
        #expect(rig.fill(1000) == ["1:1"])
        rig.receive(WireHTTP2.settings([(4, 0)]) + WireHTTP2.update(1, 60))
        #expect(rig.fill(1000) == [])
        rig.receive(WireHTTP2.update(1, 1))
        #expect(rig.fill(1000) == ["1:1"])
        // The connection's window is not touched: 65,535 less what was sent.
        rig.receive(WireHTTP2.settings([(4, 100_000)]))
        let sent = 60 + 40 + 20 + 1 + 1
        #expect(rig.fill(.max).reduce(0) { $0 + (Int($1.split(separator: ":")[1]) ?? 0) } == 65_535 - sent)
    }

    @Test("H5.3: streams take turns, one that waits for its window holds up no other, and none starves")
    func turns() {
        var rig = uploads(3, [(4, 20_000)])
        #expect(rig.fill(16_384 * 3) == ["1:16384", "3:16384", "5:16384"])
        rig.receive(WireHTTP2.update(3, 100_000) + WireHTTP2.update(0, 1_000_000))
        #expect(rig.fill(16_384 * 2 + 7232) == ["1:3616", "3:16384", "5:3616", "3:16384"])
        rig.receive(WireHTTP2.update(1, 1) + WireHTTP2.update(5, 1))
        #expect(rig.fill(16_384 + 2) == ["3:16384", "1:1", "5:1"])
    }

    @Test("H5.3: a stream whose source has nothing is passed over until it has")
    func paused() {
        var rig = uploads(2)
        rig.then { $0.bodyPaused(HTTP2StreamID(number: 1, slot: 0)) }
        #expect(rig.fill(2) == ["3:2"])
        rig.receive(WireHTTP2.update(1, 5))
        #expect(rig.fill(1) == ["3:1"])
        rig.then {
            $0.bodyReady(HTTP2StreamID(number: 1, slot: 0))
            $0.bodyPaused(HTTP2StreamID(number: 3, slot: 1))
        }
        #expect(rig.fill(1) == ["1:1"])
    }

    @Test("H8.7: an update of nothing, or above 2^31-1 in sum")
    func updates() {
        var rig = uploads(2)
        rig.receive(WireHTTP2.update(1, 0))
        #expect(rig.takeSaid() == [.closed(1, .faulted(.stream(1, .emptyUpdate)))])
        #expect(rig.takeWritten() == WireHTTP2.reset(1, .protocolError))
        rig.receive(WireHTTP2.update(3, 0x7FFF_FFFF))
        #expect(rig.takeSaid() == [.closed(3, .faulted(.stream(3, .windowOverflow)))])
        #expect(rig.takeWritten() == WireHTTP2.reset(3, .flowControlError))
        #expect(rig.request() != nil)
        rig.forget()
        rig.receive(WireHTTP2.update(0, 0x7FFF_FFFF))
        #expect(rig.takeSaid().last == .failed(.connection(.windowOverflow)))
        #expect(rig.takeWritten() == WireHTTP2.goAway(0, .flowControlError))
        rig = uploads(1)
        rig.receive(WireHTTP2.update(0, 0))
        let fault = HTTP2Fault.connection(.emptyUpdate)
        #expect(rig.takeSaid() == [.closed(1, .connectionFailed(fault)), .failed(fault)])
        #expect(rig.takeWritten() == WireHTTP2.goAway(0, .protocolError))
    }

    // MARK: What is received

    @Test("H5.4: a stream's window is given back for what was taken, the connection's for what has arrived")
    func givenBack() {
        var settings = HTTP2Settings.client
        settings.initialWindowSize = 100_000
        var rig = HTTP2Rig.client(settings: settings)
        rig.takes = false
        rig.request()
        rig.receive(WireHTTP2.headers(1, StandIn.final))
        rig.forget()
        let piece = Array(repeating: 1 as UInt8, count: 16_384)
        rig.receive(WireHTTP2.data(1, piece) + WireHTTP2.data(1, piece))
        #expect(rig.takeWritten() == WireHTTP2.update(0, 32_768))
        let id = HTTP2StreamID(number: 1, slot: 0)
        rig.receive(WireHTTP2.data(1, piece) + WireHTTP2.data(1, piece))
        rig.forget()
        rig.then { $0.taken(49_999, of: id, now: .zero) }
        #expect(rig.takeWritten().isEmpty)
        rig.then { $0.taken(1, of: id, now: .zero) }
        #expect(rig.takeWritten().starts(with: WireHTTP2.update(1, 50_000)))
        rig.then { $0.taken(.max, of: id, now: .zero) }
        rig.then { $0.taken(-1, of: id, now: .zero) }
        #expect(rig.takeWritten().isEmpty, "of what was not taken there is too little left")
    }

    @Test("H5.4: a stream whose bytes are not taken stops itself and no other")
    func slow() {
        var settings = HTTP2Settings.client
        settings.initialWindowSize = 65_535
        var rig = HTTP2Rig.client(settings: settings)
        rig.takes = false
        rig.request()
        rig.request()
        rig.receive(WireHTTP2.headers(1, StandIn.final) + WireHTTP2.headers(3, StandIn.final))
        let piece = Array(repeating: 1 as UInt8, count: 13_107)
        for stream in [1, 3] as [UInt32] { for _ in 0..<5 { rig.receive(WireHTTP2.data(stream, piece)) } }
        rig.forget()
        rig.receive(WireHTTP2.data(1, [1]))
        #expect(rig.takeSaid() == [.closed(1, .faulted(.stream(1, .windowOverrun)))])
        #expect(rig.takeWritten() == WireHTTP2.reset(1, .flowControlError))
        rig.receive(WireHTTP2.data(3, [], ends: true))
        #expect(rig.takeSaid() == [.messageEnds(3), .closed(3, .finished)])
    }

    @Test("H5.7: beyond the connection's window the connection ends, as soon as the frame says so; padding counts")
    func connectionOverrun() {
        var settings = HTTP2Settings.client
        settings.maximumFrameSize = 100_000
        for size in [65_535, 65_536] {
            var rig = HTTP2Rig.client(settings: settings)
            rig.request()
            rig.receive(WireHTTP2.headers(1, StandIn.final))
            rig.forget()
            rig.receive(WireHTTP2.header(0, 8, on: 1, length: size) + [255])
            let fault = HTTP2Fault.connection(.windowOverrun, stream: 1)
            let isLawful = size == 65_535
            #expect(rig.takeSaid() == (isLawful ? [] : [.closed(1, .faulted(fault)), .failed(fault)]))
            let update = WireHTTP2.update(0, 65_535) + WireHTTP2.update(1, 256)
            #expect(
                rig.takeWritten().prefix(13) == (isLawful ? update : WireHTTP2.goAway(0, .flowControlError)).prefix(13))
        }
    }

    @Test("H5.7: our smaller window is held against a peer only once it has acknowledged it")
    func smallWindow() {
        var settings = HTTP2Settings.client
        settings.initialWindowSize = 10
        for isAcknowledged in [false, true] {
            var rig = HTTP2Rig(.client, settings: settings)
            rig.start()
            rig.takes = false
            rig.request()
            rig.receive(WireHTTP2.settings() + WireHTTP2.headers(1, StandIn.final))
            if isAcknowledged { rig.receive(WireHTTP2.settingsAck) }
            rig.forget()
            rig.receive(WireHTTP2.data(1, Array(repeating: 1, count: 11)))
            let fault = Said.closed(1, .faulted(.stream(1, .windowOverrun)))
            #expect(rig.takeSaid() == (isAcknowledged ? [fault] : [.data(1, Array(repeating: 1, count: 11))]))
            guard !isAcknowledged else { continue }
            rig.receive(WireHTTP2.settingsAck)
            rig.then { $0.taken(11, of: HTTP2StreamID(number: 1, slot: 0), now: .zero) }
            #expect(rig.takeWritten().starts(with: WireHTTP2.update(1, 11)))
            rig.receive(WireHTTP2.data(1, Array(repeating: 1, count: 11)))
            #expect(rig.takeSaid().last == fault)
        }
    }

    @Test("H5.5: DATA for a stream that is reset or over counts for the connection, and is given back")
    func gone() {
        var rig = HTTP2Rig.client()
        rig.request()
        rig.then { $0.cancel(HTTP2StreamID(number: 1, slot: 0)) }
        rig.forget()
        let piece = Array(repeating: 1 as UInt8, count: 16_384)
        for _ in 0..<100 {
            rig.receive(WireHTTP2.data(1, piece) + WireHTTP2.data(1, piece))
            #expect(rig.takeWritten() == WireHTTP2.update(0, 32_768))
        }
        #expect(rig.takeSaid().isEmpty)
    }

    @Test("H5.6: no update for a stream after its last frame, nor one of 0; what was padded is given back at once")
    func updatesOut() {
        var settings = HTTP2Settings.client
        settings.initialWindowSize = 100
        var rig = HTTP2Rig.client(settings: settings)
        rig.request()
        rig.receive(WireHTTP2.headers(1, StandIn.final))
        rig.forget()
        rig.takes = false
        rig.receive(WireHTTP2.data(1, [1], padding: 60))
        #expect(rig.takeWritten() == WireHTTP2.update(1, 61))
        rig.takes = true
        rig.receive(WireHTTP2.data(1, Array(repeating: 1, count: 80), ends: true))
        #expect(rig.takeWritten().isEmpty)
        #expect(rig.takeSaid().last == .closed(1, .finished))
    }

    /// A client whose server has begun to answer so many requests.
    private func downloads(_ count: Int) -> HTTP2Rig {
        var settings = HTTP2Settings.client
        settings.maximumFrameSize = UInt32(Self.mebibyte)
        var rig = HTTP2Rig.client(settings: settings, connectionWindow: UInt32(16 * Self.mebibyte))
        for number in 0..<count {
            rig.request()
            rig.receive(WireHTTP2.headers(UInt32(number * 2 + 1), StandIn.final))
        }
        rig.forget()
        return rig
    }

    /// Brings bytes of a body, which are taken at once, and answers what is written apart from
    /// updates for the connection.
    private func bring(_ byteCount: Int, on stream: UInt32 = 1, to rig: inout HTTP2Rig) -> [UInt8] {
        var left = byteCount
        while left > 0 {
            rig.receive(WireHTTP2.data(stream, Array(repeating: 1, count: min(left, Self.mebibyte))))
            _ = rig.takeSaid()
            left -= Self.mebibyte
        }
        var (written, frames) = (rig.takeWritten()[...], [] as [UInt8])
        while !written.isEmpty {
            let frame = written.prefix(9 + Int(written[written.startIndex + 2]))
            written = written.dropFirst(frame.count)
            if !frame.dropFirst(3).starts(with: [8, 0, 0, 0, 0, 0]) { frames += frame }
        }
        return frames
    }

    private static let mebibyte = 1 << 20

    @Test(
        "H10.1: the window is doubled where more than half of it comes in a round trip, up to 16 MiB, and then nothing is measured"
    )
    func grows() {
        var rig = downloads(1)
        var size = 2 * Self.mebibyte
        for ping in 1...3 as ClosedRange<UInt64> {
            let update = WireHTTP2.update(1, UInt32(size / 2))
            #expect(bring(size / 2, to: &rig) == update + WireHTTP2.ping(ping), "measured with an update")
            #expect(bring(size / 2, to: &rig) == update, "one ping at a time")
            #expect(bring(1, to: &rig).isEmpty)
            rig.receive(WireHTTP2.ping(ping, ack: true))
            // A byte was taken and not announced.
            #expect(rig.takeWritten() == WireHTTP2.update(1, UInt32(size + 1)), "twice as large")
            size *= 2
        }
        #expect(bring(size / 2, to: &rig) == WireHTTP2.update(1, UInt32(size / 2)), "as large as it may be")
    }

    @Test("H10.1: a window that is large enough stays, and is not measured for a while")
    func staysAsItIs() {
        var rig = downloads(1)
        let update = WireHTTP2.update(1, UInt32(Self.mebibyte))
        #expect(bring(Self.mebibyte, to: &rig) == update + WireHTTP2.ping(1))
        #expect(bring(Self.mebibyte, to: &rig) == update)
        rig.receive(WireHTTP2.ping(1, ack: true))
        #expect(rig.takeWritten().isEmpty, "half of the window came, and no more")
        for _ in 0..<8 { #expect(bring(Self.mebibyte, to: &rig) == update) }
        #expect(bring(Self.mebibyte, to: &rig) == update + WireHTTP2.ping(2))
    }

    @Test("H10.1: where what has come waits to be taken, a larger window would not help")
    func waitsForItsReceiver() {
        var rig = downloads(1)
        let update = WireHTTP2.update(1, UInt32(Self.mebibyte))
        #expect(bring(Self.mebibyte, to: &rig) == update + WireHTTP2.ping(1))
        rig.takes = false
        #expect(bring(Self.mebibyte + 1, to: &rig).isEmpty)
        rig.receive(WireHTTP2.ping(1, ack: true))
        #expect(rig.takeWritten().isEmpty, "more than half of the window came, and lies there")
    }

    @Test("H10.1: what one stream has needed a further one gets with its first update")
    func learns() {
        var rig = downloads(2)
        _ = bring(2 * Self.mebibyte + 1, to: &rig)
        rig.receive(WireHTTP2.ping(1, ack: true) + WireHTTP2.data(1, [], ends: true))
        rig.forget()
        let update = WireHTTP2.update(3, UInt32(3 * Self.mebibyte))
        #expect(bring(Self.mebibyte, on: 3, to: &rig) == update + WireHTTP2.ping(2))
    }

    @Test(
        "H10.1: a stream that ends while it is measured needs nothing more, nor does one whose server does not answer")
    func endsMeasured() {
        var rig = downloads(2)
        _ = bring(2 * Self.mebibyte + 1, to: &rig)
        rig.receive(WireHTTP2.data(1, [], ends: true) + WireHTTP2.ping(1, ack: true))
        #expect(rig.takeWritten().isEmpty)
        #expect(bring(Self.mebibyte, on: 3, to: &rig) == WireHTTP2.update(3, UInt32(Self.mebibyte)))
    }
}
