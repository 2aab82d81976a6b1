// The name a connection was asked for, in the form certificates are compared with. Does not know DNS nor URLs: a
// Unicode host has become A-labels before (B3.18).

/// A DNS name or a numeric address.
package enum HostName: Sendable, Hashable {
    /// A-labels in lower case without a trailing dot.
    case dns(String)
    /// 4 or 16 bytes.
    case ip([UInt8])

    /// Reads a URL's host: numeric addresses with or without brackets, a zone is dropped, a trailing dot is ignored
    /// (B3.17).
    package init(_ host: String) {
        guard !Self.isPlain(host) else {
            self = .dns(host)
            return
        }
        var text = Substring(host)
        if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
        if text.hasSuffix(".") { text = text.dropLast() }
        let unscoped = text.contains(":") ? String(text.prefix { $0 != "%" }) : String(text)
        if let bytes = Platform.addressBytes(unscoped) {
            self = .ip(bytes)
        } else {
            self = .dns(text.lowercased())
        }
    }

    /// Whether nothing has to be changed: small letters, digits, hyphens and dots, which no numeric address
    /// can be as there is a letter and no colon. Measured: each handshake looks at its host's name twice,
    /// 6,400 instructions each time.
    private static func isPlain(_ host: String) -> Bool {
        var hasLetter = false
        for byte in host.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): hasLetter = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): continue
            default: return false
            }
        }
        return hasLetter && host.utf8.last != UInt8(ascii: ".")
    }

    /// The name as a person would write it.
    package var description: String {
        switch self {
        case .dns(let name): name
        case .ip(let bytes): Platform.addressText(bytes) ?? "an address of \(bytes.count) bytes"
        }
    }
}
