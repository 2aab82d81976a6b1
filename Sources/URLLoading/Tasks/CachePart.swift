// What a cache has to do with the hop under way, as far as the hop's answer is concerned.

import URLLoadingPolicy

/// The part of a cache in the hop under way.
final class CachePart: Sendable {
    let session: SessionCache
    /// What answers to the hop are kept under.
    let key: CacheKey
    /// Nil where nothing can be stored, and the answer only makes others worthless (B7.84).
    let load: CachedLoad?
    /// What a cache of the program's has said when the hop set off, since the answer comes on the loop.
    private let programsLongestBody: Int64?
    /// When the hop set off.
    let requestTime: WallTime
    /// How many answers had become worthless by then.
    let removalCount: Int

    init(_ session: SessionCache, _ key: CacheKey, _ load: CachedLoad?) {
        self.session = session
        self.key = key
        self.load = load
        programsLongestBody = load == nil || session.isPlain ? nil : session.longestBody
        requestTime = session.clock()
        removalCount = load == nil ? 0 : session.store.removalCount
    }

    /// The length of the longest body of an answer that is kept (B7.8).
    var longestBody: Int64? { session.isPlain ? session.longestBody : programsLongestBody }
}
