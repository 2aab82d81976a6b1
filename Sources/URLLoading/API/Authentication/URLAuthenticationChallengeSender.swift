// The object that waits for the answer to a challenge; older code and custom protocols answer to it.

import Foundation

/// Takes the answer to a challenge. With sessions a delegate answers through its completion handler instead (B2.20).
public protocol URLAuthenticationChallengeSender: NSObjectProtocol, Sendable {
    /// Goes on with this credential.
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge)

    /// Goes on without one.
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge)

    /// Ends the load.
    func cancel(_ challenge: URLAuthenticationChallenge)

    /// Goes on as if there were no delegate. The default goes on without a credential.
    func performDefaultHandling(for challenge: URLAuthenticationChallenge)

    /// Refuses this space and asks for the next one. The default goes on without a credential.
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge)
}

extension URLAuthenticationChallengeSender {
    /// Goes on without a credential.
    public func performDefaultHandling(for challenge: URLAuthenticationChallenge) {
        continueWithoutCredential(for: challenge)
    }

    /// Goes on without a credential.
    public func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
        continueWithoutCredential(for: challenge)
    }
}
