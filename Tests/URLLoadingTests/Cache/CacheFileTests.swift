// A cache's directory that other processes touch: torn and foreign files, lost logs, killed processes, several
// processes at once (B7.18, B7.19).

import Foundation
import Testing
import URLLoading
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingWire

@Suite("A cache's files")
struct CacheFileTests {
    private let folder = CacheFolder()
    private let urls = (0..<6).map { "https://h.example/\($0)" }

    private func fill(_ cache: URLCache) throws {
        for url in urls { try Stored.store(url, "body of " + url, in: cache) }
    }

    private func found(_ cache: URLCache) throws -> [String] {
        try urls.filter { url in
            guard let cached = cache.cachedResponse(for: try Stored.request(url)) else { return false }
            return String(decoding: cached.data, as: UTF8.self) == "body of " + url
        }
    }

    private func change(_ name: String, _ body: (inout Data) -> Void) throws {
        let url = folder.url.appending(path: name)
        var bytes = try Data(contentsOf: url)
        body(&bytes)
        // In one step, as every process that writes here has to.
        try bytes.write(to: url, options: .atomic)
    }

    private func record(for key: CacheKey) -> CacheRecord {
        let answer = StoredAnswer(
            status: 200, fields: Fields(), requestTime: .init(seconds: 0), responseTime: .init(seconds: 0),
            selection: Selection(isUnrepeatable: false, members: [], salt: SipHash.Words(0, 0)))
        return CacheRecord(
            key: key.text, url: key.text, answer: answer, isHTTP: true, expectedLength: 5, storedAt: 0)
    }

