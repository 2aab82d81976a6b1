// Frames on their way to the kernel, which takes them in pieces of any size.

import Testing
import URLLoadingTestSupport
import URLLoadingWire

@testable import URLLoadingEngine

@Suite("Frames on their way to the kernel")
struct FrameOutputTests {
    @Test("B15.56: what the system has taken is not kept, also where something always waits behind it")
    func neverEmpty() {
        var output = FrameOutput()
        var (sent, expected): ([UInt8], [UInt8]) = ([], [])
        let mask = WebSocketMask(0x0403_0201)
        func write(_ count: Int) {
            let taken = output.withNext { first, _ in
                sent += first.prefix(count)
                return min(first.count, count)
            }
            output.advance(taken)
        }
        for number in 0..<1_000 {
            let payload = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 1_000)
            output.append(.binary, payload, isCompressed: false, mask: mask)
            WebSocketFrameEncoder.encode(.binary, payload, mask: mask, into: &expected)
            // A frame is longer by its header, so that more and more waits.
            write(1_000)
            #expect(!output.isEmpty && output.buffer.count < 100_000)
        }
        write(expected.count)
        #expect(output.isEmpty && output.buffer.isEmpty)
        #expect(firstDifference(sent, expected) == nil)
    }
}
