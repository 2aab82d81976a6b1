// Structured field values: items, inner lists, parameters and dictionaries (RFC 9651). A value of any other form is
// none at all (RFC 9651 §4.2): nothing of it may be used. It knows no field by name.

/// A bare item (RFC 9651 §3.3).
package enum BareItem: Sendable, Equatable {
    /// At most fifteen digits.
    case integer(Int64)
    /// A number with a fraction, in thousandths.
    case decimal(thousandths: Int64)
    /// Text in quotes.
    case string(String)
    /// A word.
    case token(String)
    /// Binary content.
    case bytes([UInt8])
    /// `?0` or `?1`.
    case boolean(Bool)
    /// Seconds since 1970.
    case date(Int64)
    /// Unicode text.
    case displayString(String)
}

/// A key and its value: a parameter.
package struct StructuredParameter: Sendable, Equatable {
    /// In lower case.
    package let key: String
    /// True where no value was given.
    package let value: BareItem
}

/// A bare item with its parameters (RFC 9651 §3.3).
package struct StructuredItem: Sendable, Equatable {
    /// The item.
    package let value: BareItem
    /// What is said about it, the last of each key.
    package let parameters: [StructuredParameter]
}

/// A member of a dictionary (RFC 9651 §3.2).
package struct StructuredMember: Sendable, Equatable {
    /// An item, or a list of items.
    package enum Value: Sendable, Equatable {
        /// One.
        case item(BareItem)
        /// Several, in parentheses.
        case innerList([StructuredItem])
    }

    /// In lower case.
    package let key: String
    /// What it stands for.
    package let value: Value
    /// What is said about it.
    package let parameters: [StructuredParameter]
}

extension Fields {
    /// The item that a field is; nil where it is absent, comes more than once, or is no item.
    package func structuredItem(_ name: FieldName) -> StructuredItem? {
        guard let text = joined(name) else { return nil }
        var parser = StructuredParser(text)
        return parser.wholeItem()
    }

    /// The dictionary that the fields of that name are together; nil where there is none, or one that is malformed.
    package func structuredDictionary(_ name: FieldName) -> [StructuredMember]? {
        guard let text = joined(name) else { return nil }
        var parser = StructuredParser(text)
        return parser.wholeDictionary()
    }

    /// RFC 9651 §4.2: several lines are one value.
    private func joined(_ name: FieldName) -> String? {
        let lines = values(name)
        return lines.isEmpty ? nil : lines.joined(separator: ", ")
    }
}

/// Reads one value from its beginning to its end (RFC 9651 §4.2).
private struct StructuredParser {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    // MARK: Whole values

    mutating func wholeItem() -> StructuredItem? {
        skipSpaces()
        guard let item = item() else { return nil }
        skipSpaces()
        return position == bytes.count ? item : nil
    }

    mutating func wholeDictionary() -> [StructuredMember]? {
        var members: [StructuredMember] = []
        var places: [String: Int] = [:]
        skipSpaces()
        while position < bytes.count {
            guard let member = member() else { return nil }
            // The last of one key counts, in the place of the first.
            if let place = places[member.key] {
                members[place] = member
            } else {
                places[member.key] = members.count
                members.append(member)
            }
            skipWhitespace()
            if position == bytes.count { return members }
            guard take(ASCII.comma) else { return nil }
            skipWhitespace()
            // A comma at the end promises a member.
            if position == bytes.count { return nil }
        }
        return members
    }

    // MARK: Parts

    private mutating func member() -> StructuredMember? {
        guard let key = key() else { return nil }
        guard take(ASCII.equals) else {
            guard let parameters = parameters() else { return nil }
            return StructuredMember(key: key, value: .item(.boolean(true)), parameters: parameters)
        }
        if take(UInt8(ascii: "(")) {
            guard let items = innerList(), let parameters = parameters() else { return nil }
            return StructuredMember(key: key, value: .innerList(items), parameters: parameters)
        }
        guard let item = item() else { return nil }
        return StructuredMember(key: key, value: .item(item.value), parameters: item.parameters)
    }

    private mutating func innerList() -> [StructuredItem]? {
        var items: [StructuredItem] = []
        while true {
            skipSpaces()
            if take(UInt8(ascii: ")")) { return items }
            guard let item = item() else { return nil }
            items.append(item)
            guard let next, next == ASCII.space || next == UInt8(ascii: ")") else { return nil }
        }
    }

    private mutating func item() -> StructuredItem? {
        guard let value = bareItem(), let parameters = parameters() else { return nil }
        return StructuredItem(value: value, parameters: parameters)
    }

