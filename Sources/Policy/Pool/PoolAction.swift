// What the pool wants done after an event. Values only; `PoolMachine` fills them in and its driver carries them out.

/// What to do with the one timer of a machine.
package enum TimerAction: Sendable, Equatable {
    /// Leave it as it is.
    case none
    /// Fire at this time, counted from wherever the driver counts, instead of any earlier setting.
    case set(Duration)
    /// Do not fire any more.
    case clear
}

/// The answer of `PoolMachine` to one event.
///
/// Order: close and cancel first, so that the limit holds when the dial starts.
package struct PoolActions: Sendable {
    /// Connections to close, and dials to give up; after an immediate shut-down also those that serve somebody.
    package var close: [ConnectionID] = []
    /// A dial to give up; the machine has forgotten it.
    package var cancelDial: ConnectionID?
    /// A waiting request to fail with the error of the dial that just failed, or because the pool is shut down.
    package var fail: RequestID?
    /// Waiting requests turned away by an immediate shut-down.
    package var refused: [RequestID] = []
    /// A request and the connection that is its own from now on.
    package var use: (request: RequestID, connection: ConnectionID)?
    /// A dial whose request went away after it was `asked` about the peer; another one waits for it now. An open question
    /// is to be put to that one.
    package var ask: ConnectionID?
    /// A waiting request that has got a dial which was under way before: it waits for the network from now on.
    package var joined: RequestID?
    /// A waiting request whose dial has served another or has failed: it waits for a free connection again, unless it has
    /// a dial by now.
    package var stranded: RequestID?
    /// A connection to open, to be reported as `established` or `dialFailed`; the machine knows its key, and the request
    /// behind it, which waits for the network from now on.
    package var dial: ConnectionID?
    /// What to do with the pool's timer.
    package internal(set) var timer = TimerAction.none

    init() {}
}

/// The pool's settings.
package struct PoolLimits: Sendable {
    /// Connections at the same time to one host, at least 1 (B16.1).
    package let perHost: Int
    /// How long a connection that serves nobody is kept, open or being opened (B16.6).
    package let idleTimeout: Duration
    /// Connections that serve nobody, over all hosts, at least 1.
    package let idle: Int

    /// Makes limits; a number below 1 counts as 1, and the time is kept between zero and a year.
    package init(perHost: Int = 6, idleTimeout: Duration = .seconds(60), idle: Int = .max) {
        self.perHost = max(1, perHost)
        self.idle = max(1, idle)
        self.idleTimeout = Span.bounded(idleTimeout)
    }
}

/// How many of each the pool holds.
package struct PoolCounts: Sendable, Equatable {
    /// Connections nobody uses.
    package var idle = 0
    /// Connections in use by a request.
    package var leased = 0
    /// Connections being opened.
    package var dialling = 0
    /// Requests that have no connection yet.
    package var waiting = 0

    /// Makes counts, all zero unless told.
    package init(idle: Int = 0, leased: Int = 0, dialling: Int = 0, waiting: Int = 0) {
        self.idle = idle
        self.leased = leased
        self.dialling = dialling
        self.waiting = waiting
    }

    /// All connections, in whatever state.
    package var connections: Int { idle + leased + dialling }
}
