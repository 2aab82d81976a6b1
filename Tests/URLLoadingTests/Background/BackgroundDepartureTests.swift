// What an orderly end of a program leaves to a later run, and what it waits for (`BackgroundDeparture`).

import Foundation
import Testing
import URLLoadingPolicy
import URLLoadingTestSupport

@testable import URLLoading

@Suite("Background sessions: an orderly end of the program", .timeLimit(.minutes(2)))
struct BackgroundDepartureTests {
    private let folder = BackgroundFolder()

    /// The journals that are there when the program has left its transfers to a helper.
    private func recordsLeft(by session: URLSession) throws -> [TransferRecord] {
        session.core.background?.leaveToHelper()
        return try folder.directory().read(settingAside: false).records
    }

    @Test("B10.44, B1.36: an orderly end leaves no journal of what was cancelled, and one that says what was suspended")
    func cancelledAndSuspended() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:9/"))
        // It takes the program when all is looked at.
        let owner = HearingOwner(welcomesFirst: false)
        try await folder.withOwner(owner, delegate: BackgroundScribe()) { session in
            let (cancelled, suspended) = (session.downloadTask(with: url), session.downloadTask(with: url))
            for task in [cancelled, suspended] { task.resume() }
            cancelled.cancel()
            suspended.suspend()
            await owner.greetings.wait { $0 == 1 }
            let records = try recordsLeft(by: session)
            #expect(records.map(\.task) == [UInt64(suspended.taskIdentifier)])
            #expect(records.map(\.isSuspended) == [true])
            owner.welcome()
        }
    }

    @Test("B10.44: an orderly end waits for the end of a task that was cancelled before its owner was reached")
    func cancelledBeforeOwner() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:9/"))
        let owner = HearingOwner(welcomesFirst: false)
        try await folder.withOwner(owner, delegate: BackgroundScribe()) { session in
            let task = session.downloadTask(with: url)
            task.resume()
            task.cancel()
            await owner.greetings.wait { $0 == 1 }
            let background = try #require(session.core.background)
            #expect(background.hasUnknownTasks)
            owner.welcome()
            try await until { !background.hasUnknownTasks }
            #expect(owner.words.value.contains(.cancel(task: 1, wantsResumeData: false)))
        }
    }

    @Test("B10.44, B10.36: an orderly end does not wait for an answer about a task that its owner does not know")
    func lostTask() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:9/"))
        let owner = HearingOwner(answersEnds: false)
        let scribe = BackgroundScribe()
        try await folder.withOwner(owner, delegate: scribe) { session in
            // The owner's.
            let lock = try folder.directory().takeLock()
            let background = try #require(session.core.background)
            session.downloadTask(with: url).resume()
            try await until { background.state.withLock { $0.entries[1]?.isKnown == true } }
            owner.hangUp()
            await owner.greetings.wait { $0 == 2 }
            owner.welcome()
            await scribe.ended.wait()
            #expect(scribe.transcript.calls == ["end 1 -997"])
            try await until { !background.hasUnknownTasks }
            lock.hold()
        }
    }

    @Test(
        "B10.44: an orderly end tells of a task that was cancelled before its date, whatever its delegate is busy with")
    func cancelledBeforeDate() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:9/"))
        let owner = HearingOwner()
        let scribe = DelayingScribe(url)
        let queue = OperationQueue.held()
        defer { queue.isSuspended = false }
        try await folder.withOwner(owner, delegate: scribe, queue: queue) { session in
            let task = session.downloadTask(with: url)
            task.earliestBeginDate = Date(timeIntervalSinceNow: 3600)
            task.resume()
            await owner.words.wait { $0.contains { $0.order?.awaitsDelegate == true } }
            task.cancel()
            let background = try #require(session.core.background)
            background.tellOfEnds()
            await owner.words.wait { $0.contains(.cancel(task: 1, wantsResumeData: false)) }
            try await until { !background.hasUnknownTasks }
            queue.isSuspended = false
            await scribe.ended.wait()
            #expect(scribe.transcript.calls == ["end -999"])
        }
    }

    @Test("B10.36, B1.36: an orderly end writes down what was said to no owner, since that was lost")
    func behindLostOwner() async throws {
        try folder.leave { _, _ in }
        let owner = HearingOwner(met: [.ofFirstTask()])
        try await folder.withOwner(owner, delegate: BackgroundScribe()) { session in
            await owner.words.wait { $0.contains(.list) }
            owner.hangUp()
            await owner.greetings.wait { $0 == 2 }
            for task in await session.allTasks { task.suspend() }
            let records = try recordsLeft(by: session)
            #expect(records.map(\.isSuspended) == [true])
            owner.welcome()
        }
    }

    @Test(
        "B1.36: an orderly end waits until the owner has heard what was said last, a suspension for instance",
        arguments: [true, false])
    func suspended(isConnected: Bool) async throws {
        try folder.leave { _, _ in }
        let owner = HearingOwner(met: [.ofFirstTask()], welcomesFirst: isConnected)
        try await folder.withOwner(owner, delegate: BackgroundScribe()) { session in
            let background = try #require(session.core.background)
            await owner.greetings.wait { $0 == 1 }
            if isConnected { await owner.words.wait { $0.contains(.list) } }
            for task in await session.allTasks { task.suspend() }
            background.beginLeaving()
            if !isConnected { owner.welcome() }
            #expect(background.hasUnknownTasks)
            // Behind the end of the first words, which an owner does not answer.
            await owner.words.wait { $0.filter { $0 == .list }.count == 2 }
            let words = owner.words.value
            #expect(words.prefix { $0 != .suspend(task: 1) }.filter { $0 == .list }.count == (isConnected ? 1 : 0))
            #expect(words.contains(.suspend(task: 1)) && words.last == .list)
            #expect(background.hasUnknownTasks)
            owner.answerList()
            try await until { !background.hasUnknownTasks }
        }
    }

    @Test("B10.31: an orderly end starts no helper where a journal cannot be looked at")
    func withoutDescriptors() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:9/"))
        let directory = try folder.directory()
        let owner = HearingOwner(welcomesFirst: false)
        // A file that looks like a program and cannot be run: the child of one would be left to the test's process.
        let helper = folder.path + "/helper"
        #expect(
            FileManager.default.createFile(
                atPath: helper, contents: Data("no program".utf8), attributes: [.posixPermissions: 0o700]))
        try await folder.withOwner(owner, delegate: BackgroundScribe(), helper: helper) { session in
            let (running, suspended) = (session.downloadTask(with: url), session.downloadTask(with: url))
            for task in [running, suspended] { task.resume() }
            suspended.suspend()
            await owner.greetings.wait { $0 == 1 }
            // As where no descriptor is left.
            let journal = directory.path + "/task-\(suspended.taskIdentifier)"
            try FileManager.default.removeItem(atPath: journal)
            try FileManager.default.createDirectory(atPath: journal, withIntermediateDirectories: false)
            #expect(try directory.read(settingAside: false).unopened == [UInt64(suspended.taskIdentifier)])
            #expect(session.core.background?.leaveToHelper() == false)
            try FileManager.default.removeItem(atPath: journal)
            #expect(session.core.background?.leaveToHelper() == true)
            owner.welcome()
        }
    }

    @Test("B10.45: an orderly end leaves a journal that says what was resumed before an owner was reached")
    func resumed() async throws {
        try folder.leave { record, _ in record.isSuspended = true }
        let owner = HearingOwner(welcomesFirst: false)
        try await folder.withOwner(owner, delegate: BackgroundScribe()) { session in
            for task in await session.allTasks { task.resume() }
            await owner.greetings.wait { $0 == 1 }
            let records = try recordsLeft(by: session)
            #expect(records.map(\.isSuspended) == [false])
            owner.welcome()
        }
    }

    @Test("B6.23: an orderly end leaves a journal with the request that a delegate gave before an owner was reached")
    func withNewRequest() async throws {
        try folder.leaveWaiting("http://127.0.0.1:9/", until: TransferInstant.now.wall - 1000)
        let owner = HearingOwner(welcomesFirst: false)
        let other = try #require(URL(string: "http://127.0.0.1:9/other"))
        try await folder.withOwner(owner, delegate: DelayingScribe(other)) { session in
            await owner.greetings.wait { $0 == 1 }
            let background = try #require(session.core.background)
            try await until { background.state.withLock { $0.entries[1]?.order?.current.url == other.absoluteString } }
            let records = try recordsLeft(by: session)
            #expect(records.map(\.current.url) == [other.absoluteString])
            #expect(records.map(\.awaitsDelegate) == [false])
            owner.welcome()
        }
    }
}
