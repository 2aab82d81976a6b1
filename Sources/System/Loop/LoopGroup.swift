// The loops of a process, or of one test. Each session is pinned to one loop when it is made.

import Synchronization

/// A fixed set of loops, handed out in turn.
package final class LoopGroup: Sendable {
    /// The process's own loops: at most four, never more than processors.
    ///
    /// They live as long as the process.
    ///
    /// A loop's thread starts with the first thing sent to it, so a program with one session has one thread.
    package static let shared = LoopGroup(count: min(4, Platform.processorCount), name: "urlloading")

    private let loops: [Loop]
    private let turn = Atomic<UInt>(0)

    /// Makes a group of `count` loops (at least one) whose threads are called `name`-1 and so on.
    package init(count: Int, name: String) {
        loops = (1...max(1, count)).map { Loop(name: "\(name)-\($0)") }
    }

    /// The next loop, in turn.
    package func next() -> Loop {
        if let machine = Machine.simulated { return machine.loop }
        let index = turn.wrappingAdd(1, ordering: .relaxed).oldValue % UInt(loops.count)
        return loops[Int(index)]
    }

    /// Stops every loop and waits until its thread is gone and all it held is released.
    ///
    /// Not for `shared`.
    ///
    /// What was submitted before still runs; what is submitted later is dropped. Must not be called on one of the
    /// group's own loops.
    package func stop() {
        for loop in loops {
            loop.run { $0.stop() }
        }
        for loop in loops {
            loop.thread.join()
        }
    }
}
