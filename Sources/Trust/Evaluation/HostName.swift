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

    /// The name as a person would write it.
    package var description: String {
        switch self {
        case .dns(let name): name
        case .ip(let bytes): Platform.addressText(bytes) ?? "an address of \(bytes.count) bytes"
        }
    }
}
