// What listens on the socket of a session's directory may be of no use, or belong to another user.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport

@testable import URLLoading

@Suite(.timeLimit(.minutes(2))) struct TransferConnectionTests {
    @Test(
        "B10.36, B10.24, B17.48: when the connection to the owner is lost again and again each task ends with -997, once"
    )
    func lostAgainAndAgain() async throws {
        let folder = BackgroundFolder()
        let busy = ClosingService()
        try await folder.withListener(busy) {
            let configuration = folder.configuration(helper: true)
            try await withServer(router: { _ in .text("never asked for") }) { server in
                try await withBackgroundSession(configuration) { session, scribe in
                    for _ in 0..<3 { session.downloadTask(with: try server.at("/")).resume() }
                    busy.hangUp()
                    await scribe.ended.wait(times: 3)
                    #expect(scribe.transcript.calls.sorted() == ["end 1 -997", "end 2 -997", "end 3 -997"])
                    #expect(scribe.errors.value.allSatisfy { $0.failingURL == (try? server.at("/")) })
                    #expect(busy.greetings.value == 4)
                }
                #expect(server.stats.requests == 0)
            }
        }
        #expect(folder.names.isEmpty)
    }

    @Test("B10.36, B10.44: a task that an owner had, and that ended with -997 when no owner was left, is not met again")
    func lostWithTask() async throws {
        let folder = BackgroundFolder()
        try await folder.withListener(TakingOwner()) {
            let url = try #require(URL(string: "http://127.0.0.1:9/"))
            try await withBackgroundSession(folder.configuration(helper: true)) { session, scribe in
                session.downloadTask(with: url).resume()
                await scribe.ended.wait()
                #expect(scribe.transcript.calls == ["end 1 -997"])
                try await until { folder.journals.isEmpty }
            }
        }
        #expect(folder.names.isEmpty)
    }

    @Test("B10.36, B10.24: an owner that does not answer counts as lost, and the task ends with -997")
    func silent() async throws {
        let folder = BackgroundFolder()
        let mute = ClosingService()
        try await folder.withListener(mute) {
            let configuration = folder.configuration(helper: true)
            configuration.backgroundHelperPatience = .milliseconds(20)
            let url = try #require(URL(string: "http://127.0.0.1:9/"))
            try await withBackgroundSession(configuration) { session, scribe in
                session.downloadTask(with: url).resume()
                await scribe.ended.wait()
                #expect(scribe.transcript.calls == ["end 1 -997"])
                #expect(scribe.errors.value.first?.localizedDescription.hasSuffix("it does not answer") == true)
                // The last one may have been given up before the owner, on a loop of its own, came to take it in.
                await mute.greetings.wait { $0 >= 4 }
                #expect(mute.greetings.value == 4)
            }
        }
        #expect(folder.names.isEmpty)
    }

    @Test(
        "B10.33, B10.36: an owner that has another program, is about to end or is of another version is asked again",
        arguments: [false, true])
    func refusedForAWhile(byVersion: Bool) async throws {
        let folder = BackgroundFolder()
        let times = byVersion ? 2 : 6
        let busy = RefusingService(times: times, byVersion: byVersion)
        try await folder.withListener(busy) {
            let url = try #require(URL(string: "http://127.0.0.1:9/"))
            try await withBackgroundSession(folder.configuration(helper: true)) { session, scribe in
                session.downloadTask(with: url).resume()
                await scribe.ended.wait()
                #expect(scribe.errors.value.map(\.code) == [.cannotFindHost])
                #expect(busy.greetings.value == times + 1)
            }
        }
        #expect(folder.names.isEmpty)
    }

    /// Runs `body` while a helper is there that knows of no task, and a journal of one that is over: as the program
    /// reads it just before the owner learns that the end was heard.
    private func withHeardTask(
        at url: URL, _ body: (URLSessionConfiguration) async throws -> Void
    ) async throws {
        let folder = BackgroundFolder()
        let directory = try folder.directory()
        var record = TransferRecord(
            Rig.download(url.absoluteString), allowed: nil, isDiscretionary: false, now: .now)
        record.state = .over
        record.end(nil)
        try directory.write(record)
        try await folder.withListener(RefusingService(times: 0)) {
            try await body(folder.configuration(helper: true))
        }
        #expect(folder.names.isEmpty)
    }

    @Test("B10.44: a task whose end an earlier run has heard goes without a word, and is not carried out again")
    func heardBefore() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:9/"))
        try await withHeardTask(at: url) { configuration in
            try await withBackgroundSession(configuration) { session, scribe in
                // This one's end is behind all that is made of the greeting.
                session.downloadTask(with: url).resume()
                await scribe.ended.wait()
                #expect(scribe.transcript.calls == ["end 2 -1003"])
                #expect(await session.allTasks.isEmpty)
            }
        }
    }

    @Test("B10.44: the notification of a task that goes without a word is posted on the delegate queue, and on no loop")
    func noticeOfHeard() async throws {
        // The notifications of other tests are about other URLs.
        let url = try #require(URL(string: "http://127.0.0.1:9/\(UUID().uuidString)"))
        let queues = Guarded<[String?]>([])
        let posted = Signal()
        let observer = NotificationCenter.default.addObserver(
            forName: .urlSessionTaskDidComplete, object: nil, queue: nil
        ) { note in
            guard let task = note.object as? URLSessionTask, task.originalRequest?.url == url else { return }
            queues.change { $0.append(OperationQueue.current?.name) }
            posted.fire()
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try await withHeardTask(at: url) { configuration in
            let handlers = URLSession.EventHandlers()
            let invalidated = Signal()
            handlers.didBecomeInvalid = { _, _ in invalidated.fire() }
            let session = URLSession(configuration: configuration, delegate: handlers, delegateQueue: nil)
            await posted.wait()
            #expect(queues.value == [session.delegateQueue.name])
            session.invalidateAndCancel()
            await invalidated.wait()
        }
    }

    @Test(
        "B10.36: whatever number a task's priority was set to, the next owner is told one that it can read",
        arguments: [true, false])
    func strangePriority(isNaN: Bool) async throws {
        let folder = BackgroundFolder()
        let owners = MeetingOwners()
        try await folder.withListener(owners) {
            let url = try #require(URL(string: "http://127.0.0.1:9/"))
            try await withBackgroundSession(folder.configuration(helper: true)) { session, scribe in
                let task = session.downloadTask(with: url)
                task.resume()
                await owners.begun.wait()
                task.priority = isNaN ? .nan : .infinity
                owners.hangUp()
                await scribe.ended.wait()
                #expect(scribe.transcript.calls == ["end 1 nil"])
                #expect(owners.priorities.value == [isNaN ? URLSessionTask.defaultPriority : 1])
            }
        }
        #expect(folder.names.isEmpty)
    }

    @Test(
        "B10.31: a program does not talk to another user's helper, and a helper hangs up on another user's program",
        .enabled(if: geteuid() == 0, "only root can run a helper as another user"))
    func anotherUser() async throws {
        let folder = BackgroundFolder()
        let path = folder.path + "/theirs"
        #expect(mkdir(path, 0o700) == 0 && chmod(folder.path, 0o755) == 0 && chown(path, 65534, 65534) == 0)
        let run = try await ChildRun.run(
            "/usr/bin/setpriv",
            [
                "--reuid", "65534", "--regid", "65534", "--clear-groups", ChildRun.path(of: "urlloading-transfers"),
                "--start", path, "60",
            ])
        try #require(run.exitCode == 0, "\(run.complaintsText)")
        let channel = ScribeChannel()
        let outcome: Result<RemoteOwner, SystemError> = await withHandover { done in
            RemoteOwner.connect(
                directory: path, loop: LoopGroup.shared.next(), channel: channel, onEnd: { _ in channel.close() },
                completion: { done.resume(returning: $0) })
        }
        switch outcome {
        case .failure(let error): #expect(error.errno == EACCES)
        case .success: Issue.record("the helper belongs to another user")
        }
        // A program that does not check the owner is hung up on, without a word.
        let stranger = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(stranger) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: (path + "/socket").utf8) }
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(stranger, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(connected == 0)
        // One that says nothing and stays is a failure, not a test that waits forever.
        var patience = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(stranger, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var byte: UInt8 = 0
        #expect(recv(stranger, &byte, 1, 0) == 0)
        #expect(folder.helpers.count == 1)
    }
}

