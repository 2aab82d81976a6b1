// Reads one JSON text. Strict: what RFC 8259 does not allow is refused, and so are names that come twice in an object,
// texts that are not UTF-8, and escapes of half a surrogate pair, whose meaning it leaves open (§4, §8).
//
// Must not know: commands and answers.

import Foundation

/// Why a text is not JSON.
package struct JSONFault: Error, Equatable {
    /// What is wrong.
    package let reason: String
    /// After how many bytes.
    package let offset: Int
}

/// Reads a JSON text from bytes.
package struct JSONParser {
    private let bytes: [UInt8]
    private var index = 0

    /// The members of the outermost object that were read, also where reading failed later.
    package private(set) var outermost: [JSONMember] = []

    /// Reads from these bytes.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The value that the whole text stands for.
    package mutating func parse() throws(JSONFault) -> JSONValue {
        let value = try value(depth: 0)
        skipWhitespace()
        guard index == bytes.count else { throw fault("something follows the value") }
        return value
    }

    private mutating func value(depth: Int) throws(JSONFault) -> JSONValue {
        guard depth < Self.depthLimit else { throw fault("nested too deeply") }
        skipWhitespace()
        guard let byte = peek else { throw fault("a value is missing") }
        switch byte {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    // MARK: Collections

    private mutating func object(depth: Int) throws(JSONFault) -> JSONValue {
        index += 1
        var members: [JSONMember] = []
        var names: Set<String> = []
        skipWhitespace()
        if take("}") { return .object(members) }
        while true {
            skipWhitespace()
            guard peek == UInt8(ascii: "\"") else { throw fault("a name is missing") }
            let name = try string()
            guard names.insert(name).inserted else { throw fault("the name \(name) comes twice") }
            skipWhitespace()
            guard take(":") else { throw fault("a colon is missing") }
            let member = JSONMember(name: name, value: try value(depth: depth + 1))
            members.append(member)
            if depth == 0 { outermost.append(member) }
            skipWhitespace()
            if take("}") { return .object(members) }
            guard take(",") else { throw fault("neither a comma nor the object's end") }
        }
    }

    private mutating func array(depth: Int) throws(JSONFault) -> JSONValue {
        index += 1
        var elements: [JSONValue] = []
        skipWhitespace()
        if take("]") { return .array(elements) }
        while true {
            elements.append(try value(depth: depth + 1))
            skipWhitespace()
            if take("]") { return .array(elements) }
            guard take(",") else { throw fault("neither a comma nor the array's end") }
        }
    }

    // MARK: Strings

    private mutating func string() throws(JSONFault) -> String {
        index += 1
        var text = ""
        while true {
            let run = try plainRun()
            guard let piece = String(validating: run, as: UTF8.self) else { throw fault("not UTF-8") }
            // Added in place: a new text for each escape would take time by the square of their number.
            if text.isEmpty { text = piece } else { text += piece }
            if take("\"") { return text }
            text.unicodeScalars.append(try escape())
        }
    }

    /// What stands before the next quote or backslash; stops at it.
    private mutating func plainRun() throws(JSONFault) -> ArraySlice<UInt8> {
        let start = index
        while let byte = peek {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return bytes[start..<index] }
            guard byte >= 0x20 else { throw fault("a control character in a string") }
            index += 1
        }
        throw fault("a string does not end")
    }

    private mutating func escape() throws(JSONFault) -> Unicode.Scalar {
        index += 1
        guard let byte = peek else { throw fault("a string does not end") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try escapedScalar()
        default: throw fault("an unknown escape")
        }
    }

    private mutating func escapedScalar() throws(JSONFault) -> Unicode.Scalar {
        let first = try fourHexDigits()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, take("\\"), take("u") else { throw fault("half a surrogate pair") }
        let second = try fourHexDigits()
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw fault("half a surrogate pair") }
        return scalar
    }

    private mutating func fourHexDigits() throws(JSONFault) -> UInt32 {
        var number: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw fault("four hexadecimal digits are missing")
            }
            number = number << 4 | UInt32(digit)
            index += 1
        }
        return number
    }

    // MARK: Words and numbers

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONFault) -> JSONValue {
        let expected = "\(word)".utf8
        guard bytes[index...].starts(with: expected) else { throw fault("an unknown word") }
        index += expected.count
        return value
    }

    private mutating func number() throws(JSONFault) -> JSONValue {
        let start = index
        _ = take("-")
        guard take("0") || digits() else { throw fault("not a value") }
        if take("."), !digits() { throw fault("a digit is missing after the point") }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            guard digits() else { throw fault("the exponent is missing") }
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else { throw fault("a number out of range") }
        return Int64(exactly: number).map(JSONValue.integer) ?? .number(number)
    }

    private mutating func digits() -> Bool {
        let start = index
        while let byte = peek, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { index += 1 }
        return index > start
    }

    // MARK: Bytes

    private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: scalar) else { return false }
        index += 1
        return true
    }

    private mutating func skipWhitespace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { index += 1 }
    }

    private func fault(_ reason: String) -> JSONFault {
        JSONFault(reason: reason, offset: index)
    }

    /// No command of the protocol is nested more than seven deep.
    private static let depthLimit = 64
}
