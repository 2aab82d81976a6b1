// What of a request its authentication depends on. Behaviour B2.84, B2.85. It must not know fields, bodies or URLs.

/// The parts of a request that Digest covers with its hash.
package struct AuthenticatedRequest: Sendable, Equatable {
    /// What is known of a body before it is sent.
    package enum Body: Sendable, Equatable {
        /// There is none.
        case empty
        /// Data or a file: it can be hashed first and sent more than once.
        case replayable
        /// A stream: once.
        case unrepeatable
    }

    /// The method as sent.
    package let method: String
    /// The target as the side that checks it sees it: path and query for a server, an absolute URL for a proxy that
    /// forwards the request, `host:port` for CONNECT (B2.85).
    package let target: String
    /// The body.
    package let body: Body

    /// Makes a request's parts.
    package init(method: String, target: String, body: Body = .empty) {
        self.method = method
        self.target = target
        self.body = body
    }
}

/// What a proof needs of the world at the moment it is made; each value is good for one call.
package struct AuthenticationFreshness: Sendable, Concealed {
    /// How many random bytes there are to be.
    package static let byteCount = 24

    /// Random bytes: the client's nonce.
    package let bytes: [UInt8]
    /// The time as 100 ns since 1601, as NTLM counts it.
    package let fileTime: UInt64

    /// Makes it of random bytes and of seconds since 1970.
    package init(bytes: [UInt8], secondsSince1970: Int64) {
        self.bytes = bytes
        let seconds = max(0, min(secondsSince1970, 1 << 36) + 11_644_473_600)
        fileTime = UInt64(seconds) * 10_000_000
    }
}
