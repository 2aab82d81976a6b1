// Whether a transfer is tried once more, and when. Pure; gets numbers, and gives numbers.

import Foundation

/// Rules of `--retry`.
package enum RetryRules {
    /// Longer than this nobody waits, whatever a server says: ten minutes, felt.
    private static let longest = 600.0

    /// Whether an answer says that another time might be better.
    package static func isPassing(status: Int) -> Bool { [408, 429, 500, 502, 503, 504].contains(status) }

    /// Whether a failure may pass. What is not safe to do twice (RFC 9110 §9.2.2) is done again only where the server
    /// cannot have begun it.
    package static func isPassing(_ code: ExitCode, method: String) -> Bool {
        switch code {
        case .hostNotFound, .cannotConnect: true
        case .timedOut, .connectionLost: isIdempotent(method)
        default: false
        }
    }

    /// Whether a request that was answered with this status may be sent again.
    package static func mayRepeat(_ method: String, after status: Int) -> Bool {
        // These two say that nothing was done.
        isIdempotent(method) || status == 429 || status == 503
    }

    /// Seconds until the next attempt: what the server asks for, else what the user does, else 1, 2, 4 and so on.
    package static func pause(afterFailure number: Int, chosen: Double?, asked: Double?) -> Double {
        if let asked { return min(longest, max(0, asked)) }
        if let chosen { return min(longest, chosen) }
        return min(longest, pow(2, Double(min(number, 20) - 1)))
    }

    /// What Retry-After says, in seconds (RFC 9110 §10.2.3).
    package static func seconds(retryAfter: String, now: Date) -> Double? {
        if let seconds = Int(retryAfter) { return seconds >= 0 ? Double(seconds) : nil }
        return HTTPDate.read(retryAfter).map { max(0, $0.timeIntervalSince(now)) }
    }

    private static func isIdempotent(_ method: String) -> Bool {
        ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].contains(method)
    }
}
