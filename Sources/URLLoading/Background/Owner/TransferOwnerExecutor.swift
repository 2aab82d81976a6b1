// The queue that an owner of transfers lives on, as an actor's executor.

import Dispatch

/// Runs an actor on a queue, so that other code on the queue knows that it is in the actor.
final class TransferOwnerExecutor: SerialExecutor {
    private let queue: DispatchQueue

    init(_ queue: DispatchQueue) { self.queue = queue }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