/// An owner that hangs up on every program, as soon as the test says so.
private final class ClosingService: TransferService {
    let greetings = Watched(0)
    /// The channels that wait; nil when each is hung up on at once.
    private let waiting = Guarded<[any TransferChannel]?>([])

    func hangUp() {
        let channels = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        for channel in channels ?? [] { channel.close() }
    }

    func connected(_ channel: any TransferChannel) {
        greetings.change { $0 += 1 }
        let isOver = waiting.withLock { waiting in
            waiting?.append(channel)
            return waiting == nil
        }
        if isOver { channel.close() }
    }

    func received(_ command: TransferCommand, from channel: any TransferChannel) {}

    // A channel holds its service: one that stayed here would keep both.
    func disconnected(_ channel: any TransferChannel) {
        waiting.withLock { $0?.removeAll { $0 === channel } }
    }
}

/// An owner that refuses the first programs that come, and ends every task of the next one.
private final class RefusingService: TransferService {
    let greetings = Guarded(0)
    private let refusals: Int
    private let byVersion: Bool

    init(times: Int, byVersion: Bool = false) { (refusals, self.byVersion) = (times, byVersion) }

    func connected(_ channel: any TransferChannel) {}

    func received(_ command: TransferCommand, from channel: any TransferChannel) {
        switch command {
        case .hello:
            greetings.change { $0 += 1 }
            if greetings.value <= refusals {
                channel.send(
                    .refused(byVersion ? .version(1) : greetings.value.isMultiple(of: 2) ? .ending : .inUse))
                return channel.close()
            }
            channel.send(.welcome)
        case .start(let order):
            let failure = TransferFailure(code: -1003, text: "over", url: order.original.url)
            channel.send(.news(task: order.task, TransferNews(number: 1, content: .completed(failure))))
        case .invalidate:
            channel.send(.invalidated)
            channel.close()
        case .cancel, .suspend, .resume, .label, .priority, .answer, .delivered, .list: break
        }
    }

