// What a policy says about one failure. Values; a request and a session share them by reference, since most have none.
//
// Must not know: tasks, what has been seen of an answer, budgets.

import Foundation
import URLLoadingPolicy

/// A policy as it is applied.
final class RetryRules: Sendable {
    let policy: URLSession.RetryPolicy
    private let pauses: RetryPause

    init(_ policy: URLSession.RetryPolicy) {
        self.policy = policy
        pauses = RetryPause(
            first: Duration(clampedSeconds: policy.firstPause), longest: Duration(clampedSeconds: policy.longestPause),
            growth: policy.pauseGrowth, jitter: policy.jitter)
    }

    /// The pause before the next attempt; nil where none follows.
    func pause(
        after request: URLRequest, _ response: HTTPURLResponse?, _ error: URLError.Code?, retries: Int, now: WallTime,
        chance: Double
    ) -> Duration? {
        guard retries < policy.maximumRetries, mayPass(response, error), isHarmless(request, response, error) else {
            return nil
        }
        // The number of attempts is a caller's.
        let own = pauses.pause(before: max(retries, 0).addingReportingOverflow(1).partialValue, chance: chance)
        guard let text = response?.value(forHTTPHeaderField: "Retry-After"),
            let asked = RetryPause.asked(by: text, now: now)
        else { return own }
        return asked <= Duration(clampedSeconds: policy.longestRetryAfter) ? max(own, asked) : nil
    }

    private func mayPass(_ response: HTTPURLResponse?, _ error: URLError.Code?) -> Bool {
        if let error { return policy.errorCodes.contains(error) }
        return response.map { policy.statusCodes.contains($0.statusCode) } ?? false
    }

    /// Whether doing it twice has the effect of doing it once, or it cannot have been done.
    private func isHarmless(_ request: URLRequest, _ response: HTTPURLResponse?, _ error: URLError.Code?) -> Bool {
        if policy.methods.contains(request.values.method) { return true }
        if let error { return Self.beforeConnecting.contains(error) }
        return response.map { policy.unprocessedStatusCodes.contains($0.statusCode) } ?? false
    }

    /// Errors that come before a server can have heard of the request.
    private static let beforeConnecting: Set<URLError.Code> = [
        .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet,
    ]
}
