// Whether a server speaks HTTP/2, when, and with which settings. Values only. RFC 9113 §3.

import URLLoadingSystem
import URLLoadingTLS
import URLLoadingWire

/// How a server speaks HTTP/2.
///
/// A route answers as it does over HTTP/1.1. What an answer becomes that only HTTP/1.1 can have
/// is told at `HTTP2Answer`.
package struct ServerHTTP2: Sendable {
    /// On which connections HTTP/2 is spoken.
    package enum Use: Sendable {
        /// On none.
        case off
        /// Under TLS where the client offers `h2` too, which is then preferred; without TLS where
        /// it begins as HTTP/2 does.
        case offered
        /// On all: under TLS nothing else is agreed on, and without TLS nothing else understood.
        case required
    }

    /// On which connections it is spoken.
    package var use: Use
    /// What the server announces.
    package var settings = ServerHTTP2.standardSettings
    /// The window for all streams of a connection together, at least 65,535 bytes.
    package var connectionWindow: UInt32 = 16 << 20
    /// What a client may ask for without bringing anything.
    package var limits = HTTP2Limits()
    /// What happens on a connection beside what the routes answer, or instead of all that; nil serves as usual.
    package var script: (@Sendable (_ connection: Int) -> HTTP2Script?)?
    /// Writes down what clients send.
    package var record: HTTP2Record?

    /// HTTP/2 on these connections.
    package init(_ use: Use) { self.use = use }

    /// Nothing but HTTP/1.1.
    package static var off: ServerHTTP2 { ServerHTTP2(.off) }
    /// Whatever the client wants.
    package static var offered: ServerHTTP2 { ServerHTTP2(.offered) }
    /// Nothing but HTTP/2.
    package static var required: ServerHTTP2 { ServerHTTP2(.required) }

    /// What servers begin with: whatever the client wants, where clients of the library speak HTTP/2 (docs/http2.md).
    package static let ofEnvironment: ServerHTTP2 =
        switch getenv("URLLOADING_HTTP2").map({ String(cString: $0) }) {
        case "offered", "prior-knowledge": .offered
        default: .off
        }

    private static var standardSettings: HTTP2Settings {
        var settings = HTTP2Settings()
        settings.maximumConcurrentStreams = 250
        settings.initialWindowSize = 1 << 20
        return settings
    }
}

extension ServerHTTP2 {
    /// How a connection begins.
    enum Beginning {
        case http1, http2
        /// By the client's first bytes (RFC 9113 §3.3).
        case asPrefaceSays
    }

    /// How a connection begins once it stands, and its TLS if it has any.
    func beginning(encrypted: Bool, negotiated: Negotiated?) -> Beginning {
        switch use {
        case .off: .http1
        case .required: .http2
        case .offered where encrypted: negotiated?.alpn == Self.name ? .http2 : .http1
        case .offered: .asPrefaceSays
        }
    }

    /// The server's TLS with the protocols that it then knows.
    func offering(_ tls: ServerTLS) -> ServerTLS {
        var tls = tls
        switch use {
        case .off: break
        case .offered: tls.alpn = [Self.name] + tls.alpn.filter { $0 != Self.name }
        case .required: tls.alpn = [Self.name]
        }
        return tls
    }

    private static var name: String { "h2" }
}
