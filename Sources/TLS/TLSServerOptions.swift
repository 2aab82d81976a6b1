// What a server asks of TLS. Values only.

import URLLoadingTrust

/// The settings of a server's context.
package struct TLSServerOptions: Sendable {
    /// Whether clients are asked for a certificate.
    package enum ClientAuthentication: Sendable, Hashable {
        /// They are not asked.
        case none
        /// They are asked and may have none.
        case optional
        /// They are asked and must have one.
        case required
    }

    /// The certificate and key that are shown.
    package var identity: Identity
    /// The lowest version that is accepted.
    package var minimum: TLSVersion
    /// The highest version that is accepted.
    package var maximum: TLSVersion
    /// The suites before TLS 1.3, in OpenSSL's words, strong or weak; nil for OpenSSL's default.
    package var ciphersBefore13: String?
    /// The application protocols that are known, the preferred first; none ignores offers.
    package var alpn: [String]
    /// A protocol that is selected whatever the client offers, to test clients with.
    package var alpnSelectedWithoutOffer: String?
    /// Whether clients are asked for a certificate.
    package var clientAuthentication: ClientAuthentication
    /// The authorities that clients are told to choose a certificate of.
    package var clientAuthorities: [Certificate]
    /// The evaluator that judges client certificates, at once and on the session's thread; nil
    /// trusts `clientAuthorities`.
    package var clientEvaluator: (any TrustEvaluator)?
    /// An encoded OCSP response about the server's certificate, stapled for clients that ask; nil staples nothing.
    package var stapledResponse: [UInt8]?
    /// How many tickets a TLS 1.3 client is given; 0 switches resumption off for every version.
    package var tickets: Int
    /// Whether each ticket is a message of several records, to test clients with.
    package var dividesTickets: Bool

    /// A server that shows this identity.
    package init(
        identity: Identity, minimum: TLSVersion = .v12, maximum: TLSVersion = .v13, ciphersBefore13: String? = nil,
        alpn: [String] = ["http/1.1"], alpnSelectedWithoutOffer: String? = nil,
        clientAuthentication: ClientAuthentication = .none,
        clientAuthorities: [Certificate] = [], clientEvaluator: (any TrustEvaluator)? = nil,
        stapledResponse: [UInt8]? = nil, tickets: Int = 2, dividesTickets: Bool = false
    ) {
        self.identity = identity
        self.minimum = minimum
        self.maximum = maximum
        self.ciphersBefore13 = ciphersBefore13
        self.alpn = alpn
        self.alpnSelectedWithoutOffer = alpnSelectedWithoutOffer
        self.clientAuthentication = clientAuthentication
        self.clientAuthorities = clientAuthorities
        self.clientEvaluator = clientEvaluator
        self.stapledResponse = stapledResponse
        self.tickets = tickets
        self.dividesTickets = dividesTickets
    }
}
