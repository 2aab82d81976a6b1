// Which protocols a connection may come to speak. It must not know how they are agreed on.

/// What a server is offered when a connection to it is opened.
package enum ProtocolOffer: Sendable, Hashable {
    /// HTTP/1.1 alone: what is plain, and requests that need a connection of their own.
    case http1
    /// HTTP/2, or else HTTP/1.1, as the server chooses (H1.1).
    case http2OrHTTP1
    /// HTTP/2 without asking (H1.4).
    case http2
    /// Nothing: what will be spoken is not HTTP (H1.6).
    case nothing
}
