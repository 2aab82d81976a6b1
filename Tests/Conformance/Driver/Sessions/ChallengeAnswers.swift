// The answers to the questions that are asked of one task: those of a server or a proxy for a password, with each
// credential once; whether a server is believed, where that is what the runner wants to say itself. Driver protocol,
// section 3.

import Foundation
import Synchronization
import URLLoading

/// The credentials that have not answered yet, and what is said about servers.
final class ChallengeAnswers: Sendable {
    private let credentials: Mutex<[CredentialPlan]>
    private let trust: TrustAnswer?
    /// Whose answers they are: its tasks share connections.
    let session: DriverSession

    /// Without an answer about servers what their certificates prove is the session's matter.
    init(_ credentials: [CredentialPlan], trust: TrustAnswer?, of session: DriverSession) {
        self.session = session
        self.credentials = Mutex(credentials)
        self.trust = trust
    }

    /// Whether the question is answered here, and not by what stands in the session's configuration.
    func isMeant(by challenge: URLAuthenticationChallenge) -> Bool {
        switch challenge.protectionSpace.authenticationMethod {
        case NSURLAuthenticationMethodServerTrust: trust != nil
        case NSURLAuthenticationMethodClientCertificate: false
        default: true
        }
    }

    /// What is said about the server, or the first credential that fits.
    func answer(
        _ challenge: URLAuthenticationChallenge
    ) -> (disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?) {
        guard isMeant(by: challenge) else { return (.performDefaultHandling, nil) }
        let space = challenge.protectionSpace
        if let trust, space.authenticationMethod == NSURLAuthenticationMethodServerTrust {
            return trust.disposition(for: challenge)
        }
        let answer = credentials.withLock { credentials in
            credentials.firstIndex { $0.fits(space) }.map { credentials.remove(at: $0) }
        }
        return (answer == nil ? .performDefaultHandling : .useCredential, answer?.credential)
    }
}
