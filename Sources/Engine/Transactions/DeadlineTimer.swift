// A timer that transactions use one after the other.
//
// Measured: a timer of its own cost each small request four allocations and a place in the heap; a lent one that has
// been used before costs one store, since deadlines of a session's requests only move later.

import URLLoadingSystem

/// One loop timer, lent to one transaction at a time.
final class DeadlineTimer {
    // `@exclusivity(unchecked)`: as in `Transaction`.

    @exclusivity(unchecked) private var owner: Transaction?
    @exclusivity(unchecked) private var timer: LoopTimer?

    /// Makes a timer without an owner; it gets one later.
    init(reactor: Reactor) {
        timer = reactor.makeTimer { [unowned self] in owner?.deadlinePassed() }
    }

    /// Lends the timer; the owner is told when a deadline passes.
    func lend(to transaction: Transaction) {
        owner = transaction
    }

    /// Sets or moves the deadline, as `Reactor.elapsed` counts time; `nil` unsets it.
    func set(_ deadline: Duration?) {
        if let deadline {
            timer?.set(elapsed: deadline)
        } else {
            timer?.clear()
        }
    }

    /// Takes the timer back from its owner.
    func giveBack() {
        timer?.clear()
        owner = nil
    }
}
