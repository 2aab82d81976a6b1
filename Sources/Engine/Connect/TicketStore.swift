// Where a loop keeps its TLS tickets: a list for each place, way and judge (`TicketKey`). A handshake looks its list up
// once and then has the list itself. Tickets that come late for a list which is not kept any more are lost with it.
//
// Must not know: what a ticket is, when one is used.

import URLLoadingTLS

/// A bounded set of lists of tickets.
final class TicketStore {
    private struct Entry {
        let key: TicketKey
        let list: TLSTickets
        /// The number of the latest call that asked for it.
        var asked: Int
    }

    private var entries: [Entry] = []
    private var places: [TicketKey: Int] = [:]
    private var timesAsked = 0
    private let most: Int

    /// A store of at most so many lists.
    init(most: Int = 256) {
        self.most = max(1, most)
    }

    /// The tickets of a key. A new key takes the place of the one that was asked for longest ago.
    func list(of key: TicketKey) -> TLSTickets {
        timesAsked += 1
        if let place = places[key] {
            entries[place].asked = timesAsked
            return entries[place].list
        }
        let entry = Entry(key: key, list: TLSTickets(), asked: timesAsked)
        if entries.count < most {
            places[key] = entries.count
            entries.append(entry)
        } else {
            // Rare, and only numbers are compared: cheaper than keeping an order.
            var oldest = 0
            for place in entries.indices where entries[place].asked < entries[oldest].asked { oldest = place }
            places[entries[oldest].key] = nil
            places[key] = oldest
            entries[oldest] = entry
        }
        return entry.list
    }

    /// Forgets all tickets.
    func removeAll() {
        entries = []
        places = [:]
    }
}
