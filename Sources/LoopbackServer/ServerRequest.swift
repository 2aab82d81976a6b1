// A request as a route sees it. A value; knows nothing of the connection but its numbers.

import URLLoadingSystem
import URLLoadingTLS
import URLLoadingWire

/// One request, whole unless the server was told to answer early.
package struct ServerRequest: Sendable {
    /// Method, target, version and fields.
    package let head: RequestHead
    /// The body without its framing, or the first `LoopbackServer.Options.keptBodyBytes` of it.
    package let body: [UInt8]
    /// How long the body was, kept or not.
    package let bodyByteCount: Int64
    /// The fields behind the body.
    package let trailers: Fields
    /// The number of the connection, counted from 1 in the order in which the server accepted them.
    package let connection: Int
    /// The number of the request on its connection, counted from 1.
    package let number: Int
    /// The number of its stream; nil over HTTP/1.1.
    package let stream: UInt32?
    /// Where the client's end of the connection is.
    package let remoteAddress: SocketAddress?
    /// What the handshake agreed upon; nil without TLS.
    package let tls: Negotiated?

    /// The protocol, by its name in ALPN.
    package var protocolName: String { stream == nil ? "http/1.\(head.version.minor)" : "h2" }

    /// The method.
    package var method: String { head.method }
    /// The request target, as it was sent.
    package var target: String { head.target }
    /// The fields, in the order in which they came.
    package var fields: Fields { head.fields }

    /// The target up to a question mark.
    package var path: Substring {
        head.target.prefix { $0 != "?" }
    }

    /// The target after its first question mark, if it has one.
    package var query: Substring? {
        guard let mark = head.target.firstIndex(of: "?") else { return nil }
        return head.target[head.target.index(after: mark)...]
    }

    /// Whether the client says that it understands a content coding.
    package func accepts(coding: String) -> Bool {
        head.fields.hasToken(.acceptEncoding, coding)
    }
}
