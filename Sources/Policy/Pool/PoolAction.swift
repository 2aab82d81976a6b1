// What the pool wants done. Values only.

/// What `PoolMachine` wants done next; its driver carries it out.
package enum PoolAction: Sendable, Equatable {
    /// Close a connection or give a dial up: it is unused, or all is to end.
    case close(ConnectionID)
    /// Give a dial up for which no request waits any more.
    case cancelDial(ConnectionID)
    /// Open a connection, to be reported as `established` or `dialFailed`; the machine knows its key, and the requests
    /// behind it, which wait for the network from now on.
    case dial(ConnectionID)
    /// A waiting request has got a dial that was under way before: it waits for the network from now on.
    case joined(RequestID)
    /// The dial of a waiting request has served another or has failed: the request waits for a free connection again,
    /// unless it has a dial by now.
    case stranded(RequestID)
    /// The request that was asked about the peer of a dial has gone; another one waits for that dial now. An open
    /// question is to be put to that one.
    case ask(ConnectionID)
    /// Fail a waiting request with the error of the dial that just failed.
    case fail(RequestID)
    /// Fail a waiting request: the pool is shut down.
    case refuse(RequestID)
    /// Give a request a place on a connection; a driver that cannot reports the connection as `released`.
    case use(RequestID, ConnectionID)
    /// Fire at this time, counted from wherever the driver counts, instead of any earlier setting.
    case setTimer(Duration)
    /// Do not fire any more.
    case clearTimer
}
