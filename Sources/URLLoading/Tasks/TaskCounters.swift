// What a task counts. The numbers are atomic, and not behind the lock of `TaskState`: they change with every piece of a
// body.

import Synchronization
import URLLoadingPolicy

/// The numbers of a task, written by the loop and read by any thread.
struct TaskCounters: ~Copyable, Sendable {
    let sent = Atomic<Int64>(0)
    let received = Atomic<Int64>(0)
    let expectedToSend = Atomic<Int64>(0)
    let expectedToReceive = Atomic<Int64>(0)

    /// All of them, for a progress.
    var units: ProgressUnits.Counts {
        ProgressUnits.Counts(
            received: received.load(ordering: .relaxed), sent: sent.load(ordering: .relaxed),
            expectedToReceive: expectedToReceive.load(ordering: .relaxed),
            expectedToSend: expectedToSend.load(ordering: .relaxed))
    }
}
