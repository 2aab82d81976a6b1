// What both ends announce, what of it is checked, and when it holds.

import Testing
import URLLoadingWire

@Suite("HTTP/2 settings")
struct HTTP2SettingsTests {
    @Test("H10.1: what the client announces; H10.2: it leaves together with the first request")
    func start() {
        var rig = HTTP2Rig(.client, settings: .client, connectionWindow: 16 * 1024 * 1024)
        rig.then { $0.start(now: .zero) }
        rig.request()
        #expect(
            rig.takeWritten() == WireHTTP2.preface
                + WireHTTP2.settings([(2, 0), (4, 2 * 1024 * 1024), (6, 256 * 1024), (9, 1)])
                + WireHTTP2.update(0, 16 * 1024 * 1024 - 65_535) + WireHTTP2.headers(1, StandIn.final, ends: true))
    }

    @Test("R9113 §6.5.2: every setting is written, and only what differs from what holds anyway")
    func written() {
        var settings = HTTP2Settings()
        var bytes: [UInt8] = []
        HTTP2FrameEncoder.encode(settings, into: &bytes)
        #expect(bytes == WireHTTP2.settings())
        settings.headerTableSize = 0
        settings.enablesPush = false
        settings.maximumConcurrentStreams = 7
        settings.initialWindowSize = 1
        settings.maximumFrameSize = 16_777_215
        settings.maximumHeaderListSize = 9
        settings.enablesExtendedConnect = true
        settings.ignoresOldPriorities = true
        bytes = []
        HTTP2FrameEncoder.encode(settings, into: &bytes)
        #expect(
            bytes
                == WireHTTP2.settings([(1, 0), (2, 0), (3, 7), (4, 1), (5, 16_777_215), (6, 9), (8, 1), (9, 1)]))
        var rig = HTTP2Rig(.server)
        rig.start()
        rig.receive(WireHTTP2.preface + bytes)
        #expect(rig.machine.peerSettings == settings)
    }

    @Test("H8.11: settings are acknowledged after they were applied, in order, and pings answered with their bytes")
    func acknowledged() {
        var rig = HTTP2Rig.client()
        rig.receive(
            WireHTTP2.ping(1) + WireHTTP2.settings([(4, 10)]) + WireHTTP2.ping(.max) + WireHTTP2.settings())
        #expect(
            rig.takeWritten() == WireHTTP2.ping(1, ack: true) + WireHTTP2.settingsAck
                + WireHTTP2.ping(.max, ack: true) + WireHTTP2.settingsAck)
        rig.receive(WireHTTP2.settingsAck + WireHTTP2.ping(77, ack: true) + WireHTTP2.settingsAck)
        #expect(rig.takeWritten().isEmpty)
        #expect(rig.takeSaid().isEmpty)
    }

    @Test("H8.11: an answer to a ping stands before bodies that wait")
    func pingBeforeBody() {
        var rig = HTTP2Rig.client()
        let id = rig.request(.unknown)
        rig.then { if let id { $0.bodyReady(id) } }
        rig.forget()
        rig.receive(WireHTTP2.ping(5))
        rig.fill(3)
        #expect(rig.takeWritten() == WireHTTP2.ping(5, ack: true) + WireHTTP2.data(1, [0, 0, 0]))
    }

    @Test("H8.3: a server's ENABLE_PUSH is 0; a client's is 0 or 1")
    func push() {
        expectFailure(.pushSetting, .protocolError, [(2, 1)])
        expectFailure(.pushSetting, .protocolError, [(2, 2)])
        var rig = HTTP2Rig.client([(2, 0)])
        #expect(rig.takeSaid().isEmpty)
        rig = HTTP2Rig.server([(2, 1)])
        #expect(rig.takeSaid().isEmpty && rig.machine.peerSettings.enablesPush)
    }

    @Test("H8.6: values out of bounds")
    func bounds() {
        expectFailure(.windowSetting, .flowControlError, [(4, 0x8000_0000)])
        expectFailure(.windowSetting, .flowControlError, [(4, .max)])
        for size in [0, 16_383, 16_777_216, .max] as [UInt32] {
            expectFailure(.frameSizeSetting, .protocolError, [(5, size)])
        }
        for value in [2, .max] as [UInt32] { expectFailure(.prioritySetting, .protocolError, [(9, value)]) }
        for entry in [(4, 0x7FFF_FFFF), (4, 0), (5, 16_384), (5, 16_777_215), (1, .max), (3, .max), (9, 0), (9, 1)]
            as [(UInt16, UInt32)]
        {
            var rig = HTTP2Rig.client()
            rig.receive(WireHTTP2.settings([entry]))
            #expect(rig.takeWritten() == WireHTTP2.settingsAck)
        }
    }

    private func expectFailure(
        _ reason: HTTP2Fault.Reason, _ code: HTTP2ErrorCode, _ entries: [(UInt16, UInt32)],
        _ location: SourceLocation = #_sourceLocation
    ) {
        var rig = HTTP2Rig.client()
        rig.receive(WireHTTP2.settings(entries))
        #expect(rig.takeSaid() == [.failed(.connection(reason))], sourceLocation: location)
        #expect(rig.takeWritten() == WireHTTP2.goAway(0, code), sourceLocation: location)
    }

    @Test("H8.6: a change that lifts a stream's window above 2^31-1")
    func liftedTooHigh() {
        var rig = HTTP2Rig.client()
        rig.request(.unknown)
        rig.receive(WireHTTP2.update(1, 0x7FFF_FFFF - 65_535))
        rig.forget()
        rig.receive(WireHTTP2.settings([(4, 65_536)]))
        let fault = HTTP2Fault.connection(.windowOverflow, stream: 1)
        #expect(rig.takeSaid() == [.closed(1, .faulted(fault)), .failed(fault)])
        #expect(rig.takeWritten() == WireHTTP2.goAway(0, .flowControlError))
    }

    @Test("H3.9: the encoder hears of the smallest size of its table and of the last one")
    func encoderTable() {
        var rig = HTTP2Rig.client()
        rig.receive(WireHTTP2.settings([(1, 100), (1, 0), (1, 4096)]) + WireHTTP2.settings([(1, 50)]))
        #expect(rig.takeSaid() == [.encoderTable(0, 4096), .encoderTable(50, 50)])
    }

    @Test("R9113 §4.3.1: the decoder hears when the peer keeps to its table's size, if that is no usual one")
    func decoderTable() {
        var settings = HTTP2Settings.client
        settings.headerTableSize = 0
        var rig = HTTP2Rig(.client, settings: settings)
        rig.start()
        rig.receive(WireHTTP2.settings() + WireHTTP2.settingsAck + WireHTTP2.settingsAck)
        #expect(rig.takeSaid() == [.decoderTable(0), .capacity(0x7FFF_FFFF)])
    }

    @Test("H2.4: 100 streams until the server's settings have come, then as many as they say; none is closed by it")
    func concurrency() {
        var rig = HTTP2Rig(.client)
        rig.start()
        for _ in 0..<150 { rig.request() }
        #expect(rig.machine.openStreams == 100 && rig.machine.capacity == 100)
        rig.receive(WireHTTP2.settings([(3, 2)]))
        #expect(rig.takeSaid() == [.capacity(2)])
        #expect(rig.machine.openStreams == 100)
        #expect(rig.request() == nil)
        for number in 0..<98 {
            rig.receive(WireHTTP2.headers(UInt32(2 * number + 1), StandIn.final, ends: true))
        }
        #expect(rig.request() == nil)
        rig.receive(WireHTTP2.settings([(3, 3)]))
        #expect(rig.request()?.number == 201)
        #expect(rig.request() == nil)
        rig.forget()
        rig.receive(WireHTTP2.settings([(3, 0)]) + WireHTTP2.settings([(3, 0)]))
        #expect(rig.takeSaid() == [.capacity(0)])
        #expect(rig.request() == nil)
        rig.receive(WireHTTP2.settings([(3, 10)]))
        #expect(rig.takeSaid() == [.capacity(10)])
        #expect(rig.request() != nil)
    }

    @Test(
        "H2.4: where an earlier connection had fewer, as many streams until the settings have come",
        arguments: [1, 100, 500])
    func concurrencyRemembered(last: Int) {
        let settings = HTTP2Settings.client
        var machine = HTTP2ConnectionMachine(role: .client, settings: settings, lastCapacity: last)
        machine.start(now: .zero)
        #expect(machine.capacity == min(last, 100))
        var (said, written, offset): ([Int], [UInt8], Int) = ([], [], 0)
        let input = WireHTTP2.settings([(3, UInt32(last))])
        // The first turn is before anything has come: nothing has changed then.
        for turn in 0..<2 {
            while let action = machine.nextAction() {
                if case .capacityChanged(let capacity) = action { said.append(capacity) }
                machine.takeOutput(into: &written)
            }
            if turn == 0 {
                #expect(said.isEmpty)
                _ = machine.received(input.span.bytes, offset: &offset, now: .zero)
            }
        }
        #expect(said == (last > 100 ? [last] : []) && machine.capacity == last)
    }

    @Test("H9.4: the entries of a SETTINGS frame are counted, also those that mean nothing")
    func manyEntries() {
        let frame = WireHTTP2.settings(Array(repeating: (0xFFFF, 1), count: 2700))
        var rig = HTTP2Rig.client()
        for _ in 0..<3 { rig.receive(frame) }
        #expect(rig.takeSaid().isEmpty)
        rig.receive(frame)
        #expect(rig.takeSaid() == [.failed(.connection(.uselessFrames))])
    }
}
