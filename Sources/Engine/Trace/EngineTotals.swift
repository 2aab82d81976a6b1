// What one shard has done since it was made, in numbers, for gauges.
//
// Only its loop writes, so that adding needs no atomic operation; any thread reads, also when the shard has ended.

import Synchronization

/// The totals of one shard.
final class EngineTotals: Sendable {
    /// A total, which only the loop adds to.
    struct Total: ~Copyable, Sendable {
        private let number = Atomic<Int64>(0)

        var value: Int64 { number.load(ordering: .relaxed) }

        /// On the loop. A total that has come to its greatest number begins anew: it is no reason to stop.
        func add(_ more: Int64) { number.store(value &+ more, ordering: .relaxed) }
    }

    /// Requests that got a connection, each attempt for itself.
    let requests = Total()
    /// Requests whose connection had carried another before.
    let reuses = Total()
    /// Requests that were sent again without the program's knowledge.
    let replays = Total()
    /// Connections of the pool's that were opened.
    let connectionsOpened = Total()
    /// Bytes of requests that were sent, heads and bodies.
    let bytesSent = Total()
    /// Bytes of responses that were received, heads and bodies.
    let bytesReceived = Total()
}
