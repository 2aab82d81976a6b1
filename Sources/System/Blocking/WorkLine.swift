// Work in the order in which it came. To take what is first costs the same however much waits. It must not know which
// thread does it.

/// Work that waits for a thread.
struct WorkLine: Sendable {
    /// What was taken is nil: what it holds must go with it, and never under the owner's lock, since
    /// its end may want the owner.
    private var all: [(@Sendable () -> Void)?] = []
    /// Where the line begins; what is before it has been taken.
    private var head = 0

    /// Puts work at the end.
    mutating func append(_ work: @escaping @Sendable () -> Void) { all.append(work) }

    /// Takes back what was put at the end last, and has not been taken.
    mutating func removeLast() { if head < all.count { all.removeLast() } }

    /// Takes what is first, nil where nothing waits.
    mutating func next() -> (@Sendable () -> Void)? {
        guard head < all.count else { return nil }
        let work = all[head].take()
        head += 1
        if head == all.count {
            all.removeAll(keepingCapacity: all.capacity <= Self.keptCapacity)
            head = 0
        } else if head > Self.keptCapacity, head > all.count / 2 {
            // A line that never ends would keep the places of all that it has had. Each is moved once at most.
            all.removeFirst(head)
            head = 0
        }
        return work
    }

    /// Picked by feel: a line that was longer gives memory back.
    private static let keptCapacity = 256
}
