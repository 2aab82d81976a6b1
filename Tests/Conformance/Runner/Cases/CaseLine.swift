// The common form of a case file's lines: words, then parts behind " | ", then a body behind " || ".
//
// Must not know: which words there are. docs/conformance-cases.md.

/// A line, cut at its bars.
struct CaseLine {
    /// A part behind a bar: `Name: value`, or `!Name`.
    struct Part: Sendable {
        let name: String
        /// Nil where the part says that there is none.
        let value: CaseText?
    }

    private(set) var words: [Substring]
    let parts: [Part]
    let body: CaseText?

    /// Cuts a line whose first word has been taken off, or a part of one.
    init(_ text: Substring) throws(CaseFault) {
        var head = text
        if let bars = Self.range(of: "||", in: text) {
            body = try CaseText(Self.trimmedOnce(text[bars.upperBound...]))
            head = text[..<bars.lowerBound]
        } else {
            body = nil
        }
        var pieces: [Substring] = []
        while let bar = Self.range(of: "|", in: head) {
            pieces.append(head[..<bar.lowerBound])
            head = head[bar.upperBound...]
        }
        pieces.append(head)
        words = pieces[0].split(separator: " ")
        var parts: [Part] = []
        for piece in pieces.dropFirst() { parts.append(try Self.part(Self.trimmed(piece))) }
        self.parts = parts
    }

    /// The next word that has not been taken.
    mutating func takeWord() -> String? {
        words.isEmpty ? nil : String(words.removeFirst())
    }

    /// The next word, which must be there.
    mutating func takeWord(_ what: String) throws(CaseFault) -> String {
        guard let word = takeWord() else { throw CaseFault("\(what) is missing") }
        return word
    }

    /// The next word where it is one of these.
    mutating func take(_ choices: Set<String>) -> String? {
        guard let word = words.first, choices.contains(String(word)) else { return nil }
        return takeWord()
    }

    /// The name of a server, `@NAME`, where that is the next word.
    mutating func takeServer() -> String? {
        words.first?.first == "@" ? takeWord().map { String($0.dropFirst()) } : nil
    }

    /// Refuses words that have not been taken.
    func finish() throws(CaseFault) {
        if let word = words.first { throw CaseFault("\"\(word)\" is not understood") }
    }

    /// Refuses parts, or a body, where there can be none.
    func finish(parts mayHaveParts: Bool = false, body mayHaveBody: Bool = false) throws(CaseFault) {
        try finish()
        if !mayHaveParts, !parts.isEmpty { throw CaseFault("this line has no parts behind a bar") }
        if !mayHaveBody, body != nil { throw CaseFault("this line has no body") }
    }

    private static func part(_ text: Substring) throws(CaseFault) -> Part {
        if text.first == "!" { return Part(name: String(text.dropFirst()), value: nil) }
        // The name of a pseudo-header field begins with a colon.
        guard let colon = text.dropFirst().firstIndex(of: ":") ?? text.firstIndex(of: ":") else {
            throw CaseFault("\"\(text)\" has no colon")
        }
        return Part(name: String(text[..<colon]), value: try CaseText(trimmed(text[text.index(after: colon)...])))
    }

    /// A mark between spaces, or at the line's end.
    private static func range(of mark: String, in text: Substring) -> Range<Substring.Index>? {
        var start = text.startIndex
        while start < text.endIndex {
            let rest = text[start...]
            if rest.hasPrefix(mark), start == text.startIndex || text[text.index(before: start)] == " " {
                let end = text.index(start, offsetBy: mark.count)
                if end == text.endIndex || text[end] == " " { return start..<end }
            }
            start = text.index(after: start)
        }
        return nil
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text
    }

    /// Without the one space that belongs to the bars.
    private static func trimmedOnce(_ text: Substring) -> Substring { text.first == " " ? text.dropFirst() : text }
}
