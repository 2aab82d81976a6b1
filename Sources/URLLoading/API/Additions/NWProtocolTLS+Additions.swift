// Network framework's options for TLS, as far as `ProxyConfiguration` needs them: that TLS is wanted at all. What TLS
// with a proxy is like is the session's matter, as it is for servers.

/// TLS.
public final class NWProtocolTLS: Sendable {
    /// Says that TLS is wanted.
    public final class Options: Sendable {
        /// TLS as the session's configuration has it.
        public init() {}
    }

    private init() {}
}
