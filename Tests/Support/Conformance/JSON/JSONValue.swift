// JSON as the protocol uses it: values made by `JSONParser` and written by `JSONWriter`.
//
// Must not know: commands and answers. RFC 8259.

import Foundation

/// A JSON value.
package enum JSONValue: Sendable, Equatable {
    /// Nothing.
    case null
    /// True or false.
    case bool(Bool)
    /// A number without a fraction that 64 bits can hold.
    case integer(Int64)
    /// Any other number.
    case number(Double)
    /// Text.
    case string(String)
    /// Bytes, written as a string in base64; never the result of parsing.
    case base64(Data)
    /// Values in order.
    case array([JSONValue])
    /// Members in order, each name once.
    case object([JSONMember])

    /// A string, or null for nothing.
    package static func text(_ text: String?) -> JSONValue {
        text.map(JSONValue.string) ?? .null
    }

    /// An integer of any width that is not beyond 64 bits.
    package static func count(_ number: Int) -> JSONValue { .integer(Int64(number)) }

    /// The value of a member of an object.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }
}

/// A member of an object.
package struct JSONMember: Sendable, Equatable {
    /// What the member is called.
    package let name: String
    /// What it stands for.
    package let value: JSONValue

    /// Makes a member.
    package init(name: String, value: JSONValue) {
        self.name = name
        self.value = value
    }
}

extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    /// An object.
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { JSONMember(name: $0.0, value: $0.1) })
    }

    /// An array.
    package init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    /// A string.
    package init(stringLiteral text: String) {
        self = .string(text)
    }

    /// An integer.
    package init(integerLiteral number: Int64) {
        self = .integer(number)
    }

    /// True or false.
    package init(booleanLiteral value: Bool) {
        self = .bool(value)
    }
}
