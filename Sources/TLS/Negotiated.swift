// What a finished handshake has agreed on.

/// The outcome of a handshake.
package struct Negotiated: Sendable, Hashable {
    /// The version's number on the wire, such as 0x0304.
    package let version: UInt16
    /// The cipher suite's number in the registry.
    package let cipher: UInt16
    /// The cipher suite's name in the registry.
    package let cipherName: String
    /// The application protocol that was selected; nil when the peer did not answer the offer.
    package let alpn: String?
    /// Whether an earlier session was resumed.
    package let resumed: Bool

    /// A value with these parts.
    package init(version: UInt16, cipher: UInt16, cipherName: String, alpn: String?, resumed: Bool) {
        self.version = version
        self.cipher = cipher
        self.cipherName = cipherName
        self.alpn = alpn
        self.resumed = resumed
    }

    /// Whether HTTP/2 may be spoken with what was agreed on (RFC 9113 §9.2): TLS 1.2 only with keys that are made for
    /// the connection and a cipher that authenticates what it encrypts; TLS 1.3 has no others.
    package var mayCarryHTTP2: Bool {
        if version >= TLSVersion.v13.rawValue { return true }
        guard version == TLSVersion.v12.rawValue else { return false }
        let hasOwnKeys = cipherName.contains("_ECDHE_") || cipherName.contains("_DHE_")
        return hasOwnKeys && ["_GCM_", "_CCM", "_POLY1305"].contains { cipherName.contains($0) }
    }
}
