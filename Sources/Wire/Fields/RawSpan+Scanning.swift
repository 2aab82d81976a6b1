// Looking for delimiters, sixteen bytes at a time. A step loads sixteen bytes, compares all of them at once, and
// turns the answer into two words whose lowest set byte is the first hit. What is left at the end of the span is
// looked at byte by byte, so nothing is ever read beyond it.
//
// Measured: only operators between two vectors of one type become machine instructions; those between a vector and a
// scalar, and the bitwise ones on integers, are loops over the lanes and made a head of 16 fields cost 15 µs.

extension RawSpan {
    /// The byte at an offset, 0 outside the span.
    @inline(__always)
    func byte(at offset: Int) -> UInt8 {
        guard UInt(bitPattern: offset) < UInt(bitPattern: byteCount) else { return 0 }
        return unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
    }

    /// Whether CR LF lies at an offset.
    @inline(__always)
    func isLineEnd(at offset: Int) -> Bool {
        guard offset >= 0, offset &+ 2 <= byteCount else { return false }
        let bytes = unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt16.self)
        return bytes == UInt16(littleEndian: 0x0A0D)
    }

    /// The part between two offsets without the white space at its ends.
    @inline(__always)
    func trimmed(from start: Int, to end: Int) -> (start: Int, end: Int) {
        var (start, end) = (max(start, 0), min(end, byteCount))
        while start < end, Tokens.isWhitespace(uncheckedByte(at: start)) { start &+= 1 }
        while start < end, Tokens.isWhitespace(uncheckedByte(at: end &- 1)) { end &-= 1 }
        return (start, end)
    }

    /// The offset of the first byte at or after `start` that ends a run of text: a control byte other than HTAB.
    ///
    /// CR, LF and NUL are among them. `end`, or the span's end, if there is none before.
    @inline(__always)
    func endOfText(from start: Int, to end: Int = .max) -> Int {
        let end = min(end, byteCount)
        let lastBlock = lastBlock(before: end)
        var offset = start
        while offset <= lastBlock {
            let block = block(at: offset)
            let hits = ((block .< all(0x20)) .& (block .!= all(0x09))) .| (block .== all(0x7F))
            if let hit = RawSpan.firstLane(hits) { return min(offset &+ hit, end) }
            offset &+= 16
        }
        while offset < end, !Tokens.isControl(byte(at: offset)) { offset &+= 1 }
        return min(offset, end)
    }

    /// The offset of the first byte at or after `start` that is not visible ASCII; `end`, or the span's end, if there
    /// is none before.
    @inline(__always)
    func endOfVisible(from start: Int, to end: Int = .max) -> Int {
        let end = min(end, byteCount)
        let lastBlock = lastBlock(before: end)
        var offset = start
        while offset <= lastBlock {
            let hits = (block(at: offset) &- all(0x21)) .>= all(0x5E)
            if let hit = RawSpan.firstLane(hits) { return min(offset &+ hit, end) }
            offset &+= 16
        }
        while offset < end, byte(at: offset) &- 0x21 < 0x5E { offset &+= 1 }
        return min(offset, end)
    }

    /// The offset of the first byte at or after `start` that is not a token byte, or that is a letter in upper case
    /// where none may be; `end`, or the span's end, if there is none before.
    @inline(__always)
    func endOfToken(from start: Int, to end: Int = .max, inLowercase: Bool = false) -> Int {
        let end = min(end, byteCount)
        let lastBlock = lastBlock(before: end)
        var offset = start
        while offset <= lastBlock {
            // Names are made of letters, digits and "-"; the rarer token bytes are looked up one by one.
            let block = block(at: offset)
            let isLower = (block &- all(0x61)) .< all(26)
            let isLetter = inLowercase ? isLower : isLower .| ((block &- all(0x41)) .< all(26))
            let isDigit = (block &- all(0x30)) .< all(10)
            let others = .!(isLetter .| (isDigit .| (block .== all(0x2D))))
            guard let hit = RawSpan.firstLane(others) else {
                offset &+= 16
                continue
            }
            offset &+= hit
            guard offset < end else { return end }
            let byte = uncheckedByte(at: offset)
            guard byte != ASCII.colon, Tokens.isTokenByte(byte), !inLowercase || !ASCII.isUppercase(byte)
            else { return offset }
            offset &+= 1
        }
        while offset < end, Tokens.isTokenByte(byte(at: offset)), !inLowercase || !ASCII.isUppercase(byte(at: offset)) {
            offset &+= 1
        }
        return min(offset, end)
    }

    /// The offset of the first LF at or after `start`, nil if there is none.
    @inline(__always)
    func firstLineFeed(from start: Int) -> Int? {
        let lastBlock = lastBlock(before: byteCount)
        var offset = start
        while offset <= lastBlock {
            if let hit = RawSpan.firstLane(block(at: offset) .== all(0x0A)) { return offset &+ hit }
            offset &+= 16
        }
        while offset < byteCount {
            if byte(at: offset) == ASCII.lineFeed { return offset }
            offset &+= 1
        }
        return nil
    }

    /// A byte whose offset the caller has compared with the count.
    @inline(__always)
    private func uncheckedByte(at offset: Int) -> UInt8 {
        unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
    }

    /// The last offset before `end` where sixteen bytes lie in the span.
    @inline(__always)
    private func lastBlock(before end: Int) -> Int { min(end &- 1, byteCount &- 16) }

    /// Sixteen times the same byte.
    @inline(__always)
    private func all(_ byte: UInt8) -> SIMD16<UInt8> { SIMD16(repeating: byte) }

    /// Sixteen bytes; the callers' loop conditions keep the load inside the span.
    @inline(__always)
    private func block(at offset: Int) -> SIMD16<UInt8> {
        unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: SIMD16<UInt8>.self)
    }

    /// The first lane that is set: a set lane is a byte of ones, and the lowest byte is the first lane.
    @inline(__always)
    private static func firstLane(_ mask: SIMDMask<SIMD16<Int8>>) -> Int? {
        let words = unsafeBitCast(mask, to: SIMD2<UInt64>.self)
        let (low, high) = (words[0].littleEndian, words[1].littleEndian)
        if low | high == 0 { return nil }
        return low != 0 ? low.trailingZeroBitCount &>> 3 : 8 &+ high.trailingZeroBitCount &>> 3
    }
}
