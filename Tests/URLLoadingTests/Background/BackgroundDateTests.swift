// Tasks of a background session that wait for their dates, in the run that made them and in later ones: when a delegate
// is asked, what is written down, and what an owner hears.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingTestSupport

@testable import URLLoading

@Suite("Background sessions: tasks that wait for their dates", .timeLimit(.minutes(2)))
struct BackgroundDateTests {
    private let folder = BackgroundFolder()

    @Test(
        "B10.45, B10.26: a task with a date is met again suspended where it was, and running where its delegate was to be asked",
        arguments: [true, false])
    func suspendedWithDate(wasSuspended: Bool) async throws {
        try folder.leave { record, _ in
            record.earliestBegin = TransferInstant.now.wall + 3_600_000
            record.isSuspended = wasSuspended
            record.awaitsDelegate = !wasSuspended
        }
        try await withBackgroundSession(folder.configuration()) { session, _ in
            let tasks = await session.allTasks
            #expect(tasks.map(\.state) == [wasSuspended ? .suspended : .running])
        }
    }

    @Test("B10.26, B6.23: the delegate of a later run is asked when the date of a task has come")
    func askedInLaterRun() async throws {
        try await withServer(router: { .text(String($0.path)) }) { server in
            try folder.leaveWaiting(server.url("/first"), until: TransferInstant.now.wall - 1000)
            let scribe = DelayingScribe(try server.at("/other"))
            let session = URLSession(configuration: folder.configuration(), delegate: scribe, delegateQueue: nil)
            await scribe.ended.wait()
            #expect(scribe.transcript.calls == ["asked /first", "file /other", "end nil"])
            session.invalidateAndCancel()
            await scribe.transcript.invalidated.wait()
        }
    }

    @Test(
        "B6.23, B8.57: a later run's delegate is asked about a request without the storage's cookies, which come anew",
        arguments: ["/first", "/other"])
    func cookiesOfDelayedRequest(path: String) async throws {
        let sent = Guarded<[String]>([])
        try await withServer(router: { request in
            sent.change { $0.append("\(request.path) \(request.fields.first("Cookie") ?? "")") }
            return .text("here")
        }) { server in
            let url = try server.at("/first")
            try folder.leave { record, _ in
                record.original = try #require(TransferRequest(URLRequest(url: url)))
                record.original.fields = [TransferField("Cookie", "sid=old")]
                record.original.flags |= TransferRequest.followsCookies
                record.current = record.original
                record.earliestBegin = TransferInstant.now.wall - 1000
                record.awaitsDelegate = true
            }
            let configuration = folder.configuration()
            let storage = HTTPCookieStorage()
            configuration.httpCookieStorage = storage
            storage.setCookies(
                HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": "sid=new; Path=/first"], for: url),
                for: url, mainDocumentURL: nil)
            let scribe = DelayingScribe(try server.at(path), keepsRequest: true)
            let session = URLSession(configuration: configuration, delegate: scribe, delegateQueue: nil)
            await scribe.ended.wait()
            #expect(scribe.transcript.calls == ["asked /first", "file here", "end nil"])
            #expect(sent.value == [path == "/first" ? "/first sid=new" : "/other "])
            session.invalidateAndCancel()
            await scribe.transcript.invalidated.wait()
        }
    }

    @Test(
        "B10.27, B6.23: a long answer of a task with a date comes whole, in the run that began it and in a later one",
        arguments: [false, true])
    func longAnswer(isMet: Bool) async throws {
        let length = 3 * TaskMailbox.highWaterMark
        try await withServer(router: { _ in .bytes([UInt8](repeating: 1, count: length)) }) { server in
            let scribe = WaitingScribe()
            var isAsked = true
            if isMet {
                let url = server.url("/")
                try folder.leave(.data) { record, _ in
                    record.original = TransferRequest(url: url)
                    record.current = record.original
                    record.earliestBegin = TransferInstant.now.wall - 1000
                    record.awaitsDelegate = true
                }
            }
            let session = URLSession(configuration: folder.configuration(), delegate: scribe, delegateQueue: nil)
            if !isMet {
                let task = session.dataTask(with: try server.at("/"))
                let date = Date(timeIntervalSinceNow: 1)
                task.earliestBeginDate = date
                task.resume()
                // A process that stood still meanwhile may have found the date past: then it does not ask.
                isAsked = Date() < date
            }
            let task = try #require(await session.allTasks.first)
            await scribe.responded.wait()
            try await until { task.core.mailbox.withLock { $0.isReadingPaused } }
            scribe.allow()
            await scribe.ended.wait()
            if isAsked {
                #expect(scribe.transcript.calls == ["asked", "response", "end nil"])
            } else {
                #expect(scribe.transcript.calls.suffix(2) == ["response", "end nil"])
            }
            #expect(scribe.count.value == length)
            session.invalidateAndCancel()
            await scribe.transcript.invalidated.wait()
        }
    }