    private mutating func parameters() -> [StructuredParameter]? {
        var parameters: [StructuredParameter] = []
        var places: [String: Int] = [:]
        while take(ASCII.semicolon) {
            skipSpaces()
            guard let key = key() else { return nil }
            var value = BareItem.boolean(true)
            if take(ASCII.equals) {
                guard let given = bareItem() else { return nil }
                value = given
            }
            let parameter = StructuredParameter(key: key, value: value)
            if let place = places[key] {
                parameters[place] = parameter
            } else {
                places[key] = parameters.count
                parameters.append(parameter)
            }
        }
        return parameters
    }

    private mutating func key() -> String? {
        guard let first = next, Self.isLowercase(first) || first == UInt8(ascii: "*") else { return nil }
        return text { Self.isLowercase($0) || ASCII.isDigit($0) || "_-.*".utf8.contains($0) }
    }

    private mutating func bareItem() -> BareItem? {
        switch next {
        case UInt8(ascii: "?"): boolean()
        case ASCII.quote: string()
        case UInt8(ascii: ":"): binary()
        case UInt8(ascii: "@"): date()
        case UInt8(ascii: "%"): displayString()
        case let byte? where ASCII.isDigit(byte) || byte == ASCII.dash: number()
        case let byte? where Self.isLetter(byte) || byte == UInt8(ascii: "*"): token()
        default: nil
        }
    }

    private mutating func boolean() -> BareItem? {
        position += 1
        if take(UInt8(ascii: "1")) { return .boolean(true) }
        return take(ASCII.zero) ? .boolean(false) : nil
    }

    /// RFC 9651 §4.2.4: fifteen digits at most, or twelve and a fraction of one to three.
    private mutating func number() -> BareItem? {
        let sign: Int64 = take(ASCII.dash) ? -1 : 1
        guard let whole = digits(atMost: 15) else { return nil }
        guard take(ASCII.dot) else { return .integer(sign * whole.value) }
        guard whole.count <= 12, let fraction = digits(atMost: 3) else { return nil }
        var thousandths = fraction.value
        for _ in fraction.count..<3 { thousandths *= 10 }
        return .decimal(thousandths: sign * (whole.value * 1000 + thousandths))
    }

    private mutating func digits(atMost limit: Int) -> (value: Int64, count: Int)? {
        var value: Int64 = 0
        var count = 0
        while let byte = next, ASCII.isDigit(byte) {
            guard count < limit else { return nil }
            value = value * 10 + Int64(byte - ASCII.zero)
            count += 1
            position += 1
        }
        return count > 0 ? (value, count) : nil
    }

    private mutating func string() -> BareItem? {
        position += 1
        var content: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case ASCII.quote:
                return .string(String(decoding: content, as: UTF8.self))
            case ASCII.backslash:
                guard let escaped = next, escaped == ASCII.quote || escaped == ASCII.backslash else { return nil }
                position += 1
                content.append(escaped)
            case 0x20...0x7E:
                content.append(byte)
            default:
                return nil
            }
        }
        return nil
    }

    private mutating func token() -> BareItem? {
        .token(text { Tokens.isTokenByte($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") })
    }

    private mutating func binary() -> BareItem? {
        position += 1
        let content = text { $0 != UInt8(ascii: ":") }
        guard take(UInt8(ascii: ":")), let bytes = Base64.decode(content) else { return nil }
        return .bytes(bytes)
    }

    private mutating func date() -> BareItem? {
        position += 1
        guard next.map({ ASCII.isDigit($0) || $0 == ASCII.dash }) ?? false, case .integer(let seconds)? = number()
        else { return nil }
        return .date(seconds)
    }

    /// RFC 9651 §4.2.10: UTF-8 in quotes, percent-encoded in lower case.
    private mutating func displayString() -> BareItem? {
        position += 1
        guard take(ASCII.quote) else { return nil }
        var content: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case ASCII.quote:
                return String(validating: content, as: UTF8.self).map { .displayString($0) }
            case UInt8(ascii: "%"):
                guard let high = lowerHexDigit(), let low = lowerHexDigit() else { return nil }
                content.append(high << 4 | low)
            case 0x20...0x7E:
                content.append(byte)
            default:
                return nil
            }
        }
        return nil
    }

    private mutating func lowerHexDigit() -> UInt8? {
        guard let byte = next else { return nil }
        position += 1
        if ASCII.isDigit(byte) { return byte - ASCII.zero }
        return (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte) ? byte - UInt8(ascii: "a") + 10 : nil
    }

    // MARK: Bytes

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func text(while belongs: (UInt8) -> Bool) -> String {
        let start = position
        while let byte = next, belongs(byte) { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func skipSpaces() { while take(ASCII.space) {} }

    private mutating func skipWhitespace() { while let byte = next, Tokens.isWhitespace(byte) { position += 1 } }

    private static func isLowercase(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool { isLowercase(byte | 0x20) }
}
