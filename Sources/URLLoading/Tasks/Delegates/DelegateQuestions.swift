// The questions that stop a task until a delegate has answered (B1.31), and the limit of their waiting.
//
// Must not know: which delegate a question goes to (`DelegateInquiry`), what follows from its answer (+Answers).

import Foundation
import URLLoadingPolicy

/// A task as one that asks its delegates.
struct DelegateQuestions: Sendable {
    let task: TaskCore

    // MARK: Asking

    /// Asks, on the delegate queue, unless the end has come already; nothing else is delivered
    /// until the answer has come.
    func ask(_ question: TaskQuestion) {
        guard let token = task.mailbox.withLock({ $0.beginWaiting() }) else { return }
        DelegateInquiry(task: task, question: question, token: token).begin()
    }

    /// Asks about a challenge: for what concerns connections the session's method first, else the tasks' alone (B2.1 to
    /// B2.4). It is shown with a sender, which takes answers by the older methods.
    func challenge(
        about subject: TaskChallenge.Subject, shownWith show: (ChallengeSender) -> URLAuthenticationChallenge
    ) {
        guard let token = task.mailbox.withLock({ $0.beginWaiting() }) else { return }
        // What was withdrawn meanwhile is not asked any more.
        if case .carrier(let question) = subject, !question.isAsked(under: token) {
            return task.delivery.endQuestion(token)
        }
        let shown = show(ChallengeSender(core: task, token: token, subject: subject))
        let question = TaskQuestion.challenge(
            TaskChallenge(shown: shown, subject: subject), ofTask: !shown.protectionSpace.isSessionWide)
        DelegateInquiry(task: task, question: question, token: token).begin()
    }

    // MARK: Waiting

    /// Sees to it that the task's time ends the waiting (B6.8) where a hop's end stands behind a question: nothing is
    /// loading any more that would notice.
    func limitWaiting() {
        task.state.withLock { state in
            // One that is set already, for a question before this one, is for the same moment.
            guard state.answerLimit == nil, !state.isOver, let deadline = state.resourceDeadline else { return }
            state.answerLimit = task.driver.alarm(at: deadline) { $0.questions.answerTookTooLong() }
        }
    }

    private func answerTookTooLong() {
        // Order: the next question sets another.
        task.state.withLock { $0.answerLimit = nil }
        guard task.mailbox.withLock({ $0.isWaitingBeforeEnd }) else { return }
        task.hops.willFail(
            LoadFailure.make(
                .timedOut, task.currentRequest?.url, "A delegate did not answer before the task's time-out."))
        task.delivery.abandonQuestions()
    }
}

extension TaskCore {
    /// What the task asks its delegates.
    var questions: DelegateQuestions { DelegateQuestions(task: self) }
}