    func disconnected(_ channel: any TransferChannel) {}
}

/// Owners, one after the other: the first takes a task, and the next one, which has it with a priority of its own, ends
/// it when it is told another.
private final class MeetingOwners: TransferService {
    let begun = Signal()
    /// What the one behind the first was told.
    let priorities = Guarded<[Float]>([])
    private let first = Guarded<(order: TransferOrder?, channel: (any TransferChannel)?)>((nil, nil))

    /// The first owner goes.
    func hangUp() { first.withLock { $0.channel }?.close() }

    func connected(_ channel: any TransferChannel) {}

    func received(_ command: TransferCommand, from channel: any TransferChannel) {
        let order = first.withLock { $0.order }
        switch command {
        case .hello:
            if let order {
                var record = TransferRecord(order, allowed: nil, isDiscretionary: false, now: .now)
                record.priority = 0.25
                channel.send(.met(record.summary))
            }
            channel.send(.welcome)
        case .start(let order):
            first.withLock { $0 = (order, channel) }
            begun.fire()
        case .priority(let task, let priority):
            guard !first.withLock({ $0.channel === channel }) else { return }
            priorities.change { $0.append(priority) }
            channel.send(.news(task: task, TransferNews(number: 1, content: .completed(nil))))
        case .invalidate:
            channel.send(.invalidated)
            channel.close()
        case .cancel, .suspend, .resume, .label, .answer, .delivered, .list: break
        }
    }

    // A channel holds its service: one that stayed here would keep both.
    func disconnected(_ channel: any TransferChannel) {
        first.withLock { if $0.channel === channel { $0.channel = nil } }
    }
}

/// An owner that takes one task and is gone, and after that hangs up on every program.
private final class TakingOwner: TransferService {
    private let hasTask = Guarded(false)

    func connected(_ channel: any TransferChannel) { if hasTask.value { channel.close() } }

    func received(_ command: TransferCommand, from channel: any TransferChannel) {
        switch command {
        case .hello: if !hasTask.value { channel.send(.welcome) }
        case .start(let order):
            hasTask.value = true
            channel.send(.accepted(task: order.task))
            channel.close()
        case .cancel, .suspend, .resume, .label, .priority, .answer, .delivered, .invalidate, .list: break
        }
    }

    func disconnected(_ channel: any TransferChannel) {}
}
