// What a session does with a cache: which one it asks, under which policy, and whose word counts about what is stored.
//
// Must not know: how answers are judged and kept, tasks.

import Foundation
import URLLoadingPolicy
import URLLoadingSystem

/// A session's part in caching; a session without a cache has none of these (B7.10).
struct SessionCache: Sendable {
    let cache: URLCache
    /// What is behind it.
    let store: CacheStore
    /// For requests that keep the default one (B7.24).
    let policy: NSURLRequest.CachePolicy
    /// Whether the cache is asked as the value that it is, on any thread; a subclass is the program's code.
    let isPlain: Bool
    /// Whether delegates have a say in what is stored (B7.88).
    let asksDelegates: Bool
    /// The calendar's clock.
    let clock: @Sendable () -> WallTime
    /// The session's rule for servers, where others may have the same (B7.102).
    let trustRule: AnswerTrust.Mark?
    /// The session itself and its delegate, as judges of servers.
    let judge = TrustRule.newJudge()

    init?(_ values: ConfigurationValues) {
        guard let cache = values.urlCache else { return nil }
        self.cache = cache
        store = cache.store
        policy = values.requestCachePolicy
        isPlain = cache.isPlain
        asksDelegates = !values.isEphemeral
        clock = values.wallClock
        trustRule = TrustRule.mark(of: values)
    }

    /// The policy of a request.
    func policy(of request: URLRequest) -> CachePolicy {
        CachePolicy(request.values.cachePolicy, configured: policy)
    }

    /// The length of the longest body that is kept although the program has not asked for that (B7.8). Asks
    /// a cache of the program's.
    var longestBody: Int64? {
        let (memory, disk) = isPlain ? store.capacities : (cache.memoryCapacity, cache.diskCapacity)
        return StoringRules.longestBody(memoryCapacity: memory, diskCapacity: disk)
    }
}

extension WallTime {
    /// The present.
    package static var now: WallTime { WallTime(seconds: Machine.wallMicroseconds / 1_000_000) }
}
