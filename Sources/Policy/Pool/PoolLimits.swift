// What a pool is told to keep to, and what it holds. Values only.

/// The pool's settings.
package struct PoolLimits: Sendable {
    /// Connections at the same time to one host, at least 1 (B16.1).
    package let perHost: Int
    /// How long an unused connection is kept, open or being opened (B16.6).
    package let idleTimeout: Duration
    /// Idle connections over all hosts, at least 1.
    package let idle: Int
    /// The age from which a connection takes no new requests; nil for no limit (B16.77).
    package let lifetime: Duration?

    /// Makes limits; a number below 1 counts as 1, and times are kept between zero and a year.
    package init(
        perHost: Int = 6, idleTimeout: Duration = .seconds(60), idle: Int = .max, lifetime: Duration? = nil
    ) {
        self.perHost = max(1, perHost)
        self.idle = max(1, idle)
        self.idleTimeout = Span.bounded(idleTimeout)
        self.lifetime = lifetime.map { Span.bounded($0) }
    }
}

/// How many of each the pool holds.
package struct PoolCounts: Sendable, Equatable {
    /// Open connections without a request.
    package var idle = 0
    /// Connections that serve one request or several, and may serve more when there is room.
    package var inUse = 0
    /// Connections that serve their requests to the end and take no new ones.
    package var draining = 0
    /// Connections being opened.
    package var dialling = 0
    /// Requests that have no connection yet.
    package var waiting = 0

    /// Makes counts, all zero unless told.
    package init(idle: Int = 0, inUse: Int = 0, draining: Int = 0, dialling: Int = 0, waiting: Int = 0) {
        self.idle = idle
        self.inUse = inUse
        self.draining = draining
        self.dialling = dialling
        self.waiting = waiting
    }

    /// Counts those of another pool, too.
    package mutating func add(_ other: PoolCounts) {
        idle += other.idle
        inUse += other.inUse
        draining += other.draining
        dialling += other.dialling
        waiting += other.waiting
    }

    /// All connections, in whatever state.
    package var connections: Int { idle + inUse + draining + dialling }
}
