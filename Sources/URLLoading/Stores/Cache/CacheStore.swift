// The two halves of a cache: what is in memory, behind one lock that is never held while the disk is waited for, and
// what is on disk. Behaviour B7.3 to B7.7, B7.11 to B7.16.
//
// What is found on disk is kept in memory too. What programs change by hand is on disk when the call returns; what
// loads change is known at once and written soon, by a helper thread.
//
// Nothing of the program's runs while a lock is held. An answer may be an object of its own class, or hold its objects:
// it is asked before (`Entry`), and what is let go of goes when the locks are free, since a deinit may use the cache.
//
// Must not know: sessions, tasks, whether what it holds may still be used.

import Foundation
import Synchronization
import URLLoadingPolicy
import URLLoadingSystem

/// What a `URLCache` keeps.
final class CacheStore: Sendable {
    private let memory: Mutex<Memory>
    private let disk: Mutex<Disk>
    /// Held while what is on disk is changed, so that it hears of changes in their order.
    private let writing = Mutex<Void>(())

    private struct Memory: Sendable {
        var capacity: Int
        /// As `Disk` knows it.
        var diskCapacity: Int
        var entries = RecencyTable<CacheKey, Entry>()
        var unwritten = UnwrittenChanges()
        var removals = RecentRemovals()
        /// What was answered from here and the disk has not heard of, the longest ago first.
        var used = RecencyTable<CacheKey, Void>()
        /// Counts changes: what was read from disk before one may be older than it.
        var version = 0

        // What these give has left memory.

        mutating func shrink() -> [Entry] {
            var gone: [Entry] = []
            while entries.totalCost > capacity, let oldest = entries.removeOldest() { gone.append(oldest.value) }
            return gone
        }

        mutating func put(_ entry: Entry, for key: CacheKey) -> [Entry] {
            let cost = entry.byteCount + key.text.utf8.count + CacheStore.overhead
            let gone = remove(key)
            guard cost <= capacity else { return gone }
            entries.insert(entry, for: key, cost: cost)
            return gone + shrink()
        }

        mutating func remove(_ key: CacheKey) -> [Entry] {
            version += 1
            return entries.remove(key).map { [$0.value] } ?? []
        }

        /// B7.7: what is used here is to stay on the disk, too.
        mutating func noteUse(_ key: CacheKey) {
            guard diskCapacity > 0, used.use(key) == nil else { return }
            used.insert((), for: key, cost: 0)
            if used.count > CacheStore.rememberedUses { _ = used.removeOldest() }
        }
    }

    /// A response and what finds it.
    struct Entry: Sendable {
        let response: CachedURLResponse
        /// How it came.
        let answer: StoredAnswer
        /// Microseconds since the beginning of 1970.
        let storedAt: Int64
        /// How many bytes body and head have.
        let byteCount: Int

        init(response: CachedURLResponse, answer: StoredAnswer, storedAt: Int64) {
            self.response = response
            self.answer = answer
            self.storedAt = storedAt
            byteCount = response.data.count + answer.byteCount
        }

        /// The entry as the disk gets it: nothing of it is of a class of the program's.
        var plain: Entry {
            response.isPlain
                ? self : Entry(response: response.plain(with: answer), answer: answer, storedAt: storedAt)
        }
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
        let diskCapacity = directory == nil ? 0 : max(0, diskCapacity)
        memory = Mutex(Memory(capacity: max(0, memoryCapacity), diskCapacity: diskCapacity))
        disk = Mutex(Disk(directory: directory, capacity: diskCapacity))
    }

    deinit {
        // The last owner to let go may be one that must not wait for the disk, as the thread of a loop.
        guard let cache = disk.withLock({ $0.cache.take() }) else { return }
        tellUses(to: cache)
        if cache.hasUnnotedUses { BlockingLane.cache.run { cache.flush() } }
    }

    // MARK: Answers

    /// What is known without asking the disk.
    enum Knowledge: Sendable {
        case found(Entry)
        case nothing
        /// The disk may have something.
        case unknown
    }

    /// What is stored for a key, as far as memory knows; never waits.
    func known(_ key: CacheKey) -> Knowledge {
        memory.withLock { memory in
            if let entry = memory.entries.use(key) {
                memory.noteUse(key)
                return .found(entry)
            }
            switch memory.unwritten[key] {
            case .stored(let entry): return .found(entry)
            case .removed: return .nothing
            case nil: return memory.diskCapacity > 0 ? .unknown : .nothing
            }
        }
    }

