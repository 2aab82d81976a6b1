// Answers that are settled beforehand, as image downloaders offer them (B3.60).

import Foundation

extension URLSession {
    /// Ours: the answers of a delegate that only knows a credential, and perhaps does not check the server.
    public struct FixedChallengeAnswer: Sendable {
        /// Whether every server is believed: an attacker between here and the server can then read and change
        /// everything, the credential included. False unless set.
        public var dangerouslyAllowsInvalidCertificates = false
        /// What other challenges are answered with, once.
        public var credential: URLCredential?

        /// Answers with this credential.
        public init(credential: URLCredential? = nil) {
            self.credential = credential
        }

        /// The answer: servers go to default handling unless every one is believed; other challenges get the
        /// credential on the first try, and else the load is cancelled (B3.60).
        public func answer(
            to challenge: URLAuthenticationChallenge
        ) -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            let space = challenge.protectionSpace
            if space.authenticationMethod == NSURLAuthenticationMethodServerTrust {
                guard dangerouslyAllowsInvalidCertificates, let trust = space.serverTrust else {
                    return (.performDefaultHandling, nil)
                }
                return (.useCredential, URLCredential(trust: trust))
            }
            guard let credential, challenge.previousFailureCount == 0 else {
                return (.cancelAuthenticationChallenge, nil)
            }
            return (.useCredential, credential)
        }
    }
}