    /// A cache with so many short answers, and their keys.
    private func filled(_ count: Int, patience: Duration) throws -> (DiskCache, [CacheKey]) {
        let disk = try #require(DiskCache(directory: folder.path, capacity: 1 << 20, patience: patience))
        let keys = try (0..<count).map { try #require(CacheKey("https://h.example/\($0)")) }
        for key in keys {
            #expect(Array("hello".utf8).withUnsafeBytes { disk.store(record(for: key), body: $0) })
        }
        return (disk, keys)
    }

    /// Takes the lock that the cache's log is written under, as another process has it: it is the descriptor's.
    private func takeLock() throws -> FileLock { try FileLock.take(folder.path + "lock").get() }

    /// No test waits so long: a call that returns has not waited.
    private static let endless = Duration.seconds(1_000_000)

    @Test("B7.19: a file that was cut, emptied, changed or made longer is a miss, and is removed", arguments: 0..<5)
    func damaged(kind: Int) throws {
        try fill(folder.cache())
        for name in folder.entries.prefix(3) {
            try change(name) { bytes in
                switch kind {
                case 0: bytes = bytes.dropLast()
                case 1: bytes = Data()
                case 2: bytes[bytes.index(bytes.startIndex, offsetBy: 60)] ^= 1
                case 3: bytes[bytes.index(bytes.endIndex, offsetBy: -1)] ^= 1
                default: bytes.append(0)
                }
            }
        }
        let cache = folder.cache()
        #expect(try found(cache).count == 3)
        #expect(folder.entries.count == 3)
        try fill(cache)
        #expect(try found(cache) == urls)
    }

    @Test("B7.19: a file that was made longer than memory is a miss, whatever the capacity, and is removed")
    func endless() throws {
        try fill(folder.cache(disk: .max))
        let file = try FileHandle(forWritingTo: folder.url.appending(path: try #require(folder.entries.first)))
        try file.truncate(atOffset: 1 << 40)
        try file.close()
        #expect(try found(folder.cache(disk: .max)).count == urls.count - 1)
        #expect(folder.entries.count == urls.count - 1)
    }

    @Test("B7.12, B7.19: a long file is served if it has the length in its head, and removed if it has another")
    func long() throws {
        let key = try #require(CacheKey(urls[0]))
        let record = record(for: key)
        let disk = try #require(DiskCache(directory: folder.path, capacity: 1 << 20, readUnasked: 10))
        let damages: [(Data) -> Data] = [
            { $0 + [0] }, { $0.dropLast(2) }, { $0.prefix(47) }, { Data(count: $0.count) },
        ]
        for damage in damages {
            #expect(Array("hello".utf8).withUnsafeBytes { disk.store(record, body: $0) })
            #expect(disk.entry(for: key)?.withBody { String(decoding: $0, as: UTF8.self) } == "hello")
            try change(try #require(folder.entries.first)) { $0 = damage($0) }
            #expect(disk.entry(for: key) == nil && folder.entries.isEmpty)
        }
    }

    @Test("B7.19: an answer in use keeps its whole body when another process shortens its file")
    func shortenedInUse() throws {
        let body = String(repeating: "0123456789abcdef", count: 64 << 10)
        try Stored.store(urls[0], body, in: folder.cache())
        let cached = try #require(folder.cache().cachedResponse(for: try Stored.request(urls[0])))
        let file = try FileHandle(forWritingTo: folder.url.appending(path: try #require(folder.entries.first)))
        // In place, as an editor or a full disk does it: the file keeps its number.
        try file.truncate(atOffset: 0)
        try file.close()
        #expect(firstDifference(cached.data, body.utf8) == nil)
        #expect(folder.cache().cachedResponse(for: try Stored.request(urls[0])) == nil)
    }

    @Test("B7.19: a whole file under another entry's name is not served")
    func exchanged() throws {
        try fill(folder.cache())
        let names = folder.entries
        let bytes = try Data(contentsOf: folder.url.appending(path: names[0]))
        try bytes.write(to: folder.url.appending(path: names[1]), options: .atomic)
        #expect(try found(folder.cache()).count == 5)
    }

    @Test(
        "B7.18: files that are not the cache's are left alone",
        arguments: ["notes.txt", "0123456789abcdef0123456789abcdeg"])
    func foreign(name: String) throws {
        let cache = folder.cache()
        try fill(cache)
        try Data("mine".utf8).write(to: folder.url.appending(path: name))
        cache.removeAllCachedResponses()
        #expect(folder.entries.filter { $0 != name }.isEmpty)
        #expect(try Data(contentsOf: folder.url.appending(path: name)) == Data("mine".utf8))
    }

    @Test(
        "B7.18, B7.19: no entry is lost when the log is lost, cut, another file or full of nonsense", arguments: 0..<5)
    func logs(kind: Int) throws {
        let first = folder.cache()
        try fill(first)
        let usage = first.currentDiskUsage
        switch kind {
        case 0: try FileManager.default.removeItem(at: folder.url.appending(path: "log"))
        case 1: try change("log") { $0 = Data() }
        case 2: try change("log") { $0 = Data("something else entirely".utf8) }
        case 3: try change("log") { $0.append(Data(repeating: 0x5A, count: 31)) }
        default: try change("log") { $0.append(Data(repeating: 0x5A, count: 480)) }
        }
        let second = folder.cache()
        #expect(try found(second) == urls)
        #expect(second.currentDiskUsage == usage)
        try Stored.store("https://h.example/new", in: first)
        #expect(second.currentDiskUsage == first.currentDiskUsage && second.currentDiskUsage > usage)
        second.removeAllCachedResponses()
        #expect(first.currentDiskUsage == 0 && folder.entries.isEmpty)
    }

    @Test("B7.18: a log that is lost while descriptors run out is made of what is there all the same")
    func logWithoutDescriptors() async {
        // In a process of its own, whose descriptors run out.
        await #expect(processExitsWith: .success) {
            let folder = CacheFolder()
            let first = folder.cache()
            for number in 0..<3 { try Stored.store("https://h.example/\(number)", in: first) }
            let usage = first.currentDiskUsage
            try Data("something else entirely, as long as a record of a log".utf8)
                .write(to: folder.url.appending(path: "log"), options: .atomic)
            let second = folder.cache()
            // One for the lock and one for the log; what holes there were below is filled.
            let held = (0..<50).map { _ in open("/dev/null", O_RDONLY) }
            for descriptor in held.suffix(2) { close(descriptor) }
            let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            var limit = rlimit()
            getrlimit(descriptors, &limit)
            let before = limit
            limit.rlim_cur = rlim_t(held[49]) + 1
            setrlimit(descriptors, &limit)
            _ = second.currentDiskUsage
            limit = before
            setrlimit(descriptors, &limit)
            #expect(second.currentDiskUsage == usage && folder.cache().currentDiskUsage == usage)
            #expect(folder.entries.count == 3)
        }
    }

    /// Puts a directory in the place of a file, which cannot be opened for writing then.
    private func block(_ name: String) throws {
        try FileManager.default.removeItem(at: folder.url.appending(path: name))
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: name), withIntermediateDirectories: false)
    }

    @Test("B7.13: an answer that cannot be written leaves nothing of the one before", arguments: ["writers", "lock"])
    func unwritable(name: String) throws {
        let cache = folder.cache()
        try Stored.store(urls[0], "old", in: cache)
        try block(name)
        try Stored.store(urls[0], "new", in: cache)
        #expect(cache.cachedResponse(for: try Stored.request(urls[0])) == nil)
        #expect(folder.cache().cachedResponse(for: try Stored.request(urls[0])) == nil)
    }

    @Test("B7.6, B7.15: what no capacity or a date removes is gone where the lock cannot be had, too", arguments: 0..<4)
    func removedAtOnceWithoutLock(kind: Int) throws {
        let cache = folder.cache()
        try fill(cache)
        try block("lock")
        switch kind {
        case 0: cache.diskCapacity = 0
        case 1: cache.removeCachedResponses(since: .distantPast)
        case 2: cache.removeCachedResponses(since: Date(timeIntervalSinceNow: -3600))
        default: cache.removeCachedResponses(since: .distantFuture)
        }
        #expect(folder.entries.count == (kind == 3 ? urls.count : 0))
        #expect(try found(folder.cache()) == (kind == 3 ? urls : []))
    }

    @Test("B7.15: what is removed is gone where the lock cannot be had, too", arguments: [false, true])
    func removedWithoutLock(removesAll: Bool) throws {
        let cache = folder.cache()
        try fill(cache)
        try block("lock")
        if removesAll {
            cache.removeAllCachedResponses()
        } else {
            cache.removeCachedResponse(for: try Stored.request(urls[0]))
        }
        #expect(try found(cache) == (removesAll ? [] : Array(urls.dropFirst())))
        #expect(folder.entries.count == (removesAll ? 0 : urls.count - 1))
    }

    @Test("B7.18, B7.19: what is stored is read, and a damaged file removed, while another process keeps the lock")
    func readWhileLocked() throws {
        let (disk, keys) = try filled(3, patience: Self.endless)
        let lock = try takeLock()
        for _ in 0..<100 {
            for key in keys { #expect(disk.entry(for: key) != nil) }
        }
        try change(keys[0].fileName.hexadecimal) { $0 = $0.dropLast() }
        #expect(disk.entry(for: keys[0]) == nil)
        #expect(folder.entries.count == 2)
        #expect(disk.capacity == 1 << 20)
        lock.hold()
    }

    @Test("B7.7: of what is read while another process keeps the lock the last 1024 count")
    func usesWhileLocked() throws {
        let (disk, keys) = try filled(1100, patience: Self.endless)
        let log = folder.path + "log"
        let before = try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int ?? 0
        var lock: FileLock? = try takeLock()
        for key in keys { #expect(disk.entry(for: key) != nil) }
        withExtendedLifetime(lock) {}
        lock = nil
        disk.flush()
        #expect(try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int == before + 1024 * 48)
    }

    @Test("B7.5: the usage is what the log tells where another process keeps the lock")
    func usageWhileLocked() throws {
        let (disk, _) = try filled(3, patience: .milliseconds(1))
        let usage = disk.byteCount
        #expect(usage > 0)
        let lock = try takeLock()
        let second = try #require(DiskCache(directory: folder.path, capacity: 1 << 20, patience: .milliseconds(1)))
        #expect(disk.byteCount == usage && second.byteCount == usage)
        lock.hold()
    }

    @Test("B7.18: a lock that another process keeps is waited for once, until it has been had again")
    func waitsOnce() throws {
        _ = try filled(1, patience: Self.endless)
        let lock = CacheLock(folder.path + "lock")
        var other: FileLock? = try takeLock()
        #expect(lock.take(patience: .milliseconds(1)) == nil)
        #expect(lock.take(patience: Self.endless) == nil, "does not wait once more")
        withExtendedLifetime(other) {}
        other = nil
        #expect(lock.take(patience: .zero) != nil)
    }

    @Test("B1.26: a file URL is loaded while flushes wait for a cache that another process keeps")
    func flushesWhileLocked() async throws {
        try fill(folder.cache())
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = folder.cache()
        let session = URLSession(configuration: configuration)
        let flushed = Signal()
        var lock: FileLock? = try takeLock()
        // What was read has to be noted in the log.
        #expect(configuration.urlCache?.cachedResponse(for: try Stored.request(urls[0])) != nil)
        for _ in 0..<2 { session.flush { flushed.fire() } }
        let file = folder.url.appending(path: "notes")
        try Data("hello".utf8).write(to: file)
        #expect(try await session.data(from: file).0 == Data("hello".utf8))
        // The lock is let go behind the load.
        withExtendedLifetime(lock) {}
        lock = nil
        await flushed.wait(times: 2)
        session.invalidateAndCancel()
    }

    @Test(
        "B7.13, B7.15: what cannot be removed from the disk is not given out any more",
        .enabled(if: !Sanitizer.isActive, "a process under a sanitizer does not become another user"))
    func unremovable() async {
        // In a process of its own, which may become another user: root may remove everything.
        await #expect(processExitsWith: .success) {
            if geteuid() == 0 { #expect(seteuid(65534) == 0) }
            let folder = CacheFolder()
            let cache = folder.cache()
            let urls = (0..<5).map { "https://h.example/\($0)" }
            for url in urls { try Stored.store(url, "old", in: cache) }
            #expect(chmod(folder.path, 0o500) == 0)
            let found = { (number: Int) in
                let cached = cache.cachedResponse(for: try Stored.request(urls[number]))
                return cached.map { String(decoding: $0.data, as: UTF8.self) }
            }
            try Stored.store(urls[0], "new", in: cache)
            cache.removeCachedResponse(for: try Stored.request(urls[1]))
            #expect(try found(0) == nil && found(1) == nil && found(2) == "old")
            cache.removeAllCachedResponses()
            #expect(try found(2) == nil && found(3) == nil)
            #expect(folder.entries.count == urls.count)
            #expect(chmod(folder.path, 0o700) == 0)
            try Stored.store(urls[0], "newest", in: cache)
            #expect(try found(0) == "newest" && found(2) == nil)
        }
    }

    @Test(
        "B7.13, B7.15: what was removed is gone for later processes where the directory cannot be written or listed",
        .enabled(if: !Sanitizer.isActive, "a process under a sanitizer does not become another user"))
    func unremovableForOthers() async {
        // In a process of its own, which may become another user: root may do everything.
        await #expect(processExitsWith: .success) {
            if geteuid() == 0 { #expect(seteuid(65534) == 0) }
            let urls = (0..<4).map { "https://h.example/\($0)" }
            let requests = try urls.map { try Stored.request($0) }
            for (mode, newer) in [(0o500, nil), (0o300, 5)] as [(mode_t, Int?)] {
                let folder = CacheFolder()
                let cache = folder.cache()
                for url in urls { try Stored.store(url, "old", in: cache) }
                #expect(chmod(folder.path, mode) == 0)
                let later = {
                    let cache = folder.cache()
                    return requests.map { cache.cachedResponse(for: $0)?.data.count }
                }
                cache.removeCachedResponse(for: requests[1])
                #expect(later() == [3, nil, 3, 3])
                try Stored.store(urls[0], "newer", in: cache)
                #expect(later() == [newer, nil, 3, 3])
                cache.removeAllCachedResponses()
                #expect(later() == [nil, nil, nil, nil])
                #expect(chmod(folder.path, 0o700) == 0)
                #expect(later() == [nil, nil, nil, nil] && folder.entries.isEmpty)
            }
        }
    }

    @Test("B7.18: a directory that was removed is made again")
    func removedDirectory() throws {
        let cache = folder.cache()
        try fill(cache)
        try FileManager.default.removeItem(at: folder.url)
        #expect(try found(cache) == [])
        #expect(cache.currentDiskUsage == 0)
        try fill(cache)
        #expect(try found(cache) == urls)
    }

    @Test("B7.5: a cache that is opened with less room than it had before makes room first", arguments: [false, true])
    func openedSmaller(isLogLost: Bool) throws {
        let first = folder.cache()
        try fill(first)
        let room = first.currentDiskUsage / 2
        if isLogLost { try FileManager.default.removeItem(at: folder.url.appending(path: "log")) }
        let second = folder.cache(disk: room)
        #expect((1...room).contains(second.currentDiskUsage))
        #expect((1..<urls.count).contains(folder.entries.count))
        #expect(try found(second).last == urls.last, "what was stored last stays")
    }

    @Test("B7.7, B7.18: a log with much history is written anew, for every cache that has it open")
    func shortening() throws {
        let (one, two) = (folder.cache(), folder.cache())
        try fill(one)
        for _ in 0..<720 { try fill(two) }
        #expect(try FileManager.default.attributesOfItem(atPath: folder.path + "log")[.size] as? Int ?? 0 < 200_000)
        #expect(one.currentDiskUsage == two.currentDiskUsage)
        #expect(try found(one) == urls)
    }

    @Test("B7.18: what one process stores, another finds")
    func processes() async throws {
        let run = try await ChildRun.run(testProgram: "cache", ["store", folder.path, "0", "5"])
        #expect(run.exitCode == 0)
        let cache = folder.cache()
        for number in 0..<5 {
            let request = try Stored.request("http://h.example/\(number)")
            #expect(cache.cachedResponse(for: request) != nil)
        }
        #expect(cache.currentDiskUsage > 0)
    }

    @Test("B7.4: without a directory it lies below the user's directory for caches, by the program's name")
    func defaultDirectory() async throws {
        for (variables, place) in [
            (["XDG_CACHE_HOME": folder.path + "a", "HOME": "/proc/none"], "a/URLLoadingTestPrograms/URLCache"),
            (["XDG_CACHE_HOME": "relative", "HOME": folder.path + "b"], "b/.cache/URLLoadingTestPrograms/URLCache"),
            (["XDG_CACHE_HOME": nil, "HOME": folder.path + "c"], "c/.cache/URLLoadingTestPrograms/URLCache"),
        ] as [([String: String?], String)] {
            let run = try await ChildRun.run(testProgram: "cache", ["store", "-", "0", "2"], changing: variables)
            #expect(run.exitCode == 0)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + place)
            #expect(names.filter { $0.utf8.count == 32 }.count == 2)
        }
        let nowhere = try await ChildRun.run(
            testProgram: "cache", ["store", "-", "0", "2"],
            changing: ["XDG_CACHE_HOME": "/proc/none", "HOME": "/proc/none"])
        #expect(nowhere.exitCode == 0 && nowhere.complaints.isEmpty)
    }

    @Test("B7.18, B7.19: a cache whose process is killed while it stores loses at most the entry being written")
    func killed() async throws {
        // Twenty times, so that a weakness shows now and then; by hand `URLLoadingTestPrograms cache kill` does it two
        // hundred times.
        let run = try await ChildRun.run(testProgram: "cache", ["kill", folder.path, "20"])
        #expect(run.exitCode == 0, "\(run.outputText)")
    }

    @Test("B7.5, B7.18: several processes that store, read and remove in one directory never read a torn body")
    func hammer() async throws {
        let run = try await ChildRun.run(testProgram: "cache", ["together", folder.path, "3", "0"])
        #expect(run.exitCode == 0, "\(run.outputText)")
    }

    @Test("B7.37: a hit, on disk or in memory, is found without a loop")
    func hit() async throws {
        let run = try await ChildRun.run(testProgram: "cache", ["hit", folder.path])
        #expect(run.exitCode == 0 && run.outputText == "0\n", "\(run.outputText)")
    }

    #if DEBUG
        @Test("B7.5: a loop's thread that lets go of a cache as the last one does not wait for the disk")
        func letGoByLoop() async {
            // In a process of its own: the suite's process ends where a loop waits.
            await #expect(processExitsWith: .success) {
                setenv("URLLOADING_LOOP_WATCH", "tell", 1)
                let folder = CacheFolder()
                let url = "https://h.example/"
                try Stored.store(url, "body", in: folder.cache())
                let holder = Guarded<URLCache?>(folder.cache())
                // The cache has to note on the disk that this entry was read.
                _ = try holder.withLock { $0?.cachedResponse(for: try Stored.request(url)) }
                let group = LoopGroup(count: 1, name: "last-holder")
                await withHandover { done in
                    group.next().run { _ in
                        holder.withLock { $0 = nil }
                        done.resume()
                    }
                }
                group.stop()
                #expect(LoopWatch.noticed.isEmpty)
            }
        }
    #endif
}
