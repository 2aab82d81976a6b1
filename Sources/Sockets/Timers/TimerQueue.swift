// All timers of one reactor. A timer whose deadline moves later keeps its old place in the heap and is put right when
// that place comes up: an idle deadline that moves with every byte costs one store. Time is an argument.

/// The timers of one reactor.
final class TimerQueue {
    private struct Slot {
        // A timer gives its slot back in its deinit, so a slot never outlives its timer.
        unowned var timer: LoopTimer?
    }

    private var heap = TimerHeap()
    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    private var due: [LoopTimer] = []

    /// The earliest time at which `fire` may have something to do.
    var nextWake: ContinuousClock.Instant? { heap.first?.time }

    /// Timers that hold a place in the heap, cleared ones whose old place has not come up included.
    var queuedCount: Int { heap.count }

    /// Timers that exist.
    var timerCount: Int { slots.count - freeSlots.count }

    /// The earliest deadline that is really set.
    func earliestDeadline() -> ContinuousClock.Instant? {
        while let (time, slot) = heap.first {
            guard let deadline = slots[slot].timer?.deadline else {
                heap.remove(slot)
                continue
            }
            if deadline == time {
                return time
            }
            heap.set(slot, to: deadline)
        }
        return nil
    }

    /// Fires what is due. A timer set again by a callback waits for the next call, whatever its deadline.
    func fire(now: ContinuousClock.Instant) {
        while let (time, slot) = heap.first, time <= now {
            guard let timer = slots[slot].timer, let deadline = timer.deadline else {
                heap.remove(slot)
                continue
            }
            if deadline <= now {
                heap.remove(slot)
                due.append(timer)
            } else {
                heap.set(slot, to: deadline)
            }
        }
        guard !due.isEmpty else { return }
        var firing: [LoopTimer] = []
        swap(&firing, &due)
        for timer in firing {
            timer.fireIfDue(now: now)
        }
        firing.removeAll(keepingCapacity: true)
        if due.isEmpty {
            swap(&firing, &due)
        }
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

    func deadlineChanged(_ slot: Int, to deadline: ContinuousClock.Instant) {
        if let queued = heap.time(of: slot), queued <= deadline {
            return
        }
        heap.set(slot, to: deadline)
    }
}
