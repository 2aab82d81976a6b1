// A connection as the pool knows it: a row of `PoolRecords`, which alone changes it.

/// One connection.
struct PooledConnection {
    enum State {
        case free
        case dialling
        /// Open, without a request.
        case idle
        /// Serves a request or several, and can serve more at the same time.
        case available
        /// Serves as many as it can.
        case full
        /// Serves its requests to their end and takes no new ones.
        case draining
    }

    var state = State.free
    /// While it is open: how many requests it serves.
    var used = 0
    /// While it is open: how many it can serve at the same time.
    var capacity = 1
    /// While it is open: whether its protocol lets requests share it, however many at present.
    var isShared = false
    /// Counts the uses of this row, so that the id of a closed connection never means its successor.
    var generation = 0
    var key = PoolRecords.none
    /// Neighbours in the key's list of dialling, idle or available connections.
    var older = PoolRecords.none
    var newer = PoolRecords.none
    /// While dialling: the first of the waiting requests that it is under way for.
    var waiter = PoolRecords.none
    /// While dialling: how many requests it is under way for; more than one where they will share the connection.
    var attendants = 0
    /// While dialling: its request is asked about the peer, and has not answered.
    var isAsking = false
    /// How many requests had asked when the dial was begun.
    var dialledAt = 0
    /// While it is open, and where connections may grow too old (`mayRetire`): when it is.
    var retirement = Duration.zero
    /// While it is idle: its neighbours among the idle connections of all keys.
    var idleOlder = PoolRecords.none
    var idleNewer = PoolRecords.none
    /// While it is unused: when it is closed for that.
    var expiry: Duration?
    /// The deadline that `IdleDeadlines` holds for it.
    var queuedDeadline: Duration?

    /// What an open connection is doing, by its numbers.
    var stateInUse: State { used >= capacity ? .full : .available }
    /// Whether it is idle, or being opened without a waiting request.
    var isUnused: Bool { state == .idle || state == .dialling && waiter == PoolRecords.none }
    /// Whether it serves requests, and would take others.
    var isInUse: Bool { state == .available || state == .full }
}
