// The hash by which the encoder finds fields again: a product for eight bytes. What it is asked about comes from our own
// program, and a table has no more than 128 entries, so nobody gains anything by fields whose hashes are the same.

/// Hashes of names and values.
enum HPACKHash {
    /// The hash of some bytes.
    @inline(__always)
    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var hash = UInt64(truncatingIfNeeded: bytes.count) &* factor
        var offset = 0
        while bytes.count &- offset >= 8 {
            mix(&hash, bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset &+= 8
        }
        if offset < bytes.count {
            var rest: UInt64 = 0
            while offset < bytes.count {
                rest = rest &<< 8 | UInt64(bytes[offset])
                offset &+= 1
            }
            mix(&hash, rest)
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
