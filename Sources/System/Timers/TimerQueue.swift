// All timers of one reactor. A timer whose deadline moves later, or is cleared, keeps its old place in the heap and is
// put right when that place comes up: an idle deadline that moves with every byte costs one store. Time is an argument.
//
// Inside, time is a Duration since the queue's epoch. Measured: ContinuousClock.Instant is a resilient type, handled
// through its metadata, and storing optional ones made moving a deadline cost 57 ns instead of 15.

/// The timers of one reactor.
final class TimerQueue {
    // `@exclusivity(unchecked)`: as in `Reactor`; a timer's callback runs only when heap and slots are left alone.

    private struct Slot {
        // A timer gives its slot back in its deinit, so a slot never outlives its timer.
        unowned var timer: LoopTimer?
    }

    /// Where this queue's time begins.
    let epoch: ContinuousClock.Instant

    @exclusivity(unchecked) private var heap = TimerHeap()
    @exclusivity(unchecked) private var slots: [Slot] = []
    @exclusivity(unchecked) private var freeSlots: [Int] = []

    init(epoch: ContinuousClock.Instant) {
        self.epoch = epoch
    }

    /// The earliest time at which `fire` may have something to do.
    var nextWake: Duration? { heap.first?.time }

    /// The earliest deadline that is really set.
    func earliestDeadline() -> Duration? {
        while let first = heap.first {
            guard let timer = settle(first) else { continue }
            if timer.queuedTime == first.time {
                return first.time
            }
        }
        return nil
    }

    /// Fires what is due.
    ///
    /// A timer set again by a callback waits for the next call, whatever its deadline.
    func fire(now: Duration) {
        guard let first = heap.first, first.time <= now else { return }
        var due: [Int] = []
        while let first = heap.first, first.time <= now {
            guard let timer = settle(first), timer.queuedTime == first.time else { continue }
            dequeue(timer, first.slot)
            timer.isDue = true
            due.append(first.slot)
        }
        // Order: all are out of the heap before the first fires, as callbacks set, clear and release timers. One that
        // was released meanwhile does not fire, nor does a new one in its slot.
        for slot in due {
            guard let timer = slots[slot].timer, timer.isDue else { continue }
            timer.isDue = false
            timer.fireIfDue(now: now)
        }
    }

    /// Puts the heap's first entry right; nil when its timer is not set any more.
    private func settle(_ entry: TimerHeap.Entry) -> LoopTimer? {
        guard let timer = slots[entry.slot].timer else {
            heap.remove(entry.slot)
            return nil
        }
        guard let time = timer.time else {
            dequeue(timer, entry.slot)
            return nil
        }
        if time != entry.time {
            enqueue(timer, entry.slot, time)
        }
        return timer
    }

    private func dequeue(_ timer: LoopTimer, _ slot: Int) {
        heap.remove(slot)
        timer.queuedTime = nil
    }

    // MARK: From LoopTimer

    func add(_ timer: LoopTimer) -> Int {
        if let slot = freeSlots.popLast() {
            slots[slot].timer = timer
            return slot
        }
        slots.append(Slot(timer: timer))
        return slots.count - 1
    }

    func remove(_ slot: Int) {
        heap.remove(slot)
        slots[slot].timer = nil
        freeSlots.append(slot)
    }

    func enqueue(_ timer: LoopTimer, _ slot: Int, _ time: Duration) {
        heap.set(slot, to: time)
        timer.queuedTime = time
    }
}
