// What a run of a program makes of journals that an earlier one has left: the tasks that it
// meets again, and their ends.

import Foundation
import Testing
import URLLoadingPolicy
import URLLoadingTestSupport

@testable import URLLoading

@Suite("Background sessions: tasks that are met again", .timeLimit(.minutes(2)))
struct BackgroundMeetingTests {
    private let folder = BackgroundFolder()

    @Test("B10.33: what a task is called after it was resumed is written down, unless it is too long")
    func description() async throws {
        let directory = try folder.directory()
        let record = { try? directory.read(settingAside: false).records.first }
        let url = try #require(URL(string: "http://127.0.0.1:9/"))
        try await withBackgroundSession(folder.configuration()) { session, _ in
            let task = session.downloadTask(with: url)
            task.taskDescription = "first"
            task.resume()
            task.taskDescription = "second"
            try await until { record()?.label == "second" }
            task.taskDescription = String(repeating: "x", count: TransferLimits.label + 1)
            task.priority = 0.75
            try await until { record()?.priority == 0.75 }
            #expect(record()?.label == "second")
            task.taskDescription = nil
            try await until { record().map { $0.label == nil } ?? false }
        }
    }

    /// What has become of the file of a task that is over.
    enum Kept: CaseIterable, Sendable {
        case whole
        case gone
        /// Other users may read it: it is not what the owner has left.
        case open
    }

    @Test(
        "B10.46: a download whose file is gone was had, and one whose file is there but cannot be used ends with an error",
        arguments: Kept.allCases)
    func downloads(file: Kept) async throws {
        try folder.leave { record, directory in
            let path = directory.file("download-1")
            if file != .gone {
                try Data("hello".utf8).write(to: URL(fileURLWithPath: path))
                #expect(chmod(path, file == .open ? 0o644 : 0o600) == 0)
            }
            record.state = .over
            record.add(.downloaded(path: path))
            record.end(nil)
        }
        try await withBackgroundSession(folder.configuration()) { _, scribe in
            await scribe.events.wait()
            let told =
                switch file {
                case .whole: ["file 1 hello", "end 1 nil", "events"]
                case .gone: ["end 1 nil", "events"]
                case .open: ["end 1 \(URLError.Code.cannotOpenFile.rawValue)", "events"]
                }
            #expect(scribe.transcript.calls == told)
        }
    }

