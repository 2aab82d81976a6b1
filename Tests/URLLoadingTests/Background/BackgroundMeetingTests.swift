// What a run of a program makes of journals that an earlier one has left: the tasks that it meets again, and their ends.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingTestSupport

@testable import URLLoading

@Suite("Background sessions: tasks that are met again", .timeLimit(.minutes(2)))
struct BackgroundMeetingTests {
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

    @Test(
        "B8.47: the cookies of a response that came while no program was there are taken by the next run, and no others",
        arguments: [false, true])
    func cookies(wasTold: Bool) async throws {
        try folder.leave(.data) { record, _ in
            let url = try #require(URL(string: record.original.url))
            record.original = try #require(TransferRequest(URLRequest(url: url)))
            record.current = record.original
            var exchange = TransferExchange(record.original)
            let head = TransferHead(
                url: record.original.url, status: 200, fields: [TransferField("Set-Cookie", "a=b")], expectedLength: 0)
            exchange.head = head
            record.measures.add([exchange], redirects: 0)
            if wasTold { record.measures.told(head) }
            record.head = head
            record.state = .over
            record.end(nil)
        }
        let configuration = folder.configuration()
        let storage = HTTPCookieStorage()
        configuration.httpCookieStorage = storage
        try await withBackgroundSession(configuration) { _, scribe in
            await scribe.ended.wait()
            #expect(storage.cookies?.map(\.name) == (wasTold ? [] : ["a"]))
        }
    }

    /// A response of an hour ago that set cookies.
    private func exchange(_ request: TransferRequest, _ status: UInt16, _ cookies: String...) -> TransferExchange {
        var exchange = TransferExchange(request)
        exchange.head = TransferHead(
            url: request.url, status: status, fields: cookies.map { TransferField("Set-Cookie", $0) }, expectedLength: 0
        )
        exchange.times.responseStart = (TransferInstant.now.wall - 3_600_000) * 1000
        return exchange
    }

    @Test(
        "B8.47: a cookie that came while no program was there does not come back where what replaced it has ended since"
    )
    func cookiesReplacedSince() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:9/"))
        try folder.leave(.data) { record, _ in
            record.original = try #require(TransferRequest(URLRequest(url: url)))
            record.current = record.original
            let hop = exchange(record.original, 302, "sid=guest", "hop=1")
            let last = exchange(record.original, 200, "last=old", "sid=user; Max-Age=60", "last=new; Max-Age=60")
            record.measures.add([hop, last], redirects: 1)
            record.head = last.head
            record.state = .over
            record.end(nil)
        }
        let configuration = folder.configuration()
        let storage = HTTPCookieStorage()
        configuration.httpCookieStorage = storage
        try await withBackgroundSession(configuration) { _, scribe in
            await scribe.ended.wait()
            #expect(storage.cookies?.map(\.name) == ["hop"])
        }
    }

    @Test("B8.47: cookies that were taken are not taken again behind a hop's, whose lives count from when they came")
    func cookiesBehindRedirect() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:9/"))
        try folder.leave(.data) { record, _ in
            record.original = try #require(TransferRequest(URLRequest(url: url)))
            record.current = record.original
            let hop = exchange(
                record.original, 302, "hop=1", "both=old", "brief=1; Max-Age=60", "long=1; Max-Age=7200",
                "gone=; Max-Age=0")
            let last = exchange(record.original, 200, "both=new", "sid=1")
            record.measures.add([hop, last], redirects: 1)
            record.head = last.head
            record.measures.told(try #require(last.head))
            record.state = .over
            record.end(nil)
        }
        let configuration = folder.configuration()
        let storage = HTTPCookieStorage()
        configuration.httpCookieStorage = storage
        storage.setCookies(
            HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": "gone=1"], for: url), for: url,
            mainDocumentURL: nil)
        try await withBackgroundSession(configuration) { _, scribe in
            await scribe.ended.wait()
            let cookies = storage.cookies ?? []
            #expect(cookies.map(\.name).sorted() == ["hop", "long"])
            let end = try #require(cookies.first { $0.name == "long" }?.expiresDate)
            #expect(end < Date(timeIntervalSinceNow: 3601))
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

/// An owner that has a task with the number 1, welcomes its program when the test says so, and ends the task with the last of its
/// first words.
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
