// Typed keys for what lives on a reactor.

import Synchronization

/// Names one object per reactor, with its type.
package struct ResidentKey<T: AnyObject>: Sendable {
    let id: Int

    /// A key unlike every other key of the process.
    package init() {
        id = residentKeys.wrappingAdd(1, ordering: .relaxed).newValue
    }
}

private let residentKeys = Atomic<Int>(0)
