// The owner of a background session's transfers and time: what is tried again, what has timed out, what goes on in the
// hands of a later owner, and clocks that are moved.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingTestSupport
import URLLoadingWire

@testable import URLLoading

@Suite(.timeLimit(.minutes(2))) struct TransferOwnerTimeTests {
    @Test("B10.22, B6.13: a request that has timed out is sent again, and the task does not fail")
    func requestTimeout() async throws {
        let folder = try StateFolder()
        let count = Guarded(0)
        try await withServer(router: { _ in
            count.change { $0 += 1 }
            return count.value == 1 ? .slow([.init("x", when: ServerGate())]) : .text("in time")
        }) { server in
            var settings = Rig.settings
            settings.requestTimeout = 300
            let owner = try Rig.owner(try folder.directory())
            let (program, _) = try await Rig.program(owner, settings: settings)
            owner.received(.start(Rig.download(server.url("/a"))), from: program)
            #expect(try await program.end(of: 1) == nil)
            #expect(try Rig.file(program.news(of: 1)) == Data("in time".utf8))
            await Rig.stop(owner)
        }
    }

    @Test("B10.10, B10.22: a download that makes no progress is cut off, and goes on where it was")
    func standstill() async throws {
        let folder = try StateFolder()
        let body = [UInt8](repeating: UInt8(ascii: "a"), count: 600_000)
        let ranges = Guarded<[String]>([])
        try await withServer(router: { request in
            ranges.change { $0.append(request.fields.first(.range) ?? "") }
            return Self.answer(request, body, ServerGate())
        }) { server in
            var settings = Rig.settings
            settings.requestTimeout = 5000
            let owner = try Rig.owner(try folder.directory())
            let (program, _) = try await Rig.program(owner, settings: settings)
            owner.received(.start(Rig.download(server.url("/a"))), from: program)
            #expect(try await program.end(of: 1) == nil)
            let file = try Rig.file(program.news(of: 1))
            #expect(firstDifference(file, body) == nil)
            #expect(ranges.value == ["", "bytes=300000-"])
            await Rig.stop(owner)
        }
    }

    @Test("B10.39: connections that are lost are tried again until one holds")
    func retry() async throws {
        let folder = try StateFolder()
        let count = Guarded(0)
        try await withServer(router: { _ in
            count.change { $0 += 1 }
            return count.value < 4 ? ServerResponse(body: .script([.reset])) : .text("at last")
        }) { server in
            let owner = try Rig.owner(try folder.directory())
            let (program, _) = try await Rig.program(owner)
            owner.received(.start(Rig.download(server.url("/a"))), from: program)
            #expect(try await program.end(of: 1) == nil)
            #expect(try Rig.file(program.news(of: 1)) == Data("at last".utf8))
            #expect(count.value >= 4)
            await Rig.stop(owner)
        }
    }

    @Test(
        "B10.39: a proxy setting that can never be carried out is the task's error at once",
        arguments: [
            ["ProxyAutoConfigEnable": .number(1)],
            ["HTTPEnable": .number(1), "HTTPProxy": .text("127.0.0.1"), "HTTPPort": .number(70000)],
        ] as [[String: TransferSettings.Proxy.Value]])
    func unusableProxy(entries: [String: TransferSettings.Proxy.Value]) async throws {
        let folder = try StateFolder()
        var settings = Rig.settings
        settings.proxies = entries.map { .init(key: $0.key, value: $0.value) }
        let owner = try Rig.owner(try folder.directory())
        let (program, _) = try await Rig.program(owner, settings: settings)
        owner.received(.start(Rig.download("http://127.0.0.1:9/a")), from: program)
        let failure = try #require(try await program.end(of: 1))
        #expect(failure.code == Int64(URLError.Code.cannotConnectToHost.rawValue))
        #expect(failure.text.contains("configuration script") || failure.text.contains("HTTPPort"), "\(failure.text)")
        await Rig.stop(owner)
    }

    @Test("B10.39: transfers that wait for a network hold up none of another host")
    func networkMissing() async throws {
        let folder = try StateFolder()
        try await withServer(router: { _ in .text("there") }) { server in
            var settings = Rig.settings
            settings.transfersAtATime = 2
            // TCP has no way to a group.
            settings.hostOverrides = [TransferField("nowhere.test", "224.0.0.1")]
            let owner = try Rig.owner(try folder.directory())
            let (program, _) = try await Rig.program(owner, settings: settings)
            for task in UInt64(1)...2 {
                owner.received(.start(Rig.download("http://nowhere.test/", task: task)), from: program)
            }
            owner.received(.start(Rig.download(server.url("/a"), task: 3)), from: program)
            #expect(try await program.end(of: 3) == nil)
            #expect(!program.events.contains { if case .news(1, _) = $0 { true } else { false } }, "it waits")
            await Rig.stop(owner)
        }
    }

    @Test("B10.39, B10.22: a transfer waits for a server that is down")
    func serverDown() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        // No server listens there yet.
        let place = try ReservedPort()
        let clock = MovableClock()
        let owner = try Rig.owner(directory) { $0.clock = clock.clock }
        let (program, _) = try await Rig.program(owner)
        owner.received(.start(Rig.download("http://127.0.0.1:\(place.number)/a")), from: program)
        await clock.retries.wait()
        let state = try directory.read(settingAside: false).records.first?.state
        guard case .retrying(attempt: 1, delay: _)? = state else {
            Issue.record("not to be tried again: \(String(describing: state))")
            return
        }
        try await withServer(LoopbackServer.Options(port: place.number), router: { _ in .text("up again") }) { _ in
            place.keep()
            clock.move(milliseconds: 700_000)
            #expect(try await program.end(of: 1) == nil)
            let file = try Rig.file(program.news(of: 1))
            #expect(file == Data("up again".utf8))
            await Rig.stop(owner)
        }
    }

    @Test("B10.39, B10.36: a download that was stopped goes on in another owner's hands where it was")
    func resumption() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        // The owner goes on at once; the answer waits until the program is there to hear of it.
        let (gate, rest) = (ServerGate(), ServerGate())
        let body =
            Array(repeating: UInt8(ascii: "a"), count: 300_000) + Array(repeating: UInt8(ascii: "b"), count: 300_000)
        let ranges = Guarded<[String]>([])
        try await withServer(router: { request in
            ranges.change { $0.append(request.fields.first(.range) ?? "") }
            return Self.answer(request, body, gate, rest: rest)
        }) { server in
            let owner = try Rig.owner(directory)
            let (first, _) = try await Rig.program(owner)
            owner.received(.start(Rig.download(server.url("/a"))), from: first)
            _ = try await first.first { event -> Bool? in
                if case .progress(1, let counts) = event, counts.received >= 300_000 { true } else { nil }
            }
            await Rig.stop(owner)
            gate.open()

            let second = try Rig.owner(directory)
            let (program, tasks) = try await Rig.program(second)
            rest.open()
            #expect(tasks.first?.isOver == false)
            #expect(try await program.end(of: 1) == nil)
            let file = try Rig.file(program.news(of: 1))
            #expect(firstDifference(file, body) == nil)
            #expect(ranges.value == ["", "bytes=300000-"])
            let offset = try await program.first { event -> Int64? in
                if case .resumedAt(1, let offset, _) = event { offset } else { nil }
            }
            #expect(offset == 300_000)
            await Rig.stop(second)
        }
    }

    /// The first half at once, the other behind a gate; or what a range asks for, behind a gate if there is one.
    private static func answer(
        _ request: ServerRequest, _ body: [UInt8], _ gate: ServerGate, rest: ServerGate? = nil
    ) -> ServerResponse {
        var response: ServerResponse
        if let range = request.fields.first(.range), let start = Int(range.dropFirst(6).dropLast()) {
            response = .bytes(Array(body[start...]), status: 206)
                .adding("Content-Range", "bytes \(start)-\(body.count - 1)/\(body.count)")
        } else {
            let half = body.count / 2
            response = .slow([.init(Array(body[..<half])), .init(Array(body[half...]), when: gate)], framing: .chunked)
        }
        response = response.adding("ETag", "\"v1\"")
        guard let rest, let message = response.message() else { return response }
        return .script([.wait(rest), .send(message)])
    }

    @Test("B10.41: a task whose time is over when a later owner begins ends with −1001, however clocks were moved")
    func expired() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        let clock = MovableClock()
        var record = TransferRecord(
            Rig.download("http://127.0.0.1:1/"), allowed: 60_000, isDiscretionary: false, now: clock.now)
        record.isSuspended = true
        try directory.write(record)
        try directory.write(settings: Rig.settings)
        // The calendar's clock is set back by a year, and a minute goes by.
        clock.set(
            TransferInstant(wall: clock.now.wall - 31_557_600_000, uptime: clock.now.uptime + 59_000, boot: 1))
        let owner = try Rig.owner(directory) { $0.clock = clock.clock }
        let (program, tasks) = try await Rig.program(owner)
        #expect(tasks.first?.isOver == false)
        clock.move(milliseconds: 1000)
        owner.received(.list, from: program)
        #expect(try await program.end(of: 1)?.code == -1001)
        await Rig.stop(owner)
    }

    private static func isRetrying(_ owner: isolated TransferOwner) -> Bool {
        if case .retrying? = owner.transfers[1]?.record.state { true } else { false }
    }

    @Test(
        "B10.26: a task begins at its date by the calendar: a clock set ahead brings it nearer, one set back defers it")
    func dateAndMovedClock() async throws {
        let folder = try StateFolder()
        let clock = MovableClock()
        try await withServer(router: { _ in .text("in time") }) { server in
            let owner = try Rig.owner(try folder.directory()) { $0.clock = clock.clock }
            let (program, _) = try await Rig.program(owner)
            var order = Rig.download(server.url("/a"))
            let date = clock.now.wall + 3_600_000
            order.earliestBegin = date
            owner.received(.start(order), from: program)
            try await program.hear(.accepted(task: 1))
            // Set back by a day, and the hour passes: it is not that time yet.
            clock.setCalendar(date - 86_400_000)
            clock.move(milliseconds: 3_600_000)
            #expect(owner.run { $0.transfers[1].map { $0.attempt == nil } } == true)
            // The calendar is set ahead. The owner is not told, and looks at it again in a minute.
            clock.setCalendar(date)
            clock.move(milliseconds: 60_000)
            #expect(try await program.end(of: 1) == nil)
            #expect(clock.longestWait <= 60_000)
            await Rig.stop(owner)
        }
    }

    @Test(
        "B10.26, B6.23: a task whose delegate is to be asked begins at its date where its program has gone, and not before"
    )
    func dateWithoutProgram() async throws {
        let folder = try StateFolder()
        let clock = MovableClock()
        try await withServer(router: { _ in .text("unasked") }) { server in
            let owner = try Rig.owner(try folder.directory()) { $0.clock = clock.clock }
            let (program, _) = try await Rig.program(owner)
            var order = Rig.download(server.url("/a"))
            order.earliestBegin = clock.now.wall + 3_600_000
            order.awaitsDelegate = true
            owner.received(.start(order), from: program)
            try await program.hear(.accepted(task: 1))
            owner.disconnected(program)
            #expect(owner.run { $0.transfers[1].map { $0.attempt == nil } } == true)
            #expect(owner.run { $0.isIdle } == false)
            // While a program is there, it says when.
            let (second, tasks) = try await Rig.program(owner)
            #expect(tasks.map(\.isSuspended) == [true])
            clock.move(milliseconds: 3_600_000)
            #expect(owner.run { $0.transfers[1].map { $0.attempt == nil } } == true)
            owner.disconnected(second)
            await server.wait { $0.requests == 1 }
            let (third, _) = try await Rig.program(owner)
            #expect(try await third.end(of: 1) == nil)
            #expect(try Rig.file(third.news(of: 1)) == Data("unasked".utf8))
            await Rig.stop(owner)
        }
    }

    @Test("B10.26, B6.23: a task begins when the program says that its delegate has been asked")
    func dateWithProgram() async throws {
        let folder = try StateFolder()
        try await withServer(router: { _ in .text("asked") }) { server in
            let owner = try Rig.owner(try folder.directory())
            let (program, _) = try await Rig.program(owner)
            var order = Rig.download(server.url("/a"))
            order.awaitsDelegate = true
            owner.received(.start(order), from: program)
            try await program.hear(.accepted(task: 1))
            #expect(owner.run { $0.transfers[1].map { $0.attempt == nil } } == true)
            order.awaitsDelegate = false
            owner.received(.start(order), from: program)
            #expect(try await program.end(of: 1) == nil)
            await Rig.stop(owner)
        }
    }

    @Test(
        "B10.26, B1.36: a task that waits for its date is not lost where its suspension cannot be written down",
        arguments: [(true, true), (false, false), (true, false)])
    func suspendedOnFullDisk(awaitsDelegate: Bool, awaitsNext: Bool) async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        let owner = try Rig.owner(directory) { $0.report = { _ in } }
        let (program, _) = try await Rig.program(owner)
        var order = Rig.download("http://127.0.0.1:9/")
        (order.awaitsDelegate, order.earliestBegin) = (awaitsDelegate, TransferInstant.now.wall + 3_600_000)
        owner.received(.start(order), from: program)
        #expect(owner.run { $0.transfers[1] != nil })
        // No journal can take the place of this.
        let place = directory.path + "/task-1"
        try FileManager.default.removeItem(atPath: place)
        try FileManager.default.createDirectory(atPath: place + "/in the way", withIntermediateDirectories: true)
        // A later run may have a delegate that is not asked.
        (order.isSuspended, order.awaitsDelegate) = (true, awaitsNext)
        owner.received(.start(order), from: program)
        #expect(owner.run { $0.transfers[1]?.isUnsaved } == true)
        #expect(program.news(of: 1).isEmpty)
        try FileManager.default.removeItem(atPath: place)
        owner.received(.label(task: 1, "later"), from: program)
        #expect(owner.run { $0.transfers[1]?.isUnsaved } == false)
        let records = try directory.read(settingAside: false).records
        #expect(records.map(\.isSuspended) == [true])
        await Rig.stop(owner)
    }

    @Test("B10.30: a request in the place of one that was not begun is not sent where it cannot be written down")
    func replacedOnFullDisk() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        let owner = try Rig.owner(directory) { $0.report = { _ in } }
        let (program, _) = try await Rig.program(owner)
        var order = Rig.download("http://127.0.0.1:9/")
        order.earliestBegin = TransferInstant.now.wall + 3_600_000
        owner.received(.start(order), from: program)
        #expect(owner.run { $0.transfers[1] != nil })
        let place = directory.path + "/task-1"
        try FileManager.default.removeItem(atPath: place)
        try FileManager.default.createDirectory(atPath: place + "/in the way", withIntermediateDirectories: true)
        var other = Rig.download("http://127.0.0.1:9/other")
        other.earliestBegin = order.earliestBegin
        owner.received(.start(other), from: program)
        #expect(owner.run { $0.transfers[1] == nil })
        #expect(program.news(of: 1).map(\.number) == [0])
        await Rig.stop(owner)
    }

    @Test("B10.26, B1.36: a task that is suspended when its delegate has been asked begins when it is resumed")
    func suspendedAtDate() async throws {
        let folder = try StateFolder()
        try await withServer(router: { _ in .text("asked") }) { server in
            let owner = try Rig.owner(try folder.directory())
            let (program, _) = try await Rig.program(owner)
            var order = Rig.download(server.url("/a"))
            (order.awaitsDelegate, order.isSuspended) = (true, true)
            owner.received(.start(order), from: program)
            order.awaitsDelegate = false
            owner.received(.start(order), from: program)
            #expect(owner.run { $0.transfers[1].map { $0.attempt == nil } } == true)
            owner.received(.resume(task: 1), from: program)
            #expect(try await program.end(of: 1) == nil)
            await Rig.stop(owner)
        }
    }

    @Test(
        "B10.39, B10.41: a calendar that is moved by years neither ends nor prolongs waits and time-outs"
    )
    func waitsAndMovedClock() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        let clock = MovableClock()
        var settings = Rig.settings
        settings.resourceTimeout = 3_600_000
        let owner = try Rig.owner(directory) {
            $0.clock = clock.clock
            $0.patience = TransferSchedule.Patience(first: 1000, longest: 1000)
        }
        let (program, _) = try await Rig.program(owner, settings: settings)
        owner.received(.start(Rig.download("http://127.0.0.1:1/a")), from: program)
        let year: Int64 = 31_557_600_000
        // Each wait is a second, whatever the calendar says meanwhile.
        for jump in [year, -3 * year, year] {
            try await until { owner.run { Self.isRetrying($0) } }
            clock.setCalendar(clock.now.wall + jump)
            clock.move(milliseconds: 900)
            #expect(owner.run { Self.isRetrying($0) })
            let failures = owner.run { $0.transfers[1]?.record.failures ?? 0 }
            clock.move(milliseconds: 100)
            try await until { owner.run { $0.transfers[1]?.record.failures ?? 0 } == failures + 1 }
        }
        #expect(program.news(of: 1).isEmpty)
        clock.move(milliseconds: 3_600_000)
        #expect(try await program.end(of: 1)?.code == -1001)
        await Rig.stop(owner)
    }
}
