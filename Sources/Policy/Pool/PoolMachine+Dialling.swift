// When a connection is opened, for which request, and what makes room for it: rules 2 and 3 of `PoolMachine`. Must not
// know: what a dial is.

extension PoolMachine {
    /// Gives dials that have lost their request, or requests that are new, what they lack.
    mutating func matchUp(_ key: Int) {
        while let waiter = records.matchOne(key) { will(.joined(records.waiters[waiter].request)) }
    }

    /// The waiting requests that a row's dial is paired with.
    func requestsPaired(with row: Int) -> [RequestID] {
        guard records.connections[row].state == .dialling else { return [] }
        return records.attendants(of: row).map { records.waiters[$0].request }
    }

    /// Tells of requests whose dial has gone, and which go on waiting without one.
    mutating func noteStranded(_ requests: [RequestID]) {
        for request in requests where lacksDial(request) { will(.stranded(request)) }
    }

    mutating func fail(_ waiter: Int) {
        will(.fail(records.waiters[waiter].request))
        records.removeWaiter(waiter)
    }

    /// Dials for those at this host that have no dial under way, first in line first, as far as it may.
    mutating func dialIfNeeded(_ host: Int) {
        while records.hosts[host].unmet > 0, var waiter = nextToDial(at: host) {
            var key = records.waiters[waiter].key
            if records.hosts[host].connections >= limits.perHost, !makeRoom(at: host, for: key) {
                // A connection that is kept for one key though it takes no request for the moment can
                // make room for another key.
                guard let other = nextToDial(at: host, except: key) else { return }
                (waiter, key) = (other, records.waiters[other].key)
                guard makeRoom(at: host, for: key) else { return }
            }
            will(.dial(records.addDial(for: waiter, at: requestsSoFar)))
            // Where they will share it, it is for all.
            matchUp(key)
        }
    }

    /// The first waiting request at a host for which no dial is under way.
    func nextToDial(at host: Int, except excluded: Int = PoolRecords.none) -> Int? {
        var best: Int?
        var key = records.hosts[host].firstKey
        while key != PoolRecords.none {
            if key != excluded, records.keys[key].unmet > 0, let waiter = records.firstWithoutDial(of: key),
                best.map({ records.waiters[waiter].precedes(records.waiters[$0]) }) ?? true
            {
                best = waiter
            }
            key = records.keys[key].next
        }
        return best
    }

    /// Ends one unused dial or connection of a host, so that another may be dialled.
    mutating func makeRoom(at host: Int, for waiting: Int) -> Bool {
        var oldest: (row: Int, expiry: Duration)?
        var key = records.hosts[host].firstKey
        while key != PoolRecords.none {
            // The newest dial is the one that has got least far.
            if let dial = records.newestSurplusDial(of: key) {
                cancel(dial)
                records.dropKeyIfUnused(key)
                return true
            }
            var row = records.keys[key].idle.oldest
            // As in `isBeyondNeed`.
            while key == waiting, row != PoolRecords.none, records.connections[row].capacity == 0 {
                row = records.connections[row].newer
            }
            if row != PoolRecords.none, let expiry = records.connections[row].expiry,
                oldest.map({ expiry < $0.expiry }) ?? true
            {
                oldest = (row, expiry)
            }
            key = records.keys[key].next
        }
        guard let row = oldest?.row else { return false }
        will(.close(records.id(of: row)))
        records.move(row, to: .free)
        records.dropKeyIfUnused(records.connections[row].key)
        return true
    }

    mutating func cancel(_ dial: Int) {
        will(.cancelDial(records.id(of: dial)))
        records.move(dial, to: .free)
    }
}
