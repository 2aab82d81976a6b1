// What a server's answer says of a download that goes on. Pure.

/// What an answer to a request for the rest means.
package enum ResumeAnswer: Equatable {
    /// The rest or the beginning of it, which goes behind what there is. With all of the rest there are so many bytes;
    /// where the server does not know that, there are so many with this part.
    case rest(length: Int64)
    /// Everything, from the first byte on.
    case whole
    /// What is there is everything.
    case nothingLeft
    /// None of these.
    case other(String)

    /// Reads an answer to a request for everything from `offset` on.
    package init(status: Int, contentRange: String?, offset: Int64) {
        let range = contentRange.flatMap(Self.range)
        switch (status, range) {
        case (206, .part(offset, let end, let length)?): self = .rest(length: length ?? end)
        case (206, _): self = .other("the server sends another part than the one that was asked for")
        case (200, _): self = .whole
        case (416, .nothing(of: offset)?): self = .nothingLeft
        case (416, _): self = .other("the server has no such part")
        default: self = .other("the server answered with status \(status)")
        }
    }

    /// How long two parts are together; nil where no number says it. A server may announce any length.
    package static func length(_ there: Int64, and rest: Int64) -> Int64? {
        let (sum, overflows) = there.addingReportingOverflow(rest)
        return overflows ? nil : sum
    }

    /// What a Content-Range field says.
    private enum ContentRange {
        /// The bytes from `first` up to `end`, of so many as there are; nil where the server does not know.
        case part(first: Int64, end: Int64, length: Int64?)
        /// No bytes, of so many.
        case nothing(of: Int64)
    }

    /// Reads "bytes 500-999/1000", "bytes 500-999/*" or "bytes */1000" (RFC 9110 §14.4); nil for what
    /// contradicts itself, too.
    private static func range(_ text: String) -> ContentRange? {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/")
        guard parts.count == 2 else { return nil }
        let length = number(parts[1])
        if parts[0] == "*" { return length.map { ContentRange.nothing(of: $0) } }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = number(ends[0]), let last = number(ends[1]), first <= last,
            let end = Self.length(last, and: 1), parts[1] == "*" || length.map({ end <= $0 }) ?? false
        else { return nil }
        return .part(first: first, end: end, length: length)
    }

    /// Digits and nothing else.
    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }
}
