// Logins by host, in the form of ftp's .netrc: `machine NAME login NAME password TEXT`, over as many lines as one
// likes. Pure; NetrcFile reads the file.

import Foundation

/// Logins by host. Prints none of them.
package struct Netrc: Sendable, CustomStringConvertible {
    /// What is not understood. Says where and not what: a word out of place may be a password.
    package struct Mistake: Error, Equatable {
        package let line: Int
    }

    private struct Entry: Sendable {
        /// In lower case; nil for `default`.
        let host: String?
        var name: String?
        var password: String?
    }

    private var entries: [Entry] = []

    /// No login.
    init() {}

    /// Reads a text. A `#` where a keyword may stand begins a remark; values may be quoted as in curl.
    package init(_ text: String) throws(Mistake) {
        var words = NetrcWords(text)
        while let keyword = words.keyword() {
            switch keyword {
            case "machine":
                entries.append(Entry(host: try Self.value(&words).lowercased()))
            case "default":
                entries.append(Entry(host: nil))
            case "login":
                guard !entries.isEmpty else { throw Mistake(line: words.line) }
                entries[entries.count - 1].name = try Self.value(&words)
            case "password":
                guard !entries.isEmpty else { throw Mistake(line: words.line) }
                entries[entries.count - 1].password = try Self.value(&words)
            case "account":
                // For FTP servers of old, which asked a third question.
                _ = try Self.value(&words)
            case "macdef":
                words.skipMacro()
            default:
                throw Mistake(line: words.line)
            }
        }
    }

    private static func value(_ words: inout NetrcWords) throws(Mistake) -> String {
        guard let value = words.value() else { throw Mistake(line: words.line) }
        return value
    }

    /// The login of the first entry for the URL's host, or of `default`. A URL that names a user is left alone.
    package func login(for url: URL) -> Login? {
        guard url.user() == nil, let host = url.host()?.lowercased() else { return nil }
        let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        guard let entry = entries.first(where: { $0.host == nil || $0.host == bare }), let name = entry.name else {
            return nil
        }
        return Login(name: name, password: entry.password ?? "")
    }

    /// Nothing of what it holds.
    package var description: String { "logins" }
}

/// The words of such a file.
private struct NetrcWords {
    private var rest: Substring.UnicodeScalarView
    /// The line that was reached.
    private(set) var line = 1

    init(_ text: String) { rest = text[...].unicodeScalars }

    mutating func keyword() -> String? {
        skipSpace()
        while rest.first == "#" {
            while let next = rest.first, next != "\n" { rest.removeFirst() }
            skipSpace()
        }
        return plain()
    }

    /// A value in quotes or without; nil where there is none, or its quotes do not end on the line.
    mutating func value() -> String? {
        skipSpace()
        guard rest.first == "\"" else { return plain() }
        rest.removeFirst()
        var text = String.UnicodeScalarView()
        while let next = rest.popFirst(), next != "\n" {
            switch next {
            case "\"": return String(text)
            case "\\":
                guard let escaped = rest.popFirst(), escaped != "\n" else { return nil }
                text.append(["n": "\n", "r": "\r", "t": "\t"][escaped] ?? escaped)
            default: text.append(next)
            }
        }
        return nil
    }

    /// A macro ends with an empty line, or with the file.
    mutating func skipMacro() {
        var lineIsEmpty = false
        while let next = rest.popFirst() {
            guard next == "\n" else {
                lineIsEmpty = lineIsEmpty && next == "\r"
                continue
            }
            line += 1
            if lineIsEmpty { return }
            lineIsEmpty = true
        }
    }

    private mutating func plain() -> String? {
        let word = rest.prefix { !Self.isSpace($0) }
        rest.removeFirst(word.count)
        return word.isEmpty ? nil : String(word)
    }

    private mutating func skipSpace() {
        while let next = rest.first, Self.isSpace(next) {
            if next == "\n" { line += 1 }
            rest.removeFirst()
        }
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool { [" ", "\t", "\n", "\r"].contains(scalar) }
}
