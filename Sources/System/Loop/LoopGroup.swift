// The loops of a process, or of one test. Each shard of a session's engine is pinned to one loop
// when the engine is made.

import Synchronization

/// Loops, handed out in turn.
package final class LoopGroup: Sendable {
    /// The process's own loops: at most four, never more than processors, unless more are wanted at once.
    ///
    /// They live as long as the process.
    ///
    /// A loop's thread starts with the first thing sent to it, so a program with one session has one thread.
    package static let shared = LoopGroup(count: min(4, Platform.processorCount), name: "urlloading")

    private let name: String
    /// How many there are unless more are wanted at once.
    private let width: Int
    /// Those that were made so far.
    private let loops = Mutex<[Loop]>([])
    private let turn = Atomic<UInt>(0)

    /// Makes a group of `count` loops (at least one) whose threads are called `name`-1 and so on.
    package init(count: Int, name: String) {
        self.name = name
        width = max(1, count)
    }

    /// The next loop, in turn.
    package func next() -> Loop { next(1)[0] }

    /// So many loops (at least one), each another: the next in turn, and those behind it.
    package func next(_ count: Int) -> [Loop] {
        let count = max(1, count)
        if let machine = Machine.simulated { return Array(repeating: machine.loop, count: count) }
        let first = Int(turn.wrappingAdd(UInt(count), ordering: .relaxed).oldValue % UInt(width))
        let total = max(width, count)
        return loops.withLock { loops in
            while loops.count < total { loops.append(Loop(name: "\(name)-\(loops.count + 1)")) }
            return (0..<count).map { loops[(first + $0) % total] }
        }
    }

    /// Whether the calling thread is that of one of the loops.
    package var isCurrent: Bool { loops.withLock { $0 }.contains { $0.isCurrent } }

    /// Stops every loop and waits until its thread is gone and all it held is released.
    ///
    /// Not for `shared`.
    ///
    /// What was submitted before still runs; what is submitted later is dropped. Must not be called on one of the
    /// group's own loops.
    package func stop() {
        let all = loops.withLock { $0 }
        for loop in all {
            loop.run { $0.stop() }
        }
        for loop in all {
            loop.thread.join()
        }
    }
}
