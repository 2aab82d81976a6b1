// Which keys loads have made worthless of late: what a load brings that set off before is as old as what was removed,
// and must not come back in its place (B7.84). A value.
//
// Must not know: what was stored, and what has removed it.

import URLLoadingPolicy

/// The latest removals, counted.
struct RecentRemovals: Sendable {
    /// How many there were.
    private(set) var count = 0
    /// The number of the last one of each key, the longest ago first.
    private var numbers = RecencyTable<CacheKey, Int>()
    /// The number of the last one whose key is not known any more.
    private var lastForgotten = 0

    /// The answers of a key are worthless.
    mutating func note(_ key: CacheKey) {
        count += 1
        numbers.insert(count, for: key, cost: 0)
        guard numbers.count > Self.most, let oldest = numbers.removeOldest() else { return }
        lastForgotten = oldest.value
    }

    /// Whether a key may be among those that were removed after this many.
    func mayHold(_ key: CacheKey, since earlier: Int) -> Bool {
        lastForgotten > earlier || numbers.peek(key).map { $0 > earlier } ?? false
    }

    /// Enough for what is written while a load is under way; beyond it nothing wrong is stored, only less.
    static let most = 256
}
