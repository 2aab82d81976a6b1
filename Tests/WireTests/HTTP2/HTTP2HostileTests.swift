// A peer that says anything: lawful frames with numbers that are not, in any order, and lawful conversations of which
// bits were turned on the way. Nothing traps, each stream ends once, and after the end there is nothing.

import Testing
import URLLoadingTestSupport
import URLLoadingWire

@Suite("HTTP/2, hostile peers")
struct HTTP2HostileTests {
    private static let streams: [UInt32] = [0, 1, 2, 3, 5, 7, 9, 0x7FFF_FFFF, 0xFFFF_FFFF]
    private static let numbers: [UInt32] = [0, 1, 7, 65_535, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF]

    /// A frame whose type and size mostly fit.
    private func frame(_ random: inout SeededRandom) -> [UInt8] {
        let stream = Self.streams.randomElement(using: &random) ?? 0
        let number = Self.numbers.randomElement(using: &random) ?? 0
        let flags = UInt8.random(in: 0...255, using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0...2: return WireHTTP2.frame(0, flags & 9, on: stream, bytes(40, &random))
        case 3...5: return WireHTTP2.frame(1, flags & 0x2D, on: stream, bytes(12, &random))
        case 6: return WireHTTP2.frame(9, flags & 4, on: stream, bytes(3, &random))
        case 7: return WireHTTP2.update(stream, number)
        case 8: return WireHTTP2.settings([(UInt16.random(in: 0...9, using: &random), number)])
        case 9: return WireHTTP2.reset(stream, HTTP2ErrorCode(rawValue: number))
        case 10: return WireHTTP2.goAway(number, HTTP2ErrorCode(rawValue: number))
        default: return WireHTTP2.frame(UInt8.random(in: 0...12, using: &random), flags, on: stream, bytes(9, &random))
        }
    }

    private func bytes(_ most: Int, _ random: inout SeededRandom) -> [UInt8] {
        (0..<Int.random(in: 0...most, using: &random)).map { _ in UInt8.random(in: 0...9, using: &random) }
    }

    private func check(_ said: [Said], opened: Int) {
        var closed: Set<UInt32> = []
        var isOver = false
        for action in said {
            #expect(!isOver, "\(action) behind the end")
            switch action {
            case .closed(let number, _): #expect(closed.insert(number).inserted, "stream \(number) ends twice")
            case .data(let number, _), .messageEnds(let number), .head(let number, _, _):
                #expect(!closed.contains(number), "stream \(number) goes on behind its end")
            case .failed, .finished: isOver = true
            case .discarded, .encoderTable, .decoderTable, .capacity, .draining: break
            }
        }
        #expect(isOver && closed.count >= opened)
    }

    @Test("H8.1 to H8.12: a server that says anything", arguments: 0..<400 as Range<UInt64>)
    func server(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var rig = HTTP2Rig.client()
        var opened = 0
        for _ in 0..<60 {
            if random.chance(20), let id = rig.request(random.chance(50) ? .none : .unknown) {
                opened += 1
                rig.then { $0.bodyReady(id) }
            }
            let frame = frame(&random)
            rig.receive(random.chance(90) ? frame : Array(frame.dropLast()))
            rig.fill(Int.random(in: 0..<50_000, using: &random))
        }
        rig.then { $0.connectionEnded() }
        check(rig.takeSaid(), opened: opened)
        #expect(rig.machine.openStreams == 0)
    }

    @Test("R9113 §5.4: a client that says anything", arguments: 0..<400 as Range<UInt64>)
    func client(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var rig = HTTP2Rig.server()
        for _ in 0..<60 { rig.receive(frame(&random)) }
        rig.then { $0.connectionEnded() }
        check(rig.takeSaid(), opened: 0)
        #expect(rig.machine.openStreams == 0)
    }

    @Test("H8.1 to H8.12: a lawful answer of which one bit was turned")
    func turnedBits() {
        let answer =
            WireHTTP2.settings([(3, 100), (4, 70_000)]) + WireHTTP2.settingsAck
            + WireHTTP2.headers(1, StandIn.informational) + WireHTTP2.headers(1, StandIn.final(length: 4))
            + WireHTTP2.data(1, [1, 2], padding: 2) + WireHTTP2.update(0, 5) + WireHTTP2.data(1, [3, 4], ends: true)
            + WireHTTP2.ping(1) + WireHTTP2.reset(3, .cancel) + WireHTTP2.goAway(3, .noError)
        for bit in 0..<(8 * answer.count) {
            var bytes = answer
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            var rig = HTTP2Rig(.client, settings: .client)
            rig.start()
            rig.request()
            rig.request()
            rig.receive(bytes)
            rig.then { $0.connectionEnded() }
            check(rig.takeSaid(), opened: 2)
        }
    }
}
