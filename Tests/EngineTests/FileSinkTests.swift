// Bodies into files, beside the loop: order, back-pressure, failures, and what is left on the disk.

import Testing
import URLLoadingEngine
import URLLoadingSystem
import URLLoadingTestSupport

@Suite("File sinks")
struct FileSinkTests {
    private let scratch = Scratch()
    private let buffers = BodyBuffers()

    private func sink(
        lane: BlockingLane = .files, _ log: EventLog,
        create: (@Sendable () -> Result<TemporaryFile, SystemError>)? = nil
    ) -> FileSink {
        let folder = scratch.path
        return FileSink(
            lane: lane, create: create ?? { TemporaryFile.create(in: folder, prefix: "part-", suffix: ".tmp") },
            report: log.note)
    }

    private func piece(_ bytes: [UInt8]) -> BodyPiece {
        let space = buffers.space(atLeast: bytes.count)
        space.copyBytes(from: bytes)
        return BodyPiece(UnsafeRawBufferPointer(rebasing: space[..<bytes.count]), in: buffers)
    }

    private func finish(_ sink: FileSink) async -> Result<TemporaryFile, FileFailure> {
        await withHandover { continuation in sink.finish { continuation.resume(returning: $0) } }
    }

    @Test("B9.1, B9.4: every byte in order, in a file of its own that only its owner may read")
    func bytesInOrder() async throws {
        let log = EventLog()
        let sink = sink(log)
        var expected: [UInt8] = []
        for number in 0..<200 {
            // Large pieces are kept where they arrived, small ones copied and joined.
            let bytes = [UInt8](repeating: UInt8(number), count: number.isMultiple(of: 3) ? 40_000 : 700)
            expected += bytes
            if sink.write(piece(bytes)) == .pause { await log.room(after: log.rooms) }
        }
        let file = try await finish(sink).get()
        let content = try scratch.content(of: file.path)
        #expect(firstDifference(content, expected) == nil)
        #expect(scratch.mode(of: file.path) == 0o600)
        #expect(log.written.last == Int64(expected.count))
        #expect(log.written == log.written.sorted())
    }

    @Test("B9.6: no bytes make an empty file")
    func emptyFile() async throws {
        let file = try await finish(sink(EventLog())).get()
        #expect(try scratch.content(of: file.path).isEmpty)
    }

    @Test("A file is removed with its object, unless the file is let go", .timeLimit(.minutes(5)))
    func fileGoes() async throws {
        do { _ = try await finish(sink(EventLog())).get() }
        // The lane's thread, which has handed it over, may still hold it for a moment.
        try await until { scratch.names.isEmpty }
        do { try await finish(sink(EventLog())).get().letGo() }
        #expect(scratch.names.count == 1)
    }

    @Test("B9.5: a discarded file is removed before the sink says so")
    func discarding() async {
        let sink = sink(EventLog())
        _ = sink.write(piece([UInt8](repeating: 1, count: 100_000)))
        let names = await withHandover { continuation in
            sink.discard { [scratch] in continuation.resume(returning: scratch.names) }
        }
        #expect(names.isEmpty)
    }

    @Test("B9.11: a directory that is not there is a failure to create")
    func cannotCreate() async {
        let log = EventLog()
        let sink = sink(log) { TemporaryFile.create(in: "/nowhere/at/all", prefix: "a", suffix: "b") }
        _ = sink.write(piece([1, 2, 3]))
        let result = await finish(sink)
        #expect(throws: FileFailure.self) { try result.get() }
        #expect(log.failure?.step == .create)
        #expect(log.failure?.error.errno == ENOENT)
    }

    @Test("B9.2, B9.11: a file that was removed while it was written to is a failure to close, and no file")
    func removedMeanwhile() async throws {
        let log = EventLog()
        let sink = sink(log)
        _ = sink.write(piece([UInt8](repeating: 1, count: 50_000)))
        await log.wait(for: 50_000)
        for name in scratch.names { unlink(scratch.path + "/" + name) }
        let result = await finish(sink)
        let failure = #expect(throws: FileFailure.self) { try result.get() }
        #expect(failure?.step == .close && failure?.error.isMissing == true)
        #expect(scratch.names.isEmpty)
    }

