// What is found out about a file: how it would be, and what is left to its author.

/// A place that is left as it is, with the reason.
struct Remark {
    /// Counted from 0. Nil where the whole file is meant.
    let line: Int?
    let text: String
}

/// What is found out about a file.
struct Findings {
    /// Its lines as they would be.
    var lines: [String]
    var remarks: [Remark] = []
    /// Whether the file imports URLLoading, or will.
    var needsURLLoading = false
}

extension String {
    /// The lines of a text, each without its `\n`. A `\r` before that stays at its line.
    var linesOfText: [String] {
        utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { String($0) ?? "" }
    }

    /// Another line of the file in which this is one: ends and begins as this does.
    func sibling(_ text: String) -> String {
        prefix { $0 == " " || $0 == "\t" } + text + (unicodeScalars.last == "\r" ? "\r" : "")
    }

    /// The words that may be names.
    var names: [Substring] { split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "@" && $0 != "#" } }
}
