// Why a TLS session could not begin or go on. Does not know URLError, hosts or sockets.

import URLLoadingTrust

/// A failure of a TLS session.
package enum TLSError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The handshake failed for another reason than those below; `alert` is what we told the peer.
    case handshakeFailed(reason: String, alert: UInt8?)
    /// The peer has ended the session with this alert.
    case alertReceived(code: UInt8, name: String)
    /// The peer's certificate was refused.
    case untrusted(TrustFailure)
    /// Both sides have no protocol version or cipher in common.
    case noCommonVersionOrCipher
    /// The first answer was not TLS.
    case notTLS
    /// The minimum version is above the maximum (B3.7).
    case versionsContradict
    /// The peer closed the connection before the handshake was over.
    case closedDuringHandshake
    /// The server selected an application protocol that was not offered (B3.8); empty when OpenSSL keeps its name.
    case alpnMismatch(String)
    /// The connection ended without close_notify.
    case truncated
    /// The server insists on a client certificate, and none was given.
    case clientCertificateRequired
    /// The server does not accept the client certificate that was given.
    case clientCertificateRejected
    /// The client certificate of this name cannot be shown; most are too weak for OpenSSL's security level.
    case clientCertificateUnusable(name: String, reason: String)
    /// The peer asked for renegotiation (B3.10).
    case renegotiationRefused
    /// A record could not be decrypted or broke the protocol after the handshake.
    case protocolViolation(reason: String, alert: UInt8?)
    /// The connection is not what the program demands of all connections; it says what is missing.
    case demandNotMet(String)
    /// A setting or the order of calls is wrong, or memory is exhausted.
    case internalFailure(String)

    /// One sentence for a person.
    package var description: String {
        switch self {
        case .handshakeFailed(let reason, let alert):
            "The TLS handshake failed: \(reason)" + (alert.map { " (alert \($0) sent)" } ?? "") + "."
        case .alertReceived(let code, let name): "The peer ended TLS with the alert \"\(name)\" (\(code))."
        case .untrusted(let failure): failure.description
        case .noCommonVersionOrCipher: "No TLS version or cipher suite is supported by both sides."
        case .notTLS: "The peer's answer is not TLS; perhaps a server without TLS listens on this port."
        case .versionsContradict: "The minimum TLS version is above the maximum."
        case .closedDuringHandshake: "The peer closed the connection during the TLS handshake."
        case .alpnMismatch(let name):
            "The server selected " + (name.isEmpty ? "an application protocol" : "the protocol \"\(name)\"")
                + " that was not offered."
        case .truncated: "The connection ended without TLS's closing message; data may be missing."
        case .clientCertificateRequired: "The server requires a client certificate, and none was given."
        case .clientCertificateRejected: "The server did not accept the client certificate."
        case .clientCertificateUnusable(let name, let reason):
            "The client certificate \"\(name)\" cannot be used: \(reason)."
        case .renegotiationRefused: "The peer asked for TLS renegotiation, which is refused."
        case .protocolViolation(let reason, let alert):
            "The peer broke the TLS protocol: \(reason)" + (alert.map { " (alert \($0) sent)" } ?? "") + "."
        case .demandNotMet(let what): "The connection does not meet the session's demands: \(what)"
        case .internalFailure(let reason): "TLS could not be set up: \(reason)."
        }
    }
}
