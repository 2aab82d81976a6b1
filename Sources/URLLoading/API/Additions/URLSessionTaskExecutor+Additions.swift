// The session's own thread as an executor for the tasks of its user.

import Foundation

extension URLSession {
    /// Ours: the thread on which this session sends and receives, for tasks that would rather not change threads.
    ///
    /// A request that is made by a task with this preference, and the answer's way back to it, need no other thread,
    /// which makes a load a few microseconds shorter and cheaper:
    ///
    /// ```swift
    /// Task(executorPreference: session.taskExecutor) {
    ///     let (data, _) = try await session.data(from: url)
    ///     …
    /// }
    /// ```
    ///
    /// Where `engineShards` spreads hosts over several threads this is the first, and only what is loaded
    /// from its hosts stays on it.
    ///
    /// Whatever such a task does between its suspensions, the session (and other sessions on the same thread) waits
    /// for. It must not block, and what takes long belongs elsewhere. Delegates and completion handlers are called on
    /// the delegate queue, as they are without it.
    public var taskExecutor: any TaskExecutor { core.engine.loop.taskExecutor }
}
