// A binary min-heap of (time, slot) that can find a slot again. Pure: no clock, no timer objects, no callbacks.

/// Slots ordered by time; each slot is in the heap at most once.
struct TimerHeap {
    struct Entry {
        var time: Duration
        var slot: Int
    }

    private var entries: [Entry] = []
    /// Where each slot's entry is, or -1.
    private var positions: [Int] = []

    var first: Entry? { entries.first }

    /// Inserts a slot, or moves it to `time`.
    mutating func set(_ slot: Int, to time: Duration) {
        while positions.count <= slot {
            positions.append(-1)
        }
        let position = positions[slot]
        if position >= 0 {
            entries[position].time = time
            siftUp(position)
            siftDown(positions[slot])
        } else {
            entries.append(Entry(time: time, slot: slot))
            positions[slot] = entries.count - 1
            siftUp(entries.count - 1)
        }
    }

    /// Takes a slot out; nothing happens when it is not in.
    mutating func remove(_ slot: Int) {
        guard slot < positions.count, positions[slot] >= 0 else { return }
        let position = positions[slot]
        positions[slot] = -1
        let last = entries.removeLast()
        guard position < entries.count else { return }
        entries[position] = last
        positions[last.slot] = position
        siftUp(position)
        siftDown(positions[last.slot])
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].time < entries[parent].time else { return }
            exchange(child, parent)
            child = parent
        }
    }

    private mutating func siftDown(_ start: Int) {
        var parent = start
        while true {
            let left = 2 * parent + 1
            guard left < entries.count else { return }
            let right = left + 1
            let least = right < entries.count && entries[right].time < entries[left].time ? right : left
            guard entries[least].time < entries[parent].time else { return }
            exchange(least, parent)
            parent = least
        }
    }

    private mutating func exchange(_ a: Int, _ b: Int) {
        entries.swapAt(a, b)
        positions[entries[a].slot] = a
        positions[entries[b].slot] = b
    }
}
