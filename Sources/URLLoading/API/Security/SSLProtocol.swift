// The older numbering of TLS versions, kept for the deprecated configuration properties.

/// A version of SSL or TLS in the numbering of Secure Transport; use `tls_protocol_version_t`.
public enum SSLProtocol: Int32, Sendable {
    /// None negotiated, or the default.
    case sslProtocolUnknown = 0
    /// TLS 1.0.
    case tlsProtocol1 = 4
    /// TLS 1.1.
    case tlsProtocol11 = 7
    /// TLS 1.2.
    case tlsProtocol12 = 8
    /// DTLS 1.0.
    case dtlsProtocol1 = 9
    /// TLS 1.3.
    case tlsProtocol13 = 10
    /// DTLS 1.2.
    case dtlsProtocol12 = 11
    /// The newest version that is supported.
    case tlsProtocolMaxSupported = 999
    /// SSL 2, which is never spoken.
    case sslProtocol2 = 1
    /// SSL 3, which is never spoken.
    case sslProtocol3 = 2
    /// SSL 3 alone, which is never spoken.
    case sslProtocol3Only = 3
    /// TLS 1.0 alone.
    case tlsProtocol1Only = 5
    /// Every version.
    case sslProtocolAll = 6
}

extension SSLProtocol {
    /// The version by its number on the wire; `nil` where the case does not mean a single version.
    var version: tls_protocol_version_t? {
        switch self {
        case .tlsProtocol1, .tlsProtocol1Only: .TLSv10
        case .tlsProtocol11: .TLSv11
        case .tlsProtocol12: .TLSv12
        case .tlsProtocol13, .tlsProtocolMaxSupported: .TLSv13
        case .dtlsProtocol1: .DTLSv10
        case .dtlsProtocol12: .DTLSv12
        case .sslProtocolUnknown, .sslProtocol2, .sslProtocol3, .sslProtocol3Only, .sslProtocolAll: nil
        }
    }

    init(_ version: tls_protocol_version_t) {
        self =
            switch version {
            case .TLSv10: .tlsProtocol1
            case .TLSv11: .tlsProtocol11
            case .TLSv12: .tlsProtocol12
            case .TLSv13: .tlsProtocol13
            case .DTLSv10: .dtlsProtocol1
            case .DTLSv12: .dtlsProtocol12
            }
    }
}
