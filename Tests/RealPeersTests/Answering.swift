// A delegate that knows one password.

import Foundation
import URLLoading

/// Answers every question with one credential, and counts the questions.
final class Answering: NSObject, URLSessionTaskDelegate, Sendable {
    private let user: String
    private let password: String
    let questions = AskedMethods()

    init(user: String = "user", password: String = "secret") {
        self.user = user
        self.password = password
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard challenge.protectionSpace.serverTrust == nil else {
            return completionHandler(.performDefaultHandling, nil)
        }
        questions.note(challenge.protectionSpace.authenticationMethod)
        guard challenge.previousFailureCount < 2 else { return completionHandler(.performDefaultHandling, nil) }
        completionHandler(.useCredential, URLCredential(user: user, password: password, persistence: .forSession))
    }
}
