// When unused connections are to be closed, for a pool that has one timer. One that is used and released
// again and again only moves its own expiry; the heap hears of it when the earlier deadline it holds has passed.
// So the common release costs one comparison, and an entry may be out of date: its owner tells.
//
// Measured: all of the pool's times are durations since any fixed moment of its driver's. `ContinuousClock.Instant` is
// a type whose layout the compiler learns at run time only; rows that hold one cost three times as much to touch.

/// A heap of deadlines, each true when it was added and perhaps too early now.
struct IdleDeadlines {
    struct Entry {
        let deadline: Duration
        let connection: ConnectionID
    }

    private var heap: [Entry] = []

    var count: Int { heap.count }
    var earliest: Entry? { heap.first }

    mutating func add(_ deadline: Duration, for connection: ConnectionID) {
        heap.append(Entry(deadline: deadline, connection: connection))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].deadline < heap[parent].deadline else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func removeEarliest() {
        guard let last = heap.popLast(), !heap.isEmpty else { return }
        heap[0] = last
        sink(0)
    }

    /// Forgets every entry for which `isCurrent` is false.
    mutating func keep(where isCurrent: (Entry) -> Bool) {
        heap.removeAll { !isCurrent($0) }
        for parent in stride(from: heap.count / 2 - 1, through: 0, by: -1) { sink(parent) }
    }

    mutating func removeAll() {
        heap.removeAll(keepingCapacity: true)
    }

    private mutating func sink(_ start: Int) {
        var parent = start
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].deadline < heap[smallest].deadline {
                smallest = child
            }
            guard smallest != parent else { return }
            heap.swapAt(parent, smallest)
            parent = smallest
        }
    }
}
