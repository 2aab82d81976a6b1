// What was spoken in an exchange, for its record.

/// A version of HTTP, as a connection has spoken it.
package enum SpokenProtocol: UInt8, Sendable {
    /// HTTP/1.0 or before.
    case http10
    /// HTTP/1.1.
    case http11
    /// HTTP/2.
    case http2

    /// Its name in metrics (B12.16, H1.9).
    package var name: String {
        switch self {
        case .http10: "http/1.0"
        case .http11: "http/1.1"
        case .http2: "h2"
        }
    }
}
