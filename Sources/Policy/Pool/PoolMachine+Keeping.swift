// A connection that is kept from one request for the next one of its task: NTLM and Negotiate prove the user of a
// connection, in several rounds that no other request may come between (B2.93, RFC 4559 §6).
//
// Meanwhile the connection counts as in use. Must not know what is proved, and how.

extension PoolMachine {
    /// A connection in use has done with `request`, and waits for the one that will follow it.
    package mutating func kept(_ connection: ConnectionID, after request: RequestID) {
        guard let row = records.row(of: connection), records.connections[row].used > 0,
            !records.connections[row].isShared
        else { return }
        records.kept[request] = connection
    }

    /// Nothing will follow `request` on the connection that was kept for it: the connection is half way through a
    /// proof, so it is closed.
    package mutating func abandonedKept(after request: RequestID) {
        if let row = takeKept(after: request) { close(row) }
    }

    /// Whether a connection waits for what will follow `request`.
    package func hasKept(after request: RequestID) -> Bool { records.kept[request] != nil }

    /// The row that was kept after a request, which is forgotten with it.
    mutating func takeKept(after request: RequestID) -> Int? {
        guard !records.kept.isEmpty, let connection = records.kept.removeValue(forKey: request) else { return nil }
        return records.row(of: connection)
    }

    /// A connection has gone.
    mutating func forgetKept(_ connection: ConnectionID) {
        guard !records.kept.isEmpty else { return }
        records.kept = records.kept.filter { $0.value != connection }
    }
}
