// Between two steps a task may have to wait: for an answer of the program's own code or of a disk, or for a moment. A
// wait for an answer ends with it, with a cancellation, or when the task's time is over (B6.8).
//
// Must not know: which object is asked, and what follows from an answer.

import Foundation
import URLLoadingPolicy
import URLLoadingSystem

/// What an answer is waited for about.
enum Awaited: Sendable {
    case cookies
    case storedAnswer
    case protocolClass
    case bodyStream
    case routes
    case retryDecision
    case file

    /// What is said where it does not come in time.
    fileprivate var lateText: String {
        switch self {
        case .cookies: "The session's cookie storage did not answer in time."
        case .storedAnswer: "The session's cache did not answer in time."
        case .protocolClass: "The session's protocol classes did not answer in time."
        case .bodyStream: "No delegate supplied a stream for the request's body in time."
        case .routes: "The session's proxyResolver did not answer in time."
        case .retryDecision: "A retryPolicy did not decide in time."
        case .file: "The disk with the file to upload did not answer in time."
        }
    }
}

extension TaskDriver {
    // MARK: Answers

    /// Begins to wait for an answer, no longer than the task's time lasts, nor than `limit`. Where the task is over it
    /// ends, and nothing is to be asked: nil.
    func beginWait(for awaited: Awaited, until limit: Duration? = nil) -> WaitNumber? {
        let (wait, deadline, url) = task.state.withLock {
            ($0.machine.wait(), $0.resourceDeadline, $0.currentRequest?.url)
        }
        guard let wait else {
            endUnloaded(LoadFailure.cancelled(url))
            return nil
        }
        if let moment = [limit, deadline].compactMap(\.self).min() {
            setAlarm(at: moment, of: wait) { $0.driver.gotNoAnswer(to: wait, awaited) }
        }
        return wait
    }

    /// An answer has come; whether it counts, and the caller goes on.
    func endWait(_ wait: WaitNumber) -> Bool { endWait(wait) { _ in } != nil }

    /// An answer has come; nil where it does not count, else what is noted under the lock.
    func endWait<Noted: Sendable>(_ wait: WaitNumber, _ note: (inout TaskState) -> Noted) -> Noted? {
        task.state.withLock { state in
            guard state.machine.answered(wait) else { return nil }
            // Gone, it does not ring.
            state.alarm = nil
            state.asking = nil
            return note(&state)
        }
    }

    private func gotNoAnswer(to wait: WaitNumber, _ awaited: Awaited) {
        let (isLate, url) = task.state.withLock { ($0.machine.timedOut(wait), $0.currentRequest?.url) }
        guard isLate else { return }
        endUnloaded(LoadFailure.make(.timedOut, url, awaited.lateText))
        stopAsking()
    }

    // MARK: The open question

    /// Keeps what is asked meanwhile, for as long as this is waited for.
    func keep(_ asking: Task<Void, Never>, for wait: WaitNumber) {
        let isWanted = task.state.withLock { state in
            guard state.machine.isWaiting(for: wait) else { return false }
            state.asking = asking
            return true
        }
        if !isWanted { asking.cancel() }
    }

    /// Stops the waits for a resolver and a delegate.
    func stopAsking() {
        let asking = task.state.withLock { state in
            defer { state.asking = nil }
            return state.asking
        }
        asking?.cancel()
        if task.usesRelay { task.delivery.abandonQuestions() }
    }

    // MARK: Moments

    /// Begins to wait for a moment, which the caller sees to. Where the task is over it ends: nil.
    func beginPause() -> WaitNumber? {
        if let wait = task.state.withLock({ $0.machine.wait() }) { return wait }
        endUnloaded(LoadFailure.cancelled(task.originalRequest?.url))
        return nil
    }

    /// Goes on after a pause; the task can be cancelled meanwhile, and the resource time-out ends the pause.
    func pause(for pause: Duration, then goOn: @escaping @Sendable (TaskCore) -> Void) {
        let deadline = task.state.withLock { $0.resourceDeadline }
        guard let wait = beginPause() else { return }
        let end = LoopClock.elapsed + pause
        setAlarm(at: min(end, deadline ?? end), of: wait) { task in
            if task.driver.endWait(wait) { goOn(task) }
        }
    }

    /// Calls `ring` at a moment of the loops' clock, unless that wait, the task's, is over before.
    private func setAlarm(at moment: Duration, of wait: WaitNumber, _ ring: @escaping @Sendable (TaskCore) -> Void) {
        // Made under the lock, or one that rings at once could take the place of the next.
        task.state.withLock { state in
            guard state.machine.isWaiting(for: wait) else { return }
            state.alarm = alarm(at: moment, ring)
        }
    }

    /// Something that calls `ring` at a moment of the loops' clock. Until then it holds the task, and what `ring`
    /// holds; the end of the task lets go of the one in its state.
    func alarm(at moment: Duration, _ ring: @escaping @Sendable (TaskCore) -> Void) -> Alarm {
        Alarm(at: moment) { [task] in ring(task) }
    }
}
