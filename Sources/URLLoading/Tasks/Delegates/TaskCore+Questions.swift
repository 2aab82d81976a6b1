// The questions that stop a task until a delegate has answered (B1.31), and the limit of their waiting.
//
// Must not know: whom a question goes to (`DelegateInquiry`), what follows from its answer (`TaskCore+Answers`).

import Foundation
import URLLoadingPolicy

extension TaskCore {
    /// Asks, on the delegate queue, unless the end has come already; nothing else is delivered until the answer has come.
    func ask(_ question: TaskQuestion) {
        guard let token = mailbox.withLock({ $0.beginWaiting() }) else { return }
        DelegateInquiry(task: self, question: question, token: token).begin()
    }

    /// Sees to it that the task's time ends the waiting (B6.8) where a hop's end stands behind a question: nothing is loading any
    /// more that would notice.
    func limitWaiting() {
        state.withLock { state in
            // One that is set already, for a question before this one, is for the same moment.
            guard state.answerLimit == nil, !state.isOver, let deadline = state.resourceDeadline else { return }
            state.answerLimit = alarm(at: deadline) { $0.answerTookTooLong() }
        }
    }

    private func answerTookTooLong() {
        // Order: whoever is asked from now on sets another.
        state.withLock { $0.answerLimit = nil }
        guard mailbox.withLock({ $0.isWaitingBeforeEnd }) else { return }
        willFail(
            LoadFailure.make(.timedOut, currentRequest?.url, "A delegate did not answer before the task's time-out."))
        if mailbox.withLock({ $0.abandonWaiting() }) { session?.relay.schedule(self) }
    }
}
