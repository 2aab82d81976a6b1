// Where a loop keeps its TLS tickets: a list for each place, way and judge (`TicketKey`). A handshake looks its list up once and
// then has the list itself; whatever comes late for a list that was forgotten is forgotten with it.
//
// Must not know: what a ticket is, when one is used.

import URLLoadingTLS

/// A bounded set of lists of tickets.
final class TicketStore {
    private var lists: [TicketKey: TLSTickets] = [:]
    /// The keys, the oldest first.
    private var order: [TicketKey] = []
    private let most: Int

    /// A store of at most so many lists.
    init(most: Int = 256) {
        self.most = max(1, most)
    }

    /// How many tickets are kept.
    var count: Int { lists.values.reduce(0) { $0 + $1.count } }

    /// The tickets of a key; a new key takes the place of one without tickets, else of the oldest.
    func tickets(of key: TicketKey) -> TLSTickets {
        if let known = lists[key] { return known }
        if order.count == most {
            let unused = order.firstIndex { lists[$0]?.count == 0 }
            lists[order.remove(at: unused ?? 0)] = nil
        }
        let list = TLSTickets()
        lists[key] = list
        order.append(key)
        return list
    }

    /// Forgets a key's tickets.
    func forget(_ key: TicketKey) {
        guard lists.removeValue(forKey: key) != nil else { return }
        order.removeAll { $0 == key }
    }

    /// Forgets the tickets of these keys.
    func forget(where isOver: (TicketKey) -> Bool) {
        lists = lists.filter { !isOver($0.key) }
        order.removeAll(where: isOver)
    }
}
