// One part of a form that --form describes: NAME=TEXT, NAME=@FILE or NAME=<FILE, with ;type= and
// ;filename= behind it. Pure.

import Foundation

/// A part of a multipart form (RFC 7578).
package struct FormPart: Sendable, Equatable {
    /// What it holds.
    package enum Content: Sendable, Equatable {
        case text(String)
        /// A file's contents, or standard input's for `-`, as if they had been typed.
        case textOfFile(String)
        /// A file that is uploaded with its name, or standard input for `-`.
        case file(String)
    }

    package var name: String
    package var content: Content
    /// The name that the server is told, in place of the file's own.
    package var fileName: String?
    /// The Content-Type, where one was given.
    package var type: String?

    /// A part as it is.
    package init(name: String, content: Content, fileName: String? = nil, type: String? = nil) {
        self.name = name
        self.content = content
        self.fileName = fileName
        self.type = type
    }

    /// Reads `NAME=TEXT` with the text as it is, whatever it begins with.
    package static func literal(_ text: String) -> FormPart? {
        split(text).map { FormPart(name: $0.name, content: .text(String($0.rest))) }
    }

    /// Reads what `--form` is given; nil where it is nothing of the kind.
    ///
    /// As in curl, a text in double quotes may hold semicolons, and loses its quotes. Other than there, a semicolon
    /// that no `type=` or `filename=` follows is a part of the text.
    package static func read(_ text: String) -> FormPart? {
        guard let (name, all) = split(text) else { return nil }
        let mark = all.first { "@<".contains($0) && $0 == all.first }
        var rest = mark == nil ? all : all.dropFirst()
        let isQuoted = quoted(rest) != nil
        var words = word(&rest)
        var part = FormPart(name: name, content: .text(""))
        var isInType = false
        while rest.popFirst() != nil {
            if let value = rest.after("type="), part.type == nil {
                rest = value
                part.type = plain(&rest)
                isInType = true
            } else if let value = rest.after("filename="), part.fileName == nil {
                rest = value
                part.fileName = word(&rest)
                isInType = false
            } else if isInType {
                part.type = (part.type ?? "") + ";" + plain(&rest)
            } else if part.fileName == nil, !isQuoted {
                words += ";" + plain(&rest)
            } else {
                return nil
            }
        }
        if let type = part.type, !isType(type) { return nil }
        if mark != nil, words.isEmpty { return nil }
        part.content = mark == "@" ? .file(words) : mark == "<" ? .textOfFile(words) : .text(words)
        return part
    }

    // MARK: Words

    private static func split(_ text: String) -> (name: String, rest: Substring)? {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else { return nil }
        return (String(text[..<equals]), text[text.index(after: equals)...])
    }

    /// What stands before the next semicolon, without its quotes if it has any.
    private static func word(_ rest: inout Substring) -> String {
        guard let (text, end) = quoted(rest) else { return plain(&rest) }
        rest = rest[end...]
        return text
    }

    private static func plain(_ rest: inout Substring) -> String {
        let end = rest.firstIndex(of: ";") ?? rest.endIndex
        defer { rest = rest[end...] }
        return String(rest[..<end])
    }

    /// A text in quotes that nothing but a semicolon follows, and where it ends; a backslash
    /// keeps a quote or a backslash.
    private static func quoted(_ text: Substring) -> (text: String, end: Substring.Index)? {
        guard text.first == "\"" else { return nil }
        var rest = text.dropFirst()
        var result = ""
        while let character = rest.popFirst() {
            switch character {
            case "\"": return rest.isEmpty || rest.first == ";" ? (result, rest.startIndex) : nil
            case "\\" where rest.first == "\"" || rest.first == "\\": result.append(rest.removeFirst())
            default: result.append(character)
            }
        }
        return nil
    }

    /// Whether it can be a field's value and looks like a media type; what would end the field's line is none.
    private static func isType(_ text: String) -> Bool {
        text.contains("/") && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }
}

extension Substring {
    fileprivate func after(_ prefix: String) -> Substring? { hasPrefix(prefix) ? dropFirst(prefix.count) : nil }
}
