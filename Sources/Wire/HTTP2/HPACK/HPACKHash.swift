// The hashes by which the encoder finds fields again: a product for eight bytes. What it is asked about comes
// from our own program, and a table has no more than 128 entries, so an attacker gains nothing by fields
// whose hashes are the same.

/// Hashes of names, and marks of values.
enum HPACKHash {
    /// The hash of some bytes; its highest bits are the best.
    @inline(__always)
    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var hash = UInt64(truncatingIfNeeded: bytes.count) &* factor
        if bytes.count < 8 {
            var word: UInt64 = 0
            for byte in bytes { word = word &<< 8 | UInt64(byte) }
            mix(&hash, word)
        } else {
            var offset = 0
            while offset < bytes.count {
                // The last eight bytes may have been taken in part.
                mix(&hash, bytes.loadUnaligned(fromByteOffset: min(offset, bytes.count &- 8), as: UInt64.self))
                offset &+= 8
            }
        }
        return UInt32(truncatingIfNeeded: hash &>> 32)
    }

    /// What tells values of one name apart without looking at all of them: their length and their last eight bytes.
    @inline(__always)
    static func mark(of bytes: UnsafeRawBufferPointer) -> UInt32 {
        var mark = UInt64(truncatingIfNeeded: bytes.count)
        if bytes.count >= 8 {
            mix(&mark, bytes.loadUnaligned(fromByteOffset: bytes.count &- 8, as: UInt64.self))
        } else if let last = bytes.last {
            mix(&mark, UInt64(last))
        }
        return UInt32(truncatingIfNeeded: mark &>> 32)
    }

    /// The highest bits of a product depend on all of both numbers; they become the lowest of the next one.
    @inline(__always)
    private static func mix(_ hash: inout UInt64, _ word: UInt64) {
        hash = ((hash &<< 25 | hash &>> 39) ^ word) &* factor
    }

    /// The odd number nearest to 2^64 divided by the golden ratio.
    private static var factor: UInt64 { 0x9E37_79B9_7F4A_7C15 }
}
