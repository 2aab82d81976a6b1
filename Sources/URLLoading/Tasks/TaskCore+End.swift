// The end of a task: its metrics, its last message, and that nothing of it is left with the session.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

extension TaskCore {
    /// Ends the task: metrics, then the last message (B1.60). A cancellation that comes before the last message wins
    /// (B17.54). Returns the async call that waits for the end, for the caller to resume.
    func complete(_ failure: (any Error)?, body: Data? = nil, file: TemporaryFile? = nil) -> EndedCall? {
        let failure = isUpload ? upload.ending(failure) : failure
        let file = savesFile ? file ?? download.takeStored() : nil
        if failure != nil, let file, session?.background == nil { download.keepWhole(file) }
        let ending = TaskEnding(failure: failure, body: body, file: file)
        // B1.100.
        if failure == nil, let file {
            download.tellFinished(file)
            session?.background?.toldFile(self)
            if usesRelay { return tellNext(ending) }
        }
        return goOnToEnd(ending)
    }

    /// The metrics, and what comes behind them.
    private func goOnToEnd(_ ending: TaskEnding) -> EndedCall? {
        if usesRelay { tellMetrics() }
        announce { state.withLock { $0.machine.hasStarted } ? .metrics(collectedMetrics) : nil }
        guard usesRelay else { return conclude(ending) }
        var ending = ending
        ending.hasMetrics = true
        return tellNext(ending)
    }

    private func conclude(_ ending: TaskEnding) -> EndedCall? {
        conclude(
            state.withLock { $0.end(with: ending.failure, quietly: endsQuietly) }, body: ending.body, file: ending.file)
    }

    /// Puts what is left of an end before everything else: each message is a call of its own (B1.110).
    private func tellNext(_ ending: TaskEnding) -> EndedCall? {
        mailbox.withLock { $0.putFirst(.ending(ending)) }
        return nil
    }

    /// Goes on with an end when what stood before is told.
    func goOn(_ ending: TaskEnding) {
        (ending.hasMetrics ? conclude(ending) : goOnToEnd(ending))?.resume()
    }

    /// What follows the end: the last message, and nothing that the session keeps.
    func conclude(_ end: TaskResult, body: Data?, file: TemporaryFile?) -> EndedCall? {
        end.alarm?.cancel()
        end.answerLimit?.cancel()
        if isUpload { upload.ended() }
        if end.error == nil { updateProgress() }
        if let kept = end.kept { session?.engine.abandonKept(after: kept) }
        if case .some(let left) = end.download { download.settle(left) }
        if endsQuietly {
            session?.ended(self, of: end.session)
            return outlet.finish(self, end, body: body, file: file)
        }
        let wasListed = session?.unlist(self) ?? false
        if end.error != nil { file?.remove() }
        let call = outlet.finish(self, end, body: body, file: file)
        session?.background?.ended(self)
        postNotice(.urlSessionTaskDidComplete)
        state.withLock { $0.letGo() }
        if wasListed { session?.taskEnded(of: end.session) }
        return call
    }

    /// Ends the task with `last`, which is told in the place of its end, and without metrics (B15.51).
    func concludeUntold(_ last: () -> Void) {
        let end = state.withLock { $0.end(with: nil, quietly: false) }
        updateProgress()
        let wasListed = session?.unlist(self) ?? false
        last()
        postNotice(.urlSessionTaskDidComplete)
        state.withLock { $0.letGo() }
        if wasListed { session?.taskEnded(of: end.session) }
    }

    /// B12.1, B12.2: for tasks that were resumed, once.
    private func tellMetrics() {
        guard state.withLock({ $0.machine.hasStarted }) else { return }
        tell(.metrics) {
            $0.urlSession($1, task: $2, didFinishCollecting: collectedMetrics)
        }
    }

    private var collectedMetrics: URLSessionTaskMetrics {
        let (records, redirects, earlierCreation) = state.withLock {
            ($0.records, $0.redirect.count, $0.earlierCreation)
        }
        return URLSessionTaskMetrics(
            records: records, redirectCount: redirects, creation: creation, earlierCreation: earlierCreation)
    }
}
