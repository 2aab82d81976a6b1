// What a cache has for a hop, before it is sent: the answer, a question to the server, or nothing (behaviour 7.2, 7.3).
//
// A plain cache's memory is asked at once, on whichever thread the task is, so that a hit never touches a loop. A
// helper thread reads the disk: neither a loop nor a thread of Swift's pool waits for it. It judges objects of the
// program's classes in that cache, too. A cache that the program has made a subclass of is called like a delegate.
//
// Must not know: what is stored and why (`CachedLoad`), how answers are delivered (`TaskCaching`).

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

extension HopPreparation {
    /// Asks the session's cache about a hop.
    mutating func askCache() -> Step? {
        let session = session
        guard let cache = session.settings.cache, task.kindName != .warmUp else { return .way }
        guard let key = session.settings.cacheKey(of: request), request.mayBeAnswered, !task.savesFile else {
            return pass(by: cache)
        }
        guard cache.isPlain else { return askProgramsOwn(cache, key) }
        switch cache.store.known(key) {
        case .found(let entry) where entry.response.isPlain: return judge(CacheFinding(cache, key, entry: entry))
        case .found(let entry): return judgeElsewhere(cache, key) { entry }
        case .nothing: return judge(CacheFinding(cache, key, entry: nil))
        case .unknown: return judgeElsewhere(cache, key) { cache.store.read(key) }
        }
    }

    /// What is not answered from a cache and not stored (B7.43, B7.96, B7.103).
    private func pass(by cache: SessionCache) -> Step? {
        if cache.policy(of: request) == .storedOnly { return end(LoadFailure.notCached(request.url)) }
        let key = request.mayBeAnswered ? nil : session.settings.cacheKey(of: request)
        setPart(key.map { CachePart(cache, $0, nil) })
        return .way
    }

    // MARK: Asking

    /// The disk and the program's code have no place on the caller's thread; the task can be cancelled meanwhile.
    private func judgeElsewhere(
        _ cache: SessionCache, _ key: CacheKey, _ find: @escaping @Sendable () -> CacheStore.Entry?
    ) -> Step? {
        guard let wait = task.driver.beginWait(for: .storedAnswer) else { return nil }
        let work = { @Sendable in judgeLate(CacheFinding(cache, key, entry: find()), after: wait) }
        // Without a thread the load goes on as if nothing were stored.
        if !BlockingPool.cache.run(work) { judgeLate(CacheFinding(cache, key, entry: nil), after: wait) }
        return nil
    }

    /// Of several answers the first counts.
    private func askProgramsOwn(_ cache: SessionCache, _ key: CacheKey) -> Step? {
        guard let wait = task.driver.beginWait(for: .storedAnswer) else { return nil }
        let take = { @Sendable (found: CachedURLResponse?) in
            judgeLate(CacheFinding(cache, key, found: found), after: wait)
        }
        if let shown = task.face as? URLSessionDataTask {
            cache.cache.getCachedResponse(for: shown, completionHandler: take)
        } else {
            take(nil)
        }
        return nil
    }

    // MARK: What follows

    private func judgeLate(_ finding: CacheFinding, after wait: WaitNumber) {
        var preparation = self
        guard task.driver.endWait(wait), let step = preparation.judge(finding) else { return }
        preparation.go(from: step)
    }

    private mutating func judge(_ finding: CacheFinding) -> Step? {
        let cache = finding.cache
        var load = CachedLoad(
            method: request.values.method, sent: selectingFields, policy: cache.policy(of: request),
            demand: task.trust.demand(of: request, in: cache), found: finding.response, answer: finding.answer,
            now: cache.clock())
        let asksAgain = task.state.withLock { state in
            defer { state.omitsConditions = false }
            return state.omitsConditions
        }
        if asksAgain { load = load.withoutConditions }
        switch load.decision {
        case .fail:
            return end(LoadFailure.notCached(request.url))
        case .use:
            setPart(nil)
            if let found = load.found { task.caching.show(found)?.resume() }
            return nil
        case .load:
            setPart(CachePart(cache, finding.key, load))
            return .way
        case .validate(let conditions):
            setPart(CachePart(cache, finding.key, load))
            // B7.71.
            hop.message = hop.message?.adding(conditions)
            return .way
        }
    }

    /// What a cache has to do with the hop from now on. The part before ends when the lock is free: what it found may
    /// be the program's.
    private func setPart(_ part: CachePart?) {
        task.state.letGo { exchange(&$0.cachePart, with: part) }
    }

    /// The fields of a hop as they are sent (B7.82). In place of a proof, which is another one each time, stands where
    /// and whose it is (B7.48).
    private var selectingFields: Fields {
        guard let message = hop.message else { return Fields() }
        var fields = message.head.fields
        // B7.103: nothing is asked about a load through a socket.
        let side = AuthenticationSide.server(message.origin)
        let given = task.state.withLock { $0.isAuthenticating ? $0.authentication[side]?.authorization : nil }
        let asked = AuthenticatedRequest(method: message.head.method, target: message.head.target)
        // B2.79: what the application has set goes out as it is.
        let mayAdd = !fields.contains(.authorization)
        let proof = given ?? (mayAdd ? known(to: side, for: asked) : nil)
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
