// The cache by hand: what is found, replaced and removed, where it is kept and how much of it. Behaviour 7.1.

import Foundation
import Testing
import URLLoading
import URLLoadingTestSupport
import URLLoadingWire

/// Asks for the shared cache in its deinit.
private final class PartingCache: URLCache, @unchecked Sendable {
    // Safe to share: written once, before it is shared.
    var gone: Signal?

    deinit {
        if URLCache.shared !== self { gone?.fire() }
    }
}

@Suite("URLCache")
struct URLCacheTests {
    private let a = "https://a.example/x"
    private let b = "https://b.example/x"

    private func text(_ cached: CachedURLResponse?) -> String? {
        cached.map { String(decoding: $0.data, as: UTF8.self) }
    }

    /// Where each test stores and reads: in memory, on disk, and on disk with another object that reads.
    enum Place: CaseIterable { case memory, disk, reopened }

    private func caches(_ place: Place, _ folder: CacheFolder) -> (writing: URLCache, reading: URLCache) {
        switch place {
        case .memory:
            let cache = folder.cache(memory: 1 << 20, disk: 0)
            return (cache, cache)
        case .disk:
            let cache = folder.cache()
            return (cache, cache)
        case .reopened: return (folder.cache(), folder.cache())
        }
    }

    // MARK: Finding

    @Test(
        "B7.11, B7.12: a response that was stored by hand comes back equal, whatever its age", arguments: Place.allCases
    )
    func roundTrip(place: Place) throws {
        let folder = CacheFolder()
        let (writing, reading) = caches(place, folder)
        let stored = try Stored.response(
            a, "hello", fields: ["Expires": "0", "Content-Type": "text/plain; charset=utf-8", "X-A": "1"],
            userInfo: ["k": "v"])
        writing.storeCachedResponse(stored, for: try Stored.request(a))
        let found = try #require(reading.cachedResponse(for: try Stored.request(a)))
        #expect(found == stored)
        #expect(found.response == stored.response && found.data == stored.data)
        #expect(found.userInfo?["k"] as? String == "v" && found.storagePolicy == .allowed)
        #expect(found.response.mimeType == "text/plain" && found.response.textEncodingName == "utf-8")
    }