    @Test("B9.11: a full disk is a failure to write, told once, and nothing is left")
    func diskFull() async throws {
        let log = EventLog()
        let path = scratch.path + "/full"
        try #require(symlink("/dev/full", path) == 0)
        let sink = sink(log) {
            .success(TemporaryFile(path: path, descriptor: Descriptor(owning: open(path, O_WRONLY | O_CLOEXEC))))
        }
        for _ in 0..<10 { _ = sink.write(piece([UInt8](repeating: 1, count: 100_000))) }
        let result = await finish(sink)
        #expect(throws: FileFailure.self) { try result.get() }
        #expect(log.failures.count == 1)
        #expect(log.failure?.step == .write)
        #expect(log.failure?.error.errno == ENOSPC)
        // What has been written could still be kept; here it is nothing.
        let part = await withHandover { continuation in sink.keep { continuation.resume(returning: $0) } }
        #expect(part == nil)
        #expect(scratch.names.isEmpty)
    }

    @Test("B9.15: a disk that is slower than the network pauses it, and what waits is bounded")
    func slowDisk() async throws {
        let log = EventLog()
        let pipe = try Pipe()
        let path = scratch.path + "/pipe"
        let raw = pipe.write
        let sink = sink(lane: pipe.lane, log) {
            .success(TemporaryFile(path: path, descriptor: Descriptor(owning: raw)))
        }
        var taken = 0
        // The pipe is not read: this loop ends only because the sink says so.
        while sink.write(piece([UInt8](repeating: 5, count: 50_000))) == .more { taken += 50_000 }
        #expect(taken < 2 << 20)
        #expect(log.rooms == 0)
        let reader = Task { await pipe.readAll() }
        await log.room(after: 0)
        let file = try await finish(sink).get()
        #expect(await reader.value == taken + 50_000)
        withExtendedLifetime(file) {}
    }

    @Test("B9.11: room is taken in steps, each of what has come: a length that is only claimed costs no disk")
    func roomInSteps() async throws {
        let log = EventLog()
        let folder = scratch.path
        let sink = FileSink(
            expecting: 1 << 30, create: { TemporaryFile.create(in: folder, prefix: "part-", suffix: ".tmp") },
            report: log.note)
        _ = sink.write(piece([1]))
        await log.wait(for: 1)
        let file = folder + "/" + (try #require(scratch.names.first))
        let first = try #require(scratch.room(of: file))
        #expect((1 << 20...2 << 20).contains(first))
        // More than what was taken, in pieces that a sink takes at once.
        var count: Int64 = 1
        while count < 8 << 20 {
            let bytes = [UInt8](repeating: 2, count: 64 << 10)
            count += Int64(bytes.count)
            if sink.write(piece(bytes)) == .pause { await log.wait(for: count) }
        }
        await log.wait(for: count)
        let second = try #require(scratch.room(of: file))
        #expect((count...2 * count + (2 << 20)).contains(second))
        await withHandover { continuation in sink.discard { continuation.resume() } }
    }

    @Test("Lengths at the end of all numbers, of a peer and of a journal, end the transfer at most")
    func largestLengths() async throws {
        let log = EventLog()
        let folder = scratch.path
        let file = try TemporaryFile.create(in: folder, prefix: "part-", suffix: ".tmp").get()
        let sink = FileSink(
            expecting: .max, continuing: PartialFile(file: file, byteCount: .max - 10),
            create: { TemporaryFile.create(in: folder, prefix: "part-", suffix: ".tmp") }, report: log.note)
        _ = sink.write(piece([UInt8](repeating: 1, count: 100)))
        _ = await finish(sink)
        // Where no room can be taken so far out the first byte is refused, elsewhere the count stays at its largest.
        #expect(log.failure != nil || log.written.last == .max)
        await withHandover { continuation in sink.discard { continuation.resume() } }
    }

    @Test("B9.11: what cannot fit is told with the first byte, before any room is taken")
    func cannotFit() async throws {
        let log = EventLog()
        let folder = scratch.path
        let sink = FileSink(
            expecting: 1 << 55, create: { TemporaryFile.create(in: folder, prefix: "part-", suffix: ".tmp") },
            report: log.note)
        _ = sink.write(piece([1]))
        let result = await finish(sink)
        #expect(throws: FileFailure.self) { try result.get() }
        #expect(log.failure?.step == .write)
        #expect(log.failure?.error.errno == ENOSPC)
        #expect(log.written.isEmpty)
        await withHandover { continuation in sink.discard { continuation.resume() } }
    }

    @Test(
        "B9.24, B9.36: of a file that is taken up, everything that was written counts; not what is behind a hole, nor too much",
        arguments: [(nil, 300_000, 300_000), (nil, 299_999, 100_000), (200_704, 300_000, 200_704)])
    func takenUp(hole: Int64?, most: Int64, length: Int64) throws {
        let path = scratch.path + "/left"
        let raw = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(raw >= 0)
        let bytes = [UInt8](repeating: 7, count: Int(hole ?? 300_000))
        #expect(write(raw, bytes, bytes.count) == bytes.count)
        if hole != nil {
            #expect(lseek(raw, 290_816, SEEK_SET) == 290_816)
            #expect(write(raw, bytes, 9184) == 9184)
        }
        close(raw)
        let reopened = try TemporaryFile.reopen(path, keeping: 100_000, atMost: most)
        let found = try #require(reopened)
        #expect(found.length == length)
        #expect([7].withUnsafeBytes { found.file.append(UnsafeRawBufferPointer(rebasing: $0[..<1])) } == nil)
        #expect(found.file.close() == nil)
        let content = try scratch.content(of: path)
        #expect(firstDifference(content, [UInt8](repeating: 7, count: Int(length) + 1)) == nil)
        found.file.remove()
    }

    @Test("A disk that hangs holds neither the files of others nor more than its share of threads")
    func hangingDisk() async throws {
        let pool = BlockingPool(limit: 4, idleTime: .seconds(1), name: "test")
        let lane = BlockingLane(pool: pool, width: 2)
        let pipe = try Pipe()
        let raw = pipe.write
        let path = scratch.path + "/pipe"
        let stuck = sink(lane: lane, EventLog()) {
            .success(TemporaryFile(path: path, descriptor: Descriptor(owning: raw)))
        }
        while stuck.write(piece([UInt8](repeating: 5, count: 50_000))) == .more {}
        for _ in 0..<5 {
            let other = sink(lane: lane, EventLog())
            _ = other.write(piece([UInt8](repeating: 6, count: 50_000)))
            let file = try await finish(other).get()
            #expect(try scratch.content(of: file.path).count == 50_000)
            file.remove()
        }
        #expect(pool.threadCount <= 2)
        let reader = Task { await pipe.readAll() }
        _ = await finish(stuck)
        #expect(await reader.value > 0)
    }
}

/// What a sink has reported.
private final class EventLog: Sendable {
    fileprivate struct State: Sendable {
        var events: [FileSink.Event] = []
        var waiter: (after: Int, continuation: Handover<Void, Never>)?
        var reader: (count: Int64, continuation: Handover<Void, Never>)?
    }

