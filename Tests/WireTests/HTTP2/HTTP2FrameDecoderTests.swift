// Frames one by one: what is read of them, and every rule about their size, padding and place, cut in every way.

import Testing
import URLLoadingWire

@Suite("HTTP/2 frames, read")
struct HTTP2FrameDecoderTests {
    /// What a decoder says, pieces joined.
    private enum Found: Equatable {
        case step(HTTP2FrameDecoder.Step)
        case bytes([UInt8])
        case fault(HTTP2Fault)
    }

    private func decode(
        _ pieces: [ArraySlice<UInt8>], _ role: HTTP2Role, begins: Bool, maximum: UInt32
    ) -> [Found] {
        var decoder = HTTP2FrameDecoder(role, maximumFrameSize: maximum)
        var found: [Found] = []
        let start = begins ? [] : [(role == .server ? WireHTTP2.preface : []) + WireHTTP2.settings()]
        for piece in start.map({ $0[...] }) + pieces {
            let bytes = Array(piece)
            var offset = 0
            do throws(HTTP2Fault) {
                reading: while true {
                    let step = try decoder.next(bytes.span.bytes, offset: &offset)
                    switch step {
                    case .needMore: break reading
                    case .data(let range), .block(let range):
                        if range.isEmpty { Issue.record("an empty piece") }
                        if case .bytes(let earlier) = found.last {
                            found[found.count - 1] = .bytes(earlier + bytes[range])
                        } else {
                            found.append(.bytes(Array(bytes[range])))
                        }
                    default: found.append(.step(step))
                    }
                }
                if offset != bytes.count { Issue.record("needMore with bytes unused") }
            } catch {
                return found + [.fault(error)]
            }
        }
        return found
    }

    private func expect(
        _ bytes: [UInt8], _ expected: [Found], role: HTTP2Role = .client, begins: Bool = false,
        maximum: UInt32 = 16_384,
        _ location: SourceLocation = #_sourceLocation
    ) {
        for pieces in Pieces.waysToCut(bytes) {
            var found = decode(pieces, role, begins: begins, maximum: maximum)
            if !begins { found.removeFirst() }
            #expect(found == expected, "\(pieces.map(\.count))", sourceLocation: location)
        }
    }

    private func expectFault(
        _ bytes: [UInt8], _ reason: HTTP2Fault.Reason, on stream: UInt32 = 0, role: HTTP2Role = .client,
        after found: [Found] = [], _ location: SourceLocation = #_sourceLocation
    ) {
        let fault = HTTP2Fault.connection(reason, stream: stream)
        expect(bytes, found + [.fault(fault)], role: role, location)
    }

    @Test("R9113 §6: frames of every kind, in any pieces")
    func kinds() {
        expect(
            WireHTTP2.data(1, [1, 2, 3], ends: true),
            [
                .step(.dataBegins(stream: 1, byteCount: 3, padding: 0, endsStream: true)), .bytes([1, 2, 3]),
                .step(.dataEnds),
            ])
        expect(
            WireHTTP2.headers(3, [1, 2], isWhole: false) + WireHTTP2.continuation(3, [], isWhole: false)
                + WireHTTP2.continuation(3, [3], isWhole: true),
            [
                .step(.blockBegins(stream: 3, frameBytes: 11, endsStream: false)), .bytes([1, 2]),
                .step(.blockContinues(frameBytes: 9)), .step(.blockContinues(frameBytes: 10)), .bytes([3]),
                .step(.blockEnds),
            ])
        expect(
            WireHTTP2.ping(0x0102_0304_0506_0708) + WireHTTP2.ping(.max, ack: true),
            [.step(.control(.ping(0x0102_0304_0506_0708))), .step(.control(.pingAcknowledged(.max)))])
        expect(
            WireHTTP2.update(0, 1) + WireHTTP2.update(5, 0x7FFF_FFFF) + WireHTTP2.reset(7, .cancel),
            [
                .step(.control(.windowUpdate(stream: 0, increment: 1))),
                .step(.control(.windowUpdate(stream: 5, increment: 0x7FFF_FFFF))),
                .step(.control(.resetStream(7, .cancel))),
            ])
        expect(
            WireHTTP2.settingsAck + WireHTTP2.goAway(9, .enhanceYourCalm, "calm"),
            [.step(.control(.settingsAcknowledged)), .step(.control(.goAway(last: 9, .enhanceYourCalm)))])
    }

    @Test("R9113 §6.2: the fields of the old priority are left out of a block")
    func oldPriority() {
        expect(
            WireHTTP2.frame(1, 0x24, on: 1, [0x80, 0, 0, 1, 16, 7, 8]),
            [.step(.blockBegins(stream: 1, frameBytes: 16, endsStream: false)), .bytes([7, 8]), .step(.blockEnds)])
        expect(
            WireHTTP2.frame(1, 0x2C, on: 1, [2, 0, 0, 0, 0, 16, 7, 0, 0]),
            [.step(.blockBegins(stream: 1, frameBytes: 18, endsStream: false)), .bytes([7]), .step(.blockEnds)])
    }

