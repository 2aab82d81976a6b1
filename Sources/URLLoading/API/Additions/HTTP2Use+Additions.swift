// When a session speaks HTTP/2. Ours: on Apple's platforms the system decides.

import Foundation
import URLLoadingPolicy

extension URLSessionConfiguration {
    /// Ours: when sessions speak HTTP/2. `offered` at first, as on Apple's platforms, unless the environment says
    /// otherwise: `URLLOADING_HTTP2` is what configurations begin with, `off`, `offered` or `prior-knowledge`.
    ///
    /// Requests to one server then share a connection, as many at a time as the server allows;
    /// `httpMaximumConnectionsPerHost` still limits connections. Web sockets, and requests that prove their user by
    /// NTLM or Negotiate, use connections of HTTP/1.1. A data task cannot become a stream task on a shared connection,
    /// and fails if it is to.
    public var http2: HTTP2Use {
        get { value(\.http2) }
        set { assign(\.http2, newValue) }
    }

    /// Ours: when HTTP/2 is spoken.
    public enum HTTP2Use: Sendable, Hashable {
        /// Never: servers are offered HTTP/1.1 alone.
        case off
        /// With `https` servers that choose it when they are offered both (ALPN).
        case offered
        /// With `https` servers that choose it, as `offered`, and with `http` servers without asking them: these
        /// must be known to speak it. An answer in HTTP/1.1 is an error. What goes through an HTTP proxy without
        /// a tunnel stays HTTP/1.1.
        case priorKnowledge

        /// What configurations begin with.
        static let ofEnvironment: HTTP2Use =
            switch getenv("URLLOADING_HTTP2").map({ String(cString: $0) }) {
            case "off": .off
            case "prior-knowledge": .priorKnowledge
            default: .offered
            }

        /// What the engine offers.
        var offer: ProtocolOffer {
            switch self {
            case .off: .http1
            case .offered: .http2OrHTTP1
            case .priorKnowledge: .http2
            }
        }
    }
}
