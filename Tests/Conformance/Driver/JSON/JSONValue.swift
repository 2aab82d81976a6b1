// JSON as the protocol uses it: values made by `JSONParser` and written by `JSONWriter`.
//
// Must not know: commands and answers. RFC 8259.

import Foundation

/// A JSON value.
enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    /// Bytes, written as a string in base64; never the result of parsing.
    case base64(Data)
    case array([JSONValue])
    /// Members in order, each name once.
    case object([JSONMember])

    /// A string, or null for nothing.
    static func text(_ text: String?) -> JSONValue {
        text.map(JSONValue.string) ?? .null
    }

    /// An integer of any width that is not beyond 64 bits.
    static func count(_ number: Int) -> JSONValue { .integer(Int64(number)) }

    /// The value of a member of an object.
    subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }
}

/// A member of an object.
struct JSONMember: Sendable, Equatable {
    let name: String
    let value: JSONValue
}

extension JSONValue: ExpressibleByDictionaryLiteral {
    init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { JSONMember(name: $0.0, value: $0.1) })
    }
}

extension JSONValue: ExpressibleByArrayLiteral {
    init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }
}
