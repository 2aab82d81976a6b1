// Where challenges of all transfers arrive: at the session's delegate. What a task's own delegate answers
// about a server holds for the tasks of that delegate only, and each transfer would need a connection of its
// own. The transfer still answers.

import Foundation
import URLLoading

/// A task's delegate that says what is to be done about the task's challenges.
protocol ChallengeAnswering: URLSessionTaskDelegate {
    /// What is done about a challenge.
    func answer(
        to challenge: URLAuthenticationChallenge, of task: URLSessionTask
    ) -> (URLSession.AuthChallengeDisposition, URLCredential?)
}

/// The delegate of the session.
final class ChallengeDesk: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let answer = (task.delegate as? any ChallengeAnswering)?.answer(to: challenge, of: task)
        completionHandler(answer?.0 ?? .performDefaultHandling, answer?.1)
    }
}
