// What the tasks of a session have done since it was made, where the engine does not see it, in numbers, for gauges.

import Synchronization

/// The totals of one session's tasks.
final class SessionTotals: Sendable {
    /// Hops that were answered out of the cache.
    let cacheAnswers = Atomic<Int64>(0)
    /// Attempts that followed another by a policy.
    let retries = Atomic<Int64>(0)
}
