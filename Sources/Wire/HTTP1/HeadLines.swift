// The grammar of a head, line by line, over bytes that begin where the head begins. It remembers which lines it has
// read and how far it looked for the end of the current one, so that it can be asked again when more bytes have come
// and never looks at a byte twice for nothing. It keeps offsets only; `HeadParser` keeps the bytes.
//
// A line is judged when it is complete, never before, so that the outcome does not depend on how the bytes were cut.
// Two things cannot wait: a budget that is exceeded, and a first line that is not HTTP.
//
// RFC 9112 §2.2, §3, §4, §5.

/// The lines of one head (or trailer section) read so far.
struct HeadLines {
    private enum Phase {
        case startLine
        case fields
    }

    let kind: HeadParser.Kind
    let limits: WireLimits
    private var phase: Phase
    /// Where the current line begins.
    private var lineStart = 0
    /// No line feed lies between `lineStart` and here.
    private var searched = 0
    private var hasSkippedEmptyLine = false

    var slots: [Fields.Slot] = []
    /// A value holds a folded line or a control byte, which `Fields.cleanValues` has to take out.
    private(set) var needsCleaning = false

    // The start line's parts.
    private(set) var minorVersion = 1
    private(set) var status = 0
    private(set) var first = 0..<0  // reason, or method
    private(set) var second = 0..<0  // request target

    init(kind: HeadParser.Kind, limits: WireLimits) {
        self.kind = kind
        self.limits = limits
        phase = kind == .trailers ? .fields : .startLine
    }

    /// Forgets the head that was read.
    mutating func reset() {
        var slots: [Fields.Slot] = []
        swap(&slots, &self.slots)
        self = HeadLines(kind: kind, limits: limits)
        // The next head is written into the same memory, unless it is more than nearly all need.
        if slots.capacity <= HeadLines.keptSlots {
            slots.removeAll(keepingCapacity: true)
            swap(&slots, &self.slots)
        }
    }

    private static var keptSlots: Int { 64 }

    /// Reads what lines are complete; the offset behind the empty line that ends the head, nil if it has not come.
    mutating func advance(over bytes: RawSpan) throws(WireError) -> Int? {
        if phase == .startLine {
            guard try readStartLine(bytes) else { return nil }
            phase = .fields
        }
        return try readFieldLines(bytes)
    }

    /// Reads what lines are complete in an array.
    mutating func advance(over bytes: borrowing [UInt8]) throws(WireError) -> Int? {
        try advance(over: bytes.span.bytes)
    }

    // MARK: Field lines

    private mutating func readFieldLines(_ bytes: RawSpan) throws(WireError) -> Int? {
        while true {
            // Order: first make sure that the line is complete if it was looked at before, so that a head that
            // comes byte by byte is not parsed from the line's start for each of them.
            if searched > lineStart, try findLineEnd(bytes) == nil { return nil }
            readRegularLines(bytes)
            guard let lineEnd = try findLineEnd(bytes) else { return nil }
            if try readAnyLine(bytes, lineEnd: lineEnd) { return lineEnd }
        }
    }

    /// Reads lines that are `token ":" text CRLF`, as nearly all are, up to the first that is anything else.
    private mutating func readRegularLines(_ bytes: RawSpan) {
        // Measured: the loop works on local values and on the array's memory; asking for the array's uniqueness at
        // each line and keeping `self` up to date took a quarter of the time.
        var start = lineStart
        var isRoomUsedUp = true
        while isRoomUsedUp {
            let room = min(20, limits.fieldCount - slots.count)
            guard room > 0 else { break }
            let limits = limits
            slots.append(addingCapacity: room) { slots in
                while !slots.isFull, let slot = HeadLines.regularLine(bytes, &start, limits) { slots.append(slot) }
                isRoomUsedUp = slots.isFull
            }
        }
        guard start > lineStart else { return }
        lineStart = start
        searched = start
    }

    /// The next line's field if the line is a regular one that no budget forbids; moves `start` behind it.
    @inline(__always)
    private static func regularLine(_ bytes: RawSpan, _ start: inout Int, _ limits: WireLimits) -> Fields.Slot? {
        // Measured: looking for the line's end from its start, not from the colon, lets the processor search the
        // next line while it still judges this one's name.
        let textEnd = bytes.endOfText(from: start)
        let lineEnd = textEnd &+ 2
        let nameEnd = bytes.endOfToken(from: start, to: textEnd)
        guard bytes.isLineEnd(at: textEnd), nameEnd > start, bytes.byte(at: nameEnd) == ASCII.colon,
            lineEnd &- start <= limits.lineBytes, lineEnd <= limits.headBytes
        else { return nil }
        let slot = slot(bytes, start, nameEnd: nameEnd, textEnd: textEnd)
        start = lineEnd
        return slot
    }

