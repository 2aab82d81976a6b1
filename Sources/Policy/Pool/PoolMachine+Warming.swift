// Connections that are opened before there is a request for them: rule 12 of `PoolMachine`. Must not know: which
// program wants them, and why.

extension PoolMachine {
    /// What comes of wanting a connection to be ready.
    package enum Warmth: Sendable, Hashable {
        /// There are as many as are wanted; one is enough where it is shared.
        case ready(isShared: Bool)
        /// The host may have no more, or others wait for its next.
        case full
        /// One is being opened, or awaited: the request gets it, and is to give it back at once.
        case opening
    }

    /// So many unused connections of a key are wanted before there are requests for them; `request` opens one, if one
    /// is missing. It closes nothing, waits for none that is in use, and is bound to its dial from the beginning.
    package mutating func warmedUp(_ request: RequestID, key: PoolKey, wanted: Int, now: Duration) -> Warmth {
        guard phase == .running else { return .full }
        let row = records.keyRow(for: key)
        defer { records.dropKeyIfUnused(row) }
        if let isShared = isReady(row, wanted: wanted, now: now) { return .ready(isShared: isShared) }
        let host = records.keys[row].host
        guard records.waiterRow(of: request) == nil, records.hosts[host].unmet == 0 else { return .full }
        // It joins a dial that is for all requests, or takes one for which no request waits.
        let joins = records.dial(of: row, forAskedAt: requestsSoFar) != nil
        guard joins || records.hosts[host].connections < limits.perHost else { return .full }
        records.addWaiter(
            Waiter(
                request: request, key: row, priority: 0.5,
                order: Waiter.order(askedAt: requestsSoFar, atFront: false), needsNewConnection: true))
        requestsSoFar += 1
        guard !joins, let waiter = records.waiterRow(of: request) else {
            matchUp(row)
            return .opening
        }
        will(.dial(records.addDial(for: waiter, at: requestsSoFar)))
        records.bind(waiter)
        return .opening
    }

    /// Whether a key has what is wanted, and whether that is a shared connection; nil where it has not.
    private mutating func isReady(_ key: Int, wanted: Int, now: Duration) -> Bool? {
        // Those that are too old are closed on the way.
        guard let first = usable(of: key, now: now) else { return nil }
        if records.connections[first].isShared { return true }
        var (row, count) = (records.keys[key].idle.newest, 0)
        while row != PoolRecords.none, count < wanted {
            if let expiry = records.connections[row].expiry, expiry > now { count += 1 }
            row = records.connections[row].older
        }
        return count >= wanted ? false : nil
    }
}
