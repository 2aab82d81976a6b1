// One timer of a loop. Not a clock: it fires when its reactor's turn sees that the deadline has passed.

/// A timer that belongs to one loop.
///
/// It never fires after it is gone.
package final class LoopTimer {
    // `@exclusivity(unchecked)`: as in `Reactor`; these are stored to and read, never lent.

    /// When it will fire; nil when it is not set.
    package var deadline: ContinuousClock.Instant? { time.map { queue.epoch + $0 } }

    /// The deadline as the queue counts time.
    @exclusivity(unchecked) private(set) var time: Duration?

    /// Where it stands in the queue's heap; nil when it does not.
    ///
    /// Owner: the queue.
    @exclusivity(unchecked) var queuedTime: Duration?

    /// Whether its turn comes among those that the queue is firing.
    ///
    /// Owner: the queue.
    @exclusivity(unchecked) var isDue = false

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

    /// Sets or moves the deadline.
    ///
    /// Moving it later is one store: the timer keeps its place, and is put right when that comes up.
    package func set(_ deadline: ContinuousClock.Instant) {
        set(elapsed: queue.epoch.duration(to: deadline))
    }

    /// Sets or moves the deadline, given as `Reactor.elapsed` counts time.
    package func set(elapsed time: Duration) {
        self.time = time
        if let queuedTime, queuedTime <= time {
            return
        }
        queue.enqueue(self, slot, time)
    }

    /// Unsets the deadline: one store.
    package func clear() {
        time = nil
    }

    func fireIfDue(now: Duration) {
        guard let time, time <= now else { return }
        self.time = nil
        fire()
    }
}
