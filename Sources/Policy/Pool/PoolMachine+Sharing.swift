// Connections that several requests share: what follows when one turns out to be so, and when it is one too many. Rule
// 9 of `PoolMachine`. Must not know: which protocol shares.

extension PoolMachine {
    /// A dial has turned out to lead to a shared connection: those that wait for its key use it, the one that was asked
    /// about its peer first, and one dial is enough for the rest.
    mutating func share(_ row: Int, with asked: Int?, now: Duration) {
        let key = records.connections[row].key
        records.move(row, to: .available)
        records.setShared(row)
        if let asked { place(asked, on: row) }
        while records.connections[row].used < records.connections[row].capacity,
            let waiter = records.firstServable(byNew: row)
        {
            place(waiter, on: row)
        }
        gather(key)
        endSurplusDials(of: key)
        if records.isOutdated(row) { return drain(row) }
        if records.connections[row].used == 0 { park(row, idleLimit: nil, now: now) }
        finish(key)
    }

    /// Leaves the requests of a key that go on waiting one dial for all, or one for those that asked before a renewal
    /// and one for the others. A request that is asked about a peer stays with that dial.
    mutating func gather(_ key: Int) {
        var (dial, hasFirst, hasOutdated) = (records.keys[key].dialling.oldest, false, false)
        while dial != PoolRecords.none {
            let waiter = records.connections[dial].waiter
            if waiter == PoolRecords.none || !records.waiters[waiter].isBound {
                let isOutdated = records.isOutdated(dial)
                if isOutdated ? hasOutdated : hasFirst { records.unpairAll(from: dial) }
                if isOutdated { hasOutdated = true } else { hasFirst = true }
            }
            dial = records.connections[dial].newer
        }
        matchUp(key)
    }

    /// Gives up the dials of a key for which no request waits, where a shared connection stands.
    mutating func endSurplusDials(of key: Int) {
        while let dial = records.newestSurplusDial(of: key) { cancel(dial) }
    }

    /// Whether an unused connection is one too many: a waiting request needs its place, or another,
    /// shared connection has room.
    func isBeyondNeed(_ row: Int) -> Bool {
        let key = records.connections[row].key
        let unmet = records.hosts[records.keys[key].host].unmet
        // A connection that takes no request for the moment is not replaced: its peer wants those requests to wait.
        if unmet > 0, unmet > (records.connections[row].capacity == 0 ? records.keys[key].unmet : 0) { return true }
        guard records.connections[row].isShared else { return false }
        return records.keys[key].available.count > (records.connections[row].state == .available ? 1 : 0)
    }

    /// How long a connection that takes no request for the moment may be idle, where its peer allows so much.
    func barredLimit(_ row: Int, _ idleLimit: Duration?) -> Duration? {
        guard records.keys[records.connections[row].key].unmet > 0 else { return idleLimit }
        return min(idleLimit ?? Self.barredTime, Self.barredTime)
    }

    /// Requests of a key wait for a dial: its idle connections that take none keep them from it for
    /// a short time only (H2.4).
    mutating func hastenBarred(of key: Int, now: Duration) {
        var row = records.keys[key].idle.oldest
        while row != PoolRecords.none {
            let newer = records.connections[row].newer
            if records.connections[row].capacity == 0, let expiry = records.connections[row].expiry,
                expiry > now + Self.barredTime
            {
                expire(row, at: now + Self.barredTime)
            }
            row = newer
        }
    }

    /// Picked by feel: longer than a server takes that is busy for a moment.
    private static var barredTime: Duration { .seconds(5) }

    /// The request of a dial was served by another connection, and no other waits.
    mutating func becameSurplus(_ dial: Int, now: Duration) {
        guard phase == .running, records.keys[records.connections[dial].key].shared == 0, !records.isOutdated(dial)
        else { return cancel(dial) }
        expire(dial, at: now + limits.idleTimeout)
    }
}
