// Objects of the program's in a cache: those of a class of its own, and what it keeps with an answer. They may use the
// cache when they are asked for something and when they go, which stops the program where that happens under a lock of
// the cache. No loop calls them, nor a cache of the program's own.

import Foundation
import Testing
import URLLoadingLoopbackServer
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

/// A stored response that does something whenever it is asked.
private final class OwnStored: CachedURLResponse, @unchecked Sendable {
    // Safe to share: written once, before it is shared.
    var whenAsked: @Sendable () -> Void = {}

    override var response: URLResponse {
        whenAsked()
        return super.response
    }

    override var data: Data {
        whenAsked()
        return super.data
    }

    override var userInfo: [AnyHashable: Any]? {
        whenAsked()
        return super.userInfo
    }

    override var storagePolicy: URLCache.StoragePolicy {
        whenAsked()
        return super.storagePolicy
    }
}

/// A response that does.
private final class OwnResponse: HTTPURLResponse, @unchecked Sendable {
    // Safe to share: written once, before it is shared.
    var whenAsked: @Sendable () -> Void = {}

    override var url: URL? {
        whenAsked()
        return super.url
    }

    override var expectedContentLength: Int64 {
        whenAsked()
        return super.expectedContentLength
    }
}

/// A cache that does when it is asked how much it may keep.
private final class OwnCache: URLCache, @unchecked Sendable {
    // Safe to share: written once, before it is shared.
    var whenAsked: @Sendable () -> Void = {}

    override var memoryCapacity: Int {
        get {
            whenAsked()
            return super.memoryCapacity
        }
        set { super.memoryCapacity = newValue }
    }
}

@Suite("The program's objects in a cache", .endsSessions)
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
    func asked() throws {
        let cache = folder.cache(memory: 1 << 20)
        let own = OwnStored(
            response: try Stored.response(a).response, data: Data("body".utf8), userInfo: ["k": "v"],
            storagePolicy: .allowed)
        own.whenAsked = { [weak cache] in
            _ = cache?.currentMemoryUsage
            _ = cache?.currentDiskUsage
        }
        for byHand in [true, false] {
            if byHand {
                cache.storeCachedResponse(own, for: try Stored.request(a))
            } else {
                try storeSoon(own, in: cache)
                cache.store.flush()
            }
            #expect(cache.cachedResponse(for: try Stored.request(a)) === own)
            let written = try #require(folder.cache().cachedResponse(for: try Stored.request(a)))
            #expect(written.data == Data("body".utf8) && written.userInfo?["k"] as? String == "v")
            cache.removeAllCachedResponses()
        }
    }

    private static let router: LoopbackServer.Router = { request in
        switch request.path {
        case "/moved": .text("moved", status: 302).adding("Location", "/old")
        case "/old" where request.fields.contains(.ifNoneMatch): ServerResponse(status: 304, body: .none)
        default: .text("page")
        }
    }

    @Test(
        "No loop asks a cache of the program's, nor what the program has stored, also behind a redirect",
        arguments: [true, false], [["Cache-Control": "max-age=3600"], ["ETag": "\"v\""]])
    func neverOnLoop(hasOwnCache: Bool, fields: [String: String]) async throws {
        try await withServer(router: Self.router) { server async throws in
            let asksOnLoop = Guarded<[Bool]>([])
            let own = OwnCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            let cache: URLCache = hasOwnCache ? own : folder.cache(memory: 1 << 20, disk: 0)
            let session = visitor { $0.urlCache = cache }
            let note = { @Sendable [engine = session.core.engine] in asksOnLoop.change { $0.append(engine.isOnLoop) } }
            own.whenAsked = note
            #expect(try await session.visit(server.at("/page")) == "200 page")

            let url = try server.at("/old")
            // What a program's own cache gives out is as old as this says.
            var fields = fields
            fields["Date"] = HTTPDate.text(.now)
            let response = try #require(
                OwnResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields))
            let stored = OwnStored(response: response, data: Data("kept".utf8))
            (response.whenAsked, stored.whenAsked) = (note, note)
            cache.storeCachedResponse(stored, for: URLRequest(url: url))
            #expect(try await session.visit(server.at("/moved")) == "200 kept")
            #expect(!asksOnLoop.value.contains(true))
        }
    }
}
