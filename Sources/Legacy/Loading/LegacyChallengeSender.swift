// The sender of the challenges that connections and downloads show: takes one answer, and knows that a refusal ends an
// older load with another error than a session's task (B17.24).

import Foundation
import Synchronization
import URLLoading

/// Takes the answer to one challenge of one load.
final class LegacyChallengeSender: NSObject, URLAuthenticationChallengeSender, CustomReflectable {
    typealias Answer = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    private let answer: Mutex<Answer?>

    init(_ answer: @escaping Answer) {
        self.answer = Mutex(answer)
    }

    /// Credentials that are under way are not shown.
    var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
        give(.useCredential, credential)
    }

    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {
        give(.useCredential, nil)
    }

    func cancel(_ challenge: URLAuthenticationChallenge) {
        give(.cancelAuthenticationChallenge, nil)
    }

    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {
        give(.performDefaultHandling, nil)
    }

    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
        give(.rejectProtectionSpace, nil)
    }

    /// The first answer counts.
    private func give(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?) {
        let answer = answer.withLock { answer in
            defer { answer = nil }
            return answer
        }
        answer?(disposition, credential)
    }
}

extension URLProtectionSpace {
    /// B2.7: whether a delegate that cannot say so is asked about such a space.
    var isAskedAboutUnlessRefused: Bool {
        switch authenticationMethod {
        case NSURLAuthenticationMethodClientCertificate, NSURLAuthenticationMethodServerTrust: false
        default: true
        }
    }
}
