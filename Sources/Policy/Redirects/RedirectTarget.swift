// The URL a Location field leads to: behaviour B4.17 to B4.23, RFC 9110 §10.2.2, RFC 3986 §5. Servers write raw
// spaces, UTF-8 and other bytes that no URL may hold; those are percent-encoded, and the rest is used as it stands.

import URLLoadingWire

/// Turns a Location value into the URL of the next request.
package enum RedirectTarget {
    /// The absolute URL, or nil when the value is empty or no URL can be made of it.
    ///
    /// With nil the response is delivered (B4.17, B4.18). A URL without a fragment of its own gets the fragment of the
    /// URL that was asked for (B4.23).
    package static func resolve(location: String, against base: String) -> String? {
        let location = trimmed(location)
        guard !location.isEmpty else { return nil }
        let base = URIReference(base)
        let reference = URIReference(location)
        guard isReference(reference) else { return nil }
        var target = reference.resolved(against: base)
        guard let scheme = target.scheme else { return nil }
        if Scheme(scheme) != nil, !isUsable(authority: target.authority) { return nil }
        target.path = encoded(target.path, allowing: pathBytes)
        target.query = target.query.map { encoded($0, allowing: queryBytes) }
        target.fragment = (target.fragment ?? base.fragment).map { encoded($0, allowing: queryBytes) }
        return target.text
    }

    /// RFC 3986 §4.2: a relative path does not begin with a segment that has a colon in it.
    private static func isReference(_ reference: URIReference) -> Bool {
        reference.scheme != nil || reference.authority != nil
            || !reference.path.utf8.prefix { $0 != UInt8(ascii: "/") }.contains(UInt8(ascii: ":"))
    }

    /// The text of a received value that names a URL: UTF-8, or, where it is none, with the escape of each byte that is
    /// not ASCII. Read as ISO-8859-1 and written as UTF-8, it would name another resource (RFC 3986 §2.1).
    fileprivate static func reference(_ value: UnsafeRawBufferPointer) -> String {
        if let text = String(validating: value, as: UTF8.self) { return text }
        var text: [UInt8] = []
        for byte in value {
            if byte < 0x80 { text.append(byte) } else { text += escape(byte) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func trimmed(_ text: String) -> String {
        let bytes = text.utf8
        guard let first = bytes.firstIndex(where: { $0 > 0x20 }), let last = bytes.lastIndex(where: { $0 > 0x20 })
        else { return "" }
        return String(text[first...last])
    }

    /// Whether an http URL can have this authority: a host, and a port in range or none.
    ///
    /// Non-ASCII names pass, percent-encoded too: turning them into A-labels is the URL's business (B3.18).
    private static func isUsable(authority: String?) -> Bool {
        guard let authority else { return false }
        var hostAndPort = authority.utf8[...]
        if let at = hostAndPort.lastIndex(of: UInt8(ascii: "@")) {
            hostAndPort = hostAndPort[hostAndPort.index(after: at)...]
        }
        var host = hostAndPort
        var port: Int64?
        let bracket = hostAndPort.lastIndex(of: UInt8(ascii: "]")) ?? hostAndPort.startIndex
        if let colon = hostAndPort[bracket...].lastIndex(of: UInt8(ascii: ":")) {
            host = hostAndPort[..<colon]
            let digits = hostAndPort[hostAndPort.index(after: colon)...]
            if !digits.isEmpty {
                guard let number = ASCII.decimal(digits) else { return false }
                port = number
            }
        }
        guard (0...65535).contains(port ?? 0) else { return false }
        let bytes = Array(host)
        let name = NormalHost.percentDecoded(bytes[...]) ?? bytes
        if name.contains(where: { $0 >= 0x80 }) {
            return !name.contains { $0 <= 0x20 || forbiddenInHost.contains($0) }
        }
        return NormalHost(String(host) ?? "") != nil
    }

    private static let forbiddenInHost = Array("\u{7F}\"#/:<>?@[\\]^`{|}".utf8)

    /// Percent-encodes the bytes that may not stand in this part, and each `%` that begins no escape.
    private static func encoded(_ text: String, allowing allowed: (UInt8) -> Bool) -> String {
        let bytes = Array(text.utf8)
        var isClean = true
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for (position, byte) in bytes.enumerated() {
            let isEscape =
                byte == UInt8(ascii: "%") && position + 2 < bytes.count
                && ASCII.hexValue(bytes[position + 1]) != nil && ASCII.hexValue(bytes[position + 2]) != nil
            if isEscape || allowed(byte) {
                result.append(byte)
            } else {
                isClean = false
                result += escape(byte)
            }
        }
        return isClean ? text : String(decoding: result, as: UTF8.self)
    }

    private static func escape(_ byte: UInt8) -> [UInt8] {
        [UInt8(ascii: "%"), hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
    }

    /// pchar and "/" of RFC 3986 §3.3.
    private static func pathBytes(_ byte: UInt8) -> Bool {
        ASCII.isLetter(byte) || ASCII.isDigit(byte) || "-._~!$&'()*+,;=:@/".utf8.contains(byte)
    }

    /// pchar, "/" and "?" of RFC 3986 §3.4 and §3.5.
    private static func queryBytes(_ byte: UInt8) -> Bool {
        pathBytes(byte) || byte == UInt8(ascii: "?")
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)
}

extension Fields {
    /// The first value of that name as a reference to a URL, for `RedirectTarget.resolve` (B4.22).
    package func reference(_ name: FieldName) -> String? {
        var reference: String?
        forEachValue(name) { value in
            if reference == nil { reference = RedirectTarget.reference(value) }
        }
        return reference
    }
}
