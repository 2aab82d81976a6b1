// The two URL schemes that are carried over HTTP. It knows names and default ports, nothing of TLS or sockets.
// RFC 9110 §4.2.

/// A URL scheme that HTTP connections serve.
package enum Scheme: Sendable, Hashable {
    case http
    case https

    /// Reads a scheme's name in any case (B14.3); nil when it is not one of ours.
    package init?(_ name: String) {
        if ASCII.isEqual(name, "http") {
            self = .http
        } else if ASCII.isEqual(name, "https") {
            self = .https
        } else {
            return nil
        }
    }

    /// The name in lower case.
    package var name: String {
        switch self {
        case .http: "http"
        case .https: "https"
        }
    }

    /// The port that a URL without one means.
    package var defaultPort: Int {
        switch self {
        case .http: 80
        case .https: 443
        }
    }

    /// Whether connections of this scheme are encrypted.
    package var isSecure: Bool {
        switch self {
        case .http: false
        case .https: true
        }
    }
}
