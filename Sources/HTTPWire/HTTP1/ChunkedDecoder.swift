// Takes a chunked body apart: sizes, extensions, data, the trailer section. Sizes are read byte by byte, because they
// are short; data is answered as ranges and never copied. RFC 9112 §7.1.

/// A resumable decoder of the chunked transfer coding.
package struct ChunkedDecoder: ~Copyable {
    /// What was found.
    package enum Step: Sendable, Equatable {
        /// All bytes were used.
        case needMore
        /// Body bytes, as offsets into the bytes given.
        case body(Range<Int>)
        /// The body and its trailer section are complete.
        case end(trailers: Fields)
    }

    private enum Phase {
        /// Before the first digit of a size.
        case sizeStart
        case size
        /// Blanks behind the size (B16.44).
        case blanks
        /// Behind a semicolon (B16.43).
        case extensions
        /// A CR came in the size line; its LF must follow.
        case sizeLineFeed
        case data(remaining: Int64)
        case dataCarriageReturn
        case dataLineFeed
        case trailers
    }

    private var phase = Phase.sizeStart
    private var size: Int64 = 0
    private var lineBytes = 0
    private var trailers: HeadParser
    private let lineLimit: Int

    /// Makes a decoder for one body.
    package init(limits: WireLimits = .standard) {
        trailers = HeadParser(.trailers, limits: limits)
        lineLimit = limits.chunkLineBytes
    }

    /// Decodes from `bytes` at `offset` and moves `offset` behind what was used.
    package mutating func next(_ bytes: RawSpan, offset: inout Int) throws(WireError) -> Step {
        while true {
            switch phase {
            case .data(let remaining):
                guard offset < bytes.byteCount else { return .needMore }
                return takeData(bytes, &offset, remaining)
            case .trailers:
                guard try trailers.parse(bytes, offset: &offset) else { return .needMore }
                return .end(trailers: trailers.takeFields())
            case .sizeStart, .size, .blanks, .extensions, .sizeLineFeed, .dataCarriageReturn, .dataLineFeed:
                guard offset < bytes.byteCount else { return .needMore }
                try readLine(bytes, &offset)
            }
        }
    }

    private mutating func takeData(_ bytes: RawSpan, _ offset: inout Int, _ remaining: Int64) -> Step {
        let count = Int(min(remaining, Int64(bytes.byteCount - offset)))
        let range = offset..<(offset + count)
        offset += count
        let left = remaining - Int64(count)
        phase = left == 0 ? .dataCarriageReturn : .data(remaining: left)
        return .body(range)
    }

    /// Reads the bytes between two pieces of data until the line is complete or the bytes are used up.
    private mutating func readLine(_ bytes: RawSpan, _ offset: inout Int) throws(WireError) {
        while offset < bytes.byteCount {
            let byte = bytes.byte(at: offset)
            offset += 1
            if try read(byte) { return }
        }
    }

    /// Takes one byte of a line; true if the line is complete.
    @inline(__always)
    private mutating func read(_ byte: UInt8) throws(WireError) -> Bool {
        switch phase {
        case .dataCarriageReturn:
            guard byte == ASCII.carriageReturn else { throw .missingChunkTerminator }
            phase = .dataLineFeed
            return false
        case .dataLineFeed:
            guard byte == ASCII.lineFeed else { throw .missingChunkTerminator }
            phase = .sizeStart
            return false
        case .data, .trailers:
            return true
        case .sizeStart, .size, .blanks, .extensions, .sizeLineFeed:
            return try readSizeLine(byte)
        }
    }

    @inline(__always)
    private mutating func readSizeLine(_ byte: UInt8) throws(WireError) -> Bool {
        lineBytes += 1
        guard lineBytes <= lineLimit else { throw .chunkLineTooLong(limit: lineLimit) }
        switch phase {
        case .sizeStart, .size:
            if let digit = ASCII.hexValue(byte) {
                // B16.42: sixteen digits or more may be zeros; what counts is that the number fits.
                guard size <= Int64.max >> 4 else { throw .chunkSizeOverflow }
                size = size << 4 | Int64(digit)
                phase = .size
                return false
            }
            guard case .size = phase else { throw .malformedChunkSize }
            return try readAfterSize(byte)
        case .blanks:
            return try readAfterSize(byte)
        case .extensions:
            if byte == ASCII.carriageReturn {
                phase = .sizeLineFeed
            } else if byte == ASCII.lineFeed {
                return endOfSizeLine()
            } else if Tokens.isControl(byte) {
                throw .malformedChunkSize
            }
            return false
        case .sizeLineFeed:
            guard byte == ASCII.lineFeed else { throw .malformedChunkSize }
            return endOfSizeLine()
        case .data, .dataCarriageReturn, .dataLineFeed, .trailers:
            return true
        }
    }

    @inline(__always)
    private mutating func readAfterSize(_ byte: UInt8) throws(WireError) -> Bool {
        if byte == ASCII.carriageReturn {
            phase = .sizeLineFeed
        } else if byte == ASCII.lineFeed {
            // B16.22: a bare LF may end a line.
            return endOfSizeLine()
        } else if byte == ASCII.semicolon {
            phase = .extensions
        } else if Tokens.isWhitespace(byte) {
            phase = .blanks
        } else {
            throw .malformedChunkSize
        }
        return false
    }

    private mutating func endOfSizeLine() -> Bool {
        phase = size == 0 ? .trailers : .data(remaining: size)
        size = 0
        lineBytes = 0
        return true
    }
}
