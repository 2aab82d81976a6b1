// Whether a certificate speaks for a host: RFC 9525 section 6, with subject alternative names only (B3.15 to B3.23).
// Does not know the rest of the chain.

/// Host name matching.
enum HostNameRules {
    /// Whether one of the certificate's alternative names covers the host.
    static func matches(_ certificate: Certificate, _ host: HostName) -> Bool {
        var found = false
        switch host {
        case .dns(let name):
            // RFC 9525 section 6.2 and WHATWG URL: what ends in a number is an address in some notation, never a name.
            if let last = name.split(separator: ".").last, last.allSatisfy(\.isNumber) { return false }
            var name = name
            name.withUTF8 { wanted in
                _ = certificate.forEachAlternativeName { kind, value in
                    if !found, kind == .dns { found = covers(pattern: value, host: UnsafeRawBufferPointer(wanted)) }
                }
            }
        case .ip(let bytes):
            certificate.forEachAlternativeName { kind, value in
                if kind == .ipAddress, value.elementsEqual(bytes) { found = true }
            }
        }
        return found
    }

    /// Every DNS name and address the certificate speaks for, as text, for messages.
    static func presentedNames(_ certificate: Certificate) -> [String] {
        certificate.dnsNames + certificate.ipAddresses.map { HostName.ip($0).description }
    }

    /// Whether a DNS name of a certificate covers a host that is in lower case already.
    ///
    /// `*` counts only as the whole leftmost label and stands for exactly one label (B3.19, B3.21), and never directly
    /// below a top-level name (B3.20).
    static func covers(pattern: UnsafeRawBufferPointer, host: UnsafeRawBufferPointer) -> Bool {
        guard !host.isEmpty, !pattern.isEmpty else { return false }
        guard pattern.count > 2, pattern[0] == star, pattern[1] == dot else {
            return !pattern.contains(star) && equal(pattern[...], host[...])
        }
        let rest = pattern[1...]
        guard !rest.contains(star), rest.dropFirst().contains(dot),
            let end = host.firstIndex(of: dot), end > 0
        else { return false }
        return equal(rest, host[end...])
    }

    private static func equal(_ left: Slice<UnsafeRawBufferPointer>, _ right: Slice<UnsafeRawBufferPointer>) -> Bool {
        left.count == right.count && zip(left, right).allSatisfy { lowered($0) == lowered($1) }
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }

    private static let star = UInt8(ascii: "*")
    private static let dot = UInt8(ascii: ".")
}
