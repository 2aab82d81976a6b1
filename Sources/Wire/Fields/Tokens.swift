// The character classes of HTTP, in one place: token bytes (RFC 9110 §5.6.2), optional white space (§5.6.3) and
// control bytes. Everything that asks "may this byte stand here?" asks this file. It knows no message and no field.

/// The character classes of RFC 9110 §5.6, as questions about bytes.
package enum Tokens {
    /// Whether the byte may be part of a token (RFC 9110 §5.6.2: `tchar`).
    @inline(__always)
    package static func isTokenByte(_ byte: UInt8) -> Bool {
        // Two words of 64 bits hold the whole ASCII table; bytes above 127 are never token bytes.
        let word = byte < 64 ? tokenBitsLow : tokenBitsHigh
        return byte < 128 && (word >> UInt64(byte & 63)) & 1 == 1
    }

    /// Whether the bytes are a token: at least one byte, and token bytes only.
    package static func isToken(_ bytes: some Sequence<UInt8>) -> Bool {
        var isEmpty = true
        for byte in bytes {
            guard isTokenByte(byte) else { return false }
            isEmpty = false
        }
        return !isEmpty
    }

    /// Whether the string is a token: a legal method or field name.
    package static func isToken(_ string: String) -> Bool { isToken(string.utf8) }

    /// Whether the byte is optional white space: SP or HTAB (RFC 9110 §5.6.3).
    @inline(__always)
    package static func isWhitespace(_ byte: UInt8) -> Bool { byte == ASCII.space || byte == ASCII.tab }

    /// Whether the byte is a control byte that no field value may hold (RFC 9110 §5.5): all but HTAB.
    @inline(__always)
    package static func isControl(_ byte: UInt8) -> Bool { (byte < 0x20 && byte != ASCII.tab) || byte == 0x7F }

    // One bit for each token byte: "!#$%&'*+-." and digits in the low word, letters and "^_`|~" in the high one.
    private static var tokenBitsLow: UInt64 { 0x03FF_6CFA_0000_0000 }
    private static var tokenBitsHigh: UInt64 { 0x57FF_FFFF_C7FF_FFFE }
}

/// The bytes that HTTP/1.1 gives a meaning.
enum ASCII {
    static var tab: UInt8 { 0x09 }
    static var lineFeed: UInt8 { 0x0A }
    static var carriageReturn: UInt8 { 0x0D }
    static var space: UInt8 { 0x20 }
    static var quote: UInt8 { 0x22 }
    static var comma: UInt8 { 0x2C }
    static var dash: UInt8 { 0x2D }
    static var dot: UInt8 { 0x2E }
    static var zero: UInt8 { 0x30 }
    static var colon: UInt8 { 0x3A }
    static var semicolon: UInt8 { 0x3B }
    static var equals: UInt8 { 0x3D }
    static var backslash: UInt8 { 0x5C }

    /// Whether the byte is a decimal digit.
    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte &- zero < 10 }

    /// The value of a hexadecimal digit in either case, nil for other bytes.
    @inline(__always)
    static func hexValue(_ byte: UInt8) -> UInt8? {
        if byte &- zero < 10 { return byte &- zero }
        let letter = (byte | 0x20) &- 0x61
        return letter < 6 ? letter &+ 10 : nil
    }

    /// Whether the byte is a letter in upper case.
    @inline(__always)
    static func isUppercase(_ byte: UInt8) -> Bool { byte &- 0x41 < 26 }

    /// The byte with letters made lower-case.
    @inline(__always)
    static func lowercased(_ byte: UInt8) -> UInt8 { isUppercase(byte) ? byte | 0x20 : byte }

    /// Eight bytes with letters made lower-case.
    @inline(__always)
    static func lowercased(eightBytes bytes: UInt64) -> UInt64 {
        // In seven bits of eight these sums carry into the highest bit from "A" on, and from behind "Z" on.
        let ones: UInt64 = 0x0101_0101_0101_0101
        let low = bytes & (ones &* 0x7F)
        let isUpper = ((low &+ ones &* (0x80 &- 0x41)) ^ (low &+ ones &* (0x80 &- 0x5B))) & ~bytes & (ones &* 0x80)
        return bytes | isUpper &>> 2
    }
}
