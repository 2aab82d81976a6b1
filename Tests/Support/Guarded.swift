// A value behind a lock, for tests.
//
// ThreadSanitizer has to see each lock, and it sees those that are compiled with it. The suites are not
// (Scripts/sanitize), and a Mutex is compiled into its user: so suites take this one, which is compiled here.

import Synchronization

/// A value that one thread at a time may look at and change.
package final class Guarded<Value: ~Copyable>: Sendable {
    private let mutex: Mutex<Value>

    /// A value that begins like this.
    package init(_ value: consuming sending Value) { mutex = Mutex(value) }

    /// Gives the value to `body`; other threads wait meanwhile.
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock(body)
    }
}

extension Guarded where Value: Sendable {
    /// What it is now.
    package var value: Value {
        get { withLock { $0 } }
        set { withLock { $0 = newValue } }
    }

    /// Changes it in one step.
    package func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        withLock { value in body(&value) }
    }
}

extension Guarded where Value: FixedWidthInteger & Sendable {
    /// Adds, and says what it is then.
    @discardableResult
    package func add(_ number: Value) -> Value {
        withLock {
            $0 &+= number
            return $0
        }
    }
}
