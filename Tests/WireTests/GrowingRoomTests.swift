// How often bytes move where many small pieces become one buffer. One that moves for each piece
// costs the square of its size.

import Testing
import URLLoadingWire

@Suite("Room in buffers that grow")
struct GrowingRoomTests {
    /// How often a buffer got other memory.
    private struct Moves {
        var count = 0
        private var last = 0

        mutating func note(_ bytes: borrowing [UInt8]) {
            if bytes.capacity != last { count += 1 }
            last = bytes.capacity
        }
    }

    @Test("A web socket's message in a thousand frames moves a few times", arguments: [1 << 10, 1 << 14])
    func fragments(_ size: Int) throws {
        let frames = 1 << 10
        let payload = [UInt8](repeating: 7, count: size)
        var assembler = WebSocketMessageAssembler(maximumSize: frames * size)
        var (moves, message) = (Moves(), WebSocketMessage?.none)
        for number in 0..<frames {
            let isFinal = number == frames - 1
            try assembler.frameBegan(
                WebSocketFrameHeader(
                    number == 0 ? .binary : .continuation, isFinal: isFinal, mask: nil, payloadLength: size))
            // Untyped: the compiler stops at a closure that throws an error of one type here.
            try payload.withUnsafeBytes { bytes throws in try assembler.received(bytes, mask: nil) }
            moves.note(assembler.bytes)
            message = try assembler.frameEnded(isFinal: isFinal)
        }
        #expect(message?.bytes.count == frames * size)
        #expect(moves.count <= 16)
    }

    @Test("A web socket's frames in one buffer move it a few times")
    func frames() {
        var (out, moves) = ([UInt8](), Moves())
        for _ in 0..<1_000 {
            WebSocketFrameEncoder.encode(
                .binary, [UInt8](repeating: 7, count: 30), mask: WebSocketMask(0x0403_0201), into: &out)
            moves.note(out)
        }
        #expect(out.count == 36_000 && moves.count <= 16)
    }

    @Test("Header blocks in one buffer move it a few times")
    func blocks() {
        let block = [UInt8](repeating: 7, count: 500)
        var (out, moves) = ([UInt8](), Moves())
        for number in 0..<UInt32(1_000) {
            HTTP2FrameEncoder.encodeBlock(
                block.span.bytes, stream: 2 * number + 1, endsStream: true, maximumFrameSize: 16_384, into: &out)
            moves.note(out)
        }
        #expect(out.count == 509_000 && moves.count <= 16)
    }
}
