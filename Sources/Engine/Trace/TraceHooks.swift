// Hooks for tracing: one optional closure per step.
//
// Each is called on the loop's thread at the moment the step happens and must return soon. Identifiers are
// those of the engine: a transaction keeps its number over replays, a connection over its life.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS

/// Observers of what the engine does; an absent one costs a comparison with `nil`.
package struct TraceHooks: Sendable {
    /// A name look-up begins; not called for literals.
    package var lookupStarted: (@Sendable (_ host: String) -> Void)?
    /// A name look-up ended; `nil` addresses mean that it failed.
    package var lookupFinished: (@Sendable (_ host: String, _ addresses: [SocketAddress]?) -> Void)?
    /// A TCP connect begins; several may run at once (RFC 8305).
    package var connectStarted: (@Sendable (_ connection: ConnectionName, _ address: SocketAddress) -> Void)?
    /// A TCP connect ended; not called for those that were given up because another won.
    package var connectFinished:
        (@Sendable (_ connection: ConnectionName, _ address: SocketAddress, _ error: SystemError?) -> Void)?
    /// A TLS handshake ended.
    package var handshakeFinished:
        (@Sendable (_ connection: ConnectionName, _ negotiated: Negotiated?, _ error: TLSError?) -> Void)?
    /// A proxy was asked for a tunnel, which stands now or, with a failure, never will; requests that are forwarded need
    /// none, and are told of only where the proxy was of no use.
    package var tunnelFinished:
        (@Sendable (_ connection: ConnectionName, _ proxy: ProxyServer, _ failure: ProxyFailure?) -> Void)?
    /// A request gets its connection.
    package var connectionAssigned:
        (@Sendable (_ transaction: RequestID, _ connection: ConnectionID, _ reused: Bool) -> Void)?
    /// The last byte of a request was written.
    package var requestSent: (@Sendable (_ transaction: RequestID) -> Void)?
    /// The head of a final response was read.
    package var responseReceived: (@Sendable (_ transaction: RequestID, _ status: Int) -> Void)?
    /// A request is sent again after its connection died (B6.26).
    package var replayed: (@Sendable (_ transaction: RequestID) -> Void)?
    /// A transaction ended.
    package var finished: (@Sendable (_ transaction: RequestID, _ error: EngineError?) -> Void)?
    /// A connection left HTTP and the pool; of its end nothing is told.
    package var connectionDetached: (@Sendable (_ connection: ConnectionID) -> Void)?
    /// A connection was closed, whatever the reason.
    package var connectionClosed: (@Sendable (_ connection: ConnectionID) -> Void)?

    /// No hooks.
    package init() {}
}

/// The hooks of one engine, behind a reference.
///
/// Measured: asking a whole configuration for one absent closure copied the configuration each time.
final class Trace {
    let hooks: TraceHooks

    init(_ hooks: TraceHooks) {
        self.hooks = hooks
    }
}
