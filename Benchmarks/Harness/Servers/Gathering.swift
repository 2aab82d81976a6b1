// Requests that are all to be there at once, however long that takes.

import Synchronization
import URLLoadingLoopbackServer

/// Holds requests back until so many have come, then answers them all and begins anew.
final class Gathering: Sendable {
    private struct State {
        var gate = ServerGate()
        var count = 0
    }

    private let state = Mutex(State())

    /// An answer that is given when so many requests are there.
    func answer(whenThereAre most: Int) -> ServerResponse {
        let (gate, isFull) = state.withLock { state in
            state.count += 1
            let gate = state.gate
            let isFull = state.count >= most
            if isFull { state = State() }
            return (gate, isFull)
        }
        if isFull { gate.open() }
        return .slow([.init(Material.smallBody, when: gate)])
    }
}
