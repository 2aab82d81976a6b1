// The members of one object of a command. Each is taken once; what is left at the end was not understood and refuses
// the command, so that no key is ever ignored. Absent and null mean the same. Driver protocol, section 1.

import Foundation
import URLLoadingTestSupport

/// Takes the members of an object one by one.
struct Members {
    private let place: String
    private var rest: [String: JSONValue] = [:]

    /// The members of an object; `place` names it in refusals.
    init(_ members: [JSONMember], of place: String) {
        self.place = place
        for member in members where member.value != .null { rest[member.name] = member.value }
    }

    /// The members of a value that must be an object; none for nothing.
    init(_ value: JSONValue?, of place: String) throws(Refusal) {
        switch value {
        case nil, .null: self.init([], of: place)
        case .object(let members): self.init(members, of: place)
        default: throw .badCommand("\(place) is not an object")
        }
    }

    /// Refuses what has not been taken.
    func finish() throws(Refusal) {
        guard let name = rest.keys.min() else { return }
        throw .unsupported("\(place): \(name)")
    }

    /// What has not been taken.
    var names: [String] { rest.keys.sorted() }

    mutating func take(_ name: String) -> JSONValue? {
        rest.removeValue(forKey: name)
    }

    mutating func object(_ name: String) throws(Refusal) -> Members {
        try Members(take(name), of: name)
    }

    mutating func string(_ name: String) throws(Refusal) -> String? {
        switch take(name) {
        case nil: return nil
        case .string(let text): return text
        default: throw wrong(name, "a string")
        }
    }

    mutating func requiredString(_ name: String) throws(Refusal) -> String {
        guard let text = try string(name) else { throw missing(name) }
        return text
    }

    mutating func bool(_ name: String) throws(Refusal) -> Bool? {
        switch take(name) {
        case nil: return nil
        case .bool(let value): return value
        default: throw wrong(name, "true or false")
        }
    }

    mutating func integer(_ name: String) throws(Refusal) -> Int64? {
        switch take(name) {
        case nil: return nil
        case .integer(let number): return number
        default: throw wrong(name, "an integer")
        }
    }

    /// A number of bytes, or of milliseconds after which something happens.
    mutating func count(_ name: String) throws(Refusal) -> Int64? {
        guard let number = try integer(name) else { return nil }
        guard number >= 0 else { throw .badCommand("\(place): \(name) is negative") }
        return number
    }

    /// A time-out in seconds; there is none of no length.
    mutating func timeout(_ name: String) throws(Refusal) -> TimeInterval? {
        guard let number = try integer(name) else { return nil }
        guard number > 0 else { throw .badCommand("\(place): \(name) is not above 0") }
        return TimeInterval(number) / 1000
    }

    mutating func array(_ name: String) throws(Refusal) -> [JSONValue]? {
        switch take(name) {
        case nil: return nil
        case .array(let elements): return elements
        default: throw wrong(name, "a list")
        }
    }

    mutating func strings(_ name: String) throws(Refusal) -> [String]? {
        guard let elements = try array(name) else { return nil }
        var texts: [String] = []
        for element in elements {
            guard case .string(let text) = element else { throw wrong(name, "a list of strings") }
            texts.append(text)
        }
        return texts
    }

    /// A header list, as the package takes it: as text, of which it sends the UTF-8.
    mutating func fields(_ name: String) throws(Refusal) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        for element in try array(name) ?? [] {
            guard case .array(let pair) = element, pair.count == 2, case .string(let field)? = pair.first,
                case .string(let value)? = pair.last
            else { throw wrong(name, "a list of pairs of strings") }
            fields.append((try fieldText(field, of: name), try fieldText(value, of: name)))
        }
        return fields
    }

    /// In header lists a scalar is the byte of its number. Bytes that are no UTF-8 cannot be said to the package.
    private func fieldText(_ text: String, of name: String) throws(Refusal) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            guard let byte = UInt8(exactly: scalar.value) else { throw wrong(name, "bytes") }
            bytes.append(byte)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .unsupported("\(place): \(name) with bytes that are not UTF-8")
        }
        return text
    }

    mutating func base64(_ name: String) throws(Refusal) -> Data? {
        guard let text = try string(name) else { return nil }
        guard let data = Data(base64Encoded: text) else { throw wrong(name, "base64") }
        return data
    }

    /// One of a few words.
    mutating func word<Value>(_ name: String, _ words: [String: Value]) throws(Refusal) -> Value? {
        guard let text = try string(name) else { return nil }
        guard let value = words[text] else { throw wrong(name, words.keys.sorted().joined(separator: ", ")) }
        return value
    }

    /// Takes a member that can be honoured with some values only, and refuses the others.
    mutating func accept(_ name: String, only canHonour: (JSONValue) -> Bool) throws(Refusal) {
        guard let value = take(name), !canHonour(value) else { return }
        throw .unsupported("\(place): \(name)")
    }

    private func wrong(_ name: String, _ expected: String) -> Refusal {
        .badCommand("\(place): \(name) is not \(expected)")
    }

    private func missing(_ name: String) -> Refusal {
        .badCommand("\(place): \(name) is missing")
    }
}
