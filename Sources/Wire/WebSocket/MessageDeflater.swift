// Compresses messages with zlib: raw deflate that ends at a byte, without the four bytes that every such end has (RFC
// 7692 §7.2.1). RFC 7692, RFC 1951.

import CURLLoadingZlib

/// A compressor of the messages that go to one peer.
package struct MessageDeflater: ~Copyable {
    private let direction: DeflateDirection
    private var isInitialised = false
    /// zlib remembers the address, so the stream must not move with this value.
    private let stream: UnsafeMutablePointer<z_stream>

    /// Makes a compressor; zlib's own memory is taken for the first message.
    package init(_ direction: DeflateDirection) {
        self.direction = direction
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
    }

    deinit {
        if isInitialised { deflateEnd(stream) }
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Compresses a message; nil when zlib has no memory, and the message is then sent as it is.
    package mutating func compress(_ message: [UInt8]) -> [UInt8]? {
        // RFC 7692 §7.2.3.6; and zlib does not flush twice.
        guard !message.isEmpty else { return [0] }
        guard begin() else { return nil }
        var output: [UInt8] = []
        let isDone = message.withUnsafeBytes { deflate($0, into: &output) }
        guard isDone, output.count >= 4, output.suffix(4).elementsEqual([0x00, 0x00, 0xFF, 0xFF]) else {
            forget()
            return nil
        }
        output.removeLast(4)
        if !direction.keepsContext { forget() }
        return output
    }

    private mutating func begin() -> Bool {
        guard !isInitialised else { return true }
        let bits = max(direction.windowBits, Self.leastWindowBits)
        guard urlloading_deflateInit2(stream, Z_DEFAULT_COMPRESSION, -Int32(bits)) == Z_OK else { return false }
        isInitialised = true
        guard direction.windowBits < bits else { return true }
        // zlib knows no raw deflate with a window of 256 bytes. What looks back one byte only stays inside of any.
        return deflateParams(stream, Z_DEFAULT_COMPRESSION, Z_RLE) == Z_OK
    }

    /// Compresses all there is; false when zlib cannot.
    private mutating func deflate(_ input: UnsafeRawBufferPointer, into output: inout [UInt8]) -> Bool {
        var offset = 0
        while true {
            let available = UInt32(clamping: input.count - offset)
            stream.pointee.next_in = UnsafeMutablePointer(
                mutating: input.baseAddress?.advanced(by: offset).assumingMemoryBound(to: UInt8.self))
            stream.pointee.avail_in = available
            let flush = offset + Int(available) == input.count ? Z_SYNC_FLUSH : Z_NO_FLUSH
            let room = max(64, min(input.count, Self.mostRoom))
            var result = Z_OK
            let stream = stream
            output.append(addingCapacity: room) { span in
                span.withUnsafeMutableBufferPointer { buffer, initializedCount in
                    stream.pointee.next_out = buffer.baseAddress
                    stream.pointee.avail_out = UInt32(clamping: room)
                    result = CURLLoadingZlib.deflate(stream, flush)
                    initializedCount = room - Int(stream.pointee.avail_out)
                }
            }
            offset += Int(available - stream.pointee.avail_in)
            guard result == Z_OK || result == Z_BUF_ERROR else { return false }
            if offset == input.count, stream.pointee.avail_out > 0 { return true }
        }
    }

    /// Begins without what was sent before.
    private mutating func forget() {
        guard deflateReset(stream) != Z_OK else { return }
        deflateEnd(stream)
        isInitialised = false
    }

    /// The smallest window of zlib's raw deflate.
    private static var leastWindowBits: Int { 9 }
    /// Output is taken in pieces of this size. Picked by feel.
    private static var mostRoom: Int { 64 * 1024 }
}
