// The end of a task: its metrics, its last message, and that nothing of it is left with the session.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

/// A task on the way to its last message.
struct TaskCompletion: Sendable {
    let task: TaskCore

    /// Ends the task: metrics, then the last message (B1.60). A cancellation that comes before the last message wins
    /// (B17.54). Returns the async call that waits for the end, for the caller to resume.
    func begin(_ failure: (any Error)?, body: Data? = nil, file: TemporaryFile? = nil) -> EndedCall? {
        let failure = task.isUpload ? task.upload.ending(failure) : failure
        let file = task.savesFile ? file ?? task.download.takeStored() : nil
        if failure != nil, let file, task.session?.background == nil { task.download.keepWhole(file) }
        let ending = TaskEnding(failure: failure, body: body, file: file)
        // B1.100.
        if failure == nil, let file {
            task.download.tellFinished(file)
            task.session?.background?.toldFile(task)
            if task.usesRelay { return tellNext(ending) }
        }
        return tellMetrics(before: ending)
    }

    /// Tells the metrics, once and of tasks that were resumed (B12.1, B12.2), and what comes behind them.
    private func tellMetrics(before ending: TaskEnding) -> EndedCall? {
        let hasStarted = task.state.withLock { $0.machine.hasStarted }
        if task.usesRelay, hasStarted { task.telling.tellMetrics { collectedMetrics } }
        task.telling.announce { hasStarted ? .metrics(collectedMetrics) : nil }
        guard task.usesRelay else { return noteEnd(ending) }
        var ending = ending
        ending.hasMetrics = true
        return tellNext(ending)
    }

    private func noteEnd(_ ending: TaskEnding) -> EndedCall? {
        let result = task.state.withLock { $0.end(with: ending.failure, quietly: task.endsQuietly) }
        return conclude(result, body: ending.body, file: ending.file)
    }

    /// Puts what is left of an end before everything else: each message is a call of its own (B1.110).
    private func tellNext(_ ending: TaskEnding) -> EndedCall? {
        task.mailbox.withLock { $0.putFirst(.ending(ending)) }
        return nil
    }

    /// Goes on with an end when what stood before is told.
    func goOn(_ ending: TaskEnding) {
        (ending.hasMetrics ? noteEnd(ending) : tellMetrics(before: ending))?.resume()
    }

    /// What follows the end: the last message, and nothing that the session keeps.
    func conclude(_ end: borrowing TaskResult, body: Data?, file: TemporaryFile?) -> EndedCall? {
        task.trace?.finished(task.response, end.error)
        end.alarm?.cancel()
        end.answerLimit?.cancel()
        if task.isUpload { task.upload.ended() }
        if end.error == nil { task.counting.updateProgress() }
        closeUnopenedStreams(failed: end.error != nil)
        let session = task.session
        if let kept = end.kept { session?.engine.abandonKept(after: kept) }
        if case .some(let left) = end.download { task.download.settle(left) }
        if task.endsQuietly {
            session?.ended(task, of: end.session)
            return task.outlet.finish(task, end, body: body, file: file)
        }
        var call: EndedCall?
        unlist(end.session) {
            if end.error != nil { file?.remove() }
            call = task.outlet.finish(task, end, body: body, file: file)
            session?.background?.ended(task)
        }
        return call
    }

    /// Ends the task with `last`, which is told in the place of its end, and without metrics (B15.51, B10.44).
    func concludeUntold(_ last: () -> Void) {
        let end = task.state.withLock { $0.end(with: nil, quietly: false) }
        task.trace?.finished(task.response, nil)
        task.counting.updateProgress()
        closeUnopenedStreams(failed: false)
        unlist(end.session, last)
    }

    /// Tells the last message when the task is in no list any more, and lets go of everything.
    private func unlist(_ session: URLSession?, _ tellLast: () -> Void) {
        let wasListed = task.session?.unlist(task) ?? false
        tellLast()
        task.telling.postNotice(.urlSessionTaskDidComplete)
        task.state.letGo { $0.takeLastHeld() }
        if wasListed { task.session?.taskEnded(of: session) }
    }

    private var collectedMetrics: URLSessionTaskMetrics {
        let (records, redirects, retries, earlierCreation) = task.state.withLock {
            ($0.records, $0.redirect.count, $0.retry.retries, $0.earlierCreation)
        }
        return URLSessionTaskMetrics(
            records: records, redirectCount: redirects, retries: retries, creation: task.creation,
            earlierCreation: earlierCreation)
    }
}

extension TaskCore {
    /// The task's way to its end.
    var completion: TaskCompletion { TaskCompletion(task: self) }
}
