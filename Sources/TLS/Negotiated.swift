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
}