    @Test(
        "B10.46: a new task has not the number of one whose journal cannot be read, or is damaged",
        arguments: [true, false])
    func unreadable(isDamaged: Bool) async throws {
        let directory = try folder.directory()
        let path = directory.path + "/task-7"
        if isDamaged {
            try Data("no journal".utf8).write(to: URL(fileURLWithPath: path))
        } else {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        let url = try #require(URL(string: "http://127.0.0.1:9/"))
        try await withBackgroundSession(folder.configuration()) { session, _ in
            let task = session.downloadTask(with: url)
            #expect(task.taskIdentifier == 8)
            task.cancel()
        }
    }

    @Test(
        "B10.46: a file with a number that no task can have counts for nothing",
        arguments: [1 << 53 + 1, UInt64(Int.max - 1), UInt64(Int.max), UInt64.max] as [UInt64])
    func beyondNumbers(number: UInt64) async throws {
        let directory = try folder.directory()
        try Data("no journal".utf8).write(to: URL(fileURLWithPath: directory.path + "/task-\(number)"))
        let url = try #require(URL(string: "http://127.0.0.1:9/"))
        try await withBackgroundSession(folder.configuration()) { session, _ in
            for identifier in 1...2 {
                let task = session.downloadTask(with: url)
                #expect(task.taskIdentifier == identifier)
                task.cancel()
            }
        }
    }

    @Test("B10.46: news of a task whose journal this run cannot open are left to a later run")
    func unopenedNews() async throws {
        let directory = try folder.directory()
        try FileManager.default.createDirectory(atPath: directory.path + "/task-7", withIntermediateDirectories: false)
        let owner = TellingOwner(about: 7)
        try await folder.withListener(owner) {
            let url = try #require(URL(string: "http://127.0.0.1:9/"))
            try await withBackgroundSession(folder.configuration(helper: true)) { session, scribe in
                session.downloadTask(with: url).resume()
                // Behind whatever was said of the other task.
                await owner.delivered.wait { $0.contains(8) }
                #expect(owner.delivered.value == [8])
                #expect(scribe.transcript.calls == ["end 8 nil"])
            }
        }
    }

    @Test("B10.44: a cancellation before the owner's welcome is told ahead of the word that lets transfers begin")
    func cancelledBeforeWelcome() async throws {
        try folder.leave { _, _ in }
        let owner = SlowOwner()
        try await folder.withListener(owner) {
            try await withBackgroundSession(folder.configuration(helper: true)) { session, scribe in
                for task in await session.allTasks { task.cancel() }
                await owner.greeted.wait()
                owner.welcome()
                await scribe.ended.wait()
                #expect(Set(owner.words.value.prefix { $0 != .list }) == [.cancel(task: 1, wantsResumeData: false)])
                #expect(scribe.transcript.calls == ["end 1 -999"])
            }
        }
    }

    @Test(
        "B10.36, B10.44: a task that failed for want of an owner is not begun by one that comes before its end is told",
        arguments: [true, false])
    func failedForWantOfOwner(isMet: Bool) async throws {
        let url = "http://127.0.0.1:9/"
        let owner = HearingOwner(met: isMet ? [.ofFirstTask()] : [], hangUps: 4)
        let scribe = BackgroundScribe()
        let queue = OperationQueue.held()
        defer { queue.isSuspended = false }
        try await folder.withOwner(owner, delegate: scribe, queue: queue) { session in
            let background = try #require(session.core.background)
            session.downloadTask(with: try #require(URL(string: url))).resume()
            try await until { background.state.withLock { $0.entries[1]?.isEnding == true } }
            session.downloadTask(with: try #require(URL(string: url))).resume()
            await owner.words.wait { $0.contains(.list) }
            let words = owner.words.value.prefix { $0 != .list }
            #expect(!words.contains { $0.order?.task == 1 })
            #expect(words.contains(.cancel(task: 1, wantsResumeData: false)) == isMet)
            queue.isSuspended = false
            await scribe.ended.wait()
            #expect(scribe.transcript.calls == ["end 1 -997"])
        }
    }

    @Test("B1.52, B10.33: the progress of a task that waits when it is met again shows what an earlier run has counted")
    func progressOfWaiting() async throws {
        try folder.leave { record, _ in
            record.isSuspended = true
            record.counts.received = 400_000
            record.counts.expectedToReceive = 4_000_000
        }
        try await withBackgroundSession(folder.configuration()) { session, _ in
            let progress = try #require(await session.allTasks.first).progress
            #expect(progress.completedUnitCount == 400_000 && progress.totalUnitCount == 4_000_000)
            #expect(!progress.isIndeterminate)
        }
    }

    @Test("B10.36, B9.16: a part of a download is where the next owner looks for it until the end is written down")
    func partBeforeEnd() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:9/"))
        let directory = try BackgroundDirectory(identifier: "test", in: BackgroundDirectory.root(in: folder.path))
        let order = TransferOrder(task: 1, kind: .download, request: TransferRequest(url: url.absoluteString))
        let record = TransferRecord(order, allowed: nil, isDiscretionary: false, now: .now)
        try directory.write(record)
        let part = try Rig.leavePart(of: url, in: directory.filesPath)
        let owner = HearingOwner(met: [record.summary])
        let scribe = BackgroundScribe()
        try await folder.withOwner(owner, delegate: scribe) { session in
            await owner.words.wait { $0.contains(.list) }
            let background = try #require(session.core.background)
            let channel = try #require(background.state.withLock { $0.channel })
            background.heard(.resumeData(task: 1, Array(part.encoded)), on: channel)
            // Behind whatever that has led to.
            await withHandover { done in background.line.run { done.resume() } }
            #expect(FileManager.default.fileExists(atPath: directory.file(part.fileName)))
            // The next owner may say that it has none.
            background.heard(.resumeData(task: 1, nil), on: channel)
            var failure = TransferFailure(code: -1001, text: "late", url: url.absoluteString)
            failure.resumeData = Array(part.encoded)
            background.heard(
                .news(task: 1, TransferNews(number: 1, content: .completed(failure))), on: channel)
            await scribe.ended.wait()
            #expect(scribe.errors.value.first?.downloadTaskResumeData == part.encoded)
            let path = FileManager.default.temporaryDirectory.path + "/" + part.fileName
            #expect(FileManager.default.fileExists(atPath: path))
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    @Test("B10.46: an answer that is there but cannot be opened ends its task with an error")
    func answer() async throws {
        try folder.leave(.data) { record, directory in
            let path = directory.file("answer-1")
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            record.state = .over
            record.add(.answered(path: path))
            record.end(nil)
        }
        try await withBackgroundSession(folder.configuration()) { _, scribe in
            await scribe.ended.wait()
            #expect(scribe.errors.value.map(\.code) == [.cannotOpenFile])
        }
    }
}

/// An owner that has a task with the number 1, welcomes its program when the test says so, and ends the task with the
/// last of its first words.
private final class SlowOwner: TransferService {
    let greeted = Signal()
    /// What was said behind the greeting, up to `list`.
    let words = Guarded<[TransferCommand]>([])
    private let program = Guarded<(any TransferChannel)?>(nil)

    func welcome() {
        let program = program.value
        program?.send(.met(.ofFirstTask()))
        program?.send(.welcome)
    }

    func connected(_ channel: any TransferChannel) {}

    func received(_ command: TransferCommand, from channel: any TransferChannel) {
        switch command {
        case .hello:
            program.value = channel
            greeted.fire()
        case .list:
            words.change { $0.append(command) }
            let failure = TransferFailure(code: -999, text: "cancelled", url: "http://127.0.0.1:9/")
            channel.send(.news(task: 1, TransferNews(number: 1, content: .completed(failure))))
        case .invalidate:
            channel.send(.invalidated)
            channel.close()
        case .delivered: break
        case .start, .cancel, .suspend, .resume, .label, .priority, .answer: words.change { $0.append(command) }
        }
    }

    // A channel holds its service: one that stayed here would keep both.
    func disconnected(_ channel: any TransferChannel) { program.value = nil }
}

/// An owner that tells of the end of a task of its own with that of each task that is begun.
private final class TellingOwner: TransferService {
    /// The tasks whose ends were heard.
    let delivered = Watched<[UInt64]>([])
    private let own: UInt64

    init(about own: UInt64) { self.own = own }

    func connected(_ channel: any TransferChannel) {}

    func received(_ command: TransferCommand, from channel: any TransferChannel) {
        switch command {
        case .hello: channel.send(.welcome)
        case .start(let order):
            for task in [own, order.task] {
                channel.send(.news(task: task, TransferNews(number: 1, content: .completed(nil))))
            }
        case .delivered(let task, _): delivered.change { $0.append(task) }
        case .invalidate:
            channel.send(.invalidated)
            channel.close()
        case .cancel, .suspend, .resume, .label, .priority, .answer, .list: break
        }
    }

    func disconnected(_ channel: any TransferChannel) {}
}
