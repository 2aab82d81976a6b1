// What an engine is busy with, and what it has done: the pools of all its shards at about one moment, and the totals.
//
// Must not know: sessions, tasks.

import URLLoadingPolicy

/// An engine in numbers.
package struct EngineGauges: Sendable {
    /// What the pools hold.
    package var pool = PoolCounts()
    /// Those of the open connections that speak HTTP/2.
    package var http2Connections = 0
    /// Requests that got a connection, each attempt for itself.
    package var requests: Int64 = 0
    /// Requests whose connection had carried another before.
    package var reuses: Int64 = 0
    /// Requests that were sent again without the program's knowledge.
    package var replays: Int64 = 0
    /// Connections that were opened.
    package var connectionsOpened: Int64 = 0
    /// Bytes of requests that were sent.
    package var bytesSent: Int64 = 0
    /// Bytes of responses that were received.
    package var bytesReceived: Int64 = 0

    /// An engine that has done nothing.
    package init() {}

    mutating func add(_ totals: EngineTotals) {
        requests &+= totals.requests.value
        reuses &+= totals.reuses.value
        replays &+= totals.replays.value
        connectionsOpened &+= totals.connectionsOpened.value
        bytesSent &+= totals.bytesSent.value
        bytesReceived &+= totals.bytesReceived.value
    }

    mutating func add(_ counts: PoolCounts, http2 connections: Int) {
        pool.add(counts)
        http2Connections += connections
    }
}
