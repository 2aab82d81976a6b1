// What a task waits for between two steps: cookies, a cache, a resolver, a stream, a date, a delegate's answer. Every wait has a
// number, which whoever is asked gives back with the answer. So an answer to what has been answered, or to what belongs to a
// hop that is over, is nothing, however often and late the program's own code calls a handler.
//
// Must not know: who is asked, and what follows from an answer.

/// The number of one wait.
struct WaitNumber: Sendable, Hashable {
    fileprivate let value: UInt64
}

/// Gives every wait a number of its own.
struct WaitNumbers: Sendable {
    private var last: UInt64 = 0

    /// A number that no wait has had.
    mutating func next() -> WaitNumber {
        last &+= 1
        return WaitNumber(value: last)
    }
}

extension TaskState {
    /// Begins to wait for something; nil where the task does not go on any more. The stage is `betweenHops`.
    mutating func beginWait() -> WaitNumber? {
        guard !isOver else { return nil }
        let number = waits.next()
        stage = .preparing(number)
        return number
    }

    /// Whether this is still waited for.
    func isWaiting(for number: WaitNumber) -> Bool {
        guard case .preparing(let open) = stage else { return false }
        return open == number
    }

    /// Ends a wait, because its answer has come: true once, and only where that is still waited for. The stage is `betweenHops`
    /// again.
    mutating func endWait(_ number: WaitNumber) -> Bool {
        guard isWaiting(for: number) else { return false }
        stage = .betweenHops
        return true
    }
}
