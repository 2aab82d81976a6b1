// Where a loop keeps its TLS tickets: a list for each place, way and judge (`TicketKey`). A handshake looks its list up once and
// then has the list itself. Tickets that come late for a list which is not kept any more are lost with it.
//
// Must not know: what a ticket is, when one is used.

import URLLoadingTLS

/// A bounded set of lists of tickets.
final class TicketStore {
    private struct Entry {
        let list: TLSTickets
        /// The number of the latest call that asked for it.
        var asked: Int
    }

    private var entries: [TicketKey: Entry] = [:]
    private var timesAsked = 0
    private let most: Int

    /// A store of at most so many lists.
    init(most: Int = 256) {
        self.most = max(1, most)
    }

    /// The tickets of a key. A new key takes the place of the one that was asked for longest ago.
    func list(of key: TicketKey) -> TLSTickets {
        timesAsked += 1
        if let place = entries.index(forKey: key) {
            entries.values[place].asked = timesAsked
            return entries.values[place].list
        }
        // Rare, and the store is small: a search is cheaper than keeping an order.
        if entries.count >= most, let oldest = entries.min(by: { $0.value.asked < $1.value.asked }) {
            entries[oldest.key] = nil
        }
        let list = TLSTickets()
        entries[key] = Entry(list: list, asked: timesAsked)
        return list
    }

    /// Forgets all tickets.
    func removeAll() {
        entries = [:]
    }
}
