// Objects of the program's in a cache: those of a class of its own, and what it keeps with an answer. They may use the cache when they
// are asked for something and when they go, which stops the program where that happens under a lock of the cache.

import Foundation
import Testing
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport

@testable import URLLoading

/// Does something in its deinit.
private final class Parting: Sendable {
    private let last: @Sendable () -> Void

    init(_ last: @escaping @Sendable () -> Void) { self.last = last }

    deinit { last() }
}

/// Uses a cache whenever it is asked for something.
private final class Asking: CachedURLResponse, @unchecked Sendable {
    // Safe to share: written once, before it is shared.
    weak var cache: URLCache?

    private func useCache() {
        _ = cache?.currentMemoryUsage
        _ = cache?.currentDiskUsage
    }

    override var response: URLResponse {
        useCache()
        return super.response
    }

    override var data: Data {
        useCache()
        return super.data
    }

    override var userInfo: [AnyHashable: Any]? {
        useCache()
        return super.userInfo
    }

    override var storagePolicy: URLCache.StoragePolicy {
        useCache()
        return super.storagePolicy
    }
}

@Suite("The program's objects in a cache")
struct ProgramObjectsTests {
    private let folder = CacheFolder()
    private let gone = Signal()
    private let a = "https://a.example/x"
    private let b = "https://b.example/x"
    private let body = String(repeating: "x", count: 6_000)

    /// A response that holds what uses the cache in its deinit.
    private func response(for cache: URLCache) throws -> CachedURLResponse {
        let parting = Parting { [weak cache, gone] in
            _ = cache?.currentMemoryUsage
            _ = cache?.currentDiskUsage
            gone.fire()
        }
        return try Stored.response(a, body, userInfo: ["parting": parting])
    }

    /// Stores a response as a load does.
    private func storeSoon(_ response: CachedURLResponse, in cache: URLCache) throws {
        let (cached, answer) = response.prepared(for: try Stored.request(a), at: WallTime(seconds: 0))
        cache.store.storeSoon(cached, answer, for: try #require(CacheKey(a)))
    }

    /// What lets go of an answer.
    enum Way: CaseIterable { case replacing, refusing, removing, removingAll, removingSince, evicting, shrinking }

    @Test(
        "What the program keeps with an answer may use the cache in its deinit, whatever lets go of the answer",
        arguments: Way.allCases, [0, 1 << 20])
    func lettingGo(way: Way, disk: Int) throws {
        let cache = folder.cache(memory: 10_000, disk: disk)
        cache.storeCachedResponse(try response(for: cache), for: try Stored.request(a))
        #expect(gone.count == 0)
        switch way {
        case .replacing: try Stored.store(a, in: cache)
        case .refusing:
            cache.storeCachedResponse(try Stored.response(a, policy: .notAllowed), for: try Stored.request(a))
        case .removing: cache.removeCachedResponse(for: try Stored.request(a))
        case .removingAll: cache.removeAllCachedResponses()
        case .removingSince: cache.removeCachedResponses(since: .distantPast)
        case .evicting: try Stored.store(b, body, in: cache)
        case .shrinking: cache.memoryCapacity = 0
        }
        #expect(gone.count == 1)
    }

    /// What ends the wait of an answer for the disk.
    enum Turn: CaseIterable { case written, replaced, removed, replacedByHand, allRemoved, switchedOff }

    @Test("It may do so, too, where the answer only waits for the disk", arguments: Turn.allCases)
    func waiting(turn: Turn) throws {
        // While both threads of the lane are held, no helper writes.
        let end = DispatchSemaphore(value: 0)
        for _ in 0..<2 { BlockingLane.cache.run { end.wait() } }
        defer { for _ in 0..<2 { end.signal() } }
        let cache = folder.cache()
        try storeSoon(response(for: cache), in: cache)
        #expect(gone.count == 0)
        switch turn {
        case .written: cache.store.flush()
        case .replaced: try storeSoon(Stored.response(a), in: cache)
        case .removed: cache.store.removeSoon(try #require(CacheKey(a)))
        case .replacedByHand: try Stored.store(a, in: cache)
        case .allRemoved: cache.removeAllCachedResponses()
        case .switchedOff: cache.diskCapacity = 0
        }
        #expect(gone.count == 1)
    }

    @Test("B7.12, B7.20: an object of a class of the program's may use the cache when it is stored and written")
    func asking() throws {
        let cache = folder.cache(memory: 1 << 20)
        let asking = Asking(
            response: try Stored.response(a).response, data: Data("body".utf8), userInfo: ["k": "v"],
            storagePolicy: .allowed)
        asking.cache = cache
        for byHand in [true, false] {
            if byHand {
                cache.storeCachedResponse(asking, for: try Stored.request(a))
            } else {
                try storeSoon(asking, in: cache)
                cache.store.flush()
            }
            #expect(cache.cachedResponse(for: try Stored.request(a)) === asking)
            let written = try #require(folder.cache().cachedResponse(for: try Stored.request(a)))
            #expect(written.data == Data("body".utf8) && written.userInfo?["k"] as? String == "v")
            cache.removeAllCachedResponses()
        }
    }
}
