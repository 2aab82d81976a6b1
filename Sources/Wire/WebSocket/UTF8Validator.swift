// Whether bytes are UTF-8, told while they arrive and as soon as a byte is wrong (B15.17; RFC 3629 §4). Runs of ASCII
// are passed 32 bytes at a time, other characters by words; what is cut, or wrong, goes byte by byte.

/// A resumable check of UTF-8.
package struct UTF8Validator: Sendable {
    /// How many bytes the character that has begun still needs.
    private var missing: UInt8 = 0
    /// What the next of them may be.
    private var lowest: UInt8 = 0x80
    private var highest: UInt8 = 0xBF

    /// Makes a check that has seen nothing.
    package init() {}

    /// Whether no character is incomplete.
    package var isComplete: Bool { missing == 0 }

    /// Takes bytes; false when one of them cannot stand where it does.
    package mutating func consume(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress else { return true }
        var offset = 0
        while offset < bytes.count {
            if missing == 0 {
                offset = Self.endOfWellKnown(start, from: offset, to: bytes.count)
                guard offset < bytes.count else { return true }
            }
            guard step(start.load(fromByteOffset: offset, as: UInt8.self)) else { return false }
            offset &+= 1
        }
        return true
    }

    /// How many of the first bytes are whole characters, of at most so many bytes.
    static func lengthOfValidPrefix(_ bytes: ArraySlice<UInt8>, atMost limit: Int) -> Int {
        var (validator, length) = (UTF8Validator(), 0)
        for (index, byte) in bytes.prefix(limit).enumerated() {
            guard validator.step(byte) else { break }
            if validator.isComplete { length = index + 1 }
        }
        return length
    }

    /// Takes one byte (RFC 3629 §4, as a table of what may follow what).
    @inline(__always)
    private mutating func step(_ byte: UInt8) -> Bool {
        if missing > 0 {
            guard byte >= lowest, byte <= highest else { return false }
            missing &-= 1
            (lowest, highest) = (0x80, 0xBF)
            return true
        }
        switch byte {
        case 0x00...0x7F: return true
        case 0xC2...0xDF: missing = 1
        // The shortest form is the only one; U+D800 to U+DFFF are no characters; the last one is U+10FFFF.
        case 0xE0: (missing, lowest) = (2, 0xA0)
        case 0xED: (missing, highest) = (2, 0x9F)
        case 0xE1...0xEF: missing = 2
        case 0xF0: (missing, lowest) = (3, 0x90)
        case 0xF4: (missing, highest) = (3, 0x8F)
        case 0xF1...0xF3: missing = 3
        default: return false
        }
        return true
    }

    /// The offset behind characters that can be judged many at a time.
    @inline(__always)
    private static func endOfWellKnown(_ start: UnsafeRawPointer, from first: Int, to end: Int) -> Int {
        var offset = first
        var mayBeASCII = true
        while offset &+ 8 <= end {
            if mayBeASCII {
                while offset &+ 32 <= end, isASCII(start + offset) { offset &+= 32 }
                guard offset &+ 8 <= end else { return offset }
            }
            let word = UInt64(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            let length = lengthOfWellKnown(word)
            guard length > 0 else { return offset }
            offset &+= length
            mayBeASCII = word & 0x8080_8080_8080_8080 == 0
        }
        return offset
    }

    /// Whether the next 32 bytes are ASCII.
    @inline(__always)
    private static func isASCII(_ start: UnsafeRawPointer) -> Bool {
        let (a, b, c, d) = (
            start.loadUnaligned(as: UInt64.self), start.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
            start.loadUnaligned(fromByteOffset: 16, as: UInt64.self),
            start.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
        )
        return (a | b | c | d) & 0x8080_8080_8080_8080 == 0
    }

    /// How many of a word's eight bytes, the first in its lowest byte, are characters that are valid for certain.
    @inline(__always)
    private static func lengthOfWellKnown(_ word: UInt64) -> Int {
        let high = word & 0x8080_8080_8080_8080
        if high == 0 { return 8 }
        // ASCII up to the first byte above it.
        let ascii = high.trailingZeroBitCount &>> 3
        if ascii > 0 { return ascii }
        // Four characters of two bytes, none of them below U+0080.
        if word & 0xC0E0_C0E0_C0E0_C0E0 == 0x80C0_80C0_80C0_80C0 {
            let leads = word & 0x001E_001E_001E_001E
            if (leads &+ 0x00FE_00FE_00FE_00FE) & 0x0100_0100_0100_0100 == 0x0100_0100_0100_0100 { return 8 }
        }
        // Two of three bytes, or one.
        if word & 0xC0_C0F0_C0C0_F0 == 0x80_80E0_8080_E0, isLegal(word), isLegal(word &>> 24) { return 6 }
        if word & 0xC0_C0F0 == 0x80_80E0, isLegal(word) { return 3 }
        if word & 0xC0E0 == 0x80C0, word & 0x1E != 0 { return 2 }
        // One of four, between U+10000 and U+10FFFF.
        let plane = (word & 0x07) &<< 2 | (word &>> 12) & 3
        if word & 0xC0C0_C0F8 == 0x8080_80F0, plane >= 1, plane <= 0x10 { return 4 }
        return 0
    }

    /// Whether the three bytes are neither below U+0800 nor a surrogate.
    @inline(__always)
    private static func isLegal(_ word: UInt64) -> Bool {
        let prefix = (word & 0x0F) &<< 1 | (word &>> 13) & 1
        return prefix != 0 && prefix != 0x1B
    }
}
