// A part of a blocking pool's threads for one kind of work, so that a disk which hangs while it is written leaves
// threads to readers. Must not know what it runs.

import Synchronization

/// Runs blocking work on at most so many threads of a pool at once.
package final class BlockingLane: Sendable {
    /// The process's lane for writing files.
    package static let files = BlockingLane(pool: .files, width: 2)
    /// The process's lane for writing caches.
    package static let cache = BlockingLane(pool: .cache, width: 2)

    private struct State: Sendable {
        var line = WorkLine()
        var running = 0
    }

    private let pool: BlockingPool
    private let width: Int
    private let state = Mutex(State())

    /// A lane of so many threads of `pool` (at least one).
    package init(pool: BlockingPool, width: Int) {
        self.pool = pool
        self.width = max(1, width)
    }

    /// Runs `work` as soon as one of the lane's threads is free, in the order of the calls; on the caller's thread
    /// where the system gives none.
    package func run(_ work: @escaping @Sendable () -> Void) {
        let needsThread = state.withLock { state in
            state.line.append(work)
            guard state.running < width else { return false }
            state.running += 1
            return true
        }
        // Without a thread late is better than never.
        if needsThread, !pool.run({ self.serve() }) { serve() }
    }

    private func serve() {
        while true {
            let work = state.withLock { state -> (@Sendable () -> Void)? in
                let work = state.line.next()
                if work == nil { state.running -= 1 }
                return work
            }
            guard let work else { return }
            work()
        }
    }
}
