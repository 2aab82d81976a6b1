// Which keys were made worthless while a load was under way (B7.84); what comes of it is in SessionCacheTests.

import Testing
import URLLoadingPolicy

@testable import URLLoading

@Suite("Recent removals")
struct RecentRemovalsTests {
    @Test("B7.84: what was made worthless is known of each key, and of all keys where there were too many")
    func removals() throws {
        let keys = try (0...RecentRemovals.most).map { try #require(CacheKey("http://a.test/\($0)")) }
        var removals = RecentRemovals()
        for key in keys.dropLast() { removals.note(key) }
        #expect(removals.count == RecentRemovals.most)
        #expect(removals.mayHold(keys[0], since: 0) && !removals.mayHold(keys[0], since: 1))
        #expect(removals.mayHold(keys[1], since: 1) && !removals.mayHold(keys[RecentRemovals.most], since: 0))
        removals.note(keys[RecentRemovals.most])
        #expect(removals.mayHold(keys[0], since: 0) && !removals.mayHold(keys[0], since: 1))
    }
}
