// An owner of transfers in a test's own directory, and a program that talks to it.

import Dispatch
import Foundation
import Testing
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport

@testable import URLLoading

/// A directory that goes with the test, and the processes that were started for it.
final class StateFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/state-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        endProcesses(naming: path)
        try? FileManager.default.removeItem(atPath: path)
    }

    func directory(_ identifier: String = "test") throws -> BackgroundDirectory {
        try BackgroundDirectory(identifier: identifier, in: path)
    }
}

extension BackgroundFolder {
    /// The directory of the session with the identifier of `configuration`.
    func directory() throws -> BackgroundDirectory {
        try BackgroundDirectory(identifier: "test", in: BackgroundDirectory.root(in: path))
    }

    /// Leaves the journal of a task with the number 1.
    func leave(
        _ kind: TransferKind = .download, _ change: (inout TransferRecord, BackgroundDirectory) throws -> Void
    ) throws {
        let directory = try directory()
        let order = TransferOrder(task: 1, kind: kind, request: TransferRequest(url: "http://127.0.0.1:9/"))
        var record = TransferRecord(order, allowed: nil, isDiscretionary: false, now: .now)
        try change(&record, directory)
        try directory.write(record)
    }

    /// Leaves the journal of a download that waits for a date, and whose delegate is to be asked then.
    func leaveWaiting(_ url: String, until date: Int64) throws {
        try leave { record, _ in
            record.original = TransferRequest(url: url)
            record.current = record.original
            record.earliestBegin = date
            record.awaitsDelegate = true
        }
    }

    /// Runs `body` while an owner of transfers listens in that directory.
    func withListener(_ owner: any TransferService, _ body: () async throws -> Void) async throws {
        let listener = try TransferListener(
            directory: try directory().path, service: owner, loop: LoopGroup.shared.next(), onEmpty: {})
        let failure: SystemError? = await withHandover { done in listener.start { done.resume(returning: $0) } }
        #expect(failure == nil)
        try await body()
        await withHandover { done in listener.stop { done.resume() } }
    }
}

/// A program that hears everything an owner says, in order.
final class ScribeChannel: TransferChannel {
    private let heard = Watched<(events: [TransferEvent], isClosed: Bool)>(([], false))

    func send(_ event: TransferEvent) { heard.change { $0.events.append(event) } }

    func close() { heard.change { $0.isClosed = true } }

    var events: [TransferEvent] { heard.value.events }
    var isClosed: Bool { heard.value.isClosed }

    /// The tasks that the owner has told of in its greeting.
    var met: [TransferSummary] {
        events.compactMap { if case .met(let summary) = $0 { summary } else { nil } }
    }

    /// An event that a test waits for cannot come any more, or the test's time is over.
    struct Missed: Error {
        let events: [TransferEvent]
    }

    /// Returns when the owner has closed the conversation.
    func end() async throws {
        guard await heard.wait(until: { $0.isClosed }) else { throw Missed(events: events) }
    }

    /// Returns when the owner has sent this event.
    func hear(_ event: TransferEvent) async throws { _ = try await first { $0 == event ? event : nil } }

    /// Returns the first value that `find` gives for an event; throws where the conversation ends without one.
    func first<Value: Sendable>(_ find: @escaping @Sendable (TransferEvent) -> Value?) async throws -> Value {
        await heard.wait { $0.isClosed || $0.events.contains { find($0) != nil } }
        for event in events { if let value = find(event) { return value } }
        throw Missed(events: events)
    }

    /// The first counts that the owner tells of a task.
    @discardableResult
    func counts(of task: UInt64) async throws -> TransferCounts {
        try await first { if case .progress(task, let counts) = $0 { counts } else { nil } }
    }

    /// The owner's answer to `list`.
    @discardableResult
    func tasks() async throws -> [TransferSummary] {
        try await first { if case .tasks(let tasks) = $0 { tasks } else { nil } }
    }

    /// The first question about the transfer of a task.
    func challenge(of task: UInt64 = 1) async throws -> TransferChallenge {
        try await first { if case .challenged(task, let challenge) = $0 { challenge } else { nil } }
    }

    /// The end of a task: nil in it for success.
    func end(of task: UInt64) async throws -> TransferFailure? {
        try await first { event -> TransferFailure?? in
            if case .news(task, let news) = event, case .completed(let failure) = news.content {
                .some(failure)
            } else {
                nil
            }
        }
    }

