// When a connection is opened, for whom, and what makes room for it: rules 2 and 3 of `PoolMachine`. Must not know: what a dial is.

extension PoolMachine {
    /// Gives dials that have lost their request, or requests that are new, what they lack.
    mutating func matchUp(_ key: Int) {
        while let waiter = books.matchOne(key) { will(.joined(books.waiters[waiter].request)) }
    }

    /// The waiting requests that a row's dial is paired with.
    func requestsPaired(with row: Int) -> [RequestID] {
        guard books.connections[row].state == .dialling else { return [] }
        return books.attendants(of: row).map { books.waiters[$0].request }
    }

    /// Tells of requests whose dial has gone, and which go on waiting without one.
    mutating func noteStranded(_ requests: [RequestID]) {
        for request in requests where lacksDial(request) { will(.stranded(request)) }
    }

    mutating func fail(_ waiter: Int) {
        will(.fail(books.waiters[waiter].request))
        books.removeWaiter(waiter)
    }

    /// Dials for those at this host that have no dial under way, first in line first, as far as it may.
    mutating func dialIfNeeded(_ host: Int) {
        while books.hosts[host].unmet > 0, var waiter = nextToDial(at: host) {
            var key = books.waiters[waiter].key
            if books.hosts[host].connections >= limits.perHost, !makeRoom(at: host, for: key) {
                // A connection that is kept for one key though it takes no request for the moment can make room for another key.
                guard let other = nextToDial(at: host, except: key) else { return }
                (waiter, key) = (other, books.waiters[other].key)
                guard makeRoom(at: host, for: key) else { return }
            }
            will(.dial(books.addDial(for: waiter, at: requestsSoFar)))
            // Where they will share it, it is for all.
            matchUp(key)
        }
    }

    /// The first waiting request at a host for which no dial is under way.
    func nextToDial(at host: Int, except excluded: Int = PoolBooks.none) -> Int? {
        var best: Int?
        var key = books.hosts[host].firstKey
        while key != PoolBooks.none {
            if key != excluded, books.keys[key].unmet > 0, let waiter = books.firstWithoutDial(of: key),
                best.map({ books.waiters[waiter].precedes(books.waiters[$0]) }) ?? true
            {
                best = waiter
            }
            key = books.keys[key].next
        }
        return best
    }

    /// Ends one unused dial or connection of a host, so that another may be dialled.
    mutating func makeRoom(at host: Int, for waiting: Int) -> Bool {
        var oldest: (row: Int, expiry: Duration)?
        var key = books.hosts[host].firstKey
        while key != PoolBooks.none {
            // The newest dial is the one that has got least far.
            if let dial = books.newestSurplusDial(of: key) {
                cancel(dial)
                books.dropKeyIfUnused(key)
                return true
            }
            var row = books.keys[key].idle.oldest
            // As in `isBeyondNeed`.
            while key == waiting, row != PoolBooks.none, books.connections[row].capacity == 0 {
                row = books.connections[row].newer
            }
            if row != PoolBooks.none, let expiry = books.connections[row].expiry,
                oldest.map({ expiry < $0.expiry }) ?? true
            {
                oldest = (row, expiry)
            }
            key = books.keys[key].next
        }
        guard let row = oldest?.row else { return false }
        will(.close(books.id(of: row)))
        books.move(row, to: .free)
        books.dropKeyIfUnused(books.connections[row].key)
        return true
    }

    mutating func cancel(_ dial: Int) {
        will(.cancelDial(books.id(of: dial)))
        books.move(dial, to: .free)
    }
}
