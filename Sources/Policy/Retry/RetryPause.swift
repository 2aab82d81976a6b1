// How long a program waits before it tries once more what has failed or was turned away: longer with each attempt,
// spread by chance, and never shorter than a server asks for (RFC 9110 §10.2.3).
//
// Must not know: what is tried, why it failed, where chance comes from.

/// The pauses between the attempts of one load.
package struct RetryPause: Sendable, Equatable {
    /// The pause before the first repetition.
    private let first: Duration
    /// No pause is longer, but for what a server asks for.
    private let longest: Duration
    /// By how much each pause is longer than the one before.
    private let growth: Double
    /// The part of a pause that chance may take away: 0 for none of it, 1 for all.
    private let jitter: Double

    /// Makes pauses of these numbers, brought into their ranges: no pause is longer than a hundred
    /// years, and no growth below 1.
    package init(first: Duration, longest: Duration, growth: Double, jitter: Double) {
        self.first = min(max(first, .zero), Self.limit)
        self.longest = min(max(longest, .zero), Self.limit)
        self.growth = growth.isNaN ? 1 : max(growth, 1)
        self.jitter = jitter.isNaN ? 0 : min(max(jitter, 0), 1)
    }

    /// The pause before the `number`th repetition (1 for the first). `chance` is from 0 to 1.
    package func pause(before number: Int, chance: Double) -> Duration {
        let most = longest / .seconds(1)
        // A power may be infinite; a product with zero is then not a number.
        let power = growth.power(max(number, 1) - 1)
        let product = first / .seconds(1) * power
        let full = product.isFinite ? min(product, most) : most
        let spread = jitter * (chance.isNaN ? 0 : min(max(chance, 0), 1))
        return .seconds(first == .zero ? 0 : full * (1 - spread))
    }

    private static var limit: Duration { .seconds(3_153_600_000) }

    // MARK: What a server asks for

    /// What `Retry-After` says, as the time from now on: a number of seconds or a date. Nil where it says neither.
    package static func asked(by retryAfter: String, now: WallTime) -> Duration? {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        if !retryAfter.isEmpty, retryAfter.utf8.allSatisfy(digits.contains) {
            // A number that is too large for anything is as long as can be.
            return Int64(retryAfter).map { min(.seconds($0), limit) } ?? limit
        }
        return HTTPDate.parse(retryAfter, now: now).map { min(.seconds(max(0, $0 - now)), limit) }
    }
}

extension Double {
    /// The number multiplied so many times with itself; infinite where that is too much.
    fileprivate func power(_ count: Int) -> Double {
        var (result, factor, left) = (1.0, self, count)
        while left > 0 {
            if left % 2 == 1 { result *= factor }
            factor *= factor
            left /= 2
        }
        return result
    }
}
