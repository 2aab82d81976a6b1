// A connection that has left HTTP and the pool: its bytes belong to its new owner.
//
// How it comes to that. The receiver of a transaction has seen the head of a final response and wants what follows it
// as bytes (B1.70), or the head of a 101 to a request that `isUpgrade` (RFC 9110 §7.8). It answers that head with
// `ReceiverDemand.detach`, or with `.pause` and later says `TransactionHandle.detach()`. At the end of the turn, on the
// loop, it hears `TransactionReceiver.detached(_:outcome:)` in the place of `finished`, and is told nothing else after
// that. Where the connection cannot be given away, because the request has not been sent whole or something of the body
// has been read, the transaction ends with `EngineError.undetachable`.
//
// The connection is in no pool any more and counts against no limit (B16.3); the session's end does not
// touch it either. Its owner closes it. A 101 whose connection is not taken is an error, as is one that
// was not asked for (B16.63).
//
// Must not know: what the bytes mean.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS

/// A byte stream, verified and decrypted where the connection has TLS, with what was read of it already.
package struct DetachedConnection: ~Copyable {
    /// What came behind the head and was read with it; comes before what the stream still
    /// brings. Not decoded in any way.
    package let unread: [UInt8]
    /// What is known of the connection.
    package let facts: Facts
    private let holder: Holder

    /// What is known of a connection.
    package struct Facts: Sendable {
        /// Where the transaction went that it carried last.
        package let origin: Origin
        /// How it gets there.
        package let route: Route
        /// This end; nil when the system does not tell.
        package let localAddress: SocketAddress?
        /// The other end, which is the proxy's where there is one.
        package let remoteAddress: SocketAddress?
        /// What TLS agreed on with the server; nil without TLS.
        package let tls: Negotiated?
        /// Whether it had carried another exchange before.
        package let isReused: Bool
        /// Whether it leads to or through a proxy.
        package let isProxied: Bool
    }

    /// Closes a stream that was not taken.
    private final class Holder {
        let stream: any ByteStream
        let core: LoopCore
        var isTaken = false

        init(_ stream: any ByteStream, _ core: LoopCore) {
            self.stream = stream
            self.core = core
        }

        deinit { if !isTaken { stream.close() } }
    }

    init(_ stream: any ByteStream, unread: [UInt8], facts: Facts, core: LoopCore) {
        self.unread = unread
        self.facts = facts
        holder = Holder(stream, core)
    }

    /// Hands the stream out, which has no observer yet; the new observer looks at `hasPendingInput` first.
    ///
    /// It is the caller's to close.
    package consuming func takeStream() -> any ByteStream {
        holder.isTaken = true
        return holder.stream
    }

    /// Goes on as a stream of the same engine, whose rules and calls are those of any other. Said within `detached`.
    /// TLS, if that is asked for later, has this judge.
    package consuming func carryStream(
        judge: ConnectionJudge = .session, resourceDeadline: Duration?,
        makeReceiver: @escaping @Sendable (StreamHandle, Reactor) -> any StreamReceiver
    ) {
        var request = StreamRequest(
            origin: facts.origin, routes: [facts.route], resourceDeadline: resourceDeadline, makeReceiver: makeReceiver)
        request.judge = judge
        let core = holder.core
        core.carry(self, request)
    }
}