    @Test("B7.12: a response that is not HTTP's comes back equal", arguments: Place.allCases)
    func plainResponse(place: Place) throws {
        let folder = CacheFolder()
        let (writing, reading) = caches(place, folder)
        let response = URLResponse(
            url: try #require(URL(string: a)), mimeType: "image/png", expectedContentLength: 7, textEncodingName: "x")
        let stored = CachedURLResponse(response: response, data: Data([1, 2, 3]))
        writing.storeCachedResponse(stored, for: try Stored.request(a))
        #expect(reading.cachedResponse(for: try Stored.request(a)) == stored)
    }

    @Test("B7.12: bodies of any length come back", arguments: [0, 1, 32_768, 32_769, 1_000_000])
    func lengths(count: Int) throws {
        let folder = CacheFolder()
        let body = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let response = try Stored.response(a).response
        folder.cache().storeCachedResponse(
            CachedURLResponse(response: response, data: body), for: try Stored.request(a))
        let found = try #require(folder.cache().cachedResponse(for: try Stored.request(a)))
        // The body stays readable after the file's removal.
        folder.cache().removeAllCachedResponses()
        #expect(firstDifference(found.data, body) == nil)
    }

    @Test("B7.13: storing again replaces; there is one file", arguments: Place.allCases)
    func replacing(place: Place) throws {
        let folder = CacheFolder()
        let (writing, reading) = caches(place, folder)
        try Stored.store(a, "one", in: writing)
        try Stored.store(a, "two", in: writing)
        #expect(text(reading.cachedResponse(for: try Stored.request(a))) == "two")
        #expect(folder.entries.count == (place == .memory ? 0 : 1))
    }

    @Test(
        "B7.16: URLs that differ in fragment, case of the host or default port share an entry; other queries and schemes do not"
    )
    func keys() throws {
        let cache = CacheFolder().cache(memory: 1 << 20, disk: 0)
        try Stored.store("https://h.example/a?x=1#one", in: cache)
        for same in ["https://h.example/a?x=1", "HTTPS://H.EXAMPLE:443/a?x=1#two"] {
            #expect(cache.cachedResponse(for: try Stored.request(same)) != nil)
        }
        for other in [
            "https://h.example/a?x=2", "http://h.example/a?x=1", "https://h.example/a", "https://h.example/A?x=1",
        ] {
            #expect(cache.cachedResponse(for: try Stored.request(other)) == nil)
        }
    }

    @Test(
        "B7.16, B7.81: the fields that Vary names must be the same; the newest variant wins", arguments: Place.allCases)
    func vary(place: Place) throws {
        let folder = CacheFolder()
        let (writing, reading) = caches(place, folder)
        let response = try Stored.response(a, fields: ["Vary": "X-Kind, Accept-Encoding"])
        writing.storeCachedResponse(response, for: try Stored.request(a, ["X-Kind": "1"]))
        #expect(reading.cachedResponse(for: try Stored.request(a, ["x-kind": "1"])) != nil)
        #expect(reading.cachedResponse(for: try Stored.request(a, ["X-Kind": "2"])) == nil)
        #expect(reading.cachedResponse(for: try Stored.request(a)) == nil)
        // B7.82: a field that the loader would add is compared as if it were in the request.
        let explicit = ["X-Kind": "1", "Accept-Encoding": CodingLibraries.system.acceptEncoding]
        #expect(reading.cachedResponse(for: try Stored.request(a, explicit)) != nil)
        #expect(reading.cachedResponse(for: try Stored.request(a, ["X-Kind": "1", "Accept-Encoding": "br"])) == nil)
    }

    @Test("B7.82, B5.18: a request for a part is compared as one that asks for no coding")
    func varyOfPart() throws {
        let cache = CacheFolder().cache(memory: 1 << 20, disk: 0)
        let response = try Stored.response(a, fields: ["Vary": "Accept-Encoding"])
        cache.storeCachedResponse(response, for: try Stored.request(a, ["Range": "bytes=0-"]))
        #expect(cache.cachedResponse(for: try Stored.request(a)) == nil)
        #expect(cache.cachedResponse(for: try Stored.request(a, ["Accept-Encoding": "identity"])) != nil)
    }

    @Test("B7.16, B7.17: only GET is stored; HEAD finds it, other methods find nothing")
    func methods() throws {
        let cache = CacheFolder().cache(memory: 1 << 20, disk: 0)
        for method in ["POST", "PUT", "HEAD", "OPTIONS"] {
            cache.storeCachedResponse(try Stored.response(a), for: try Stored.request(a, method: method))
        }
        #expect(cache.currentMemoryUsage == 0)
        try Stored.store(a, in: cache)
        #expect(cache.cachedResponse(for: try Stored.request(a, method: "HEAD")) != nil)
        #expect(cache.cachedResponse(for: try Stored.request(a, method: "POST")) == nil)
    }

    @Test("B7.20: in memory userInfo stays as it is, on disk what a property list can hold does")
    func userInfo() throws {
        final class Thing: Sendable {}
        let folder = CacheFolder()
        let info: [AnyHashable: Any] = ["text": "t", "number": 5, "list": [1, 2], "thing": Thing(), 7: "seven"]
        let writing = folder.cache(memory: 1 << 20)
        writing.storeCachedResponse(try Stored.response(a, userInfo: info), for: try Stored.request(a))
        #expect(writing.cachedResponse(for: try Stored.request(a))?.userInfo?["thing"] is Thing)
        let found = try #require(folder.cache().cachedResponse(for: try Stored.request(a))?.userInfo)
        #expect(found.count == 3 && found["text"] as? String == "t" && found["number"] as? Int == 5)
        #expect(found["list"] as? [Int] == [1, 2])
    }

    // MARK: Places

    @Test("B7.3: a capacity of 0 switches memory or disk off")
    func capacities() throws {
        let folder = CacheFolder()
        let memoryOnly = folder.cache(memory: 1 << 20, disk: 0)
        try Stored.store(a, in: memoryOnly)
        #expect(folder.names.isEmpty && memoryOnly.currentDiskUsage == 0 && memoryOnly.currentMemoryUsage > 0)
        let diskOnly = folder.cache()
        try Stored.store(a, in: diskOnly)
        #expect(folder.entries.count == 1 && diskOnly.currentDiskUsage > 0 && diskOnly.currentMemoryUsage == 0)
        let none = CacheFolder().cache(memory: 0, disk: 0)
        try Stored.store(a, in: none)
        #expect(none.cachedResponse(for: try Stored.request(a)) == nil)
    }

    @Test("B7.14: allowed is stored on disk, allowedInMemoryOnly in memory, notAllowed nowhere")
    func policies() throws {
        let folder = CacheFolder()
        let cache = folder.cache(memory: 1 << 20)
        cache.storeCachedResponse(try Stored.response(a, policy: .allowedInMemoryOnly), for: try Stored.request(a))
        #expect(folder.entries.isEmpty)
        #expect(cache.cachedResponse(for: try Stored.request(a))?.storagePolicy == .allowedInMemoryOnly)
        cache.storeCachedResponse(try Stored.response(b, policy: .notAllowed), for: try Stored.request(b))
        #expect(cache.cachedResponse(for: try Stored.request(b)) == nil)
        try Stored.store(b, in: cache)
        #expect(folder.entries.count == 1)
        cache.storeCachedResponse(try Stored.response(b, policy: .allowedInMemoryOnly), for: try Stored.request(b))
        #expect(folder.entries.isEmpty, "what was on disk is not the newest any more")
        cache.storeCachedResponse(try Stored.response(b, policy: .notAllowed), for: try Stored.request(b))
        #expect(cache.cachedResponse(for: try Stored.request(b)) == nil)
    }

    @Test("B7.18: directory and files are for their owner only")
    func modes() throws {
        let folder = CacheFolder()
        let cache = folder.cache()
        try Stored.store(a, in: cache)
        #expect(try folder.mode() == 0o700)
        #expect(folder.names.count == 4)
        for name in folder.names { #expect(try folder.mode(name) == 0o600, "\(name)") }
    }

    @Test("B7.18: a directory into which others may write is not used; the cache goes on in memory")
    func openDirectory() throws {
        let folder = CacheFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
        let cache = folder.cache(memory: 1 << 20)
        try Stored.store(a, in: cache)
        #expect(folder.names.isEmpty && cache.currentDiskUsage == 0)
        #expect(cache.cachedResponse(for: try Stored.request(a)) != nil)
    }

    @Test(
        "B7.1, B7.2, B7.22: the shared cache has 4 MiB in memory and 20 MiB on disk; new configurations take another one set"
    )
    func shared() {
        let first = URLCache.shared
        #expect(first.memoryCapacity == 4 << 20 && first.diskCapacity == 20 << 20)
        let before = URLSessionConfiguration.default
        // It is as large as the first, for the tests that run meanwhile.
        let other = URLCache(memoryCapacity: 4 << 20, diskCapacity: 20 << 20, directory: CacheFolder().url)
        URLCache.shared = other
        let after = URLSessionConfiguration.default
        URLCache.shared = first
        #expect(before.urlCache === first && after.urlCache === other)
        #expect(URLSessionConfiguration.default.urlCache === first && URLCache.shared === first)
    }

    @Test("B7.2: the shared cache that another takes the place of may ask for the shared one in its deinit")
    func sharedDeinit() async {
        // In a process of its own: the other tests have a shared cache, too.
        await #expect(processExitsWith: .success) {
            func share(_ gone: Signal) {
                let cache = PartingCache(memoryCapacity: 1 << 20, diskCapacity: 0)
                cache.gone = gone
                URLCache.shared = cache
            }
            let gone = Signal()
            share(gone)
            URLCache.shared = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            #expect(gone.count == 1)
        }
    }

    // MARK: Sizes

    @Test(
        "B7.5, B7.7: when room is needed the entry that was not used for the longest time goes",
        arguments: [true, false])
    func eviction(inMemory: Bool) throws {
        let folder = CacheFolder()
        let room = 5 * 11_000
        let cache = inMemory ? folder.cache(memory: room, disk: 0) : folder.cache(disk: room)
        let body = String(repeating: "x", count: 10_000)
        let urls = (0..<8).map { "https://h.example/\($0)" }
        for url in urls[..<5] { try Stored.store(url, body, in: cache) }
        #expect(cache.cachedResponse(for: try Stored.request(urls[0])) != nil)
        for url in urls[5...] { try Stored.store(url, body, in: cache) }
        let left = try urls.filter { cache.cachedResponse(for: try Stored.request($0)) != nil }
        #expect(left == [urls[0], urls[4], urls[5], urls[6], urls[7]])
        #expect((inMemory ? cache.currentMemoryUsage : cache.currentDiskUsage) <= room)
        #expect(inMemory || folder.entries.count == 5)
    }

    @Test("B7.7: what is answered from memory counts as used on the disk, too", arguments: [false, true])
    func usedInMemory(isFlushed: Bool) async throws {
        let folder = CacheFolder()
        let cache = folder.cache(memory: 1 << 20, disk: 100_000)
        let body = String(repeating: "x", count: 40_000)
        for url in [a, b] { try Stored.store(url, body, in: cache) }
        #expect(cache.cachedResponse(for: try Stored.request(a)) != nil)
        let c = "https://c.example/x"
        if isFlushed {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = cache
            let session = URLSession(configuration: configuration)
            await session.flush()
            session.invalidateAndCancel()
        }
        try Stored.store(c, body, in: isFlushed ? folder.cache(disk: 100_000) : cache)
        let later = folder.cache(disk: 100_000)
        let left = try [a, b, c].filter { later.cachedResponse(for: try Stored.request($0)) != nil }
        #expect(left == [a, c])
    }

    @Test("B7.7: what is answered from memory counts as used on the disk where the cache goes without more, too")
    func usedInMemoryOfOneThatGoes() async throws {
        let folder = CacheFolder()
        var cache: URLCache? = folder.cache(memory: 1 << 20, disk: 100_000)
        let body = String(repeating: "x", count: 40_000)
        for url in [a, b] { try Stored.store(url, body, in: try #require(cache)) }
        #expect(cache?.cachedResponse(for: try Stored.request(a)) != nil)
        let logSize = {
            try FileManager.default.attributesOfItem(atPath: folder.path + "log")[.size] as? Int ?? 0
        }
        let before = try logSize()
        cache = nil
        // A helper thread notes it.
        try await until { try logSize() > before }
        let c = "https://c.example/x"
        let later = folder.cache(disk: 100_000)
        try Stored.store(c, body, in: later)
        let left = try [a, b, c].filter { later.cachedResponse(for: try Stored.request($0)) != nil }
        #expect(left == [a, c])
    }

    @Test("B7.9: storing by hand takes every body that fits, and no other")
    func large() throws {
        let folder = CacheFolder()
        let cache = folder.cache(memory: 10_000, disk: 10_000)
        try Stored.store(a, String(repeating: "x", count: 9_000), in: cache)
        #expect(cache.cachedResponse(for: try Stored.request(a)) != nil)
        try Stored.store(a, String(repeating: "x", count: 11_000), in: cache)
        #expect(cache.cachedResponse(for: try Stored.request(a)) == nil, "the older one is not the newest any more")
        #expect(cache.currentMemoryUsage == 0 && cache.currentDiskUsage == 0)
    }

    @Test(
        "B7.105: an answer takes as much memory as its body, its fields and what selects it, and goes where that is too much"
    )
    func heads() throws {
        let cache = CacheFolder().cache(memory: 250_000, disk: 0)
        let long = String(repeating: "x", count: 100_000)
        cache.storeCachedResponse(try Stored.response(a, fields: ["X-Long": long]), for: try Stored.request(a))
        #expect((100_000...110_000).contains(cache.currentMemoryUsage))
        let varying = try Stored.response(b, fields: ["Vary": "X-Kind"])
        cache.storeCachedResponse(varying, for: try Stored.request(b, ["X-Kind": long]))
        #expect((200_000...220_000).contains(cache.currentMemoryUsage))
        let c = "https://c.example/x"
        cache.storeCachedResponse(try Stored.response(c, fields: ["X-Long": long]), for: try Stored.request(c))
        #expect(cache.cachedResponse(for: try Stored.request(a)) == nil)
        #expect(cache.cachedResponse(for: try Stored.request(c)) != nil)
    }

    @Test("B7.6: lowering a capacity evicts at once; the other half stays usable")
    func shrinking() throws {
        let folder = CacheFolder()
        let cache = folder.cache(memory: 1 << 20)
        for url in [a, b] { try Stored.store(url, in: cache) }
        cache.diskCapacity = 0
        #expect(folder.entries.isEmpty && cache.currentDiskUsage == 0 && cache.diskCapacity == 0)
        #expect(cache.cachedResponse(for: try Stored.request(a)) != nil)
        cache.diskCapacity = 1 << 20
        for url in [a, b] { try Stored.store(url, in: cache) }
        #expect(folder.entries.count == 2)
        cache.memoryCapacity = 0
        #expect(cache.currentMemoryUsage == 0 && cache.memoryCapacity == 0)
        #expect(cache.cachedResponse(for: try Stored.request(a)) != nil)
        cache.diskCapacity = cache.currentDiskUsage - 1
        #expect(folder.entries.count == 1)
    }

    // MARK: Removing

    @Test("B7.15: one entry is removed; removing one that is not there changes nothing", arguments: Place.allCases)
    func removingOne(place: Place) throws {
        let folder = CacheFolder()
        let (writing, reading) = caches(place, folder)
        for url in [a, b] { try Stored.store(url, in: writing) }
        reading.removeCachedResponse(for: try Stored.request(a))
        reading.removeCachedResponse(for: try Stored.request("https://c.example/"))
        #expect(writing.cachedResponse(for: try Stored.request(a)) == nil)
        #expect(writing.cachedResponse(for: try Stored.request(b)) != nil)
    }

    @Test("B7.15: entries that were stored at or after a date are removed", arguments: Place.allCases)
    func removingSince(place: Place) throws {
        let folder = CacheFolder()
        let (writing, reading) = caches(place, folder)
        try Stored.store(a, in: writing)
        // Wait until the clock shows a later microsecond.
        var between = Date()
        while Date().timeIntervalSince(between) < 0.000_01 {}
        between = Date()
        try Stored.store(b, in: writing)
        reading.removeCachedResponses(since: between)
        #expect(writing.cachedResponse(for: try Stored.request(a)) != nil)
        #expect(writing.cachedResponse(for: try Stored.request(b)) == nil)
        reading.removeCachedResponses(since: .distantPast)
        #expect(writing.cachedResponse(for: try Stored.request(a)) == nil)
        reading.removeCachedResponses(since: .distantFuture)
    }

    @Test("B7.15: the date may be infinite or NaN; NaN removes nothing", arguments: Place.allCases)
    func removingSinceOddDates(place: Place) throws {
        let folder = CacheFolder()
        let (writing, reading) = caches(place, folder)
        try Stored.store(a, in: writing)
        for seconds in [Double.nan, .infinity, .greatestFiniteMagnitude] {
            reading.removeCachedResponses(since: Date(timeIntervalSinceReferenceDate: seconds))
            #expect(writing.cachedResponse(for: try Stored.request(a)) != nil)
        }
        for seconds in [-Double.infinity, -.greatestFiniteMagnitude] {
            try Stored.store(a, in: writing)
            reading.removeCachedResponses(since: Date(timeIntervalSinceReferenceDate: seconds))
            #expect(writing.cachedResponse(for: try Stored.request(a)) == nil)
        }
    }

    @Test("B7.3, B7.6: a capacity may be any number; one below zero counts as zero")
    func oddCapacities() throws {
        let folder = CacheFolder()
        let cache = folder.cache(memory: .max, disk: .max)
        try Stored.store(a, in: cache)
        #expect(folder.cache(memory: .min, disk: .max).cachedResponse(for: try Stored.request(a)) != nil)
        #expect(folder.cache(memory: .min, disk: .min).cachedResponse(for: try Stored.request(a)) == nil)
        cache.memoryCapacity = .min
        cache.diskCapacity = .min
        #expect(cache.memoryCapacity == 0 && cache.diskCapacity == 0 && folder.entries.isEmpty)
        #expect(cache.cachedResponse(for: try Stored.request(a)) == nil)
        cache.memoryCapacity = .max
        cache.diskCapacity = .max
        try Stored.store(a, in: cache)
        #expect(cache.cachedResponse(for: try Stored.request(a)) != nil && folder.entries.count == 1)
    }

    @Test("B7.15: everything is removed, in memory and on disk")
    func removingAll() throws {
        let folder = CacheFolder()
        let cache = folder.cache(memory: 1 << 20)
        for url in [a, b] { try Stored.store(url, in: cache) }
        cache.removeAllCachedResponses()
        #expect(cache.currentMemoryUsage == 0 && cache.currentDiskUsage == 0 && folder.entries.isEmpty)
        #expect(cache.cachedResponse(for: try Stored.request(a)) == nil)
        try Stored.store(a, in: cache)
        #expect(cache.cachedResponse(for: try Stored.request(a)) != nil)
    }

    // MARK: Tasks and classes of one's own

    @Test("B7.21: the methods with a task use the task's request")
    func tasks() async throws {
        let cache = CacheFolder().cache(memory: 1 << 20, disk: 0)
        let session = URLSession(configuration: .ephemeral)
        let task = session.dataTask(with: try Stored.request(a))
        cache.storeCachedResponse(try Stored.response(a, "by task"), for: task)
        #expect(text(cache.cachedResponse(for: try Stored.request(a))) == "by task")
        #expect(text(await cache.cachedResponse(for: task)) == "by task")
        let byHandler = Guarded<String?>(nil)
        cache.getCachedResponse(for: task) { cached in
            byHandler.withLock { $0 = cached.map { String(decoding: $0.data, as: UTF8.self) } }
        }
        #expect(byHandler.withLock { $0 } == "by task")
        cache.removeCachedResponse(for: task)
        #expect(cache.cachedResponse(for: try Stored.request(a)) == nil)
        session.invalidateAndCancel()
    }

    /// Keeps everything in a dictionary of its own.
    private final class OwnCache: URLCache, @unchecked Sendable {
        let responses = Guarded<[String: CachedURLResponse]>([:])

        override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
            responses.withLock { $0[request.url?.path() ?? ""] }
        }

        override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
            responses.withLock { $0[request.url?.path() ?? ""] = cachedResponse }
        }

        override var memoryCapacity: Int {
            get { 42 }
            set { super.memoryCapacity = newValue }
        }
    }

    @Test("B7.21: the methods with a task call those that a subclass overrides")
    func subclass() async throws {
        let cache = OwnCache(memoryCapacity: 1, diskCapacity: 0, directory: nil)
        #expect(cache.memoryCapacity == 42)
        let session = URLSession(configuration: .ephemeral)
        let task = session.dataTask(with: try Stored.request(a))
        let response = try Stored.response(a)
        cache.storeCachedResponse(response, for: task)
        #expect(await cache.cachedResponse(for: task) === response)
        let before = URLCache()
        #expect(before.memoryCapacity == 4 << 20 && before.diskCapacity == 0)
        session.invalidateAndCancel()
    }

    @Test("B7.12: an object of a subclass comes back from memory as itself")
    func ownObjects() throws {
        // Safe to share: it has no state of its own.
        final class Own: CachedURLResponse, @unchecked Sendable {}
        let cache = CacheFolder().cache(memory: 1 << 20, disk: 0)
        let own = Own(response: try Stored.response(a).response, data: Data([1]))
        cache.storeCachedResponse(own, for: try Stored.request(a))
        #expect(cache.cachedResponse(for: try Stored.request(a)) === own)
    }

    @Test("Responses go through keyed archives")
    func archive() throws {
        let stored = try Stored.response(
            a, "hello", fields: ["X": "1"], policy: .allowedInMemoryOnly, userInfo: ["k": 5])
        let bytes = try NSKeyedArchiver.archivedData(withRootObject: stored, requiringSecureCoding: true)
        let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: CachedURLResponse.self, from: bytes)
        #expect(back == stored)
        #expect(stored.copy() as? CachedURLResponse === stored)
        #expect(stored != (try Stored.response(a, "hallo", fields: ["X": "1"], policy: .allowedInMemoryOnly)))
    }
}
