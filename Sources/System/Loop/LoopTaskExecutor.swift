// The loop's thread as a place for tasks that prefer it.
//
// Apart from the loop's serial executor, since the runtime would take what runs on that one for isolated to the loop's
// actor: each call of a nonisolated function would then pass through the mailbox.

/// Runs pieces of tasks on a loop's thread.
package final class LoopTaskExecutor: TaskExecutor {
    private let thread: LoopThread

    init(_ thread: LoopThread) {
        self.thread = thread
    }

    /// Queues a piece of a task; the runtime calls this on any thread.
    ///
    /// On a loop that has ended it never runs.
    package func enqueue(_ job: consuming ExecutorJob) {
        thread.post(.taskJob(UnownedJob(job), asUnownedTaskExecutor()))
    }

    /// This executor as the runtime wants it.
    package func asUnownedTaskExecutor() -> UnownedTaskExecutor {
        UnownedTaskExecutor(ordinary: self)
    }
}
