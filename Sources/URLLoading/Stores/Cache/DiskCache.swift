// Stored answers in a directory: one file for each, named by a digest of its key, and a log that tells how large they
// are and in which order they were used. Behaviour B7.5 to B7.7, B7.13, B7.15, B7.18, B7.19.
//
// Several processes share a directory. The files are the truth: they are written under another name and put in their
// place whole, are never changed afterwards but by being emptied, and say themselves for which key they are and whether
// they are whole. So reading needs no lock, and a process that is killed leaves at most a file that is never read. The
// log is written under a lock; a file is entered there before it is put in its place, so that what is counted is never
// less than what is there.
//
// Every call may wait for the disk. Must not know: Foundation, responses, whether what it holds may still be used.

import Synchronization
import URLLoadingPolicy
import URLLoadingSystem

/// A cache on disk.
package final class DiskCache: Sendable {
    private let folder: PrivateFolder
    private let state: Mutex<State>
    private let uses = Mutex(UnnotedUses())
    private let checked = Mutex<[SipHash.Words: FileIdentity]>([:])
    private let unremoved = Mutex(UnremovedFiles())
    /// The capacity. What is longer was not stored under it, and is not read.
    private let longest: Atomic<Int>
    /// What is longer says itself how long it is, before it is read.
    private let readUnasked: Int
    /// Held while the log is written.
    private let lock: CacheLock
    /// Held while a file has a name of its own: where no process holds it such files are left-overs.
    private let writers: CacheLock
    private let patience: Duration

    private struct State: ~Copyable, Sendable {
        var log = CacheIndex()
        /// Nil until it is needed, and when another has taken its place.
        var file: RecordLog?
        /// Whether what killed processes have left was looked for, and what is over the capacity.
        var isTidied = false
    }

    /// A cache in a directory, which is made where there is none; nil where there can be none that is safe. What writes
    /// waits so long for another process, once.
    package init?(
        directory: String, capacity: Int, readUnasked: Int = usuallyReadUnasked, patience: Duration = .seconds(5)
    ) {
        guard let folder = PrivateFolder(path: directory) else { return nil }
        self.folder = folder
        longest = Atomic(max(0, capacity))
        self.readUnasked = readUnasked
        self.patience = patience
        lock = CacheLock(folder.file(Self.lockName))
        writers = CacheLock(folder.file(Self.writersName))
        state = Mutex(State())
    }

    /// What is stored for a key.
    package struct Entry: Sendable {
        /// Everything but the body.
        package let record: CacheRecord
        /// What the file holds; the body is its end.
        package let file: FileContents
        /// Where the body begins.
        package let bodyOffset: Int

        /// Calls `body` with the stored body.
        package func withBody<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
            try file.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[bodyOffset...])) }
        }
    }

    // MARK: Reading

    /// What is stored for a key. A file that is torn or of another program is removed, and never given out (B7.19).
    package func entry(for key: CacheKey) -> Entry? {
        let name = key.fileName
        let contents = contents(of: name.hexadecimal)
        if case .none = contents { return nil }
        guard let entry = entry(in: contents, name: name) else {
            removeFile(name)
            changeIfFree { state in remove([name], &state) }
            return nil
        }
        guard !unremoved.withLock({ $0.contains(name, storedAt: entry.record.storedAt) }) else { return nil }
        // Another key of the same digest, which was never seen anywhere: it is not this one's answer.
        guard entry.record.key == key.text else { return nil }
        noteUse(name)
        return entry
    }

    /// What is to be had of a file.
    private enum Contents {
        /// There is none, or it is not read.
        case none
        /// It is not as long as it says.
        case damaged
        case whole(FileContents)

        init(_ file: FileContents?) { self = file.map { .whole($0) } ?? .none }
    }

    private func contents(of name: String) -> Contents {
        let (path, longest) = (folder.file(name), longest.load(ordering: .relaxed))
        if let file = FileContents.read(path: path, limit: min(longest, readUnasked)) { return .whole(file) }
        // Memory is taken for all of a file before it can be judged, and one that was tampered with may have any
        // length.
        guard longest > readUnasked, case .success(let file) = OpenFile.open(path: path),
            (Int64(readUnasked) + 1...Int64(longest)).contains(file.byteCount)
        else { return .none }
        return saysItsLength(file) ? Contents(FileContents.read(path: path, limit: longest)) : .damaged
    }

    /// Whether a file is as long as its preamble says.
    private func saysItsLength(_ file: OpenFile) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: CacheRecord.Preamble.length, alignment: 16) { start in
            guard case .success(start.count) = file.read(at: 0, into: start),
                let preamble = CacheRecord.Preamble(UnsafeRawBufferPointer(start))
            else { return false }
            return Int64(preamble.fileLength) == file.byteCount
        }
    }

    private func entry(in contents: Contents, name: SipHash.Words) -> Entry? {
        guard case .whole(let file) = contents else { return nil }
        return file.withUnsafeBytes { bytes in
            guard let preamble = CacheRecord.Preamble(bytes), preamble.fileLength == bytes.count else { return nil }
            let head = UnsafeRawBufferPointer(rebasing: bytes[CacheRecord.Preamble.length..<preamble.bodyOffset])
            guard CacheRecord.digest(head) == preamble.headDigest,
                let record = CacheRecord(head: head, form: preamble.form)
            else { return nil }
            // A body is read through once in a process: afterwards it is known to be whole as long
            // as the file is the same.
            if checked.withLock({ $0[name] }) != file.identity {
                let body = UnsafeRawBufferPointer(rebasing: bytes[preamble.bodyOffset...])
                guard CacheRecord.digest(body) == preamble.bodyDigest else { return nil }
                checked.withLock { checked in
                    if checked.count >= Self.rememberedChecks { checked.removeAll(keepingCapacity: true) }
                    checked[name] = file.identity
                }
            }
            return Entry(record: record, file: file, bodyOffset: preamble.bodyOffset)
        }
    }

    /// Remembers what was used without being read here; the log is told with its next change.
    package func note(uses names: [SipHash.Words]) {
        uses.withLock { $0.add(names) }
    }

    /// Remembers what was read; the log is told of several at a time.
    private func noteUse(_ name: SipHash.Words) {
        if uses.withLock({ $0.note(name) }) { changeIfFree { _ in } }
    }

    // MARK: Writing

    /// Stores an answer in place of another with its key; whether that was done. Where it was not there is none.
    @discardableResult
    package func store(_ record: CacheRecord, body: UnsafeRawBufferPointer) -> Bool {
        guard let key = CacheKey(record.key), key.text == record.key else { return false }
        if write(record, body: body, for: key) { return true }
        // The one before must not be found as if it were the newest. This needs no room, and no
        // lock that may not be had.
        removeFile(key.fileName)
        return false
    }

    private func write(_ record: CacheRecord, body: UnsafeRawBufferPointer, for key: CacheKey) -> Bool {
        guard let head = record.encoded(bodyLength: body.count, bodyDigest: CacheRecord.digest(body)) else {
            return false
        }
        let name = key.fileName
        let byteCount = head.count + body.count
        guard byteCount <= capacity else {
            remove(key)
            return false
        }
        guard folder.prepare(), let lock = writers.take(.shared, patience: patience),
            case .success(let file) = TemporaryFile.create(in: folder.path, prefix: Self.newPrefix, suffix: "")
        else { return false }
        defer { lock.hold() }
        guard head.withUnsafeBytes({ file.append($0) }) == nil, file.append(body) == nil else { return false }
        var isStored = false
        change { state in
            guard byteCount <= capacity else { return }
            let event = CacheIndex.Event.stored(name, byteCount: byteCount, at: record.storedAt)
            // Order: entered first. A process that is killed in between leaves an entry without
            // a file, which is a miss.
            guard enter([event], &state) else { return }
            guard file.move(to: folder.file(name.hexadecimal)) == nil else {
                _ = enter([.removed(name)], &state)
                return
            }
            isStored = true
            unremoved.withLock { $0.drop(name) }
            remove(state.log.excess(over: capacity), &state)
        }
        return isStored
    }

    /// Removes what is stored for a key, if anything.
    package func remove(_ key: CacheKey) {
        let name = key.fileName
        // Mostly there is nothing, and then nothing is locked.
        guard folder.has(name.hexadecimal) else { return }
        // First, since it must be gone also where the log cannot be had.
        removeFile(name)
        change { state in remove([name], &state) }
    }

    /// Removes what was stored at or after a moment, in microseconds since the beginning of 1970.
    package func remove(storedSince time: Int64) {
        if change({ state in remove(state.log.names(storedSince: time), &state) }) { return }
        // They must be gone also where the log cannot be had. What cannot be read may be of that time.
        for name in fileNames {
            let entry = entry(in: contents(of: name.hexadecimal), name: name)
            if let entry, entry.record.storedAt < time { continue }
            removeFile(name)
        }
    }

    /// Removes everything.
    package func removeAll() {
        // First, since they must be gone also where the log cannot be had.
        removeFiles()
        change { state in removeAll(&state) }
    }

    /// How many bytes may be stored; what is more goes at once (B7.6). Asking never waits.
    package var capacity: Int {
        get { longest.load(ordering: .relaxed) }
        set {
            longest.store(max(0, newValue), ordering: .relaxed)
            // First, since they must be gone also where the log cannot be had.
            if newValue <= 0 { removeFiles() }
            change { state in
                if capacity == 0 {
                    removeAll(&state)
                } else {
                    remove(state.log.excess(over: capacity), &state)
                }
            }
        }
    }

    /// How many bytes are stored.
    package var byteCount: Int {
        var byteCount: Int?
        change { byteCount = $0.log.byteCount }
        return byteCount ?? loggedByteCount
    }

    /// As the log tells that another may be writing: its records are whole, and each can be judged alone.
    private var loggedByteCount: Int {
        var file = RecordLog.open(path: folder.file(Self.logName))
        let start = file?.read(recordSize: CacheIndex.recordSize, limit: CacheIndex.recordSize)
        guard start == Self.logStart else { return 0 }
        var log = CacheIndex()
        takeIn(&file, &log)
        return log.byteCount
    }

    /// Whether something was read that the log does not know of; never waits.
    package var hasUnnotedUses: Bool { uses.withLock { !$0.names.isEmpty } }

    /// Lets the log know of everything that was read.
    package func flush() {
        if hasUnnotedUses { change { _ in } }
    }

    // MARK: The log

    /// Calls `body` with the log as it is now, while no other process changes it; not at all, and false, where that
    /// cannot be had.
    @discardableResult
    private func change(_ body: (inout State) -> Void) -> Bool {
        state.withLock { state in
            guard folder.prepare(), let lock = lock.take(patience: patience) else { return false }
            return change(&state, holding: lock, body)
        }
    }

    /// As `change`, but never waits for another: not at all where another process or thread has the log just now.
    private func changeIfFree(_ body: (inout State) -> Void) {
        _ = state.withLockIfAvailable { state in
            guard folder.prepare(), let lock = lock.takeIfFree() else { return }
            _ = change(&state, holding: lock, body)
        }
    }

    private func change(_ state: inout State, holding lock: FileLock, _ body: (inout State) -> Void) -> Bool {
        defer { lock.hold() }
        guard refresh(&state) else { return false }
        let used = uses.withLock { $0.take() }
        if !used.isEmpty {
            _ = enter(used.filter { state.log.files.contains($0) }.map(CacheIndex.Event.used), &state)
        }
        if !state.isTidied {
            state.isTidied = true
            tidy()
            // Who was here before may have had more room. What has none yet is about to be told how much there is.
            if capacity > 0 { remove(state.log.excess(over: capacity), &state) }
        }
        body(&state)
        if state.log.isWorthShortening { replaceLog(&state) }
        return true
    }

    /// Takes in what others have written; whether there is a log.
    private func refresh(_ state: inout State) -> Bool {
        let length = state.file?.currentLength
        // Mostly no other process has written since.
        if let length, length == state.file?.position { return true }
        if length == nil {
            state.log = CacheIndex()
            state.file = RecordLog.open(path: folder.file(Self.logName))
            guard var file = state.file.take(), let length = file.currentLength else { return false }
            if length == 0 {
                recover(&state)
                return state.file != nil
            }
            let start = file.read(recordSize: CacheIndex.recordSize, limit: CacheIndex.recordSize)
            state.file = consume file
            state.log.expect(byteCount: min(Int(length), Self.largestExpected))
            guard start == Self.logStart else {
                recover(&state)
                return state.file != nil
            }
        }
        takeIn(&state.file, &state.log)
        return true
    }

    /// Takes in what a log tells from where it was read up to.
    private func takeIn(_ file: inout RecordLog?, _ log: inout CacheIndex) {
        while let records = file?.read(recordSize: CacheIndex.recordSize), !records.isEmpty {
            records.withUnsafeBytes { log.take(records: $0) }
        }
    }

    /// Removes what killed processes have left half written, unless another process is writing just now.
    private func tidy() {
        guard let lock = writers.takeIfFree() else { return }
        for name in folder.names where name.hasPrefix(Self.newPrefix) { folder.remove(name) }
        lock.hold()
    }

    /// Makes a log of what lies in the directory: there was none, or one that is none.
    private func recover(_ state: inout State) {
        state.file = nil
        // Where descriptors have run out there is no log, and what cannot be opened is not damaged: it is tried again.
        guard case .success(let names) = folder.list() else { return }
        var found: [(name: SipHash.Words, byteCount: Int, storedAt: Int64)] = []
        for text in names {
            guard let name = SipHash.Words(hexadecimal: text) else { continue }
            func whole() -> (name: SipHash.Words, byteCount: Int, storedAt: Int64)? {
                guard let entry = entry(in: contents(of: text), name: name),
                    CacheKey(entry.record.key)?.fileName == name
                else { return nil }
                return (name, Int(clamping: entry.file.identity.byteCount), entry.record.storedAt)
            }
            if let file = whole() {
                found.append(file)
                continue
            }
            if case .failure(let error) = OpenFile.open(path: folder.file(text)), error.isShortage { return }
            // Once more: what was short the first time may be there again.
            if let file = whole() { found.append(file) } else { folder.remove(text) }
        }
        state.log = CacheIndex()
        for file in found.sorted(by: { $0.storedAt < $1.storedAt }) {
            state.log.take(.stored(file.name, byteCount: file.byteCount, at: file.storedAt))
        }
        replaceLog(&state)
    }

    /// Puts the shortest log that tells the same in the place of the one that is there.
    private func replaceLog(_ state: inout State) {
        state.file = nil
        let records = Self.logStart + state.log.shortened
        guard case .success(let file) = TemporaryFile.create(in: folder.path, prefix: Self.newPrefix, suffix: ""),
            records.withUnsafeBytes({ file.append($0) }) == nil, file.move(to: folder.file(Self.logName)) == nil
        else { return }
        // Read again, so that what is known is what is written.
        state.log = CacheIndex()
        state.file = RecordLog.open(path: folder.file(Self.logName))
        _ = state.file?.read(recordSize: CacheIndex.recordSize, limit: CacheIndex.recordSize)
        takeIn(&state.file, &state.log)
    }

    private func enter(_ events: [CacheIndex.Event], _ state: inout State) -> Bool {
        if events.isEmpty { return true }
        guard state.file?.append(events.flatMap(CacheIndex.bytes)) ?? false else { return false }
        for event in events { state.log.take(event) }
        return true
    }

    private func remove(_ names: [SipHash.Words], _ state: inout State) {
        for name in names { removeFile(name) }
        _ = enter(names.filter { state.log.files.contains($0) }.map(CacheIndex.Event.removed), &state)
    }

    private func removeFiles() {
        for name in fileNames { removeFile(name) }
    }

    /// The names of what is there and is to go. Where they cannot be had nothing of it is given out any more.
    private var fileNames: [SipHash.Words] {
        guard case .success(let names) = folder.list() else {
            unremoved.withLock { $0.addAll() }
            return []
        }
        return names.compactMap { SipHash.Words(hexadecimal: $0) }
    }

    private func removeFile(_ name: SipHash.Words) {
        // An empty file is no entry, in other processes neither.
        let isGone = folder.removeOrEmpty(name.hexadecimal)
        unremoved.withLock { isGone ? $0.drop(name) : $0.add(name) }
    }

    private func removeAll(_ state: inout State) {
        removeFiles()
        // These can be removed where the directory cannot be listed, too.
        for name in state.log.names(storedSince: .min) { removeFile(name) }
        state.log = CacheIndex()
        replaceLog(&state)
    }

    private static let logName = "log"
    private static let lockName = "lock"
    private static let writersName = "writers"
    private static let newPrefix = "new-"
    /// As long as a record, so that records keep in step.
    private static let logStart = Array("URLLoading cache log 01\n".utf8) + [UInt8](repeating: 0, count: 24)
    private static let rememberedChecks = 8192
    /// Picked by feel: so much memory there is everywhere.
    package static let usuallyReadUnasked = 64 << 20
    /// A log of so many bytes has long been worth shortening.
    private static let largestExpected = 64 << 20
}
