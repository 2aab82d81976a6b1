// One value from the loop's thread to a thread that waits for it.

import Dispatch
import Synchronization

final class Handover<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    func complete(_ new: Value) {
        value.withLock { $0 = new }
        isThere.signal()
    }

    /// Blocks the calling thread until `complete` has been called.
    func wait() -> Value {
        while true {
            if let value = value.withLock({ $0 }) { return value }
            isThere.wait()
        }
    }
}
