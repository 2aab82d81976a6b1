// Frames on their way to the kernel: small ones one after the other in one buffer, so that they leave with one system
// call, a large one in the memory of its message, masked where it lies.
//
// Must not know: streams, which frame is whose.

import URLLoadingWire

/// What is encoded and not written.
struct FrameOutput {
    /// Frames one behind the other, the first of whose bytes may be out.
    private(set) var buffer: [UInt8] = []
    private var offset = 0
    /// A large payload, behind what is in the buffer.
    private var bulk: [UInt8] = []
    private var bulkOffset = 0
    /// How many bytes were ever encoded, and how many of them the kernel has.
    private(set) var encoded: Int64 = 0
    private(set) var written: Int64 = 0

    var isEmpty: Bool { encoded == written }

    /// Whether another frame may be put behind what waits.
    var hasRoom: Bool { bulk.isEmpty && encoded - written < Self.joinedAtMost }

    /// Puts a frame behind what waits.
    mutating func append(
        _ opcode: WebSocketOpcode, _ payload: consuming [UInt8], isCompressed: Bool, mask: WebSocketMask
    ) {
        let header = WebSocketFrameHeader(opcode, isCompressed: isCompressed, mask: mask, payloadLength: payload.count)
        encoded += Int64(header.byteCount + payload.count)
        guard payload.count >= Self.leastBulk, bulk.isEmpty else {
            return WebSocketFrameEncoder.encode(opcode, payload, isCompressed: isCompressed, mask: mask, into: &buffer)
        }
        header.encode(into: &buffer)
        bulk = payload
        var mask = mask
        bulk.withUnsafeMutableBytes { mask.apply(to: $0) }
    }

    /// Gives what comes next; the second follows the first.
    func withNext<R>(_ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> R) -> R {
        buffer.withUnsafeBytes { first in
            bulk.withUnsafeBytes { second in
                body(
                    UnsafeRawBufferPointer(rebasing: first[offset...]),
                    UnsafeRawBufferPointer(rebasing: second[bulkOffset...]))
            }
        }
    }

    /// The kernel has taken so many bytes more.
    mutating func advance(_ count: Int) {
        written += Int64(count)
        let ofBuffer = min(count, buffer.count - offset)
        offset += ofBuffer
        bulkOffset += count - ofBuffer
        guard isEmpty else {
            // A peer that reads slowly may never let it be empty.
            if offset >= Self.joinedAtMost {
                buffer.removeFirst(offset)
                offset = 0
            }
            return
        }
        // An idle web socket keeps no memory for this.
        buffer = []
        bulk = []
        (offset, bulkOffset) = (0, 0)
    }

    /// Nothing of it is sent any more.
    mutating func clear() { advance(Int(encoded - written)) }

    /// Frames are joined up to this many bytes. Picked by feel: a system call moves that much in the time it costs.
    private static let joinedAtMost: Int64 = 64 << 10
    /// From here on a second buffer is cheaper than a copy. Picked by feel.
    private static let leastBulk = 16 << 10
}