    @Test("H4.3: padding is dropped and counts for flow control; H8.5: padding is no longer than its frame")
    func padding() {
        expect(
            WireHTTP2.data(1, [9], padding: 3),
            [
                .step(.dataBegins(stream: 1, byteCount: 5, padding: 4, endsStream: false)), .bytes([9]),
                .step(.dataEnds),
            ])
        expect(
            WireHTTP2.data(1, [], padding: 255),
            [.step(.dataBegins(stream: 1, byteCount: 256, padding: 256, endsStream: false)), .step(.dataEnds)])
        expectFault(WireHTTP2.frame(0, 8, on: 1, [1]), .padding, on: 1)
        expectFault(WireHTTP2.frame(0, 8, on: 1, [5, 0, 0, 0, 0]), .padding, on: 1)
        expectFault(WireHTTP2.frame(1, 0xC, on: 1, [3, 0, 0]), .padding, on: 1)
        expectFault(WireHTTP2.frame(1, 0x2C, on: 1, [2, 0, 0, 0, 0, 16, 7]), .padding, on: 1)
        #expect(HTTP2Fault.connection(.padding).code == .protocolError)
    }

    @Test("H8.4: wrong sizes")
    func sizes() {
        for size in [1, 5, 7, 12 + 1] {
            expectFault(WireHTTP2.frame(4, 0, on: 0, Array(repeating: 0, count: size)), .frameSize)
        }
        expectFault(WireHTTP2.frame(4, 1, on: 0, Array(repeating: 0, count: 6)), .frameSize)
        for size in [0, 7, 9] { expectFault(WireHTTP2.header(6, length: size), .frameSize) }
        for size in [0, 3, 5] {
            expectFault(WireHTTP2.header(3, on: 1, length: size), .frameSize, on: 1)
            expectFault(WireHTTP2.header(8, on: 1, length: size), .frameSize, on: 1)
            expectFault(WireHTTP2.header(8, length: size), .frameSize)
        }
        expectFault(WireHTTP2.header(7, length: 7), .frameSize)
        expectFault(WireHTTP2.header(0, 8, on: 1, length: 0), .frameSize, on: 1)
        expectFault(WireHTTP2.header(1, 8, on: 1, length: 0), .frameSize, on: 1)
        expectFault(WireHTTP2.header(1, 0x20, on: 1, length: 4), .frameSize, on: 1)
        expectFault(WireHTTP2.header(1, 0x28, on: 1, length: 5), .frameSize, on: 1)
        #expect(HTTP2Fault.connection(.frameSize).code == .frameSizeError)
    }

    @Test("H8.4: a frame above our size is a fault whatever its type", arguments: Array(0...12) as [UInt8])
    func tooLarge(type: UInt8) {
        let bytes = WireHTTP2.header(type, on: 1, length: 16_385)
        expectFault(bytes, .frameTooLarge, on: 1)
        #expect(HTTP2Fault.connection(.frameTooLarge).code == .frameSizeError)
    }

    @Test("R9113 §4.2: a frame of exactly our size is taken")
    func largest() {
        let payload = Array(repeating: 7 as UInt8, count: 20_000)
        expect(
            WireHTTP2.data(1, payload),
            [
                .step(.dataBegins(stream: 1, byteCount: 20_000, padding: 0, endsStream: false)), .bytes(payload),
                .step(.dataEnds),
            ], maximum: 20_000)
    }