    /// Reads a complete line of any sort; true if it is the empty line that ends the head.
    private mutating func readAnyLine(_ bytes: RawSpan, lineEnd: Int) throws(WireError) -> Bool {
        let start = lineStart
        let textEnd = try endOfContent(bytes, lineEnd: lineEnd)
        lineStart = lineEnd
        searched = lineEnd
        if textEnd == start { return true }
        if Tokens.isWhitespace(bytes.byte(at: start)) {
            try addFold(textEnd: textEnd)
            return false
        }
        guard slots.count < limits.fieldCount else { throw .tooManyFields(limit: limits.fieldCount) }
        let nameEnd = bytes.endOfToken(from: start)
        let afterName = bytes.byte(at: nameEnd)
        if nameEnd > start, afterName == ASCII.colon {
            try lookForControls(bytes, from: nameEnd + 1, to: textEnd)
            slots.append(HeadLines.slot(bytes, start, nameEnd: nameEnd, textEnd: textEnd))
            return false
        }
        throw fault(bytes, name: start..<nameEnd, textEnd: textEnd)
    }

    /// The field of a line, its value without the white space around it (B5.47).
    @inline(__always)
    private static func slot(_ bytes: RawSpan, _ start: Int, nameEnd: Int, textEnd: Int) -> Fields.Slot {
        let value = bytes.trimmed(from: nameEnd &+ 1, to: textEnd)
        return Fields.Slot(
            nameStart: start, nameLength: nameEnd &- start,
            valueStart: value.start, valueLength: value.end &- value.start)
    }

    /// B16.24: the value goes on in this line; the line end between becomes a space when the head is complete.
    private mutating func addFold(textEnd: Int) throws(WireError) {
        guard let last = slots.indices.last else { throw .foldBeforeFirstField }
        slots[last].valueLength = textEnd - slots[last].valueStart
        needsCleaning = true
    }

    /// B16.26: NUL is refused (in `endOfContent`), other control bytes will become spaces.
    private mutating func lookForControls(_ bytes: RawSpan, from start: Int, to end: Int) throws(WireError) {
        if bytes.endOfText(from: start) < end { needsCleaning = true }
    }

    /// What is wrong with a field line that does not start with a name and a colon (B16.23, B16.25).
    private func fault(_ bytes: RawSpan, name: Range<Int>, textEnd: Int) -> WireError {
        var afterBlanks = name.upperBound
        while afterBlanks < textEnd, Tokens.isWhitespace(bytes.byte(at: afterBlanks)) { afterBlanks += 1 }
        if !name.isEmpty, afterBlanks == textEnd { return .missingColon }
        if !name.isEmpty, afterBlanks > name.upperBound, bytes.byte(at: afterBlanks) == ASCII.colon {
            return .whitespaceBeforeColon
        }
        return .malformedFieldName
    }

    // MARK: Line ends

    /// The offset behind the current line's LF, nil if it has not come; throws when the line exceeds a budget.
    private mutating func findLineEnd(_ bytes: RawSpan) throws(WireError) -> Int? {
        let lineBound = lineStart + min(limits.lineBytes, 1 << 40)
        let bound = min(lineBound, limits.headBytes)
        if let lineFeed = bytes.firstLineFeed(from: max(searched, lineStart)), lineFeed < bound {
            // Searched up to the line feed itself: asking again gives the same answer at no cost.
            searched = lineFeed
            return lineFeed + 1
        }
        searched = bytes.byteCount
        if bytes.byteCount <= bound { return nil }
        if bound == lineBound { throw .lineTooLong(limit: limits.lineBytes) }
        throw kind == .trailers
            ? .trailersTooLarge(limit: limits.headBytes) : .headTooLarge(limit: limits.headBytes)
    }

    /// Where a line's content ends: before CRLF, or before a bare LF (B16.22).
    ///
    /// No CR or NUL is left in it.
    private func endOfContent(_ bytes: RawSpan, lineEnd: Int) throws(WireError) -> Int {
        var end = lineEnd - 1
        if end > lineStart, bytes.byte(at: end - 1) == ASCII.carriageReturn { end -= 1 }
        var offset = bytes.endOfText(from: lineStart)
        while offset < end {
            let byte = bytes.byte(at: offset)
            if byte == ASCII.carriageReturn { throw .bareCarriageReturn }
            if byte == 0 { throw .nulByte }
            offset = bytes.endOfText(from: offset + 1)
        }
        return end
    }

    // MARK: Start lines

