// A body of any length that costs no memory: the byte at a position is a function of the position, so that its
// receiver can check every byte. Knows nothing of messages or sockets.

import URLLoadingSystem

/// The bytes of generated bodies.
package enum GeneratedBytes {
    /// The byte at a position of every generated body.
    package static func byte(at position: Int64) -> UInt8 {
        UInt8(truncatingIfNeeded: position % period)
    }

    /// So many bytes of a generated body, from a position on.
    package static func bytes(_ count: Int, from position: Int64 = 0) -> [UInt8] {
        // Block by block: a call for each byte took a server of a debug build seconds, in which it
        // answered no other client.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(max(0, count))
        while bytes.count < count {
            // Taken modulo the period first, so that no position is too large.
            withBlock(at: position % period + Int64(bytes.count)) { block in
                bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: block.prefix(count - bytes.count)))
            }
        }
        return bytes
    }

    /// Whether `bytes` is what a generated body holds from `position` on.
    package static func matches(_ bytes: UnsafeRawBufferPointer, at position: Int64) -> Bool {
        var rest = bytes
        var position = position
        while !rest.isEmpty {
            let equal = withBlock(at: position) { block in
                let count = min(block.count, rest.count)
                guard let left = rest.baseAddress, let right = block.baseAddress else { return 0 }
                return memcmp(left, right, count) == 0 ? count : 0
            }
            guard equal > 0 else { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(equal))
            position += Int64(equal)
        }
        return true
    }

    /// Lends a run of at least `minimumRun` bytes that starts at `position` of a generated body.
    static func withBlock<R>(at position: Int64, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        block.withUnsafeBytes { bytes in
            body(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(Int(position % period))))
        }
    }

    /// How many bytes a run that is lent has at least.
    static let minimumRun: Int64 = 1023 * period

    // A prime, so that no power-of-two mistake in a client's buffers goes unnoticed.
    private static let period: Int64 = 251
    // Several sends' worth: a socket buffer takes some 200 KiB at a time.
    private static let block: [UInt8] = (0..<(1024 * period)).map(byte(at:))
}
