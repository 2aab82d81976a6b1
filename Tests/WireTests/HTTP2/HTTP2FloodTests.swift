// Peers that bring nothing and want much: each family of H11 that a client can meet, up to its limit and beyond it.

import Testing
import URLLoadingWire

@Suite("HTTP/2 floods")
struct HTTP2FloodTests {
    private func client() -> HTTP2Rig {
        var rig = HTTP2Rig.client()
        rig.request()
        rig.receive(WireHTTP2.headers(1, StandIn.final))
        rig.forget()
        return rig
    }

    private func expectCalm(
        _ rig: inout HTTP2Rig, _ reason: HTTP2Fault.Reason, _ location: SourceLocation = #_sourceLocation
    ) {
        let last = rig.takeSaid().last
        guard case .failed(let fault) = last else {
            Issue.record("\(String(describing: last))", sourceLocation: location)
            return
        }
        #expect(fault.reason == reason && fault.scope == .connection, sourceLocation: location)
        #expect(
            rig.takeWritten().suffix(17) == WireHTTP2.goAway(0, .enhanceYourCalm)[...], sourceLocation: location)
    }

    private static let useless: [[UInt8]] = [
        WireHTTP2.ping(1, ack: true), WireHTTP2.settingsAck, WireHTTP2.frame(2, on: 9, [0, 0, 0, 0, 0]),
        WireHTTP2.data(1, []), WireHTTP2.data(1, [], padding: 0), WireHTTP2.update(0, 1), WireHTTP2.update(1, 1),
        WireHTTP2.frame(0xF0, on: 1, [1]), WireHTTP2.goAway(1, .noError),
    ]

    @Test("H9.1: 10,000 frames that bring nothing, and not one more", arguments: useless)
    func uselessFrames(frame: [UInt8]) {
        var rig = client()
        // The acknowledgement that the connection began with has cost one, and the settings another.
        let many = Array(repeating: frame, count: 9_998).flatMap { $0 }
        rig.receive(many)
        #expect(!rig.takeSaid().contains { if case .failed = $0 { true } else { false } })
        rig.receive(frame)
        expectCalm(&rig, .uselessFrames)
    }

    @Test("H9.1: RST_STREAM and WINDOW_UPDATE of streams that are over")
    func over() {
        for frame in [WireHTTP2.reset(1, .cancel), WireHTTP2.update(1, 0)] {
            var rig = client()
            rig.receive(WireHTTP2.data(1, [], ends: true))
            rig.receive(Array(repeating: frame, count: 9_998).flatMap { $0 })
            #expect(rig.takeSaid().last == .closed(1, .finished))
            rig.receive(frame)
            expectCalm(&rig, .uselessFrames)
        }
    }

    @Test("H9.1: 330 are forgiven in a second, and bodies make up for what their windows cost")
    func forgiven() {
        var rig = client()
        let frame = WireHTTP2.update(0, 1)
        rig.receive(Array(repeating: frame, count: 9_990).flatMap { $0 })
        rig.wait(.seconds(2))
        rig.receive(Array(repeating: frame, count: 660).flatMap { $0 })
        #expect(rig.takeSaid().isEmpty)
        for _ in 0..<20_000 { rig.receive(WireHTTP2.data(1, [1]) + frame + frame) }
        #expect(rig.machine.openStreams == 1)
        for _ in 0..<5_000 { rig.receive(WireHTTP2.data(1, [1])) }
        rig.receive(Array(repeating: frame, count: 10_000).flatMap { $0 })
        #expect(rig.machine.openStreams == 1)
        rig.receive(frame)
        expectCalm(&rig, .uselessFrames)
    }

    @Test("H9.1: time before the connection forgives nothing")
    func notForgiven() {
        var rig = HTTP2Rig(.client, settings: .client)
        rig.now = .seconds(1000)
        rig.start()
        rig.receive(WireHTTP2.settings([]) + WireHTTP2.settingsAck)
        rig.forget()
        rig.receive(Array(repeating: WireHTTP2.update(0, 1), count: 9_998).flatMap { $0 })
        #expect(rig.takeSaid().isEmpty)
        rig.receive(WireHTTP2.update(0, 1))
        expectCalm(&rig, .uselessFrames)
    }

    @Test("H9.2: 1,000 answers wait for a peer that does not read; H8.11: each is written once it does")
    func unread() {
        var rig = client()
        rig.receive(Array(repeating: WireHTTP2.ping(7), count: 999).flatMap { $0 } + WireHTTP2.settings())
        #expect(rig.takeWritten().count == 999 * 17 + 9)
        rig.then { $0.outputEmptied() }
        rig.receive(Array(repeating: WireHTTP2.ping(7), count: 1000).flatMap { $0 })
        #expect(rig.takeSaid().isEmpty)
        rig.receive(WireHTTP2.ping(7))
        expectCalm(&rig, .unreadAnswers)
    }

    @Test(
        "H9.2: RST_STREAM for what comes of streams that are over waits as answers do, however much a body makes up for"
    )
    func unreadResets() {
        var rig = client()
        var late: [[UInt8]] = []
        for _ in 0..<1001 {
            let number = rig.request()?.number ?? 0
            rig.receive(WireHTTP2.headers(number, StandIn.withoutBody, ends: true))
            late.append(WireHTTP2.data(number, [1]))
        }
        rig.forget()
        let body = WireHTTP2.data(1, [1])
        for _ in 0..<2 {
            rig.then { $0.outputEmptied() }
            rig.receive(late[..<1000].flatMap { $0 + body })
            #expect(rig.takeWritten().count == 1000 * WireHTTP2.reset(1, .streamClosed).count)
        }
        #expect(rig.machine.openStreams == 1)
        rig.receive(late[1000])
        expectCalm(&rig, .unreadAnswers)
    }

    @Test("H9.2: what waited at the last mark is read when the mark is passed; what came since still waits")
    func readUpToMark() {
        var rig = client()
        rig.receive(Array(repeating: WireHTTP2.ping(7), count: 600).flatMap { $0 })
        rig.then { $0.outputMarkPassed() }
        rig.receive(Array(repeating: WireHTTP2.ping(7), count: 400).flatMap { $0 })
        rig.then { $0.outputMarkPassed() }
        rig.receive(Array(repeating: WireHTTP2.ping(7), count: 600).flatMap { $0 })
        #expect(rig.takeSaid().isEmpty)
        rig.receive(WireHTTP2.ping(7))
        expectCalm(&rig, .unreadAnswers)
    }

    @Test("H9.3: 16 CONTINUATION frames in a block, and no more than 2 empty ones in a row")
    func continuations() {
        let start = WireHTTP2.headers(3, [1], isWhole: false)
        var rig = client()
        rig.request()
        let more = Array(repeating: WireHTTP2.continuation(3, [0], isWhole: false), count: 15).flatMap { $0 }
        rig.receive(start + more + WireHTTP2.continuation(3, [0], isWhole: true))
        #expect(rig.takeSaid().count == 1)
        rig = client()
        rig.request()
        rig.forget()
        rig.receive(start + more + more)
        expectCalm(&rig, .continuations)
        rig = client()
        rig.request()
        rig.forget()
        let empty = WireHTTP2.continuation(3, [], isWhole: false)
        rig.receive(start + empty + empty + WireHTTP2.continuation(3, [0], isWhole: false) + empty + empty)
        #expect(rig.takeSaid().isEmpty)
        rig.receive(empty)
        expectCalm(&rig, .continuations)
    }

    @Test("H9.5: a block of more bytes than we decode ends the connection, and so does a list")
    func blockBytes() {
        var limits = HTTP2Limits()
        limits.blockBytes = 40_000
        let full = Array(repeating: 0 as UInt8, count: 16_384)
        var rig = HTTP2Rig.client(limits: limits)
        rig.request()
        rig.forget()
        rig.receive(WireHTTP2.headers(1, full, isWhole: false) + WireHTTP2.continuation(1, full, isWhole: false))
        #expect(rig.takeSaid().isEmpty)
        rig.receive(WireHTTP2.continuation(1, full, isWhole: false))
        expectCalm(&rig, .blockTooLarge)
        rig = client()
        rig.receive(WireHTTP2.headers(1, StandIn.boundless, ends: true))
        expectCalm(&rig, .blockTooLarge)
        // A limit below a single frame, too, which opens no stream.
        limits.blockBytes = 100
        rig = HTTP2Rig.client(limits: limits)
        rig.request()
        rig.forget()
        rig.receive(WireHTTP2.headers(1, full))
        expectCalm(&rig, .blockTooLarge)
        rig = HTTP2Rig.server(limits: limits)
        rig.receive(WireHTTP2.headers(1, full))
        #expect(rig.takeSaid() == [.failed(.connection(.blockTooLarge))])
    }

    @Test("H9.6: 32 informational answers before the final one")
    func informational() {
        var rig = HTTP2Rig.client()
        rig.request()
        rig.forget()
        for _ in 0..<32 { rig.receive(WireHTTP2.headers(1, StandIn.informational)) }
        #expect(rig.takeSaid().count == 32)
        rig.receive(WireHTTP2.headers(1, StandIn.informational))
        expectCalm(&rig, .informationalAnswers)
    }

    @Test("H9.7: 100 streams that we reset in a second because of the server")
    func resets() {
        var rig = HTTP2Rig.client()
        rig.wait(.seconds(5))
        for second in 0..<3 {
            for _ in 0..<100 {
                let id = rig.request()
                rig.receive(WireHTTP2.headers(id?.number ?? 0, StandIn.malformed))
            }
            #expect(rig.machine.openStreams == 0)
            if second < 2 { rig.wait(.seconds(1)) }
        }
        let id = rig.request()
        rig.forget()
        rig.receive(WireHTTP2.headers(id?.number ?? 0, StandIn.malformed))
        expectCalm(&rig, .resets)
    }

    @Test("H9.1: a block for a stream that is over costs something, and its stream is told once")
    func goneBlocks() {
        var rig = client()
        rig.receive(WireHTTP2.data(1, [], ends: true))
        rig.forget()
        let frame = WireHTTP2.headers(1, StandIn.final)
        rig.receive(Array(repeating: frame, count: 9_998).flatMap { $0 })
        #expect(rig.takeWritten() == WireHTTP2.reset(1, .streamClosed))
        rig.receive(frame)
        expectCalm(&rig, .uselessFrames)
    }

    @Test("H9.1: streams that are reset as soon as they are opened cost a server")
    func rapidReset() {
        var rig = HTTP2Rig.server()
        for stream in 0..<9_998 as Range<UInt32> {
            let number = 2 * stream + 1
            rig.receive(WireHTTP2.headers(number, StandIn.final) + WireHTTP2.reset(number, .cancel))
        }
        #expect(rig.takeSaid().last == .closed(19_995, .reset(.cancel)))
        rig.receive(WireHTTP2.headers(19_997, StandIn.final) + WireHTTP2.reset(19_997, .cancel))
        #expect(rig.takeSaid().last == .failed(.connection(.uselessFrames)))
    }
}
