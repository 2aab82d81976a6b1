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

    /// The default settings, or others.
    package init(
        minimum: TLSVersion = .v12, maximum: TLSVersion = .v13, alpn: [String] = ["http/1.1"], keyLogFile: String? = nil
    ) {
        self.minimum = minimum
        self.maximum = maximum
        self.alpn = alpn
        self.keyLogFile = keyLogFile
    }
}
