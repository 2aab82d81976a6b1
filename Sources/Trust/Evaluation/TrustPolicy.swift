// Under which conditions a chain is believed. Holds values only; judging is the evaluators' work.

/// What a peer must prove.
package struct TrustPolicy: Sendable, Hashable {
    /// What the certificate is used for.
    package enum Purpose: Sendable, Hashable {
        /// The peer is a TLS server.
        case serverAuthentication
        /// The peer is a TLS client.
        case clientAuthentication
    }

    /// The name the leaf must speak for; nil checks everything but the name (B3.24).
    package var host: HostName?
    /// The use the leaf must allow.
    package var purpose: Purpose
    /// Seconds since 1970 at which the chain must be valid; nil means now.
    package var time: Int64?
    /// The smallest RSA key of a leaf or intermediate (B3.29).
    package var minimumRSABits: Int
    /// The smallest elliptic curve key of a leaf or intermediate (B3.29).
    package var minimumECBits: Int

    /// The default policy for a peer of this name.
    package init(
        host: HostName?, purpose: Purpose = .serverAuthentication, time: Int64? = nil,
        minimumRSABits: Int = 2048, minimumECBits: Int = 256
    ) {
        self.host = host
        self.purpose = purpose
        self.time = time
        self.minimumRSABits = minimumRSABits
        self.minimumECBits = minimumECBits
    }
}
