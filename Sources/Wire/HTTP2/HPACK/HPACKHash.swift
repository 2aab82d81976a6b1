// The hash by which the encoder finds fields again: a product for eight bytes. What it is asked about comes from our own
// program, and a table has no more than 128 entries, so nobody gains anything by fields whose hashes are the same.

/// Hashes of names and values.
enum HPACKHash {
    /// The hash of some bytes.
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

    @inline(__always)
    private static func mix(_ hash: inout UInt64, _ word: UInt64) {
        hash = (hash ^ word) &* factor
        hash ^= hash &>> 29
    }

    /// The odd number nearest to 2^64 divided by the golden ratio.
    private static var factor: UInt64 { 0x9E37_79B9_7F4A_7C15 }
}
