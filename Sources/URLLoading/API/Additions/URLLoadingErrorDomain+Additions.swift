// Domains and codes of the errors under `NSUnderlyingErrorKey`. They are ours: Apple's loader has private ones there.

/// Ours: the domains of underlying errors, and their codes.
public enum URLLoadingErrorDomain {
    /// Names that could not be looked up; the code is the resolver's `EAI_…` number.
    public static let resolver = "URLLoading.Resolver"
    /// TLS sessions that could not begin or go on; codes are `TLSCode`.
    public static let tls = "URLLoading.TLS"
    /// Certificates that were refused; codes are `TrustCode`.
    public static let trust = "URLLoading.Trust"
    /// Messages that could not be understood or sent; codes are `HTTPCode`.
    public static let http = "URLLoading.HTTP"

    /// The key, in an underlying error of the domain `kCFErrorDomainCFNetwork`, of the status with which a proxy
    /// refused a tunnel.
    public static let proxyStatusKey = "URLLoading.ProxyStatus"

    /// What went wrong with TLS.
    public enum TLSCode: Int, Sendable {
        /// The handshake failed for another reason than those below.
        case handshakeFailed = 1
        /// The server ended TLS with an alert.
        case alertReceived = 2
        /// The server's certificate was refused.
        case untrusted = 3
        /// Both sides have no version or cipher suite in common.
        case noCommonVersionOrCipher = 4
        /// The server does not speak TLS.
        case notTLS = 5
        /// The configured minimum version is above the maximum.
        case versionsContradict = 6
        /// The connection was closed during the handshake.
        case closedDuringHandshake = 7
        /// The server selected an application protocol that was not offered.
        case protocolMismatch = 8
        /// The connection ended without TLS's closing message.
        case truncated = 9
        /// The server insists on a client certificate.
        case clientCertificateRequired = 10
        /// The server does not accept the client certificate, or it is too weak to be shown.
        case clientCertificateRejected = 11
        /// The server asked for renegotiation.
        case renegotiationRefused = 12
        /// The server broke the protocol after the handshake.
        case protocolViolation = 13
        /// TLS could not be set up on this side.
        case internalFailure = 14
        /// The connection is not what the session's App Transport Security demands.
        case demandNotMet = 15
    }

    /// Why a certificate was refused.
    public enum TrustCode: Int, Sendable {
        /// No root certificates were found on this machine.
        case noRootsFound = 1
        /// The chain leads to no trusted root.
        case unknownRoot = 2
        /// The certificate has signed itself.
        case selfSigned = 3
        /// The certificate's time is over.
        case expired = 4
        /// The certificate's time has not begun.
        case notYetValid = 5
        /// The certificate is for other hosts.
        case hostMismatch = 6
        /// The certificate must not be used to identify a server.
        case wrongPurpose = 7
        /// The certificate's key is too weak.
        case weakKey = 8
        /// The certificate's signature uses a broken hash.
        case weakSignature = 9
        /// An issuer in the chain is not a certificate authority.
        case notACertificateAuthority = 10
        /// The chain is longer than an issuer allows.
        case pathLength = 11
        /// The certificate has a critical extension that is not understood.
        case unknownCriticalExtension = 12
        /// The certificate has a name that an issuer may not certify.
        case nameConstraint = 13
        /// The certificate's signature is wrong.
        case signatureInvalid = 14
        /// The certificate breaks the format's rules.
        case malformed = 15
        /// The issuer has revoked the certificate.
        case revoked = 16
        /// The certificate is not the pinned one.
        case pinMismatch = 17
        /// Another reason, given in the description.
        case other = 18
        /// Whether the certificate was revoked had to be known, and is not.
        case revocationUnknown = 19
        /// The host had another certificate before.
        case knownHostChanged = 20
    }

    /// What was wrong with a message.
    public enum HTTPCode: Int, Sendable {
        /// The response breaks HTTP's rules.
        case malformedResponse = 1
        /// The connection ended before the response did.
        case truncated = 2
        /// The response is well-formed but cannot be accepted.
        case badResponse = 3
        /// The body's content coding could not be undone.
        case undecodableContent = 4
        /// The request cannot be sent as it is.
        case invalidRequest = 5
        /// The connection ended, or was of no use, without an error of the system's.
        case connectionClosed = 6
    }
}
