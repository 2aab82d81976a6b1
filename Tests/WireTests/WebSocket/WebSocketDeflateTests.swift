// permessage-deflate: the examples of RFC 7692 §7.2.3, round trips under every agreement, and
// what a hostile peer sends.

import Testing
import URLLoadingWire

@Suite("Web socket compression")
struct WebSocketDeflateTests {
    private static let plain = DeflateAgreement()

    private func run(
        _ bytes: [UInt8], maximum: Int = 1 << 20, _ agreement: DeflateAgreement = plain
    ) -> [WebSocketOutcome] {
        WebSocketOutcome.run([bytes[...]], maximum: maximum, compression: agreement)
    }

    private func expect(
        _ bytes: [UInt8], _ outcomes: [WebSocketOutcome], _ location: SourceLocation = #_sourceLocation
    ) {
        for pieces in Pieces.waysToCut(bytes) {
            #expect(
                WebSocketOutcome.run(pieces, compression: Self.plain) == outcomes, "\(pieces.map(\.count))",
                sourceLocation: location)
        }
    }

    private func compressed(_ payload: [UInt8], opcode: UInt8 = 1) -> [UInt8] {
        WireFrame.bytes(opcode, payload, rsv: 4)
    }

    // MARK: Examples

    private static let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]

    @Test("R7692 §7.2.3.1: a message in one frame and in two")
    func oneBlock() {
        expect(compressed(Self.hello), [.text("Hello")])
        expect([0x41, 0x03, 0xF2, 0x48, 0xCD, 0x80, 0x04, 0xC9, 0xC9, 0x07, 0x00], [.text("Hello")])
    }

    @Test("R7692 §7.2.3.2: a message that refers to the one before it")
    func sharedWindow() {
        expect(
            compressed(Self.hello) + [0xC1, 0x05, 0xF2, 0x00, 0x11, 0x00, 0x00], [.text("Hello"), .text("Hello")])
        let forgetful = DeflateAgreement(fromServer: DeflateDirection(keepsContext: false))
        #expect(
            run(compressed(Self.hello) + [0xC1, 0x05, 0xF2, 0x00, 0x11, 0x00, 0x00], forgetful)
                == [.text("Hello"), .fault(.corruptCompression)])
        #expect(run(compressed(Self.hello) + compressed(Self.hello), forgetful) == [.text("Hello"), .text("Hello")])
    }

    @Test("R7692 §7.2.3.3, §7.2.3.5: blocks without compression, and two blocks in one message")
    func blocks() {
        expect([0xC1, 0x0B, 0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00], [.text("Hello")])
        expect(
            [0xC1, 0x0D, 0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00],
            [.text("Hello")])
    }

    @Test("R7692 §7.2.3.4: a block that says it is the last; the next message still refers to it")
    func lastBlock() {
        let final: [UInt8] = [0xC1, 0x08, 0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]
        expect(final, [.text("Hello")])
        expect(final + [0xC1, 0x05, 0xF2, 0x00, 0x11, 0x00, 0x00], [.text("Hello"), .text("Hello")])
    }

    @Test("R7692 §7.2.3.6: an empty message is one byte; compressed or not is each message's choice")
    func empty() {
        expect(compressed([0]) + WireFrame.text("a") + compressed(Self.hello), [.text(""), .text("a"), .text("Hello")])
        var deflater = MessageDeflater(DeflateDirection())
        #expect(deflater.compress([]) == [0])
        #expect(deflater.compress(Array("Hello".utf8)) == Self.hello)
        #expect(deflater.compress([]) == [0])
        #expect(deflater.compress(Array("Hello".utf8)) == [0xF2, 0x00, 0x11, 0x00, 0x00])
    }

    // MARK: RSV1

    @Test("R7692 §6: RSV1 stands on the first frame of a message only, and nowhere without an agreement")
    func reservedBit() {
        expect([0x41, 0x03, 0xF2, 0x48, 0xCD, 0xC0, 0x04, 0xC9, 0xC9, 0x07, 0x00], [.fault(.reservedBit)])
        for opcode in [8, 9, 10] as [UInt8] {
            expect(WireFrame.bytes(opcode, rsv: 4), [.fault(.reservedBit)])
        }
        for rsv in [1, 2, 3, 5, 6, 7] as [UInt8] {
            expect(WireFrame.bytes(1, Self.hello, rsv: rsv), [.fault(.reservedBit)])
        }
        #expect(WebSocketOutcome.run([compressed(Self.hello)[...]]) == [.fault(.reservedBit)])
    }

    // MARK: Round trips

    static let agreements: [DeflateDirection] = (8...15).flatMap { bits in
        [true, false].map { DeflateDirection(keepsContext: $0, windowBits: bits) }
    }

    @Test("Round trips with every window, with and without context, masked and not", arguments: agreements)
    func roundTrips(_ direction: DeflateDirection) {
        let agreement = DeflateAgreement(fromClient: direction, fromServer: direction)
        var messages: [[UInt8]] = [[], [0x61], [UInt8](repeating: 0x62, count: 300)]
        messages.append((0..<3000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) })
        messages.append(Array(String(repeating: "The quick brown fox jumps over the lazy dog. ", count: 40).utf8))
        // Incompressible, and repeated at a distance of more than any window of eight bits, and of any at all.
        var generator = SystemRandomNumberGenerator()
        let noise = (0..<700).map { _ in UInt8.random(in: 0...255, using: &generator) }
        messages.append(noise + noise)
        messages.append((0..<50_000).map { UInt8(truncatingIfNeeded: ($0 / 7) ^ ($0 >> 9)) })
        messages += messages
        for role in [WebSocketRole.client, .server] {
            var deflater = MessageDeflater(direction)
            var bytes: [UInt8] = []
            for message in messages {
                let mask = role == .server ? WebSocketMask(0xDEAD_BEEF) : nil
                let payload = deflater.compress(message) ?? []
                WebSocketFrameEncoder.encode(.binary, payload, isCompressed: true, mask: mask, into: &bytes)
            }
            let expected = messages.map { WebSocketOutcome.binary($0) }
            // Byte by byte zlib has nothing but the window to look back into.
            for pieces in Pieces.someWaysToCut(bytes) + [bytes.indices.map { bytes[$0...$0] }] {
                #expect(WebSocketOutcome.run(pieces, role: role, compression: agreement) == expected, "\(role)")
            }
        }
    }

    @Test("What refers to before the window is refused where nothing but the window is left of it")
    func windowIsKept() {
        var deflater = MessageDeflater(DeflateDirection(windowBits: 15))
        var generator = SystemRandomNumberGenerator()
        let noise = (0..<2000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let bytes = compressed(deflater.compress(noise + noise) ?? [], opcode: 2)
        let small = DeflateAgreement(fromServer: DeflateDirection(windowBits: 9))
        let bytewise = bytes.indices.map { bytes[$0...$0] }
        #expect(WebSocketOutcome.run(bytewise, compression: Self.plain) == [.binary(noise + noise)])
        #expect(WebSocketOutcome.run(bytewise, compression: small) == [.fault(.corruptCompression)])
    }

    @Test("12.1 to 12.5, 13.1 to 13.7: a hundred messages of each size, repetitive and not, fragmented and not")
    func sizes() {
        for size in [16, 64, 256, 1024, 4096, 8192] {
            let line = Array("{\"id\": 17, \"text\": \"Hallo, Wörld\", \"ok\": true}\n".utf8)
            let message = (0..<size).map { line[$0 % line.count] ^ ($0 % 97 == 0 ? 1 : 0) }
            var deflater = MessageDeflater(DeflateDirection())
            var bytes: [UInt8] = []
            for _ in 0..<100 {
                let payload = deflater.compress(message) ?? []
                if size % 3 == 1, payload.count > 2 {
                    bytes += WireFrame.bytes(2, Array(payload[..<1]), fin: false, rsv: 4)
                    bytes += WireFrame.ping() + WireFrame.bytes(0, Array(payload[1...]))
                } else {
                    bytes += WireFrame.bytes(2, payload, rsv: 4)
                }
            }
            let outcomes = run(bytes).filter { $0 != .ping() }
            #expect(outcomes == [WebSocketOutcome](repeating: .binary(message), count: 100), "\(size)")
            #expect(bytes.count < 100 * (size + 10))
        }
    }

    // MARK: Hostile peers

    @Test("R7692 §8: the limit is one of decompressed bytes; a bomb is refused where it becomes too large")
    func bomb() {
        var deflater = MessageDeflater(DeflateDirection())
        let payload = deflater.compress([UInt8](repeating: 0, count: 3 << 20)) ?? []
        #expect(payload.count < 5000)
        let bytes = compressed(payload, opcode: 2)
        for limit in [0, 1, 1000, 4096, 1 << 20, (3 << 20) - 1] {
            #expect(run(bytes, maximum: limit) == [.fault(.messageTooBig(limit: limit))], "\(limit)")
        }
        #expect(run(bytes, maximum: 3 << 20) == [.binary([UInt8](repeating: 0, count: 3 << 20))])
    }

    @Test("A reader that has produced much for little asks to be called again")
    func work() throws {
        var deflater = MessageDeflater(DeflateDirection())
        let bytes = compressed(deflater.compress([UInt8](repeating: 0, count: 12 << 20)) ?? [], opcode: 2)
        var reader = WebSocketReader(.client, maximumMessageSize: .max, compression: Self.plain)
        var offset = 0
        var pauses = 0
        while try reader.next(bytes.span.bytes, offset: &offset) == .unfinished { pauses += 1 }
        #expect(pauses >= 2 && offset == bytes.count)
    }

    @Test("What compresses to a size exactly at the limit is let through, uncompressed or not")
    func exactly() {
        for size in [1, 4095, 4096, 4097, 8192, 10_000] {
            var deflater = MessageDeflater(DeflateDirection())
            let message = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 41) }
            let bytes = compressed(deflater.compress(message) ?? [], opcode: 2)
            #expect(run(bytes, maximum: size) == [.binary(message)])
            #expect(run(bytes, maximum: size - 1) == [.fault(.messageTooBig(limit: size - 1))])
        }
    }

    @Test("A compressed message that stops anywhere in the middle is refused, or is another message")
    func truncated() {
        var deflater = MessageDeflater(DeflateDirection())
        let message = Array(String(repeating: "abcdefgh 12345 ", count: 30).utf8)
        let payload = deflater.compress(message) ?? []
        var refused = 0
        for count in 0..<payload.count {
            let outcomes = run(compressed(Array(payload[..<count])))
            #expect(outcomes != [.event(.message(WebSocketMessage(.text, message)))])
            if outcomes == [.fault(.corruptCompression)] { refused += 1 }
        }
        // No part of a block of this kind is a block.
        #expect(refused == payload.count)
        #expect(WebSocketFault.corruptCompression.closeCode == 1007)
    }

    @Test("Bytes that are not compressed data are refused")
    func corrupt() {
        expect(compressed([0xFF, 0xFF, 0xFF]), [.fault(.corruptCompression)])
        // A stored block whose length and its complement differ; a reference to before the beginning.
        expect(compressed([0x00, 0x05, 0x00, 0x05, 0x00, 0x61]), [.fault(.corruptCompression)])
        expect(compressed([0xF2, 0x00, 0x11, 0x00, 0x00]), [.fault(.corruptCompression)])
        // Not even the one byte of an empty message.
        expect(compressed([]), [.fault(.corruptCompression)])
    }

    @Test("B15.17: text is checked behind the compression, across fragments of it")
    func text() {
        var deflater = MessageDeflater(DeflateDirection())
        let good = Array("aé日😀".utf8)
        let first = deflater.compress(good) ?? []
        let second = deflater.compress([0x61, 0xED, 0xA0, 0x80]) ?? []
        expect(
            compressed(first) + compressed(second),
            [.text("aé日😀"), .fault(.invalidText)])
        var other = MessageDeflater(DeflateDirection())
        expect(compressed(other.compress([0x61, 0xE2, 0x82]) ?? []), [.fault(.invalidText)])
    }

    @Test("Of several faults the first is told, however the bytes are cut")
    func firstFault() {
        // 0xFF as text, then a reference to before the beginning; and 0xFF before a limit.
        var deflater = MessageDeflater(DeflateDirection())
        let invalid = deflater.compress([0x61, 0xFF, 0x61]) ?? []
        expect(compressed(invalid + [0x03, 0xFF, 0xFF, 0xFF]), [.fault(.invalidText)])
        var other = MessageDeflater(DeflateDirection())
        let bytes = compressed(other.compress([0x61, 0x62, 0xFF, 0x61]) ?? [])
        for pieces in Pieces.waysToCut(bytes) {
            #expect(
                WebSocketOutcome.run(pieces, maximum: 2, compression: Self.plain) == [.fault(.messageTooBig(limit: 2))])
            #expect(WebSocketOutcome.run(pieces, maximum: 3, compression: Self.plain) == [.fault(.invalidText)])
        }
    }

    @Test("Thousands of last blocks and empty blocks cost no more than their bytes")
    func manyBlocks() {
        // Each two bytes are a whole stream: an empty block with fixed codes that is the last.
        var payload: [UInt8] = []
        for _ in 0..<20_000 { payload += [0x03, 0x00] }
        #expect(run(compressed(payload + [0x00])) == [.text("")])
        payload = []
        for _ in 0..<10_000 { payload += [0x00, 0x00, 0x00, 0xFF, 0xFF] }
        #expect(run(compressed(payload + [0x00])) == [.text("")])
    }
}
