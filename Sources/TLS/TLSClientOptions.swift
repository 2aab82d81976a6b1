// What a client asks of TLS. Values only.

/// The settings of a client's context.
package struct TLSClientOptions: Sendable, Hashable {
    /// The lowest version that is accepted (B3.7).
    package var minimum: TLSVersion
    /// The highest version that is offered.
    package var maximum: TLSVersion
    /// The application protocols that are offered, the preferred first; none sends no offer (B3.8).
    package var alpn: [String]
    /// A file to which the sessions' secrets are appended for a debugger; nil for never.
    package var keyLogFile: String?

    /// The cipher suites that are offered.
    package var ciphers: Ciphers

    /// Which cipher suites are offered.
    package enum Ciphers: Sendable, Hashable {
        /// Those of OpenSSL's default.
        case usual
        /// AES only, before TLS 1.3 with an ephemeral key exchange on elliptic curves (B3.76).
        case forwardSecretAES
        /// AES only, before TLS 1.3 also with a key exchange by RSA, which is not forward secret (B3.82).
        case anyAES
    }

    /// The default settings, or others.
    package init(
        minimum: TLSVersion = .v12, maximum: TLSVersion = .v13, alpn: [String] = ["http/1.1"],
        ciphers: Ciphers = .usual, keyLogFile: String? = nil
    ) {
        self.minimum = minimum
        self.maximum = maximum
        self.alpn = alpn
        self.ciphers = ciphers
        self.keyLogFile = keyLogFile
    }
}
