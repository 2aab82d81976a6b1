// Who answers the questions that a server or a proxy asks of one task: each credential once. Driver protocol, section 3.

import Foundation
import Synchronization
import URLLoading

/// The credentials that have not answered yet.
final class ChallengeAnswers: Sendable {
    private let credentials: Mutex<[CredentialPlan]>

    init(_ credentials: [CredentialPlan]) {
        self.credentials = Mutex(credentials)
    }

    /// Whether the question is one for credentials; what certificates prove is the session's matter, whose answers stand
    /// in its configuration.
    static func isForCredentials(_ challenge: URLAuthenticationChallenge) -> Bool {
        ![NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate]
            .contains(challenge.protectionSpace.authenticationMethod)
    }

    /// The answer of the first credential that fits.
    func answer(
        _ challenge: URLAuthenticationChallenge
    ) -> (disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?) {
        guard Self.isForCredentials(challenge) else { return (.performDefaultHandling, nil) }
        let space = challenge.protectionSpace
        let answer = credentials.withLock { credentials in
            credentials.firstIndex { $0.fits(space) }.map { credentials.remove(at: $0) }
        }
        return (answer == nil ? .performDefaultHandling : .useCredential, answer?.credential)
    }
}
