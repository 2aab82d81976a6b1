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

    /// The offset of the first byte at or after `start` that ends a run of text: a control byte other than HTAB. CR,
    /// LF and NUL are among them. `end`, or the span's end, if there is none before.
    @inline(__always)
    func endOfText(from start: Int, to end: Int = .max) -> Int {
        let end = min(end, byteCount)
        var offset = start
        while offset < end, offset &+ 16 <= byteCount {
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
        var offset = start
        while offset < end, offset &+ 16 <= byteCount {
            let hits = (block(at: offset) &- all(0x21)) .>= all(0x5E)
            if let hit = RawSpan.firstLane(hits) { return min(offset &+ hit, end) }
            offset &+= 16
        }
        while offset < end, byte(at: offset) &- 0x21 < 0x5E { offset &+= 1 }
        return min(offset, end)
    }

    /// The offset of the first byte at or after `start` that is not a token byte; `end`, or the span's end, if there
    /// is none before.
    @inline(__always)
    func endOfToken(from start: Int, to end: Int = .max) -> Int {
        let end = min(end, byteCount)
        var offset = start
        while offset < end, offset &+ 16 <= byteCount {
            // Names are made of letters, digits and "-"; the rarer token bytes are looked up one by one.
            let block = block(at: offset)
            let isUpper = (block &- all(0x41)) .< all(26)
            let isLower = (block &- all(0x61)) .< all(26)
            let isDigit = (block &- all(0x30)) .< all(10)
            let others = .!((isUpper .| isLower) .| (isDigit .| (block .== all(0x2D))))
            guard let hit = RawSpan.firstLane(others) else {
                offset &+= 16
                continue
            }
            offset &+= hit
            guard offset < end, Tokens.isTokenByte(byte(at: offset)) else { return min(offset, end) }
            offset &+= 1
        }
        while offset < end, Tokens.isTokenByte(byte(at: offset)) { offset &+= 1 }
        return min(offset, end)
    }

    /// The offset of the first LF at or after `start`, nil if there is none.
    @inline(__always)
    func firstLineFeed(from start: Int) -> Int? {
        var offset = start
        while offset &+ 16 <= byteCount {
            if let hit = RawSpan.firstLane(block(at: offset) .== all(0x0A)) { return offset &+ hit }
            offset &+= 16
        }
        while offset < byteCount {
            if byte(at: offset) == ASCII.lineFeed { return offset }
            offset &+= 1
        }
        return nil
    }

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
        if words[0] != 0 { return words[0].littleEndian.trailingZeroBitCount &>> 3 }
        if words[1] != 0 { return 8 &+ words[1].littleEndian.trailingZeroBitCount &>> 3 }
        return nil
    }
}
