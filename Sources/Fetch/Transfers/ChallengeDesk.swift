// Where challenges of all transfers arrive: at the session's delegate. What a task's own delegate answers about a server holds
// for the tasks of that delegate only, and each transfer would need a connection of its own. The transfer still answers.

import Foundation
import URLLoading

/// A task's delegate that says what is to be done about the task's challenges.
protocol ChallengeAnswering: URLSessionTaskDelegate {
    /// The credential for a challenge; nil for default handling.
    func credential(for challenge: URLAuthenticationChallenge, of task: URLSessionTask) -> URLCredential?
}

/// The delegate of the session.
final class ChallengeDesk: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let credential = (task.delegate as? any ChallengeAnswering)?.credential(for: challenge, of: task) else {
            return completionHandler(.performDefaultHandling, nil)
        }
        completionHandler(.useCredential, credential)
    }
}