    @Test("H8.1: the first frame is SETTINGS without ACK, and nothing else is")
    func first() {
        let fault: [Found] = [.fault(.connection(.notHTTP2))]
        expect(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), fault, begins: true)
        expect(Array(repeating: 0, count: 20), fault, begins: true)
        expect(Array(repeating: 0xFF, count: 20), fault, begins: true)
        expect(WireHTTP2.settingsAck, fault, begins: true)
        expect(WireHTTP2.ping(1), fault, begins: true)
        expect(WireHTTP2.frame(4, 0, on: 1, []), fault, begins: true)
        expect(WireHTTP2.settings(), [.step(.control(.settings(HTTP2SettingsChange())))], begins: true)
        #expect(HTTP2Fault.connection(.notHTTP2).code == .protocolError)
    }

    @Test("R9113 §3.4: a client begins with the preface, and every byte of it counts")
    func preface() {
        let settings = Found.step(.control(.settings(HTTP2SettingsChange())))
        expect(WireHTTP2.preface + WireHTTP2.settings(), [settings], role: .server, begins: true)
        for place in WireHTTP2.preface.indices {
            var wrong = WireHTTP2.preface
            wrong[place] ^= 0x20
            let found = decode([wrong[...]], .server, begins: true, maximum: 16_384)
            #expect(found == [.fault(.connection(.notHTTP2))], "\(place)")
        }
        expect(Array("GET / HTTP/1.1\r\n".utf8), [.fault(.connection(.notHTTP2))], role: .server, begins: true)
    }

    @Test("H8.2: frames that belong to a stream on none, and the other way round")
    func places() {
        for type in [0, 1, 2, 3, 9] as [UInt8] {
            let reason: HTTP2Fault.Reason = type == 9 ? .brokenBlock : .wrongStream
            let length = type == 2 ? 5 : type == 3 ? 4 : 8
            expectFault(WireHTTP2.header(type, on: 0, length: length), reason)
        }
        for type in [4, 6, 7] as [UInt8] {
            expectFault(WireHTTP2.header(type, on: 3, length: type == 4 ? 0 : 8), .wrongStream, on: 3)
        }
        expectFault(WireHTTP2.header(4, 1, on: 3, length: 0), .wrongStream, on: 3)
        #expect(HTTP2Fault.connection(.wrongStream).code == .protocolError)
    }

    @Test("H8.3: PUSH_PROMISE in any form", arguments: [HTTP2Role.client, .server])
    func push(role: HTTP2Role) {
        expectFault(WireHTTP2.frame(5, 4, on: 1, [0, 0, 0, 2, 1]), .push, on: 1, role: role)
        expectFault(WireHTTP2.frame(5, 0, on: 0, []), .push, role: role)
        expectFault(WireHTTP2.frame(5, 0xC, on: 2, [200]), .push, on: 2, role: role)
        #expect(HTTP2Fault.connection(.push).code == .protocolError)
    }

    @Test("H8.8: nothing stands inside a header block, and its middle nowhere else")
    func blocks() {
        let begun: [Found] = [.step(.blockBegins(stream: 1, frameBytes: 10, endsStream: false)), .bytes([1])]
        let start = WireHTTP2.headers(1, [1], isWhole: false)
        for type in Array(0...8) + [10, 0x10, 0xFF] as [UInt8] {
            expectFault(start + WireHTTP2.header(type, on: 1, length: 0), .brokenBlock, on: 1, after: begun)
        }
        expectFault(start + WireHTTP2.continuation(3, [2], isWhole: true), .brokenBlock, on: 3, after: begun)
        expectFault(WireHTTP2.continuation(1, [2], isWhole: true), .brokenBlock, on: 1)
        expectFault(
            WireHTTP2.headers(1, [1]) + WireHTTP2.continuation(1, [2], isWhole: true), .brokenBlock, on: 1,
            after: begun + [.step(.blockEnds)])
        #expect(HTTP2Fault.connection(.brokenBlock).code == .protocolError)
    }

    @Test("H4.5: what is not known is ignored: types, flags, settings, the reserved bit")
    func unknown() {
        expect(
            WireHTTP2.frame(0xEE, 0xFF, on: 77, [1, 2, 3]) + WireHTTP2.frame(0x0A, 0, on: 0, []),
            [.step(.control(.unknown(type: 0xEE))), .step(.control(.unknown(type: 0x0A)))])
        expect(
            WireHTTP2.frame(6, 0xFE, on: 0x8000_0000, WireHTTP2.number(5, 8)), [.step(.control(.ping(5)))])
        expect(
            WireHTTP2.frame(8, 0xFF, on: 3, [0x80, 0, 0, 1]),
            [.step(.control(.windowUpdate(stream: 3, increment: 1)))])
        expect(
            WireHTTP2.frame(2, 0, on: 3, [1, 2, 3, 4, 5]) + WireHTTP2.frame(2, 0, on: 2, [1]),
            [.step(.control(.priority)), .step(.control(.priority))])
    }

    @Test("H9.8: of what a GOAWAY says in words 256 bytes are kept")
    func debugData() throws {
        var decoder = HTTP2FrameDecoder(.client)
        let text = String(repeating: "x", count: 5000)
        let bytes = WireHTTP2.settings() + WireHTTP2.goAway(1, .noError, text) + WireHTTP2.ping(1)
        var offset = 0
        var steps: [HTTP2FrameDecoder.Step] = []
        for _ in 0..<3 { steps.append(try decoder.next(bytes.span.bytes, offset: &offset)) }
        #expect(steps[1] == .control(.goAway(last: 1, .noError)))
        #expect(steps[2] == .control(.ping(1)))
        #expect(decoder.debugData == Array(repeating: 0x78, count: 256))
    }

    @Test("R9113 §5.4: after a fault every call throws it again")
    func again() {
        var decoder = HTTP2FrameDecoder(.client)
        let bytes = WireHTTP2.ping(1) + WireHTTP2.settings()
        var offset = 0
        for _ in 0..<3 {
            #expect(throws: HTTP2Fault.connection(.notHTTP2)) {
                _ = try decoder.next(bytes.span.bytes, offset: &offset)
            }
        }
    }
}
