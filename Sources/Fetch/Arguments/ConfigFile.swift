// Options in a file, in the form of curl's: one to a line, with or without its hyphens, its value behind a space, `=`
// or `:`, perhaps in quotes. Pure.

import Foundation

/// Reads files of options.
package enum ConfigFile {
    /// One line.
    package struct Line: Sendable, Equatable {
        /// Its number, from 1.
        package let number: Int
        /// The option's word, or its letter behind one hyphen.
        package let name: String
        /// What it is given; nil for nothing.
        package let value: String?
    }

    /// The lines of a text that are neither empty nor remarks.
    package static func lines(_ text: String, of file: String) throws(UsageError) -> [Line] {
        var lines: [Line] = []
        for (index, whole) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let rest = whole.drop(while: \.isWhitespace)
            guard !rest.isEmpty, !rest.hasPrefix("#") else { continue }
            lines.append(try line(rest, index + 1, file))
        }
        return lines
    }

    private static func line(_ text: Substring, _ number: Int, _ file: String) throws(UsageError) -> Line {
        let isHyphened = text.hasPrefix("-")
        // A word without hyphens may have its value behind = or :.
        let name = text.prefix { !$0.isWhitespace && (isHyphened || !"=:".contains($0)) }
        var rest = text.dropFirst(name.count).drop(while: \.isWhitespace)
        if !isHyphened, let mark = rest.first, "=:".contains(mark) {
            rest = rest.dropFirst().drop(while: \.isWhitespace)
        }
        let word = isHyphened ? String(name) : "--" + name
        guard !rest.isEmpty, !rest.hasPrefix("#") else { return Line(number: number, name: word, value: nil) }
        let value = rest.hasPrefix("\"") ? quoted(&rest) : plain(&rest)
        let behind = rest.drop(while: \.isWhitespace)
        guard let value, behind.isEmpty || behind.hasPrefix("#") else {
            throw UsageError(
                "\(file), line \(number): a value with spaces stands in double quotes, and there is one on each line")
        }
        return Line(number: number, name: word, value: value)
    }

    private static func plain(_ rest: inout Substring) -> String? {
        let value = rest.prefix { !$0.isWhitespace }
        rest = rest.dropFirst(value.count)
        return String(value)
    }

    /// A text in quotes; nil where they do not end.
    private static func quoted(_ rest: inout Substring) -> String? {
        rest.removeFirst()
        var text = ""
        while let character = rest.popFirst() {
            switch character {
            case "\"": return text
            case "\\":
                guard let next = rest.popFirst() else { return nil }
                text.append(["n": "\n", "r": "\r", "t": "\t", "v": "\u{0B}"][next] ?? next)
            default: text.append(character)
            }
        }
        return nil
    }
}
