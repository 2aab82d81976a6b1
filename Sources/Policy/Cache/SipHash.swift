// SipHash-2-4: a short digest of bytes that is the same in every process, unlike the library's Hasher. It names and
// checks what is kept in files, stands for values that must not be written down, and spreads hosts over shards. It is
// no signature.
// J.-P. Aumasson, D. J. Bernstein: "SipHash: a fast short-input PRF".

/// Digests of 64 bits under a key of 128.
package enum SipHash {
    /// A key, or two digests.
    package struct Words: Sendable, Hashable {
        /// The first eight bytes, read as little-endian.
        package let first: UInt64
        /// The other eight bytes.
        package let second: UInt64

        /// Makes a pair.
        package init(_ first: UInt64, _ second: UInt64) {
            self.first = first
            self.second = second
        }

        /// A digest is as good as random: the half of it tells as many apart as a table needs.
        package func hash(into hasher: inout Hasher) { hasher.combine(first) }
    }

    /// The digest of bytes.
    package static func digest(_ bytes: UnsafeRawBufferPointer, key: Words) -> UInt64 {
        var state = State(key)
        let whole = bytes.count & ~7
        var offset = 0
        while offset < whole {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            state.absorb(word)
            offset &+= 8
        }
        var last = UInt64(truncatingIfNeeded: bytes.count) << 56
        for index in whole..<bytes.count { last |= UInt64(bytes[index]) << UInt64(8 * (index - whole)) }
        state.absorb(last)
        return state.finished()
    }

    /// Two digests of bytes under keys that belong together: enough to name one thing among very many.
    package static func wideDigest(_ bytes: UnsafeRawBufferPointer, key: Words) -> Words {
        Words(digest(bytes, key: key), digest(bytes, key: Words(~key.first, ~key.second)))
    }

    private struct State {
        var a: UInt64
        var b: UInt64
        var c: UInt64
        var d: UInt64

        init(_ key: Words) {
            a = key.first ^ 0x736f_6d65_7073_6575
            b = key.second ^ 0x646f_7261_6e64_6f6d
            c = key.first ^ 0x6c79_6765_6e65_7261
            d = key.second ^ 0x7465_6462_7974_6573
        }

        @inline(__always)
        mutating func absorb(_ word: UInt64) {
            d ^= word
            round()
            round()
            a ^= word
        }

        mutating func finished() -> UInt64 {
            c ^= 0xFF
            for _ in 0..<4 { round() }
            return a ^ b ^ c ^ d
        }

        @inline(__always)
        private mutating func round() {
            a &+= b
            b = b &<< 13 | b &>> 51
            b ^= a
            a = a &<< 32 | a &>> 32
            c &+= d
            d = d &<< 16 | d &>> 48
            d ^= c
            a &+= d
            d = d &<< 21 | d &>> 43
            d ^= a
            c &+= b
            b = b &<< 17 | b &>> 47
            b ^= c
            c = c &<< 32 | c &>> 32
        }
    }
}
