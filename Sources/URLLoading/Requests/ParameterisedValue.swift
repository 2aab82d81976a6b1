// Reads values of the form `value; name=token; name="quoted \"string\""`, as Content-Type and
// Content-Disposition have it (RFC 9110 §5.6.6), and forgives what servers get wrong.

/// A field value with parameters.
struct ParameterisedValue {
    /// What stands before the first semicolon, trimmed.
    let value: String
    /// The parameters in order; names in lower case, quotes and escapes undone.
    let parameters: [(name: String, value: String)]

    init(_ text: String) {
        var reader = Reader(rest: Array(text.utf8)[...])
        value = reader.piece()
        var parameters: [(name: String, value: String)] = []
        while reader.skipSemicolon() {
            if let parameter = reader.parameter() { parameters.append(parameter) }
        }
        self.parameters = parameters
    }

    /// The last parameter of that name.
    func parameter(_ name: String) -> String? {
        parameters.last { $0.name == name }?.value
    }
}

private struct Reader {
    var rest: ArraySlice<UInt8>

    mutating func skipSemicolon() -> Bool {
        guard rest.first == 0x3B else { return false }
        rest.removeFirst()
        return true
    }

    /// Everything up to a semicolon outside quotes, trimmed; quotes are kept as they are.
    mutating func piece() -> String {
        var bytes: [UInt8] = []
        while let byte = rest.first, byte != 0x3B {
            bytes.append(byte)
            rest.removeFirst()
        }
        return Self.text(bytes)
    }

    /// One `name=value`; `nil` if there is no well-formed one before the next semicolon.
    mutating func parameter() -> (name: String, value: String)? {
        var name: [UInt8] = []
        while let byte = rest.first, byte != 0x3B, byte != 0x3D {
            name.append(byte)
            rest.removeFirst()
        }
        guard rest.first == 0x3D else { return nil }
        rest.removeFirst()
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
        let key = Self.text(name).lowercased()
        guard rest.first == 0x22 else {
            let value = piece()
            return key.isEmpty ? nil : (key, value)
        }
        guard let value = quotedString() else { return nil }
        _ = piece()
        return key.isEmpty ? nil : (key, value)
    }

    /// A quoted string with its escapes undone; `nil`, with everything used up, when the closing quote is missing.
    private mutating func quotedString() -> String? {
        rest.removeFirst()
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case 0x22: return String(decoding: bytes, as: UTF8.self)
            case 0x5C: if let escaped = rest.popFirst() { bytes.append(escaped) }
            default: bytes.append(byte)
            }
        }
        return nil
    }

    private static func text(_ bytes: [UInt8]) -> String {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let front = bytes.drop(while: isBlank)
        let end = front.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? front.startIndex
        return String(decoding: front[front.startIndex..<end], as: UTF8.self)
    }
}
