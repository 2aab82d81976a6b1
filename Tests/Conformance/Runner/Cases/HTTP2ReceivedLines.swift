// The lines of a case about what a server must have received over HTTP/2.
//
// Must not know: files, drivers and servers. docs/conformance-cases.md.

/// What a server must have received.
struct HTTP2ReceivedLine: Sendable {
    /// Frames of a kind, all or those of one stream or connection.
    struct Pattern: Sendable {
        let kind: HTTP2FrameKind
        let stream: UInt32?
        let connection: Int?
    }

    /// What is looked for.
    enum Expectation: Sendable {
        /// The next one behind what was looked at before, and what it says.
        case frame(Pattern, [CaseLine.Part])
        /// None has come.
        case none(Pattern)
        /// So many have come, and no more.
        case count(Int, Pattern)
        /// So many streams were opened.
        case streams(Int)
        /// So many connections are over.
        case closed(Int)
    }

    let server: String
    let expectation: Expectation
}

/// Reads them.
enum HTTP2ReceivedLines {
    /// What comes behind `^h2`.
    static func line(_ rest: Substring) throws(CaseFault) -> HTTP2ReceivedLine {
        var line = try CaseLine(rest)
        let word = try line.takeWord("what was received")
        let expectation: HTTP2ReceivedLine.Expectation
        var server: String?
        switch word {
        case "no": expectation = .none(try pattern(line.takeWord("the frame's type"), &line, &server))
        case "count":
            let count: Int = try line.takeNumber("how many")
            expectation = .count(count, try pattern(line.takeWord("the frame's type"), &line, &server))
        case "streams": expectation = .streams(try line.takeNumber("how many"))
        case "closed": expectation = .closed(try line.takeNumber("how many"))
        default: expectation = .frame(try pattern(word, &line, &server), line.parts)
        }
        server = server ?? line.takeServer()
        let hasParts = if case .frame = expectation { true } else { false }
        try line.finish(parts: hasParts)
        return HTTP2ReceivedLine(server: server ?? "a", expectation: expectation)
    }

    private static func pattern(
        _ word: String, _ line: inout CaseLine, _ server: inout String?
    ) throws(CaseFault) -> HTTP2ReceivedLine.Pattern {
        let kind = try HTTP2FrameKind(word)
        let stream = line.words.first.flatMap { UInt32($0) }
        if stream != nil { _ = line.takeWord() }
        server = line.takeServer()
        var connection: Int?
        if let word = line.words.first, word.hasPrefix("connection=") {
            connection = Int(word.dropFirst(11))
            if connection == nil { throw CaseFault("the connection's number is missing") }
            _ = line.takeWord()
        }
        return HTTP2ReceivedLine.Pattern(kind: kind, stream: stream, connection: connection)
    }
}
