// The two halves of a cache: what is in memory, behind one lock that is never held while the disk is waited for, and
// what is on disk. Behaviour B7.3 to B7.7, B7.11 to B7.16.
//
// What is found on disk is kept in memory too. Must not know: sessions, tasks, whether what it holds may still be used.

import Foundation
import LoadingPolicy
import Synchronization

/// What a `URLCache` keeps.
final class CacheStore: Sendable {
    private let memory: Mutex<Memory>
    private let disk: Mutex<Disk>

    private struct Memory: Sendable {
        var capacity: Int
        var entries = RecencyTable<CacheKey, Entry>()

        mutating func shrink() {
            while entries.totalCost > capacity, entries.removeOldest() != nil {}
        }
    }

    private struct Entry: Sendable {
        let response: CachedURLResponse
        let selection: Selection
        /// Microseconds since the beginning of 1970.
        let storedAt: Int64
    }

    private struct Disk: Sendable {
        let directory: String?
        var capacity: Int
        /// Opened when it is first wanted.
        var cache: DiskCache?
        /// Whether that was tried and is not to be had.
        var isUnusable = false
    }

    /// Stores of these capacities; nothing is opened yet.
    init(memoryCapacity: Int, diskCapacity: Int, directory: String?) {
        memory = Mutex(Memory(capacity: max(0, memoryCapacity)))
        disk = Mutex(Disk(directory: directory, capacity: max(0, diskCapacity)))
    }

    // MARK: Answers

    /// What is stored for a request, whatever its age (B7.11).
    func response(for request: URLRequest) -> CachedURLResponse? {
        guard request.mayBeAnswered, let key = request.cacheKey else { return nil }
        if let entry = memory.withLock({ $0.entries.use(key) }) {
            return entry.selection.admits(request) ? entry.response : nil
        }
        guard let found = openDisk()?.entry(for: key), found.record.answer.selection.admits(request) else { return nil }
        let response = CachedURLResponse(found)
        keep(response, found.record.answer.selection, for: key, storedAt: found.record.storedAt, replaces: false)
        return response
    }

    /// Stores an answer where its policy allows it, in place of what is there (B7.13, B7.14).
    func store(_ cached: CachedURLResponse, for request: URLRequest) {
        guard request.isStored, let key = request.cacheKey else { return }
        guard cached.storagePolicy != .notAllowed else { return remove(key) }
        let now = Date().timeIntervalSince1970
        let (prepared, answer) = cached.prepared(for: request, at: WallTime(seconds: Int64(now)))
        let storedAt = Int64(now * 1_000_000)
        keep(prepared, answer.selection, for: key, storedAt: storedAt, replaces: true)
        guard let disk = openDisk() else { return }
        guard cached.storagePolicy == .allowed else { return disk.remove(key) }
        let record = CacheRecord(prepared, key: key, answer: answer, storedAt: storedAt)
        let data = prepared.data
        data.withUnsafeBytes { body in _ = disk.store(record, body: body) }
    }

    /// Removes the answer for a request.
    func remove(for request: URLRequest) {
        if request.mayBeAnswered, let key = request.cacheKey { remove(key) }
    }

    /// Removes the answer of a key.
    func remove(_ key: CacheKey) {
        memory.withLock { _ = $0.entries.remove(key) }
        openDisk()?.remove(key)
    }

    /// Removes everything, in memory and on disk.
    func removeAll() {
        memory.withLock { $0.entries.removeAll() }
        openDisk()?.removeAll()
    }

    /// Removes what was stored at or after a date (B7.15).
    func remove(since date: Date) {
        let seconds = min(max(date.timeIntervalSince1970, -8e12), 8e12)
        let time = Int64((seconds * 1_000_000).rounded(.down))
        memory.withLock { memory in
            var keys: [CacheKey] = []
            memory.entries.forEach { key, entry, _ in if entry.storedAt >= time { keys.append(key) } }
            for key in keys { memory.entries.remove(key) }
        }
        openDisk()?.remove(storedSince: time)
    }

    /// Waits until what was stored and read is on disk.
    func flush() { disk.withLock { $0.cache }?.flush() }

    // MARK: Sizes

    var memoryCapacity: Int {
        get { memory.withLock { $0.capacity } }
        set {
            memory.withLock { memory in
                memory.capacity = max(0, newValue)
                memory.shrink()
            }
        }
    }

    var diskCapacity: Int {
        get { disk.withLock { $0.capacity } }
        set {
            // Opened first, also where there was no room yet: what is there has to go when there is none (B7.6).
            let cache = openDisk(evenIfEmpty: true)
            disk.withLock { $0.capacity = max(0, newValue) }
            cache?.capacity = max(0, newValue)
        }
    }

    var memoryUsage: Int { memory.withLock { $0.entries.totalCost } }

    var diskUsage: Int { openDisk()?.byteCount ?? 0 }

    // MARK: Inside

    private func keep(
        _ response: CachedURLResponse, _ selection: Selection, for key: CacheKey, storedAt: Int64, replaces: Bool
    ) {
        let cost = response.data.count + key.text.utf8.count + Self.overhead
        let entry = Entry(response: response, selection: selection, storedAt: storedAt)
        memory.withLock { memory in
            // What was read from disk must not push out what was stored meanwhile.
            if !replaces, memory.entries.contains(key) { return }
            memory.entries.remove(key)
            guard cost <= memory.capacity else { return }
            memory.entries.insert(entry, for: key, cost: cost)
            memory.shrink()
        }
    }

    private func openDisk(evenIfEmpty: Bool = false) -> DiskCache? {
        disk.withLock { disk in
            if let cache = disk.cache { return cache }
            guard let directory = disk.directory, !disk.isUnusable, evenIfEmpty || disk.capacity > 0 else { return nil }
            disk.cache = DiskCache(directory: directory, capacity: disk.capacity)
            disk.isUnusable = disk.cache == nil
            return disk.cache
        }
    }

    /// About what a head and its place in the table take.
    private static let overhead = 512
}

extension URLRequest {
    /// What is stored for the request would be found by; nil for URLs that nothing can be stored for.
    fileprivate var cacheKey: CacheKey? { values.url.flatMap { CacheKey($0.absoluteString) } }

    /// B7.16: GET is what is stored.
    fileprivate var isStored: Bool { values.method == "GET" }

    /// B7.17: HEAD is answered by what is stored for GET.
    fileprivate var mayBeAnswered: Bool { isStored || values.method == "HEAD" }
}

extension Selection {
    /// Whether a request, as the application made it, selects the answer.
    fileprivate func admits(_ request: URLRequest) -> Bool {
        members.isEmpty || matchesWithoutSecrets(SelectingFields.of(request))
    }
}
