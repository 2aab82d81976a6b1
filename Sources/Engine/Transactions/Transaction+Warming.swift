// A request that opens a connection for those that follow, and sends nothing.

import URLLoadingPolicy

extension Transaction {
    /// Whether it is one.
    var isWarming: Bool { handle.request.warms != nil }

    /// Its connection is open, and back in the pool.
    func opened(_ connection: Connection) {
        timeline.record(connection.setup)
        timeline.tls = connection.negotiated
        timeline.spoken = connection.isHTTP2 ? .http2 : .http11
        warmed(.ready(isShared: connection.isHTTP2))
    }

    /// It is over without an error.
    func warmed(_ warmth: PoolMachine.Warmth) {
        receiver.warmedUp(warmth)
        finish(nil)
    }
}