    @Test("B10.26: a task that began at its date while no program was there goes on, and no delegate is asked")
    func begunUnasked() async throws {
        let directory = try folder.directory()
        let gate = ServerGate()
        try await withServer(router: { _ in .slow([.init("first", when: gate)]) }) { server in
            // For the helper the date has come, for the program it has not.
            let clock = MovableClock()
            clock.set(.now)
            clock.move(milliseconds: 7_200_000)
            try folder.leaveWaiting(server.url("/first"), until: TransferInstant.now.wall + 3_600_000)
            try directory.write(settings: Rig.settings)
            let owner = try Rig.owner(directory) { $0.clock = clock.clock }
            await server.wait { $0.requests == 1 }
            let scribe = DelayingScribe(try server.at("/other"))
            try await folder.withListener(owner) {
                let session = URLSession(
                    configuration: folder.configuration(helper: true), delegate: scribe, delegateQueue: nil)
                gate.open()
                await scribe.ended.wait()
                #expect(scribe.transcript.calls == ["file first", "end nil"])
                session.invalidateAndCancel()
                await Rig.stop(owner)
            }
            await scribe.transcript.invalidated.wait()
        }
    }

    @Test("B10.26, B1.36: that a task is suspended which waits for its date is written down, and that it is resumed")
    func suspendedWhileWaiting() async throws {
        let directory = try folder.directory()
        let record = { try? directory.read(settingAside: false).records.first }
        let url = try #require(URL(string: "http://127.0.0.1:9/"))
        try await withDelayedSession { session in
            let task = session.downloadTask(with: url)
            task.earliestBeginDate = Date(timeIntervalSinceNow: 3600)
            task.resume()
            task.suspend()
            try await until { record()?.isSuspended == true }
            task.resume()
            try await until { record()?.isSuspended == false }
            #expect(record()?.awaitsDelegate == true)
        }
    }

    @Test(
        "B10.26, B6.22: a later date that a task is given while it waits is written down, and an earlier one is not",
        arguments: [true, false])
    func laterDate(isAsked: Bool) async throws {
        let directory = try folder.directory()
        let now = Date(timeIntervalSince1970: TimeInterval(TransferInstant.now.wall / 1000))
        try folder.leave { record, _ in
            record.earliestBegin = Int64(now.timeIntervalSince1970 + 3600) * 1000
            record.awaitsDelegate = isAsked
        }
        let record = { try? directory.read(settingAside: false).records.first }
        try await withDelayedSession { session in
            let task = try #require(await session.allTasks.first)
            task.earliestBeginDate = now + 36000
            let later = Int64(now.timeIntervalSince1970 + 36000) * 1000
            try await until { record()?.earliestBegin == later }
            #expect(record()?.awaitsDelegate == isAsked)
            task.earliestBeginDate = now + 1800
            task.taskDescription = "behind it"
            try await until { record()?.label == "behind it" }
            #expect(record()?.earliestBegin == later)
        }
    }

    @Test(
        "B6.22, B10.36: a later date that one owner has not accepted is said to the next, whatever it has accepted before",
        arguments: [true, false])
    func laterDateAndNewOwner(acceptsFirst: Bool) async throws {
        let date = TransferInstant.now.wall + 3_600_000
        try folder.leave { record, _ in record.earliestBegin = date }
        let owner = HearingOwner(met: [.ofFirstTask { $0.earliestBegin = date }], acceptsAtOnce: false)
        try await folder.withOwner(owner, delegate: BackgroundScribe()) { session in
            await owner.words.wait { $0.contains(.list) }
            let task = try #require(await session.allTasks.first)
            for (count, seconds) in [(1, 1800), (2, 3600)] {
                task.earliestBeginDate = Date(timeIntervalSince1970: TimeInterval(date / 1000 + Int64(seconds)))
                await owner.words.wait { $0.compactMap(\.order).count == count }
            }
            if acceptsFirst { owner.accept(1) }
            owner.hangUp()
            await owner.greetings.wait { $0 == 2 }
            let before = owner.words.value.count
            owner.welcome()
            await owner.words.wait { $0.dropFirst(before).contains(.list) }
            let second = owner.words.value.dropFirst(before).prefix { $0 != .list }
            #expect(second.map { $0.order?.earliestBegin } == [(date / 1000 + 3600) * 1000])
        }
    }

