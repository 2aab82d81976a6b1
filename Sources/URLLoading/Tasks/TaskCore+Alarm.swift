// A task that has nothing under way and goes on at a moment: after a pause, or when a delegate has had its time.
//
// Must not know: what it waits for.

import URLLoadingSystem

extension TaskCore {
    /// Calls `ring` at a moment of the loops' clock, unless that wait, the task's, is over before.
    func setAlarm(at moment: Duration, of wait: WaitNumber, _ ring: @escaping @Sendable (TaskCore) -> Void) {
        // Made under the lock, or one that rings at once could take the place of the next.
        state.withLock { state in
            guard state.isWaiting(for: wait) else { return }
            state.alarm = alarm(at: moment, ring)
        }
    }

    /// Something that calls `ring` at a moment of the loops' clock. Until then it holds the task, and what `ring` holds; the
    /// end of the task lets go of the one in its state.
    func alarm(at moment: Duration, _ ring: @escaping @Sendable (TaskCore) -> Void) -> Alarm {
        Alarm(at: moment) { [self] in ring(self) }
    }
}
