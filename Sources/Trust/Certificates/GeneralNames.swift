// Walks names of certificates in place, without copying them: alternative names, and those in name constraints. Does
// not know which host is wanted. RFC 5280 section 4.2.1.6.

/// The kinds of name.
enum GeneralNameKind: UInt8 {
    case other = 0xA0
    case email = 0x81
    case dns = 0x82
    case x400 = 0xA3
    case directory = 0xA4
    case ediParty = 0xA5
    case uri = 0x86
    case ipAddress = 0x87
    case registered = 0x88
}

/// One name: its kind, and its value without the outer tag.
struct GeneralName {
    let kind: GeneralNameKind
    let value: UnsafeRawBufferPointer
}

extension CertificateFields {
    /// Calls `visit` with each alternative name until it answers false; answers false when a name is malformed.
    @discardableResult
    func forEachAlternativeName(_ visit: (GeneralName) -> Bool) -> Bool {
        guard let list = extensions.alternativeNames else { return true }
        return bytes.withUnsafeBytes { bytes in
            var names = DERReader(bytes, list)
            while !names.isAtEnd {
                guard let name = names.next(), let kind = GeneralNameKind(rawValue: name.tag) else { return false }
                if !visit(GeneralName(kind: kind, value: bytes[part: name.content])) { return true }
            }
            return true
        }
    }
}

/// Syntax of names.
enum NameSyntax {
    /// Whether these are the labels of a DNS name in the preferred form (RFC 1034 section 3.5), underscores allowed as
    /// many hosts have them, perhaps behind one `*` label.
    static func isDNSName(_ text: UnsafeRawBufferPointer, wildcard: Bool = false) -> Bool {
        var rest = text[...]
        if wildcard, rest.count > 2, rest[0] == star, rest[1] == dot { rest = rest.dropFirst(2) }
        guard !rest.isEmpty, rest.count <= 253 else { return false }
        var length = 0
        var previous = dot
        for byte in rest {
            if byte == dot {
                if length == 0 || previous == hyphen { return false }
                length = 0
            } else {
                guard isLabelByte(byte), length < 63, length > 0 || byte != hyphen else { return false }
                length += 1
            }
            previous = byte
        }
        return length > 0 && previous != hyphen
    }

    /// Whether this is a mailbox: one `@` with something on both sides, printable ASCII, a host behind it.
    static func isMailbox(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let at = text.firstIndex(of: UInt8(ascii: "@")), at > 0,
            text.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return false }
        return isDNSName(UnsafeRawBufferPointer(rebasing: text[(at + 1)...]))
    }

    /// The host of a URI with an authority; nil when it has none (RFC 3986 section 3.2).
    static func host(ofURI text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")), colon > 0, colon + 2 < text.count,
            text[colon + 1] == slash, text[colon + 2] == slash
        else { return nil }
        let rest = text[(colon + 3)...]
        let end = rest.firstIndex { $0 == slash || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        var authority = rest[..<(end ?? rest.endIndex)]
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[(at + 1)...] }
        if let port = authority.firstIndex(of: UInt8(ascii: ":")) { authority = authority[..<port] }
        return authority.isEmpty ? nil : UnsafeRawBufferPointer(rebasing: authority)
    }

    /// Whether the bytes are the same but for the case of ASCII letters.
    static func equalIgnoringCase(_ left: Slice<UnsafeRawBufferPointer>, _ right: Slice<UnsafeRawBufferPointer>) -> Bool
    {
        left.count == right.count && zip(left, right).allSatisfy { lowered($0) == lowered($1) }
    }

    /// The byte in lower case if it is an ASCII letter.
    static func lowered(_ byte: UInt8) -> UInt8 {
        (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }

    private static func isLabelByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, hyphen, UInt8(ascii: "_"): true
        default: false
        }
    }

    static let star = UInt8(ascii: "*")
    static let dot = UInt8(ascii: ".")
    private static let hyphen = UInt8(ascii: "-")
    private static let slash = UInt8(ascii: "/")
}
