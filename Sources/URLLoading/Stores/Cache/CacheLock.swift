// A lock between processes whose holder may hang, or be stopped for long. It is waited for once: after a wait in
// vain the next callers do not wait, until the lock has been had again. Must not know what it guards.

import Synchronization
import URLLoadingSystem

/// A lock of a cache's directory.
package final class CacheLock: Sendable {
    private let path: String
    /// Whether the last wait was in vain.
    private let isRefused = Atomic<Bool>(false)

    /// A lock by a file that is made for it where there is none.
    package init(_ path: String) {
        self.path = path
    }

    /// Takes the lock, and waits for it unless the last wait was in vain.
    package func take(_ kind: FileLock.Kind = .alone, patience: Duration) -> FileLock? {
        let lock = tryToTake(kind, isRefused.load(ordering: .relaxed) ? .zero : patience)
        if lock == nil { isRefused.store(true, ordering: .relaxed) }
        return lock
    }

    /// Takes the lock where it is free just now.
    package func takeIfFree() -> FileLock? { tryToTake(.alone, .zero) }

    private func tryToTake(_ kind: FileLock.Kind, _ patience: Duration) -> FileLock? {
        guard case .success(let lock) = FileLock.take(path, kind, patience: patience) else { return nil }
        isRefused.store(false, ordering: .relaxed)
        return lock
    }
}
