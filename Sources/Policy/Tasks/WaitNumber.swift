// What a task waits for between two steps: cookies, a cache, a resolver, a stream, a date, a delegate's answer. Every
// wait has a number, which comes back with the answer. So an answer to what has been answered, or to what belongs to a
// hop that is over, is nothing, however often and late the program's own code calls a handler.
//
// Must not know: which object is asked, and what follows from an answer.

/// The number of one wait.
package struct WaitNumber: Sendable, Hashable {
    fileprivate let value: UInt64
}

/// Gives every wait a number of its own.
package struct WaitNumbers: Sendable {
    private var last: UInt64 = 0

    /// Numbers of which none has been given.
    package init() {}

    /// A number that no wait has had.
    package mutating func next() -> WaitNumber {
        last &+= 1
        return WaitNumber(value: last)
    }
}
