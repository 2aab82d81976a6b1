// How long a connection may be on its way (B6.39). While a delegate is asked about it the time stands still (B6.9).
//
// Must not know: what a connection's steps are.

import URLLoadingSystem

/// A limit of time that can stand still.
final class ConnectionLimit {
    private let reactor: Reactor
    private let timer: LoopTimer
    /// What is left while it stands still.
    private var left: Duration?
    private var deadline: Duration

    /// Begins now.
    init(_ limit: Duration, reactor: Reactor, passed: @escaping () -> Void) {
        self.reactor = reactor
        timer = reactor.makeTimer(passed)
        deadline = reactor.elapsed + limit
        timer.set(elapsed: deadline)
    }

    /// Stops counting.
    func standStill() {
        guard left == nil else { return }
        left = deadline - reactor.elapsed
        timer.clear()
    }

    /// Counts on, where it stands still.
    func goOn() {
        guard let rest = left.take() else { return }
        deadline = reactor.elapsed + rest
        timer.set(elapsed: deadline)
    }
}
