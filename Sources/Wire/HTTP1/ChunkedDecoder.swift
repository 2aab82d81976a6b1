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
        /// Between two pieces of data.
        case line(Line)
        case data(remaining: Int64)
        case trailers
    }

    /// How much of the bytes between two pieces of data has come.
    private enum Line {
        /// Before the first digit of a size.
        case sizeStart
        case size
        /// Blanks behind the size (B16.44).
        case blanks
        /// Behind a semicolon (B16.43).
        case extensions
        /// A CR came in the size line; its LF must follow.
        case sizeLineFeed
        /// Behind data, before its line end.
        case dataEnd
        /// A CR came behind data; its LF must follow.
        case dataLineFeed
    }

    private var phase = Phase.line(.sizeStart)
    private var size: Int64 = 0
    private var lineBytes = 0
    private let limits: WireLimits
    /// Made only for a trailer section that is more than an empty line, which nearly none is.
    private var trailers: TrailerReader?

    /// Makes a decoder for one body.
    package init(limits: WireLimits = .standard) {
        self.limits = limits
    }

    /// Decodes from `bytes` at `offset` and moves `offset` behind what was used.
    package mutating func next(_ bytes: RawSpan, offset: inout Int) throws(WireError) -> Step {
        while true {
            switch phase {
            case .line(let line):
                guard offset < bytes.byteCount else { return .needMore }
                phase = try read(line, bytes, &offset)
            case .data(let remaining):
                guard offset < bytes.byteCount else { return .needMore }
                return takeData(bytes, &offset, remaining)
            case .trailers:
                return try readTrailers(bytes, &offset)
            }
        }
    }

    private mutating func readTrailers(_ bytes: RawSpan, _ offset: inout Int) throws(WireError) -> Step {
        if trailers == nil, bytes.isLineEnd(at: offset), min(limits.trailerBytes, limits.lineBytes) >= 2 {
            offset += 2
            return .end(trailers: Fields())
        }
        guard offset < bytes.byteCount else { return .needMore }
        let reader = trailers ?? TrailerReader(limits)
        trailers = reader
        guard try reader.parser.parse(bytes, offset: &offset) else { return .needMore }
        trailers = nil
        return .end(trailers: reader.parser.takeFields())
    }

    private mutating func takeData(_ bytes: RawSpan, _ offset: inout Int, _ remaining: Int64) -> Step {
        let count = Int(min(remaining, Int64(bytes.byteCount - offset)))
        let range = offset..<(offset + count)
        offset += count
        let left = remaining - Int64(count)
        phase = left == 0 ? .line(.dataEnd) : .data(remaining: left)
        return .body(range)
    }

    /// Reads bytes until the size line is complete or they are used up.
    private mutating func read(_ start: Line, _ bytes: RawSpan, _ offset: inout Int) throws(WireError) -> Phase {
        var line = start
        while offset < bytes.byteCount {
            let byte = bytes.byte(at: offset)
            offset += 1
            switch line {
            case .dataEnd:
                // B16.22: a bare LF will do here as behind a size and behind a trailer.
                if byte == ASCII.lineFeed {
                    line = .sizeStart
                } else {
                    guard byte == ASCII.carriageReturn else { throw .missingChunkTerminator }
                    line = .dataLineFeed
                }
            case .dataLineFeed:
                guard byte == ASCII.lineFeed else { throw .missingChunkTerminator }
                line = .sizeStart
            case .sizeStart, .size:
                try countLineByte()
                if let digit = ASCII.hexValue(byte) {
                    // B16.42: sixteen digits or more may be zeros; what counts is that the number fits.
                    guard size <= Int64.max >> 4 else { throw .chunkSizeOverflow }
                    size = size << 4 | Int64(digit)
                    line = .size
                } else {
                    guard line == .size else { throw .malformedChunkSize }
                    if byte == ASCII.lineFeed { return endOfSizeLine() }
                    line = try afterSize(byte)
                }
            case .blanks:
                try countLineByte()
                if byte == ASCII.lineFeed { return endOfSizeLine() }
                line = try afterSize(byte)
            case .extensions:
                try countLineByte()
                if byte == ASCII.lineFeed { return endOfSizeLine() }
                if byte == ASCII.carriageReturn {
                    line = .sizeLineFeed
                } else if Tokens.isControl(byte) {
                    throw .malformedChunkSize
                }
            case .sizeLineFeed:
                try countLineByte()
                guard byte == ASCII.lineFeed else { throw .malformedChunkSize }
                return endOfSizeLine()
            }
        }
        return .line(line)
    }

    @inline(__always)
    private mutating func countLineByte() throws(WireError) {
        lineBytes += 1
        guard lineBytes <= limits.chunkLineBytes else { throw .chunkLineTooLong(limit: limits.chunkLineBytes) }
    }

    @inline(__always)
    private func afterSize(_ byte: UInt8) throws(WireError) -> Line {
        if byte == ASCII.carriageReturn { return .sizeLineFeed }
        if byte == ASCII.semicolon { return .extensions }
        if Tokens.isWhitespace(byte) { return .blanks }
        throw .malformedChunkSize
    }

    /// The size line is complete; a bare LF may have ended it (B16.22).
    private mutating func endOfSizeLine() -> Phase {
        let count = size
        size = 0
        lineBytes = 0
        return count == 0 ? .trailers : .data(remaining: count)
    }
}

/// A parser of trailers apart from its decoder: most connections never need its 150 bytes.
private final class TrailerReader {
    var parser: HeadParser

    init(_ limits: WireLimits) {
        parser = HeadParser(.trailers, limits: limits)
    }
}
