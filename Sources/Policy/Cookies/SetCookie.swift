// Reads one Set-Cookie field: a name, a value and attributes, by the algorithm of RFC 6265bis §5.6. What comes out is
// what the server wrote; whether the cookie is taken is decided elsewhere (`CookieRules`).
//
// Must not know which server sent the field, and when.

import URLLoadingWire

/// When a cookie may travel with requests that another site has caused (RFC 6265bis §5.6.7).
package enum CookieSameSite: String, Sendable, Hashable {
    /// Never.
    case strict
    /// With navigations only.
    case lax
    /// Always, as it was said.
    case unrestricted = "none"
}

/// A Set-Cookie field, taken apart.
package struct SetCookie: Sendable, Equatable {
    /// The name, never empty.
    package let name: String
    /// The value; quotes are part of it (B8.19).
    package let value: String
    /// From Expires, in seconds since 1970.
    package private(set) var expires: Int64?
    /// From Max-Age, in seconds.
    package private(set) var maximumAge: Int64?
    /// From Domain, lower-case and without its leading dot; nil for an empty one.
    package private(set) var domain: String?
    /// From Path; nil for one that does not begin with a slash (B8.30).
    package private(set) var path: String?
    /// Whether Secure is there, with or without a value (B8.25).
    package private(set) var isSecure = false
    /// Whether HttpOnly is there.
    package private(set) var isHTTPOnly = false
    /// Whether Discard is there.
    package private(set) var isDiscarded = false
    /// From SameSite; nil for what is none of the three words.
    package private(set) var sameSite: CookieSameSite?
    /// From Version: 0 or 1.
    package private(set) var version = 0
    /// From Port; nil means any port.
    package private(set) var ports: [Int]?
    /// From Comment.
    package private(set) var comment: String?
    /// From CommentURL.
    package private(set) var commentURL: String?

    /// Most bytes of name and value together; a field with more is ignored (B8.23).
    package static let mostPairBytes = 4096
    /// Most bytes of an attribute's value; one with more is ignored (B8.23).
    package static let mostAttributeBytes = 1024

    /// Reads a field's value; nil where it makes no cookie.
    package init?(_ text: some Collection<UInt8>) {
        let bytes = Array(text)
        // B8.22.
        guard !bytes.contains(where: Tokens.isControl) else { return nil }
        var rest = bytes[...]
        let pair = Self.part(of: &rest)
        // B8.20: without "=" or without a name there is no cookie, whatever RFC 6265bis makes of it.
        guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let name = Self.trimmed(pair[..<equals])
        let value = Self.trimmed(pair[(equals + 1)...])
        guard !name.isEmpty, name.count + value.count <= Self.mostPairBytes else { return nil }
        self.name = Self.text(name)
        self.value = Self.text(value)
        while !rest.isEmpty {
            rest.removeFirst()
            read(attribute: Self.part(of: &rest))
        }
    }

    /// Takes what stands before the next semicolon, which stays.
    private static func part(of rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let end = rest.firstIndex(of: UInt8(ascii: ";")) ?? rest.endIndex
        defer { rest = rest[end...] }
        return rest[..<end]
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let start = bytes.firstIndex { !Tokens.isWhitespace($0) } ?? bytes.endIndex
        let end = bytes.lastIndex { !Tokens.isWhitespace($0) }.map { $0 + 1 } ?? start
        return bytes[start..<end]
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        bytes.withUnsafeBytes(\.text)
    }

    // MARK: Attributes

    /// The last of several attributes with one name wins, unless it is not understood (B8.24).
    private mutating func read(attribute: ArraySlice<UInt8>) {
        let equals = attribute.firstIndex(of: UInt8(ascii: "=")) ?? attribute.endIndex
        let name = Self.text(Self.trimmed(attribute[..<equals]))
        let bytes = Self.trimmed(attribute[equals...].dropFirst())
        guard bytes.count <= Self.mostAttributeBytes,
            let known = Self.readers.first(where: { ASCII.isEqual($0.name, name) })
        else { return }
        known.read(&self, bytes)
    }

    private struct Reader: Sendable {
        let name: String
        let read: @Sendable (inout SetCookie, ArraySlice<UInt8>) -> Void
    }

    private static let readers = [
        Reader(name: "Expires") { cookie, bytes in
            if let expires = CookieDate.seconds(bytes) { cookie.expires = expires }
        },
        Reader(name: "Max-Age") { cookie, bytes in
            if let age = seconds(bytes) { cookie.maximumAge = age }
        },
        Reader(name: "Domain") { cookie, bytes in
            let name = bytes.first == UInt8(ascii: ".") ? bytes.dropFirst() : bytes
            cookie.domain = name.isEmpty ? nil : String(decoding: name.map(ASCII.lowercase), as: UTF8.self)
        },
        Reader(name: "Path") { cookie, bytes in
            cookie.path = bytes.first == UInt8(ascii: "/") ? text(bytes) : nil
        },
        Reader(name: "Secure") { cookie, _ in cookie.isSecure = true },
        Reader(name: "HttpOnly") { cookie, _ in cookie.isHTTPOnly = true },
        Reader(name: "SameSite") { cookie, bytes in
            cookie.sameSite = CookieSameSite(rawValue: String(decoding: bytes.map(ASCII.lowercase), as: UTF8.self))
        },
        Reader(name: "Discard") { cookie, _ in cookie.isDiscarded = true },
        Reader(name: "Version") { cookie, bytes in
            cookie.version = unquoted(bytes).elementsEqual("1".utf8) ? 1 : 0
        },
        Reader(name: "Port") { cookie, bytes in cookie.ports = CookiePorts.read(text(bytes), version: cookie.version) },
        Reader(name: "Comment") { cookie, bytes in cookie.comment = bytes.isEmpty ? nil : text(bytes) },
        Reader(name: "CommentURL") { cookie, bytes in cookie.commentURL = bytes.isEmpty ? nil : text(bytes) },
    ]

    /// A number of seconds: digits, maybe behind a minus (B8.28); one that is too large is very large.
    private static func seconds(_ bytes: ArraySlice<UInt8>) -> Int64? {
        let isNegative = bytes.first == UInt8(ascii: "-")
        let digits = isNegative ? bytes.dropFirst() : bytes
        guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) else { return nil }
        return isNegative ? -1 : ASCII.decimal(digits) ?? .max
    }

    private static func unquoted(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isQuote = { (byte: UInt8) in byte == UInt8(ascii: "\"") }
        return bytes.count >= 2 && bytes.first.map(isQuote) == true && bytes.last.map(isQuote) == true
            ? bytes.dropFirst().dropLast() : bytes
    }
}

extension SetCookie: CustomStringConvertible {
    /// The name only: a value may be a secret.
    package var description: String { "Set-Cookie: \(name)" }
}

/// Lists of ports (RFC 2965 §3.2.2).
package enum CookiePorts {
    /// The ports of a list such as `"80,8080"`; nil for none that can be one. Version 0 knows one port only (B8.5).
    package static func read(_ list: String, version: Int) -> [Int]? {
        var ports: [Int] = []
        for part in list.utf8.split(whereSeparator: { ",\" \t".utf8.contains($0) }) {
            guard let port = ASCII.decimal(part), (0...65535).contains(port) else { continue }
            ports.append(Int(port))
            if version == 0 || ports.count == most { break }
        }
        return ports.isEmpty ? nil : ports
    }

    /// Picked by feel.
    private static let most = 64
}
