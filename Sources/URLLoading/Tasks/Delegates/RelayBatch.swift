// Tasks that got something to deliver during a turn of a loop, on their way into the lines of their relays.
//
// An operation wakes a thread, and on a busy machine that thread at once takes the loop's place, with one event to
// deliver. So tasks get in line at the end of the turn, all together.
//
// Must not know: what is delivered.

import URLLoadingSystem

/// The tasks of one loop that get in line at the end of the turn; confined to it.
final class RelayBatch: TurnObserver {
    private static let key = ResidentKey<RelayBatch>()

    private struct Group {
        let relay: DelegateRelay
        var clients: [any RelayClient]
    }

    private unowned let reactor: Reactor
    // `@exclusivity(unchecked)`: never leaves its loop, and no relay is called while the list is being changed.
    @exclusivity(unchecked) private var groups: [Group] = []
    /// The room of the turn before, for the next one.
    @exclusivity(unchecked) private var emptied: [Group] = []

    private init(reactor: Reactor) {
        self.reactor = reactor
    }

    /// Those of a loop.
    static func of(_ reactor: Reactor) -> RelayBatch {
        if let made = reactor.resident(key) { return made }
        let new = RelayBatch(reactor: reactor)
        reactor.setResident(key, new)
        return new
    }

    func add(_ client: any RelayClient, to relay: DelegateRelay) {
        if groups.isEmpty { reactor.atEndOfTurn(self) }
        // From the back: a turn's events mostly are of one session, and those of several come in runs.
        if let index = groups.lastIndex(where: { $0.relay === relay }) {
            groups[index].clients.append(client)
        } else {
            groups.append(Group(relay: relay, clients: [client]))
        }
    }

    func turnEnded() {
        var ended = emptied
        emptied = []
        swap(&ended, &groups)
        for group in ended { group.relay.schedule(all: group.clients) }
        ended.removeAll(keepingCapacity: true)
        emptied = ended
    }
}
