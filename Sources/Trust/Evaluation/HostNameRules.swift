// Whether a certificate speaks for a host: RFC 9525 section 6, with subject alternative names only (B3.15 to B3.23).
// Does not know the rest of the chain.

/// Host name matching.
enum HostNameRules {
    /// Whether one of the certificate's alternative names covers the host.
    static func matches(_ fields: CertificateFields, _ host: HostName) -> Bool {
        var found = false
        switch host {
        case .dns(let name):
            // What is asked for is one host: `*` stands for others in certificates only.
            if name.utf8.contains(NameSyntax.star) { return false }
            // RFC 9525 section 6.2 and WHATWG URL: what ends in a number is an address in some notation, never a name.
            if let last = name.split(separator: ".").last, endsInNumber(last) { return false }
            var name = name
            name.withUTF8 { wanted in
                _ = fields.forEachAlternativeName { name in
                    found = name.kind == .dns && covers(pattern: name.value, host: UnsafeRawBufferPointer(wanted))
                    return !found
                }
            }
        case .ip(let bytes):
            fields.forEachAlternativeName { name in
                found = name.kind == .ipAddress && name.value.elementsEqual(bytes)
                return !found
            }
        }
        return found
    }

    /// WHATWG URL, "ends in a number": `1.2.3`, and `0x7f000001`.
    private static func endsInNumber(_ label: Substring) -> Bool {
        if label.allSatisfy(\.isNumber) { return true }
        return label.hasPrefix("0x") && label.dropFirst(2).allSatisfy(\.isHexDigit)
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
        guard pattern.count > 2, pattern[0] == NameSyntax.star, pattern[1] == NameSyntax.dot else {
            return !pattern.contains(NameSyntax.star) && NameSyntax.equalIgnoringCase(pattern[...], host[...])
        }
        let rest = pattern[1...]
        guard !rest.contains(NameSyntax.star), rest.dropFirst().contains(NameSyntax.dot),
            let end = host.firstIndex(of: NameSyntax.dot), end > 0
        else { return false }
        return NameSyntax.equalIgnoringCase(rest, host[end...])
    }
}