    /// What is stored for a key on disk.
    func read(_ key: CacheKey) -> Entry? {
        let version = memory.withLock { $0.version }
        guard let found = openDisk()?.entry(for: key) else { return nil }
        let entry = Entry(
            response: CachedURLResponse(found), answer: found.record.answer, storedAt: found.record.storedAt)
        memory.letGo { memory in
            memory.version == version ? memory.put(entry, for: key) : []
        }
        return entry
    }

    /// What is stored for a request, whatever its age (B7.11).
    func response(for request: URLRequest) -> CachedURLResponse? {
        guard request.mayBeAnswered, let key = request.cacheKey else { return nil }
        let found: Entry? =
            switch known(key) {
            case .found(let entry): entry
            case .nothing: nil
            case .unknown: read(key)
            }
        return found.flatMap { $0.answer.selection.admits(request) ? $0.response : nil }
    }

    // MARK: By hand

    /// Stores an answer where its policy allows it, in place of what is there (B7.13, B7.14).
    func store(_ cached: CachedURLResponse, for request: URLRequest) {
        guard request.isStored, let key = request.cacheKey else { return }
        let (prepared, answer) = cached.prepared(for: request, at: .now)
        let entry = Entry(response: prepared, answer: answer, storedAt: Machine.wallMicroseconds)
        let policy = cached.storagePolicy
        let change: UnwrittenChanges.Change = policy == .allowed ? .stored(entry.plain) : .removed
        changeNow { memory in
            let gone = policy == .notAllowed ? memory.remove(key) : memory.put(entry, for: key)
            return (gone, memory.unwritten.drop(key))
        } onDisk: {
            write(change, for: key)
        }
    }

    /// Removes the answer for a request.
    func remove(for request: URLRequest) {
        guard request.mayBeAnswered, let key = request.cacheKey else { return }
        changeNow { memory in
            let gone = memory.remove(key)
            return (gone, memory.unwritten.drop(key))
        } onDisk: {
            write(.removed, for: key)
        }
    }

    /// Removes everything, in memory and on disk.
    func removeAll() {
        changeNow { memory in
            let gone = (memory.entries, memory.unwritten)
            memory.version += 1
            memory.entries.removeAll()
            memory.unwritten.dropAll()
            return gone
        } onDisk: {
            openDisk()?.removeAll()
        }
    }

    /// Removes what was stored at or after a date (B7.15).
    func remove(since date: Date) {
        let time = date.microsecondsSince1970
        writeChanges()
        changeNow { memory in
            memory.version += 1
            var keys: [CacheKey] = []
            memory.entries.forEach { key, entry, _ in if entry.storedAt >= time { keys.append(key) } }
            return keys.map { memory.entries.remove($0) }
        } onDisk: {
            openDisk()?.remove(storedSince: time)
        }
    }

    /// Changes what is in memory and what is on disk, in one order for both. `known` gives what has left memory.
    private func changeNow<Gone: Sendable>(_ known: (inout Memory) -> Gone, onDisk: () -> Void) {
        writing.letGo { _ in
            let gone = memory.withLock { known(&$0) }
            onDisk()
            return gone
        }
    }

    // MARK: By loads

    /// How many answers loads have made worthless.
    var removalCount: Int { memory.withLock { $0.removals.count } }

    /// Stores an answer of which it is known how it came, unless answers of its key have become worthless after so many
    /// removals. Never waits.
    func storeSoon(
        _ cached: CachedURLResponse, _ answer: StoredAnswer, for key: CacheKey, since removalCount: Int? = nil
    ) {
        let entry = Entry(response: cached, answer: answer, storedAt: Machine.wallMicroseconds)
        let policy = cached.storagePolicy
        changeSoon(key, to: policy == .allowed ? .stored(entry.plain) : .removed) { memory in
            if let removalCount, memory.removals.mayHold(key, since: removalCount) { return nil }
            return policy == .notAllowed ? memory.remove(key) : memory.put(entry, for: key)
        }
    }

    /// Removes the answer of a key; never waits.
    func removeSoon(_ key: CacheKey) {
        changeSoon(key, to: .removed) { memory in
            memory.removals.note(key)
            return memory.remove(key)
        }
    }

    /// `known` gives what has left memory; nil changes nothing.
    private func changeSoon(
        _ key: CacheKey, to change: UnwrittenChanges.Change, _ known: (inout Memory) -> [Entry]?
    ) {
        let mustStart = memory.withLockLettingGo { memory -> (Bool, ([Entry], UnwrittenChanges.Change?)) in
            guard let gone = known(&memory) else { return (false, ([], nil)) }
            guard memory.diskCapacity > 0 else { return (false, (gone, nil)) }
            let (mustStart, dropped) = memory.unwritten.note(change, for: key)
            return (mustStart, (gone, dropped))
        }
        if mustStart { BlockingLane.cache.run { [self] in writeChanges() } }
    }

