// What --fail-early does to the transfers that are under way: they are broken off, and say nothing about it.

import Synchronization

/// Whether a failure has ended the run.
final class EarlyEnd: Sendable {
    private let state = Mutex(false)

    /// Whether it has.
    var hasCome: Bool { state.withLock(\.self) }

    /// It has.
    func come() { state.withLock { $0 = true } }
}
