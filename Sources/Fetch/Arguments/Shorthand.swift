// Requests in short, as httpie has them: `fetch post URL name=value count:=3 Header:value page==2 photo@file`. Pure.

import Foundation

/// A request that the operands describe.
package struct Shorthand: Sendable, Equatable {
    package let method: String
    package let url: String
    package private(set) var fields: [HeaderField] = []
    package private(set) var query: [BodyPiece] = []
    package private(set) var body = RequestBody.none

    private static let methods: Set<String> = ["get", "head", "post", "put", "patch", "delete", "options"]

    /// Reads operands; nil where the first is no method, or stands alone.
    package init?(_ operands: [String]) throws(UsageError) {
        guard let word = operands.first?.lowercased(), Self.methods.contains(word), operands.count > 1 else {
            return nil
        }
        method = word.uppercased()
        url = operands[1]
        var items: [Item] = []
        for text in operands.dropFirst(2) { items.append(try Item(text)) }
        try take(items)
    }

    private mutating func take(_ items: [Item]) throws(UsageError) {
        let isForm = items.contains { $0.kind == .upload }
        var (members, parts) = ([JSONMember](), [FormPart]())
        for item in items {
            switch item.kind {
            case .field:
                if item.value.hasPrefix("//") { throw item.mistake("no field: a request in short has one URL") }
                guard let field = OptionValue.field("\(item.name): \(item.value)") else {
                    throw item.mistake("no field")
                }
                fields.append(field)
            case .query: query.append(.encoded(name: QueryText.form(Data(item.name.utf8)), .text(item.value)))
            case .upload: parts.append(FormPart(name: item.name, content: .file(item.value)))
            case .text where isForm: parts.append(FormPart(name: item.name, content: .text(item.value)))
            case .textOfFile where isForm: parts.append(FormPart(name: item.name, content: .textOfFile(item.value)))
            case .text: members.append(JSONMember(name: item.name, value: .string(.text(item.value))))
            case .textOfFile: members.append(JSONMember(name: item.name, value: .string(.file(item.value))))
            case .json, .jsonOfFile:
                if isForm { throw item.mistake("JSON, which a form with files cannot hold") }
                let source = item.kind == .json ? BodySource.text(item.value) : .file(item.value)
                if case .text(let text) = source, !JSONText.isValue(Data(text.utf8)) { throw item.mistake("no JSON") }
                members.append(JSONMember(name: item.name, value: .raw(source)))
            }
        }
        if Set(members.map(\.name)).count < members.count {
            throw UsageError("a name is there twice in the JSON object")
        }
        body = isForm ? .multipart(parts) : members.isEmpty ? .none : .object(members)
        if body != .none, ["GET", "HEAD"].contains(method) {
            throw UsageError(
                "a \(method) sends no body",
                advice: "NAME==VALUE goes into the query, and `fetch post` sends NAME=VALUE")
        }
    }
}

/// A member of a JSON object that a request sends.
package struct JSONMember: Sendable, Equatable {
    /// What a member holds.
    package enum Value: Sendable, Equatable {
        case string(BodySource)
        /// JSON as it is.
        case raw(BodySource)
    }

    package let name: String
    package let value: Value

    /// A member as it is.
    package init(name: String, value: Value) {
        self.name = name
        self.value = value
    }
}

/// One word behind the URL.
private struct Item {
    enum Kind {
        case field, query, upload, text, textOfFile, json, jsonOfFile
    }

    /// The longer come first where one begins with another.
    private static let marks: [(String, Kind)] = [
        (":=@", .jsonOfFile), (":=", .json), ("==", .query), ("=@", .textOfFile), ("=", .text), ("@", .upload),
        (":", .field),
    ]

    let kind: Kind
    let name: String
    let value: String
    private let text: String

    /// Finds the first mark; a backslash takes its meaning away.
    init(_ text: String) throws(UsageError) {
        self.text = text
        var (name, rest) = ("", text[...])
        while let character = rest.first {
            if character == "\\", let next = rest.dropFirst().first, "\\:=@".contains(next) {
                name.append(next)
                rest = rest.dropFirst(2)
            } else if let (mark, kind) = Self.marks.first(where: { rest.hasPrefix($0.0) }), !name.isEmpty {
                self.kind = kind
                self.name = name
                value = String(rest.dropFirst(mark.count))
                return
            } else {
                name.append(character)
                rest = rest.dropFirst()
            }
        }
        throw UsageError(
            "\(URLSecrets.hidden(mistyped: text)) is no part of a request",
            advice: "behind the URL stand NAME=TEXT, NAME:=JSON, NAME==QUERY, NAME@FILE and FIELD:VALUE")
    }

    func mistake(_ what: String) -> UsageError { UsageError("\(name) is \(what)") }
}
