// Between two steps a task may have to wait: for an answer of the program's own code or of a disk, or for a moment. A wait for an
// answer ends with it, with a cancellation, or when the task's time is over (B6.8).
//
// Must not know: who is asked, and what follows from an answer.

import URLLoadingPolicy
import URLLoadingSystem

/// What an answer is waited for about.
enum Awaited: Sendable {
    case cookies
    case storedAnswer
    case protocolClass
    case bodyStream
    case routes

    /// What is said where it does not come in time.
    fileprivate var lateText: String {
        switch self {
        case .cookies: "The session's cookie storage did not answer in time."
        case .storedAnswer: "The session's cache did not answer in time."
        case .protocolClass: "The session's protocol classes did not answer in time."
        case .bodyStream: "No delegate supplied a stream for the request's body in time."
        case .routes: "The session's proxyResolver did not answer in time."
        }
    }
}

extension TaskCore {
    // MARK: Answers

    /// Begins to wait for an answer, no longer than the task's time lasts, nor than `limit`. Where the task is over it ends, and
    /// nobody is to be asked: nil.
    func beginWait(for awaited: Awaited, until limit: Duration? = nil) -> WaitNumber? {
        let (wait, deadline, url) = state.withLock {
            ($0.machine.wait(), $0.resourceDeadline, $0.currentRequest?.url)
        }
        guard let wait else {
            endUnloaded(LoadFailure.cancelled(url))
            return nil
        }
        if let moment = [limit, deadline].compactMap(\.self).min() {
            setAlarm(at: moment, of: wait) { $0.gotNoAnswer(to: wait, awaited) }
        }
        return wait
    }

    /// An answer has come; whether it counts, and the caller goes on.
    func endWait(_ wait: WaitNumber) -> Bool { state.withLock { $0.endWait(wait) } }

    private func gotNoAnswer(to wait: WaitNumber, _ awaited: Awaited) {
        let (isLate, url) = state.withLock { ($0.machine.timedOut(wait), $0.currentRequest?.url) }
        guard isLate else { return }
        endUnloaded(LoadFailure.make(.timedOut, url, awaited.lateText))
        stopAskingForRoutes()
        if mailbox.withLock({ $0.abandonWaiting() }) { session?.relay.schedule(self) }
    }

    // MARK: Moments

    /// Calls `ring` at a moment of the loops' clock, unless that wait, the task's, is over before.
    func setAlarm(at moment: Duration, of wait: WaitNumber, _ ring: @escaping @Sendable (TaskCore) -> Void) {
        // Made under the lock, or one that rings at once could take the place of the next.
        state.withLock { state in
            guard state.machine.isWaiting(for: wait) else { return }
            state.alarm = alarm(at: moment, ring)
        }
    }

    /// Something that calls `ring` at a moment of the loops' clock. Until then it holds the task, and what `ring` holds; the
    /// end of the task lets go of the one in its state.
    func alarm(at moment: Duration, _ ring: @escaping @Sendable (TaskCore) -> Void) -> Alarm {
        Alarm(at: moment) { [self] in ring(self) }
    }
}

extension TaskState {
    /// An answer has come; whether it counts. For callers that have the lock.
    mutating func endWait(_ wait: WaitNumber) -> Bool {
        guard machine.answered(wait) else { return false }
        // Gone, it does not ring.
        alarm = nil
        asking = nil
        return true
    }
}