    /// Writes what the disk has not heard of yet.
    private func writeChanges() {
        while writing.withLockLettingGo({ _ in writeNext() }) {}
    }

    /// Whether there was something to be written, and what has left memory with it.
    private func writeNext() -> (Bool, (UnwrittenChanges.Step, UnwrittenChanges.Change?)?) {
        guard let next = memory.withLock({ $0.unwritten.next() }) else { return (false, nil) }
        write(next.change, for: next.key)
        return (true, (next, memory.withLock { $0.unwritten.done(next) }))
    }

    private func write(_ change: UnwrittenChanges.Change, for key: CacheKey) {
        guard let disk = openDisk() else { return }
        guard case .stored(let entry) = change else { return disk.remove(key) }
        tellUses(to: disk)
        let record = CacheRecord(entry.response, key: key, answer: entry.answer, storedAt: entry.storedAt)
        let data = entry.response.data
        data.withUnsafeBytes { body in _ = disk.store(record, body: body) }
    }

    /// Whether `flush` might have something to do.
    var mayNeedWriting: Bool { memory.withLock { $0.diskCapacity > 0 } }

    /// Waits until what was stored and read is on disk.
    func flush() {
        writeChanges()
        guard let cache = disk.withLock({ $0.cache }) else { return }
        tellUses(to: cache)
        cache.flush()
    }

    /// Tells the disk what was answered from memory, before it chooses what has to go.
    private func tellUses(to disk: DiskCache) {
        let used = memory.withLock { memory in
            defer { memory.used.removeAll() }
            return memory.used
        }
        guard used.count > 0 else { return }
        var names: [SipHash.Words] = []
        used.forEach { key, _, _ in names.append(key.fileName) }
        disk.note(uses: names)
    }

    // MARK: Sizes

    /// In memory and on disk; never waits.
    var capacities: (memory: Int, disk: Int) { memory.withLock { ($0.capacity, $0.diskCapacity) } }

    var memoryCapacity: Int {
        get { memory.withLock { $0.capacity } }
        set {
            memory.letGo { memory in
                memory.capacity = max(0, newValue)
                return memory.shrink()
            }
        }
    }

    var diskCapacity: Int {
        get { disk.withLock { $0.capacity } }
        set {
            // Opened first, also where there was no room yet: what is there has to go when there is none (B7.6).
            let cache = openDisk(evenIfEmpty: true)
            let capacity = max(0, newValue)
            let hasPlace = disk.withLock { disk in
                disk.capacity = capacity
                return disk.directory != nil
            }
            changeNow { memory in
                let unwritten = memory.unwritten
                memory.diskCapacity = hasPlace ? capacity : 0
                if capacity == 0 { memory.unwritten.dropAll() }
                return unwritten
            } onDisk: {
                cache?.capacity = capacity
            }
        }
    }

    var memoryUsage: Int { memory.withLock { $0.entries.totalCost } }

    var diskUsage: Int {
        writeChanges()
        return openDisk()?.byteCount ?? 0
    }

    // MARK: Inside

    private func openDisk(evenIfEmpty: Bool = false) -> DiskCache? {
        disk.withLock { disk in
            if let cache = disk.cache { return cache }
            guard let directory = disk.directory, !disk.isUnusable, evenIfEmpty || disk.capacity > 0 else { return nil }
            disk.cache = DiskCache(directory: directory, capacity: disk.capacity)
            disk.isUnusable = disk.cache == nil
            return disk.cache
        }
    }

    /// About what the objects of an answer and its place in the table take.
    private static let overhead = 512
    /// Picked by feel: of what is used more, the last so many count.
    private static let rememberedUses = 1024
}

extension URLRequest {
    /// What is stored for the request would be found by; nil for URLs that nothing can be stored for.
    var cacheKey: CacheKey? { values.url.flatMap { CacheKey($0.absoluteString) } }

    /// B7.16: GET is what is stored.
    fileprivate var isStored: Bool { values.method == "GET" }

    /// B7.17: HEAD is answered by what is stored for GET.
    var mayBeAnswered: Bool { isStored || values.method == "HEAD" }
}

extension Selection {
    /// Whether a request, as the application made it, selects the answer.
    fileprivate func admits(_ request: URLRequest) -> Bool {
        members.isEmpty || matchesWithoutSecrets(SelectingFields.of(request))
    }
}

extension Date {
    /// What times of storing are counted in. Nothing is stored at or after what is no moment.
    fileprivate var microsecondsSince1970: Int64 {
        if timeIntervalSince1970.isNaN { return .max }
        return Int64((min(max(timeIntervalSince1970, -8e12), 8e12) * 1_000_000).rounded(.down))
    }
}
