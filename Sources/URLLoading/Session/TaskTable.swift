// The tasks of a session that have not ended. Each has a slot whose number it knows, so that taking it out needs no
// search.

/// A session's tasks.
struct TaskTable: Sendable {
    private var slots: [TaskCore?] = []
    private var free: [Int] = []

    /// The slot of the next task.
    var nextSlot: Int { free.last ?? slots.count }

    /// Puts a task that was made for it into the next slot.
    mutating func add(_ task: TaskCore) {
        if let slot = free.popLast() {
            slots[slot] = task
        } else {
            slots.append(task)
        }
    }

    /// Takes a task out; `false` if it is not there (any more).
    mutating func remove(_ task: TaskCore) -> Bool {
        guard let slot = task.slot, slots.indices.contains(slot), slots[slot] === task else { return false }
        slots[slot] = nil
        free.append(slot)
        return true
    }

    /// All of them, in the order of their making.
    var all: [TaskCore] {
        slots.compactMap(\.self).sorted { $0.identifier < $1.identifier }
    }
}
