// A peer that has gone without a word: one kept connection has told so by its silence, and those that were
// kept beside it may lead nowhere as well. HTTP/2 asks by a PING (H6.4); HTTP/1.1 cannot ask, and an idle
// connection is soon replaced.
//
// Must not know how long the silence was.

extension PoolMachine {
    /// Not one byte has answered a request on this connection in all the time it had. What its key has idle is closed
    /// where it has not served since this connection was idle (B16.6); those that have are known to be good.
    package mutating func fellSilent(_ connection: ConnectionID) {
        guard let row = records.row(of: connection), let expiry = records.connections[row].expiry else { return }
        let key = records.connections[row].key
        // Each is looked at again before it is closed: closing one makes room for a dial, for which others may
        // close and lose their places.
        for other in records.rows(of: records.keys[key].idle)
        where records.connections[other].state == .idle && records.connections[other].key == key
            && !records.connections[other].isShared
        {
            // What was idle earlier would have expired earlier.
            if let end = records.connections[other].expiry, end <= expiry { close(other) }
        }
    }
}