    /// Runs `body` with a session whose transfers this process carries out, and whose delegate is asked at dates.
    private func withDelayedSession(_ body: (URLSession) async throws -> Void) async throws {
        let scribe = DelayingScribe(try #require(URL(string: "http://127.0.0.1:9/other")))
        let session = URLSession(configuration: folder.configuration(), delegate: scribe, delegateQueue: nil)
        try await body(session)
        session.invalidateAndCancel()
        await scribe.transcript.invalidated.wait()
    }

    @Test("B10.26, B1.36: the order of a task that is suspended when its delegate has been asked says so")
    func suspendedWhenAsked() async throws {
        try folder.leave { record, _ in
            record.earliestBegin = TransferInstant.now.wall - 1000
            (record.isSuspended, record.awaitsDelegate) = (true, true)
        }
        let owner = HearingOwner()
        let other = try #require(URL(string: "http://127.0.0.1:9/other"))
        try await folder.withOwner(owner, delegate: DelayingScribe(other)) { _ in
            await owner.words.wait { $0.contains { $0.order?.awaitsDelegate == false } }
            let orders = owner.words.value.compactMap(\.order)
            #expect(orders.last?.current.url == other.absoluteString)
            #expect(Set(orders.map(\.isSuspended)) == [true])
        }
    }

    @Test("B10.26: how tasks stand that wait for their delegates is said ahead of the word that lets transfers begin")
    func waitingAheadOfList() async throws {
        try folder.leaveWaiting("http://127.0.0.1:9/", until: TransferInstant.now.wall + 3_600_000)
        let owner = HearingOwner()
        let other = try #require(URL(string: "http://127.0.0.1:9/other"))
        try await folder.withOwner(owner, delegate: DelayingScribe(other)) { _ in
            await owner.words.wait { $0.contains(.list) }
            #expect(owner.words.value.prefix { $0 != .list }.map { $0.order?.awaitsDelegate } == [true])
        }
    }

    @Test(
        "B6.23, B10.36: what a delegate has said at the date holds for an owner that comes after one that was lost",
        arguments: [true, false])
    func newRequestAndNewOwner(isSuspended: Bool) async throws {
        let date = TransferInstant.now.wall - 1000
        try folder.leaveWaiting("http://127.0.0.1:9/", until: date)
        let owner = HearingOwner(met: [.ofFirstTask { ($0.earliestBegin, $0.awaitsDelegate) = (date, true) }])
        let scribe = LateScribe()
        let other = try #require(URL(string: "http://127.0.0.1:9/other"))
        try await folder.withOwner(owner, delegate: scribe) { session in
            await owner.words.wait { $0.contains(.list) }
            owner.hangUp()
            await owner.greetings.wait { $0 == 2 }
            await scribe.asked.wait()
            let background = try #require(session.core.background)
            if isSuspended { for task in await session.allTasks { task.suspend() } }
            scribe.answer.value?(.useNewRequest, URLRequest(url: other))
            // The order is there when the owner tells what it has.
            try await until { background.state.withLock { $0.entries[1]?.order?.current.url == other.absoluteString } }
            owner.welcome()
            await owner.words.wait { $0.filter { $0 == .list }.count == 2 }
            let second = owner.words.value.drop { $0 != .list }.dropFirst().prefix { $0 != .list }
            #expect(Set(second.map { $0.order?.current.url }) == [other.absoluteString])
            #expect(Set(second.map { $0.order?.isSuspended }) == [isSuspended])
        }
    }

    @Test("B6.23, B10.36: an owner that has accepted the order from before the date has not accepted the delegate's")
    func oldOrderAccepted() async throws {
        let date = TransferInstant.now.wall - 1000
        try folder.leaveWaiting("http://127.0.0.1:9/", until: date)
        let owner = HearingOwner(
            met: [.ofFirstTask { ($0.earliestBegin, $0.awaitsDelegate) = (date, true) }], acceptsAtOnce: false)
        let scribe = LateScribe()
        let other = try #require(URL(string: "http://127.0.0.1:9/other"))
        try await folder.withOwner(owner, delegate: scribe) { _ in
            await owner.words.wait { $0.contains(.list) }
            #expect(owner.words.value.compactMap(\.order).map(\.awaitsDelegate) == [true])
            await scribe.asked.wait()
            scribe.answer.value?(.useNewRequest, URLRequest(url: other))
            await owner.words.wait { $0.contains { $0.order?.current.url == other.absoluteString } }
            owner.accept(1)
            owner.hangUp()
            await owner.greetings.wait { $0 == 2 }
            let before = owner.words.value.count
            owner.welcome()
            await owner.words.wait { $0.dropFirst(before).contains(.list) }
            let second = owner.words.value.dropFirst(before).prefix { $0 != .list }
            #expect(second.map { $0.order?.current.url } == [other.absoluteString])
        }
    }
}

/// Lets tasks begin at their dates, and takes no body before the test says so.
private final class WaitingScribe: NSObject, URLSessionDataDelegate {
    let transcript = Transcript()
    let responded = Signal()
    let ended = Signal()
    /// The bytes of the body so far.
    let count = Guarded<Int>(0)
    private let answer = Guarded<(@Sendable (URLSession.ResponseDisposition) -> Void)?>(nil)

    func allow() { answer.value?(.allow) }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        transcript.note("asked")
        completionHandler(.continueLoading, nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transcript.note("response")
        answer.value = completionHandler
        responded.fire()
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        count.change { $0 += data.count }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transcript.note("end \(Transcript.text(error))")
        ended.fire()
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        transcript.invalidated.fire()
    }
}

/// Is asked at a task's date, and answers when the test does.
private final class LateScribe: NSObject, URLSessionDownloadDelegate {
    let asked = Signal()
    let answer = Guarded<(@Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void)?>(nil)

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        answer.value = completionHandler
        asked.fire()
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {}
}
