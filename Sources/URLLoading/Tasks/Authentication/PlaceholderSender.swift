// The sender of a challenge that no task has put its own sender into yet.

import Foundation

/// Takes answers by the older methods and does nothing with them: a task puts its own sender in place before a
/// delegate sees the challenge.
final class PlaceholderSender: NSObject, URLAuthenticationChallengeSender {
    static let shared = PlaceholderSender()

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
}