    private let state = Guarded(State())

    func note(_ event: FileSink.Event) {
        let (ready, read) = state.withLock { state -> (Handover<Void, Never>?, Handover<Void, Never>?) in
            state.events.append(event)
            var read: Handover<Void, Never>?
            if let reader = state.reader, state.written.last ?? 0 >= reader.count {
                read = reader.continuation
                state.reader = nil
            }
            guard let waiter = state.waiter, state.rooms > waiter.after else { return (nil, read) }
            state.waiter = nil
            return (waiter.continuation, read)
        }
        ready?.resume()
        read?.resume()
    }

    /// Returns when so many bytes were written.
    func wait(for count: Int64) async {
        await withHandover { continuation in
            let isThere = state.withLock { state in
                if state.written.last ?? 0 >= count { return true }
                state.reader = (count, continuation)
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Returns when room was reported more often than this.
    func room(after count: Int) async {
        await withHandover { continuation in
            let isThere = state.withLock { state in
                if state.rooms > count { return true }
                state.waiter = (count, continuation)
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    var rooms: Int { state.withLock { $0.rooms } }
    var failures: [FileFailure] { state.withLock { $0.failures } }
    var failure: FileFailure? { failures.first }
    var written: [Int64] { state.withLock { $0.written } }
}

extension EventLog.State {
    fileprivate var rooms: Int { events.count { if case .room = $0 { true } else { false } } }
    fileprivate var failures: [FileFailure] {
        events.compactMap { if case .failed(let failure) = $0 { failure } else { nil } }
    }
    fileprivate var written: [Int64] { events.compactMap { if case .written(let count) = $0 { count } else { nil } } }
}

/// A folder that goes with its object.
private final class Scratch: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/urlloading-sink-XXXXXX".utf8CString)
        path = mkdtemp(&template).map { String(cString: $0) } ?? "/nowhere"
    }

    deinit {
        for name in names { unlink(path + "/" + name) }
        rmdir(path)
    }

    var names: [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    func content(of path: String) throws -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = read(file, &buffer, buffer.count), count > 0 { content += buffer.prefix(count) }
        return content
    }

    /// How much of the disk a file takes.
    func room(of path: String) -> Int64? {
        var about = stat()
        return stat(path, &about) == 0 ? Int64(about.st_blocks) * 512 : nil
    }

    func mode(of path: String) -> mode_t? {
        var about = stat()
        return stat(path, &about) == 0 ? about.st_mode & 0o777 : nil
    }
}
