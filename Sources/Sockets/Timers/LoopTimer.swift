// One timer of a loop. Not a clock: it fires when its reactor's turn sees that the deadline has passed.

/// A timer that belongs to one loop. It never fires after it is gone.
package final class LoopTimer {
    /// When it will fire; nil when it is not set.
    package private(set) var deadline: ContinuousClock.Instant?

    private let queue: TimerQueue
    private let fire: () -> Void
    private var slot = -1

    init(queue: TimerQueue, fire: @escaping () -> Void) {
        self.queue = queue
        self.fire = fire
        slot = queue.add(self)
    }

    deinit {
        queue.remove(slot)
    }

    /// Sets or moves the deadline. Moving it later costs one store.
    package func set(_ deadline: ContinuousClock.Instant) {
        self.deadline = deadline
        queue.deadlineChanged(slot, to: deadline)
    }

    /// Unsets the deadline: one store.
    package func clear() {
        deadline = nil
    }

    func fireIfDue(now: ContinuousClock.Instant) {
        guard let deadline, deadline <= now else { return }
        self.deadline = nil
        fire()
    }
}
