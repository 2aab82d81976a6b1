// A question about the peer of a dial, which has to be answered before the connection may be used. The request behind
// the dial is asked, and bound to it: rule 4 of `PoolMachine`. Must not know what is asked, and what is answered.

extension PoolMachine {
    /// The request a dial is under way for; nil when another connection has served it and none has taken its place.
    package func request(behind connection: ConnectionID) -> RequestID? {
        guard let row = records.row(of: connection), records.connections[row].state == .dialling,
            records.connections[row].waiter != PoolRecords.none
        else { return nil }
        return records.waiters[records.connections[row].waiter].request
    }

    /// The request behind a dial is asked about its peer, and bound to it.
    package mutating func asked(by connection: ConnectionID) {
        guard let row = records.row(of: connection), records.connections[row].state == .dialling,
            records.connections[row].waiter != PoolRecords.none
        else { return }
        records.bind(records.connections[row].waiter)
        records.setAsking(true, of: row)
    }

    /// What was asked about the peer of a dial is answered, and the dial goes on.
    package mutating func answered(_ connection: ConnectionID, now: Duration) {
        guard let row = records.row(of: connection), records.connections[row].state == .dialling else { return }
        endQuestion(of: row, now)
    }

    /// The judge that a dial has asked has no say, and the session judges it: the dial goes over to the session's key,
    /// with the requests that it is for and those of the same judge that wait without a dial. Returns these requests.
    package mutating func leftToSession(_ connection: ConnectionID, now: Duration) -> [RequestID] {
        guard let row = records.row(of: connection), records.connections[row].state == .dialling else { return [] }
        let before = records.connections[row].key
        let key = records.keys[before].key.judgedBySession
        guard key != records.keys[before].key else { return [] }
        let after = records.keyRow(for: key)
        var moved = requestsPaired(with: row)
        records.move(dial: row, to: after)
        while let waiter = records.firstWithoutDial(of: before) {
            moved.append(records.waiters[waiter].request)
            records.move(waiter: waiter, to: after)
        }
        records.dropKeyIfUnused(before)
        // What the session has open may be shared, and have room for those that were not asked.
        serveWaiting(of: after, now: now)
        return moved
    }

    /// When the requests of a key last had to wait because everything that is under way for them waited for an answer:
    /// `now` while they do, nil if they never had to.
    package func lastStandstill(of key: PoolKey, now: Duration) -> Duration? {
        guard let row = records.keyRow(of: key) else { return nil }
        return records.keys[row].standsStill ? now : records.keys[row].lastStandstill
    }

    mutating func endQuestion(of dial: Int, _ now: Duration) {
        guard records.connections[dial].isAsking else { return }
        let key = records.connections[dial].key
        if records.keys[key].standsStill { records.noteStandstill(now, of: key) }
        records.setAsking(false, of: dial)
    }
}