    /// The news of a task, in the order in which it was sent.
    func news(of task: UInt64) -> [TransferNews] {
        events.compactMap { event in
            if case .news(task, let news) = event { news } else { nil }
        }
    }
}

/// A clock that tests move.
final class MovableClock: Sendable {
    private let state = Guarded(TransferInstant(wall: 1_700_000_000_000, uptime: 1_000_000, boot: 1))
    /// Timers that wait until the test moves the clock.
    private let waiting = Guarded<[@Sendable () -> Void]>([])
    private let longest = Guarded<Int64>(0)
    /// Fired when the owner waits for a second at most, which is a wait to try again.
    let retries = Signal()

    var now: TransferInstant { state.withLock { $0 } }

    func move(milliseconds: Int64) {
        state.withLock {
            $0 = TransferInstant(wall: $0.wall + milliseconds, uptime: $0.uptime + milliseconds, boot: $0.boot)
        }
        let due = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for body in due { body() }
    }

    func set(_ instant: TransferInstant) { state.withLock { $0 = instant } }

    /// Sets the calendar's clock; the owner is not told.
    func setCalendar(_ wall: Int64) {
        state.withLock { $0 = TransferInstant(wall: wall, uptime: $0.uptime, boot: $0.boot) }
    }

    /// The longest time after which the owner has asked to be woken.
    var longestWait: Int64 { longest.withLock { $0 } }

    var clock: TransferClock {
        TransferClock(now: { [self] in now }) { [self] delay, queue, body in
            longest.withLock { $0 = max($0, delay) }
            waiting.withLock { $0.append { queue.async(execute: body) } }
            if delay <= 1000 { retries.fire() }
        }
    }
}

enum Rig {
    static var settings: TransferSettings {
        var settings = TransferSettings(identifier: "test")
        settings.proxies = []
        return settings
    }

    /// An owner that tries again at once.
    static func owner(
        _ directory: BackgroundDirectory, _ change: (inout TransferOwner.Arrangement) -> Void = { _ in }
    ) throws -> TransferOwner {
        var arrangement = TransferOwner.Arrangement()
        arrangement.patience = TransferSchedule.Patience(first: 1, longest: 20)
        arrangement.lockPatience = .seconds(10)
        change(&arrangement)
        return try TransferOwner(directory: directory, arrangement: arrangement)
    }

    /// A program that the owner has welcomed.
    static func program(
        _ owner: any TransferService, settings: TransferSettings = Rig.settings, judges: Bool = false,
        answers: Bool = false
    ) async throws -> (ScribeChannel, [TransferSummary]) {
        let channel = ScribeChannel()
        owner.connected(channel)
        owner.received(
            .hello(TransferHello(settings: settings, judgesServers: judges, answersChallenges: answers)), from: channel)
        try await channel.hear(.welcome)
        owner.received(.list, from: channel)
        return (channel, channel.met)
    }

    /// A program that the owner has welcomed, and whose task with the number 1 downloads: it has begun to count bytes.
    static func downloading(_ url: String, by owner: TransferOwner) async throws -> ScribeChannel {
        let (program, _) = try await Rig.program(owner)
        owner.received(.start(Rig.download(url)), from: program)
        try await program.counts(of: 1)
        return program
    }

    static func stop(_ owner: TransferOwner) async {
        await withHandover { done in owner.stop { done.resume() } }
    }

    static func download(_ url: String, task: UInt64 = 1) -> TransferOrder {
        TransferOrder(task: task, kind: .download, request: TransferRequest(url: url))
    }

    /// Leaves five bytes of a download, of ten, in a folder, and gives the data that name them.
    static func leavePart(of url: URL, in folder: String) throws -> ResumeData {
        let naming = FileNaming.downloads
        let file = try TemporaryFile.create(in: folder, prefix: naming.prefix, suffix: naming.partialSuffix).get()
        #expect(Array("hello".utf8).withUnsafeBytes { file.append($0) } == nil)
        file.letGo()
        return try #require(
            ResumeData(
                request: URLRequest(url: url), byteCount: 5, total: 10, validator: .tag("\"v1\""),
                fileName: file.url.lastPathComponent))
    }

    /// The bytes of the file of a download's news.
    static func file(_ news: [TransferNews]) throws -> Data {
        for one in news {
            switch one.content {
            case .downloaded(let path), .answered(let path): return try Data(contentsOf: URL(fileURLWithPath: path))
            case .measured, .completed: break
            }
        }
        throw Missing()
    }

    struct Missing: Error {}
}
