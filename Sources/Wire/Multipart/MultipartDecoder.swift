// Takes a multipart body apart: parts with fields, one after the other, between delimiter lines (RFC 2046 §5.1.1).
//
//     preamble CRLF --boundary CRLF  fields CRLF CRLF  body CRLF --boundary CRLF … CRLF --boundary-- epilogue
//
// The line end before a delimiter belongs to the delimiter, so bytes that may be the beginning of one are held back
// until it is certain; at most one delimiter's worth. Must not know: what the parts mean.

/// A resumable reader of one multipart body.
package struct MultipartDecoder: ~Copyable {
    /// What comes next.
    package enum Step: Sendable, Equatable {
        /// All bytes were used and more are needed.
        case needMore
        /// A part begins.
        case part(Fields)
        /// The next bytes of the part's body, where they lie.
        case body(Range<Int>)
        /// Bytes of the part's body that were held back and are no delimiter after all.
        case heldBody([UInt8])
        /// The last part has ended; what follows is of no meaning.
        case end
    }

    private enum Phase {
        /// In the preamble or a body.
        case text
        /// In what may be a delimiter: its line end, and so many bytes of its text.
        case delimiter(LineEnd, matched: Int)
        /// Behind a delimiter's text: so many dashes, or 2 when the rest of the line does not matter.
        case lineRest(Int)
        case head
        case epilogue
    }

    private enum LineEnd {
        /// The very beginning of a body, where none is needed.
        case absent
        case cr, lf, crlf

        var bytes: [UInt8] {
            switch self {
            case .absent: []
            case .cr: [ASCII.carriageReturn]
            case .lf: [ASCII.lineFeed]
            case .crlf: [ASCII.carriageReturn, ASCII.lineFeed]
            }
        }
    }

    /// What begins the lines between parts.
    private var delimiter: [UInt8]
    /// How many dashes the boundary begins with, where the first two may be the delimiter lines' own;
    /// nil for other boundaries.
    private let dashes: Int?
    /// Whether two dashes stand before such a boundary all the same.
    private var hasMoreDashes = false
    private var head = HeadParser(.trailers)
    private var phase = Phase.delimiter(.absent, matched: 0)
    /// What comes before the first delimiter belongs to no part.
    private var isInPart = false

    /// Makes a reader for the boundary of Content-Type; nil if it cannot be one.
    package init?(boundary: String) {
        guard !boundary.isEmpty, boundary.utf8.count <= Self.longestBoundary,
            !boundary.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else { return nil }
        // Quirk: cameras name the boundary with the dashes of its delimiter lines. The first of these shows whether it
        // is so. One of dashes alone could show nothing.
        let hasDashes = boundary.hasPrefix("--") && boundary.utf8.contains { $0 != ASCII.dash }
        delimiter = Array(hasDashes ? boundary.utf8 : "--\(boundary)".utf8)
        dashes = hasDashes ? boundary.utf8.prefix { $0 == ASCII.dash }.count : nil
    }

    /// Reads from `bytes` at `offset`, up to the next step.
    package mutating func next(_ bytes: RawSpan, offset: inout Int) throws(WireError) -> Step {
        while offset < bytes.byteCount {
            switch phase {
            case .text:
                if let range = readText(bytes, &offset), isInPart { return .body(range) }
            case .delimiter(let lineEnd, let matched):
                let held = readDelimiter(bytes.byte(at: offset), &offset, lineEnd, matched)
                if !held.isEmpty, isInPart { return .heldBody(held) }
            case .lineRest(let dashes):
                if readLineRest(bytes.byte(at: offset), dashes) { return .end }
                offset += 1
            case .head:
                guard try head.parse(bytes, offset: &offset) else { return .needMore }
                phase = .delimiter(.absent, matched: 0)
                isInPart = true
                return .part(head.takeFields())
            case .epilogue:
                offset = bytes.byteCount
            }
        }
        return .needMore
    }

    /// The bytes have ended: what was held back of the last part's body.
    package mutating func finish() -> [UInt8] {
        defer { phase = .epilogue }
        guard isInPart, case .delimiter(let lineEnd, let matched) = phase else { return [] }
        return lineEnd.bytes + delimiter[..<matched]
    }

    // MARK: Private steps

    /// Text up to what may be a delimiter; nil when there is none before it.
    private mutating func readText(_ bytes: RawSpan, _ offset: inout Int) -> Range<Int>? {
        let start = offset
        var end = bytes.byteCount
        offset = end
        guard isInPart else {
            guard let lineFeed = bytes.firstLineFeed(from: start) else { return nil }
            offset = lineFeed + 1
            phase = .delimiter(.lf, matched: 0)
            return nil
        }
        var search = start
        while let lineFeed = bytes.firstLineFeed(from: search) {
            search = lineFeed + 1
            let matched = matchedBytes(bytes, from: search)
            guard matched == delimiter.count || matched == bytes.byteCount - search else { continue }
            let hasReturn = lineFeed > start && bytes.byte(at: lineFeed - 1) == ASCII.carriageReturn
            end = hasReturn ? lineFeed - 1 : lineFeed
            offset = search + matched
            phase =
                matched == delimiter.count ? .lineRest(0) : .delimiter(hasReturn ? .crlf : .lf, matched: matched)
            return start < end ? start..<end : nil
        }
        if bytes.byte(at: end - 1) == ASCII.carriageReturn {
            end -= 1
            phase = .delimiter(.cr, matched: 0)
        }
        return start < end ? start..<end : nil
    }

    /// How many of the bytes from `start` on are the delimiter's.
    private func matchedBytes(_ bytes: RawSpan, from start: Int) -> Int {
        var matched = 0
        while matched < delimiter.count, start + matched < bytes.byteCount,
            bytes.byte(at: start + matched) == delimiter[matched]
        { matched += 1 }
        return matched
    }

    /// Takes one byte of what may be a delimiter; if it is none, gives back what was held.
    private mutating func readDelimiter(
        _ byte: UInt8, _ offset: inout Int, _ lineEnd: LineEnd, _ matched: Int
    ) -> [UInt8] {
        if case .cr = lineEnd {
            guard byte == ASCII.lineFeed else {
                phase = .text
                return lineEnd.bytes
            }
            phase = .delimiter(.crlf, matched: 0)
        } else {
            if byte == ASCII.dash, matched == dashes, !isInPart { setMoreDashes(true) }
            guard byte == delimiter[matched] else {
                let held: [UInt8] = lineEnd.bytes + delimiter[..<matched]
                if !isInPart { setMoreDashes(false) }
                phase = .text
                return held
            }
            phase = matched + 1 == delimiter.count ? .lineRest(0) : .delimiter(lineEnd, matched: matched + 1)
        }
        offset += 1
        return []
    }

    /// The first delimiter may be one with dashes of its own before those of the boundary (RFC 2046 §5.1.1).
    private mutating func setMoreDashes(_ has: Bool) {
        guard has != hasMoreDashes else { return }
        hasMoreDashes = has
        if has { delimiter.insert(contentsOf: [ASCII.dash, ASCII.dash], at: 0) } else { delimiter.removeFirst(2) }
    }

    /// Takes one byte behind a delimiter's text; true when it was the last delimiter.
    private mutating func readLineRest(_ byte: UInt8, _ dashes: Int) -> Bool {
        switch (byte, dashes) {
        case (ASCII.lineFeed, _):
            phase = .head
        case (ASCII.dash, 0):
            phase = .lineRest(1)
        case (ASCII.dash, 1):
            phase = .epilogue
            isInPart = false
            return true
        default:
            phase = .lineRest(2)
        }
        return false
    }

    /// RFC 2046 allows 70; picked by feel above that.
    private static let longestBoundary = 256
}
