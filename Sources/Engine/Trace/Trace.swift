// What the engine tells its observers step by step: of connections, for the whole engine, and of one request.
//
// Each is called on a loop's thread at the moment the step happens and must return soon. A connection keeps its name
// over its life, a request its trace over replays. Where nothing follows, a step costs a comparison with `nil`.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS

/// A step on the way to a connection, or at its end.
package enum ConnectionStep: Sendable {
    /// A name look-up begins; not told for literals.
    case lookupStarted(host: String)
    /// A name look-up ended; nil addresses mean that it failed.
    case lookupFinished(host: String, addresses: [SocketAddress]?)
    /// A TCP connect begins; several may run at once (RFC 8305).
    case connectStarted(ConnectionName, SocketAddress)
    /// A TCP connect ended; not told of those that were given up because another won.
    case connectFinished(ConnectionName, SocketAddress, SystemError?)
    /// A proxy was asked for a tunnel, which stands now or, with a failure, never will; requests that are forwarded
    /// need none, and are told of only where the proxy was of no use.
    case tunnelFinished(ConnectionName, ProxyServer, ProxyFailure?)
    /// A TLS handshake ended, with the server or with the proxy.
    case handshakeFinished(ConnectionName, Result<Negotiated?, TLSError>)
    /// A connection of the pool's is ready for requests.
    case opened(ConnectionName, SpokenProtocol)
    /// A connection left HTTP and the pool; nothing is told of its end.
    case detached(ConnectionName)
    /// A connection of the pool's was closed, whatever the reason.
    case closed(ConnectionName)
}

/// The observer of the connections of one shard, behind a reference.
///
/// Measured: asking a whole configuration for one absent closure copied the configuration each time.
final class ConnectionTrace {
    private let shard: Int
    private let observe: EngineConfiguration.ConnectionObserver

    init(shard: Int, _ observe: @escaping EngineConfiguration.ConnectionObserver) {
        self.shard = shard
        self.observe = observe
    }

    func tell(_ step: ConnectionStep) { observe(shard, step) }
}

/// A step of one request on its way.
package enum RequestStep: Sendable {
    /// It gets its connection.
    case assigned(Assignment)
    /// Its last byte was written.
    case sent
    /// The head of its final response was read.
    case answered(status: Int)
    /// It is sent again after its connection died (B6.26), or because its server did not look at it.
    case replayed
    /// It ended.
    case ended(EngineError?)

    /// The connection that a request has got.
    package struct Assignment: Sendable {
        /// The shard that the connection belongs to.
        package let shard: Int
        /// Its name there.
        package let connection: ConnectionName
        /// Whether it had carried a request before.
        package let isReused: Bool
        /// What is spoken on it.
        package let spoken: SpokenProtocol
        /// Its other end.
        package let remoteAddress: SocketAddress?
    }
}

/// The observer of one request.
package final class RequestTrace: Sendable {
    private let observe: @Sendable (RequestStep) -> Void

    /// A trace whose steps are told to a closure, on the loop.
    package init(_ observe: @escaping @Sendable (RequestStep) -> Void) {
        self.observe = observe
    }

    func tell(_ step: RequestStep) { observe(step) }
}
