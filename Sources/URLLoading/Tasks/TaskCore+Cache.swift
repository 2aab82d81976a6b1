// What a cache has for a hop, before it is sent: the answer, a question to the server, or nothing (behaviour 7.2, 7.3).
//
// A plain cache's memory is asked at once, on whichever thread the task is, so that a hit never touches a loop; a helper
// thread reads the disk, whose time nobody's thread has: neither a loop's nor one of Swift's pool. One that the program has made a subclass of is called like a
// delegate: before a hop, and in the order of the task's events.
//
// Must not know: what is stored and why (`CachedLoad`), how answers are delivered (`TaskCore+Stored`).

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

/// The part of a cache in the hop under way.
final class CachePart: Sendable {
    let session: SessionCache
    /// What answers to the hop are kept under.
    let key: CacheKey
    /// Nil where nothing can be stored, and the answer only makes others worthless (B7.84).
    let load: CachedLoad?
    /// When the hop set off.
    let requestTime: WallTime

    init(_ session: SessionCache, _ key: CacheKey, _ load: CachedLoad?) {
        self.session = session
        self.key = key
        self.load = load
        requestTime = session.clock()
    }
}

extension TaskCore {
    /// Takes up a hop of a session that has a cache.
    func askCache(about hop: Hop) {
        guard let cache = session?.settings.cache else { return findWay(of: hop) }
        let policy = cache.policy(of: hop.request)
        guard let key = hop.request.cacheKey, hop.request.mayBeAnswered, !outlet.savesFile else {
            return pass(hop, by: cache, policy)
        }
        guard cache.isPlain else { return ask(cache, about: hop, key) }
        switch cache.store.known(key) {
        case .found(let entry): judge(hop, CacheFinding(cache, key, entry: entry))
        case .nothing: judge(hop, CacheFinding(cache, key, entry: nil))
        case .unknown: readElsewhere(hop, cache, key)
        }
    }

    /// What is not answered from a cache and not stored (B7.43, B7.96).
    private func pass(_ hop: Hop, by cache: SessionCache, _ policy: CachePolicy) {
        if policy == .storedOnly { return endUnloaded(LoadFailure.notCached(hop.request.url)) }
        let key = hop.request.mayBeAnswered ? nil : hop.request.cacheKey
        state.withLock { $0.cachePart = key.map { CachePart(cache, $0, nil) } }
        findWay(of: hop)
    }

    // MARK: Asking

    /// The disk has no place on the caller's thread; the task can be cancelled meanwhile.
    private func readElsewhere(_ hop: Hop, _ cache: SessionCache, _ key: CacheKey) {
        guard let wait = beginWait(for: .storedAnswer) else { return }
        let work = { @Sendable [self] in
            let entry = cache.store.read(key)
            if endWait(wait) { judge(hop, CacheFinding(cache, key, entry: entry)) }
        }
        // Without a thread the load goes on without the disk.
        if !BlockingPool.cache.run(work), endWait(wait) {
            judge(hop, CacheFinding(cache, key, entry: nil))
        }
    }

    /// Of several answers the first counts.
    private func ask(_ cache: SessionCache, about hop: Hop, _ key: CacheKey) {
        guard let wait = beginWait(for: .storedAnswer) else { return }
        let take = { @Sendable [self] (found: CachedURLResponse?) in
            if endWait(wait) { judge(hop, CacheFinding(cache, key, found: found)) }
        }
        guard let task = face as? URLSessionDataTask else { return take(nil) }
        cache.cache.getCachedResponse(for: task, completionHandler: take)
    }

    // MARK: What follows

    private func judge(_ hop: Hop, _ finding: CacheFinding) {
        let cache = finding.cache
        var load = CachedLoad(
            method: hop.request.values.method, sent: selectingFields(of: hop), policy: cache.policy(of: hop.request),
            demand: trustDemand(of: hop.request, in: cache), found: finding.response, answer: finding.answer,
            now: cache.clock())
        let asksAgain = state.withLock { state in
            defer { state.omitsConditions = false }
            return state.omitsConditions
        }
        if asksAgain { load = load.withoutConditions }
        switch load.decision {
        case .fail:
            endUnloaded(LoadFailure.notCached(hop.request.url))
        case .use:
            state.withLock { $0.cachePart = nil }
            if let found = load.found { deliver(found)?.resume() }
        case .load:
            state.withLock { $0.cachePart = CachePart(cache, finding.key, load) }
            findWay(of: hop)
        case .validate(let conditions):
            state.withLock { $0.cachePart = CachePart(cache, finding.key, load) }
            findWay(of: hop.asking(conditions))
        }
    }

    /// The fields of a hop as they are sent (B7.82). In place of a proof, which is another one each time, stands where and
    /// whose it is (B7.48).
    private func selectingFields(of hop: Hop) -> Fields {
        var fields = hop.message.head.fields
        guard let authentication = session?.authentication else { return fields }
        let side = AuthenticationSide.server(hop.message.origin, socket: session?.settings.socket(of: hop.request))
        let given = state.withLock { $0.isAuthenticating ? $0.authentication[side]?.authorization : nil }
        let head = hop.message.head
        let request = AuthenticatedRequest(method: head.method, target: head.target)
        // B2.79: what the application has set goes out as it is.
        let proof = given ?? (fields.contains(.authorization) ? nil : authentication.known(to: side, for: request))
        if let proof { fields.replace(.authorization, with: proof.mark) }
        return fields
    }
}

/// What a cache has given out for a hop.
private struct CacheFinding: Sendable {
    let cache: SessionCache
    let key: CacheKey
    let response: CachedURLResponse?
    let answer: StoredAnswer?

    init(_ cache: SessionCache, _ key: CacheKey, entry: CacheStore.Entry?) {
        (self.cache, self.key) = (cache, key)
        (response, answer) = (entry?.response, entry?.answer)
    }

    init(_ cache: SessionCache, _ key: CacheKey, found: CachedURLResponse?) {
        (self.cache, self.key) = (cache, key)
        (response, answer) = (found, nil)
    }
}

extension Hop {
    /// The same with a question whether what is stored is still right (B7.71).
    fileprivate func asking(_ conditions: Fields) -> Hop {
        Hop(request: request, message: message.adding(conditions), content: content)
    }
}
