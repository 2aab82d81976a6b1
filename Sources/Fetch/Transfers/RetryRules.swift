// Whether a transfer is tried once more, and when. The rules are those of the library's own policy. The attempts are
// made here all the same, since what has come of a body is gone on with.

import Foundation
import URLLoading

/// Rules of `--retry`.
package struct RetryRules: Sendable {
    private let policy: URLSession.RetryPolicy
    /// Whether every failure is tried again, by the user's word.
    private let triesAll: Bool

    /// So many attempts after the first; `delay` in seconds takes the place of 1, 2, 4 and so on.
    package init(retries: Int, delay: Double?, triesAll: Bool = false) {
        self.triesAll = triesAll
        var policy = URLSession.RetryPolicy(maximumRetries: retries)
        // As curl does it: 503 says that nothing was done.
        policy.unprocessedStatusCodes = [429, 503]
        policy.firstPause = delay ?? 1
        policy.pauseGrowth = delay == nil ? 2 : 1
        policy.longestPause = Self.longest
        policy.longestRetryAfter = Self.longest
        policy.jitter = 0
        self.policy = policy
    }

    /// Seconds until the next attempt, after so many that failed in the same way or another; nil where none follows.
    package func pause(
        after request: URLRequest, _ answer: HTTPURLResponse?, _ error: URLError?, earlierFailures: Int,
        isFailure: Bool = true
    ) -> Double? {
        let decision = policy.decision(about: request, response: answer, error: error, retries: earlierFailures)
        if case .retry(let pause) = decision { return pause }
        guard triesAll, isFailure, earlierFailures < policy.maximumRetries else { return nil }
        var pause = policy.firstPause
        for _ in 0..<earlierFailures where pause < Self.longest { pause *= policy.pauseGrowth }
        return min(pause, Self.longest)
    }

    /// The longest pause, whatever a server says: ten minutes, felt.
    private static let longest = 600.0
}
