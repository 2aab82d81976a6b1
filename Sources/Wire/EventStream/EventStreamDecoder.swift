// Takes a stream of server-sent events apart (WHATWG HTML, "Server-sent events", parsing and
// interpreting an event stream).
//
//     field ":" [" "] value line-end … line-end        the empty line ends an event
//
// A line ends at LF, CR or CRLF. A CR ends it at once, and a LF behind it is passed over when it comes: so an event is
// there with its last byte. Everything is UTF-8, and what is not becomes U+FFFD; no character is cut, since lines and
// fields end at bytes that stand in no other character.
//
// Must not know: connections, when the stream is asked for again.

/// A resumable reader of one stream of events, and what is to be kept of it for the next.
package struct EventStreamDecoder: Sendable {
    /// An event.
    package struct Event: Sendable, Equatable {
        /// The last event ID, this event's or one before it; empty where there is none.
        package var id: String
        /// The type, `message` where the server names none.
        package var type: String
        /// The data, of several fields with LF in between.
        package var data: String
        /// The reconnection time in milliseconds that stood with the event.
        package var retry: Int64?
    }

    /// A line, or an event with its lines, is longer than allowed.
    package struct TooLong: Error, Equatable {
        /// How many bytes are allowed.
        package let limit: Int
    }

    /// What the server is told when it is asked to go on: the ID that was in force at the last empty line.
    package private(set) var lastEventID: String
    /// In how many milliseconds the server wants to be asked again; nil where it has not said so.
    package private(set) var reconnectionTime: Int64?
    private let limit: Int

    /// What has come of a line that is not whole.
    private var line: [UInt8] = []
    private var data: [UInt8] = []
    private var type: [UInt8] = []
    // Quirk: the standard forgets the ID where a stream begins, so that an event without one would lose the place.
    // Browsers keep it.
    private var id: String
    private var retry: Int64?
    private var isBehindReturn = false
    private var isFirstLine = true

    /// Makes a reader that takes up behind an event, if its ID is given. Neither a line nor an event
    /// may be longer than `limit`.
    package init(lastEventID: String, limit: Int) {
        self.lastEventID = lastEventID
        self.limit = limit
        id = lastEventID
    }

    /// Another stream begins; what had come of an event is dropped.
    package mutating func begin() {
        let time = reconnectionTime
        self = EventStreamDecoder(lastEventID: lastEventID, limit: limit)
        reconnectionTime = time
    }

    /// Reads from `bytes` at `offset`, up to the next event; nil where all bytes were used and more are needed.
    package mutating func next(_ bytes: RawSpan, offset: inout Int) throws(TooLong) -> Event? {
        while offset < bytes.byteCount {
            if isBehindReturn {
                isBehindReturn = false
                if bytes.byte(at: offset) == ASCII.lineFeed {
                    offset += 1
                    continue
                }
            }
            let end = Self.endOfLine(bytes, from: offset)
            // No overflow: what is kept is within the limit.
            guard end - offset <= limit - line.count - data.count - type.count else { throw TooLong(limit: limit) }
            bytes.extracting(offset..<end).withUnsafeBytes { line.append(contentsOf: $0) }
            offset = end
            guard end < bytes.byteCount else { return nil }
            offset += 1
            isBehindReturn = bytes.byte(at: end) == ASCII.carriageReturn
            if let event = takeLine() { return event }
        }
        return nil
    }

    // MARK: Lines

    /// The offset of the first CR or LF, or the end.
    private static func endOfLine(_ bytes: RawSpan, from start: Int) -> Int {
        var end = bytes.endOfText(from: start)
        while end < bytes.byteCount, bytes.byte(at: end) != ASCII.lineFeed, bytes.byte(at: end) != ASCII.carriageReturn
        {
            end = bytes.endOfText(from: end + 1)
        }
        return end
    }

    /// A line is whole; gives the event that ends with it.
    private mutating func takeLine() -> Event? {
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: Self.byteOrderMark) { line.removeFirst(Self.byteOrderMark.count) }
        }
        defer { line.removeAll(keepingCapacity: true) }
        guard !line.isEmpty else { return takeEvent() }
        let colon = line.firstIndex(of: ASCII.colon) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == ASCII.space { value = value.dropFirst() }
        take(value, of: line[..<colon])
        return nil
    }

    /// A field; of a comment the name is empty.
    private mutating func take(_ value: ArraySlice<UInt8>, of name: ArraySlice<UInt8>) {
        if name.elementsEqual("data".utf8) {
            data += value
            data.append(ASCII.lineFeed)
        } else if name.elementsEqual("event".utf8) {
            type = Array(value)
        } else if name.elementsEqual("id".utf8) {
            if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        } else if name.elementsEqual("retry".utf8), let time = Self.milliseconds(value) {
            (retry, reconnectionTime) = (time, time)
        }
    }

    /// An empty line has come.
    private mutating func takeEvent() -> Event? {
        lastEventID = id
        defer { (data, type, retry) = ([], [], nil) }
        guard !data.isEmpty else { return nil }
        return Event(
            id: id, type: type.isEmpty ? "message" : String(decoding: type, as: UTF8.self),
            data: String(decoding: data.dropLast(), as: UTF8.self), retry: retry)
    }

    /// Digits and nothing else; what is too large is the largest number.
    private static func milliseconds(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) else { return nil }
        return Int64(String(decoding: digits, as: UTF8.self)) ?? .max
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
}
