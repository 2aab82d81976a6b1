// Whether a loop has seen what came to its descriptors, before it judges deadlines by the clock: an answer that lies in
// a socket is no time-out. A process that was stopped for a while, by a signal or a debugger, finds a clock that has
// gone on.
//
// Must not know: what waits, what is ready.

/// What a loop knows of how much its waits have shown.
package struct PollSight {
    /// The first and the last wait of those in a row that have filled their batches.
    private var row: (first: Int, last: Int)?

    /// Has seen nothing yet.
    package init() {}

    /// Waits for events, at most so long, and answers with their number, as `epoll_wait` does.
    ///
    /// Where a signal has interrupted the wait, which may be long ago, it looks once more, without waiting.
    @inline(__always)
    package static func wait(milliseconds: Int32, _ wait: (Int32) -> Int32) -> Int32 {
        let count = wait(milliseconds)
        return count >= 0 ? count : wait(0)
    }

    /// Whether everything has been told that was ready before the first of the full batches in a row that end with this
    /// wait's: the system tells what has become ready first, and each descriptor once.
    ///
    /// `ready` is how many descriptors can have been ready. Waits are numbered one by one.
    package mutating func hasSeenAll(afterFull wait: Int, ofSize size: Int, ready: Int) -> Bool {
        let first = if let row, row.last &+ 1 == wait { row.first } else { wait }
        row = (first, wait)
        guard (wait &- first &+ 1) * size >= ready else { return false }
        row = nil
        return true
    }
}
