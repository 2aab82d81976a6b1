// How many repetitions a session may afford. Where a server fails for all clients, a fixed number of attempts for each
// load multiplies what it is asked; a budget that loads pay into lets the multiple be small.
//
// Must not know: loads, time.

/// What is left of a session's budget for repetitions.
package struct RetryAccount: Sendable, Equatable {
    /// Thousandths of a repetition.
    private var left: Int64
    private let most: Int64
    private let share: Int64

    /// A full account. It holds `reserve` repetitions at most, and each load pays in `share` of one; both are brought
    /// into their ranges.
    package init(reserve: Int, share: Double) {
        most = Int64(min(max(reserve, 0), Self.largestReserve)) * Self.whole
        self.share = share.isNaN ? 0 : Int64(min(max(share, 0), 1) * Double(Self.whole))
        left = most
    }

    /// A load begins.
    package mutating func payIn() { left = min(left + share, most) }

    /// Takes a repetition out; false where none is left.
    package mutating func take() -> Bool {
        guard left >= Self.whole else { return false }
        left -= Self.whole
        return true
    }

    private static let whole: Int64 = 1_000
    private static let largestReserve = 1_000_000_000
}