    private mutating func readStartLine(_ bytes: RawSpan) throws(WireError) -> Bool {
        while true {
            guard lineStart < bytes.byteCount else { return false }
            let firstByte = bytes.byte(at: lineStart)
            let mayBeEmptyLine =
                !hasSkippedEmptyLine && (firstByte == ASCII.carriageReturn || firstByte == ASCII.lineFeed)
            // B16.18: what does not begin like HTTP is refused at its first byte; its line may never end.
            if kind == .response, !mayBeEmptyLine, !beginsLikeHTTP(bytes) {
                throw firstByte == 0x15 ? .alertOfTLS : .notHTTP
            }
            guard let lineEnd = try findLineEnd(bytes) else { return false }
            let textEnd = try endOfContent(bytes, lineEnd: lineEnd)
            if textEnd == lineStart, !hasSkippedEmptyLine {
                // B16.21: one empty line before the start line is tolerated.
                hasSkippedEmptyLine = true
            } else if kind == .response {
                try readStatusLine(bytes, lineStart..<textEnd)
                lineStart = lineEnd
                searched = lineEnd
                return true
            } else {
                try readRequestLine(bytes, lineStart..<textEnd)
                lineStart = lineEnd
                searched = lineEnd
                return true
            }
            lineStart = lineEnd
            searched = lineEnd
        }
    }

    /// Whether the line's first bytes, as far as they have come, are `HTTP/`.
    private func beginsLikeHTTP(_ bytes: RawSpan) -> Bool {
        let prefix: StaticString = "HTTP/"
        let count = min(prefix.utf8CodeUnitCount, bytes.byteCount - lineStart)
        for index in 0..<count where bytes.byte(at: lineStart + index) != prefix.utf8Start[index] { return false }
        return true
    }

    /// `HTTP/1.x SP 3DIGIT [SP reason]` (B16.16, B16.17, B16.19, B16.20).
    private mutating func readStatusLine(_ bytes: RawSpan, _ line: Range<Int>) throws(WireError) {
        let start = line.lowerBound
        minorVersion = try readVersion(bytes, line, else: .malformedStatusLine)
        guard line.count >= 12, bytes.byte(at: start + 8) == ASCII.space else { throw .malformedStatusLine }
        var code = 0
        for offset in (start + 9)..<(start + 12) {
            let byte = bytes.byte(at: offset)
            guard ASCII.isDigit(byte) else { throw .malformedStatusLine }
            code = code * 10 + Int(byte &- ASCII.zero)
        }
        if line.count > 12 {
            guard bytes.byte(at: start + 12) == ASCII.space else { throw .malformedStatusLine }
            first = (start + 13)..<line.upperBound
        }
        guard code >= 100 else { throw .statusCodeOutOfRange }
        status = code
    }

    /// `method SP target SP HTTP/1.x`.
    private mutating func readRequestLine(_ bytes: RawSpan, _ line: Range<Int>) throws(WireError) {
        let methodEnd = bytes.endOfToken(from: line.lowerBound)
        guard methodEnd > line.lowerBound, methodEnd < line.upperBound, bytes.byte(at: methodEnd) == ASCII.space
        else { throw .malformedRequestLine }
        var targetEnd = methodEnd + 1
        while targetEnd < line.upperBound, bytes.byte(at: targetEnd) > ASCII.space { targetEnd += 1 }
        guard targetEnd > methodEnd + 1, targetEnd < line.upperBound, bytes.byte(at: targetEnd) == ASCII.space
        else { throw .malformedRequestLine }
        let version = (targetEnd + 1)..<line.upperBound
        minorVersion = try readVersion(bytes, version, else: .malformedRequestLine)
        guard version.count == 8 else { throw .malformedRequestLine }
        first = line.lowerBound..<methodEnd
        second = (methodEnd + 1)..<targetEnd
    }

    /// `HTTP/1.x` at the beginning of the range: the minor digit.
    private func readVersion(
        _ bytes: RawSpan, _ range: Range<Int>, else malformed: WireError
    ) throws(WireError) -> Int {
        let prefix: StaticString = "HTTP/"
        guard range.count >= 6 else { throw malformed }
        for index in 0..<5 where bytes.byte(at: range.lowerBound + index) != prefix.utf8Start[index] {
            throw malformed
        }
        let major = bytes.byte(at: range.lowerBound + 5)
        guard ASCII.isDigit(major) else { throw malformed }
        // "HTTP/2 200" is a line of another version as well, so the major number decides before the rest is read.
        guard major == ASCII.zero + 1 else { throw .unsupportedVersion }
        guard range.count >= 8, bytes.byte(at: range.lowerBound + 6) == ASCII.dot else { throw malformed }
        let minor = bytes.byte(at: range.lowerBound + 7)
        guard ASCII.isDigit(minor) else { throw malformed }
        return Int(minor &- ASCII.zero)
    }
}
