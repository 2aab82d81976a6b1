// The program urlloading-transfers as a process: started, spoken to over its socket, killed, and started again.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingWire

@testable import URLLoading

@Suite(.timeLimit(.minutes(2))) struct TransferHelperTests {
    /// Starts a helper that stays for so many seconds when it has nothing to do.
    private static func start(_ directory: BackgroundDirectory, seconds: Int = 60) async throws -> Int32 {
        try await ChildRun.run("urlloading-transfers", ["--start", directory.path, "\(seconds)"]).exitCode
    }

    /// The process that serves a directory, by its command line.
    private static func process(_ directory: BackgroundDirectory) -> pid_t? {
        processes(naming: directory.path).first
    }

    /// A program that the helper has welcomed. The helper may hear of it before the end of an earlier program, since
    /// their connections are on different loops here; then it tries again, as sessions do.
    private static func program(
        _ directory: BackgroundDirectory, settings: TransferSettings = Rig.settings
    ) async throws -> (RemoteOwner, ScribeChannel, [TransferSummary]) {
        // A helper that survives a killed test run ends within this time.
        var settings = settings
        settings.resourceTimeout = 120_000
        let hello = TransferHello(settings: settings, judgesServers: false, answersChallenges: false)
        while true {
            try Task.checkCancellation()
            let (owner, channel) = try await connect(directory)
            owner.received(.hello(hello), from: channel)
            let isTaken = try await channel.first { event -> Bool? in
                switch event {
                case .welcome: true
                case .refused(.inUse): false
                default: nil
                }
            }
            guard isTaken else { continue }
            owner.received(.list, from: channel)
            return (owner, channel, channel.met)
        }
    }

    private static func connect(_ directory: BackgroundDirectory) async throws -> (RemoteOwner, ScribeChannel) {
        let channel = ScribeChannel()
        let owner: RemoteOwner = try await withThrowingHandover { done in
            RemoteOwner.connect(
                directory: directory.path, loop: LoopGroup.shared.next(), channel: channel,
                onEnd: { _ in channel.close() }
            ) { result in
                switch result {
                case .success(let owner): done.resume(returning: owner)
                case .failure(let error): done.resume(throwing: error)
                }
            }
        }
        return (owner, channel)
    }

    /// Waits until the helper is no more: the kernel takes its lock back.
    private static func untilGone(_ directory: BackgroundDirectory) async {
        let isGone: Bool = await withHandover { done in
            // Not on the library's own threads, which the tests beside this one need.
            DispatchQueue.global().async {
                done.resume(returning: (try? directory.takeLock(patience: .seconds(60))) != nil)
            }
        }
        #expect(isGone)
    }

    @Test(
        "B10.31, B10.2: a helper downloads while its program is away, and keeps the file until the program comes back")
    func download() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        let gate = ServerGate()
        try await withServer(router: { _ in .slow([.init("he"), .init("llo", when: gate)]) }) { server in
            #expect(try await Self.start(directory) == 0)
            let process = try #require(Self.process(directory))
            // It leads a session of its own, apart from this process.
            #expect(getsid(process) == process)
            let (owner, first, _) = try await Self.program(directory)
            owner.received(.start(Rig.download(server.url("/a"))), from: first)
            try await first.hear(.accepted(task: 1))
            owner.disconnected(first)
            gate.open()
            let (again, second, tasks) = try await Self.program(directory)
            #expect(tasks.map(\.task) == [1])
            #expect(try await second.end(of: 1) == nil)
            #expect(try Rig.file(second.news(of: 1)) == Data("hello".utf8))
            again.received(.delivered(task: 1, number: 3), from: second)
            again.received(.invalidate(cancelling: true), from: second)
            try await second.hear(.invalidated)
            withExtendedLifetime(again) {}
            await Self.untilGone(directory)
            #expect(try directory.read(settingAside: false).settings == nil)
            #expect(!FileManager.default.fileExists(atPath: directory.path + "/socket"))
        }
    }

    @Test("B10.43: a program meets its tasks again where what is told of them is longer than a message may be")
    func longGreeting() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        try directory.write(settings: Rig.settings)
        let label = String(
            decoding: [UInt8](repeating: UInt8(ascii: "x"), count: TransferLimits.frame / 2), as: UTF8.self)
        for task: UInt64 in 1...2 {
            var record = TransferRecord(
                Rig.download("http://127.0.0.1:1/", task: task), allowed: nil, isDiscretionary: false, now: .now)
            record.isSuspended = true
            record.label = label
            try directory.write(record)
        }
        #expect(try await Self.start(directory) == 0)
        let (owner, program, tasks) = try await Self.program(directory)
        #expect(tasks.map(\.task) == [1, 2])
        owner.received(.invalidate(cancelling: true), from: program)
        for task: UInt64 in 1...2 {
            #expect(try await program.end(of: task)?.code == -999)
            owner.received(.delivered(task: task, number: 1), from: program)
        }
        try await program.hear(.invalidated)
        withExtendedLifetime(owner) {}
        await Self.untilGone(directory)
    }

    @Test("B10.36, B10.39: a helper that is killed is followed by one that goes on where it was")
    func killed() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        let gate = ServerGate()
        let body =
            Array(repeating: UInt8(ascii: "a"), count: 400_000) + Array(repeating: UInt8(ascii: "b"), count: 100_000)
        let ranges = Guarded<[String]>([])
        try await withServer(router: { request in
            let range = request.fields.first(.range) ?? ""
            ranges.change { $0.append(range) }
            guard let start = Int(range.dropFirst(6).dropLast()) else {
                return .slow(
                    [.init(Array(body[..<400_000])), .init(Array(body[400_000...]), when: gate)], framing: .chunked
                )
                .adding("ETag", "\"v\"")
            }
            return .bytes(Array(body[start...]), status: 206).adding("ETag", "\"v\"")
                .adding("Content-Range", "bytes \(start)-\(body.count - 1)/\(body.count)")
        }) { server in
            #expect(try await Self.start(directory) == 0)
            let process = try #require(Self.process(directory))
            let (owner, first, _) = try await Self.program(directory)
            owner.received(.start(Rig.download(server.url("/a"))), from: first)
            _ = try await first.first { event -> Bool? in
                if case .progress(1, let counts) = event, counts.received >= 400_000 { true } else { nil }
            }
            kill(process, SIGKILL)
            try await first.end()
            await Self.untilGone(directory)
            withExtendedLifetime(owner) {}

            #expect(try await Self.start(directory) == 0)
            let (again, second, tasks) = try await Self.program(directory)
            #expect(tasks.map(\.task) == [1])
            #expect(try await second.end(of: 1) == nil)
            let file = try Rig.file(second.news(of: 1))
            #expect(firstDifference(file, body) == nil)
            #expect(ranges.value == ["", "bytes=400000-"])
            again.received(.delivered(task: 1, number: 3), from: second)
            again.received(.invalidate(cancelling: true), from: second)
            try await second.hear(.invalidated)
            withExtendedLifetime(again) {}
        }
    }

    @Test("B10.31: a helper ends when it has nothing to do, and removes its socket")
    func leaves() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        #expect(try await Self.start(directory, seconds: 0) == 0)
        await Self.untilGone(directory)
        #expect(!FileManager.default.fileExists(atPath: directory.path + "/socket"))
    }

    @Test("B10.36: a helper that has been stopped beside its program is ended, and another one takes its place")
    func stopped() async throws {
        let folder = BackgroundFolder()
        let directory = try folder.directory()
        #expect(try await Self.start(directory) == 0)
        let process = try #require(Self.process(directory))
        let configuration = folder.configuration(helper: true)
        configuration.backgroundHelperPatience = .seconds(1)
        try await withServer(router: { _ in .slow([.init("x"), .init("y", when: ServerGate())]) }) { server in
            try await withBackgroundSession(configuration) { session, scribe in
                let task = session.downloadTask(with: try server.at("/"))
                task.resume()
                await scribe.written.wait()
                #expect(kill(process, SIGSTOP) == 0)
                task.cancel()
                await scribe.ended.wait()
                #expect(scribe.transcript.calls == ["end 1 -999"])
            }
        }
        try await until { !folder.processes.contains(process) }
        // The next helper may be late as well on a busy machine, and this process then leaves the
        // lock of one that was ended.
        #expect(folder.journals.isEmpty)
    }

    @Test("B10.36: a helper that hangs, and does not answer the greeting, is ended, and another one takes its place")
    func hanging() async throws {
        let folder = BackgroundFolder()
        let directory = try folder.directory()
        let run = try await ChildRun.run(
            "/bin/sh",
            [
                "-c", "\"$0\" --serve \"$1\" </dev/null >/dev/null 2>&1 &", ChildRun.path(of: ChildRun.testPrograms),
                directory.path,
            ])
        #expect(run.exitCode == 0)
        try await until { FileManager.default.fileExists(atPath: directory.path + "/socket") }
        let process = try #require(Self.process(directory))
        let configuration = folder.configuration(helper: true)
        configuration.backgroundHelperPatience = .seconds(1)
        try await withServer(router: { _ in .text("hello") }) { server in
            try await withBackgroundSession(configuration) { session, scribe in
                session.downloadTask(with: try server.at("/")).resume()
                await scribe.ended.wait()
                #expect(scribe.transcript.calls == ["file 1 hello", "end 1 nil"])
                #expect(!folder.processes.contains(process))
            }
        }
        // The next helper may be late as well on a busy machine, and this process then leaves the
        // socket of one that was ended.
        #expect(folder.journals.isEmpty)
    }

    @Test(
        "B10.40: invalidation ends the helper of an earlier run, which this one had nothing to say to",
        arguments: [true, false])
    func invalidatedBesideIdleHelper(usesHelper: Bool) async throws {
        let folder = BackgroundFolder()
        let directory = try folder.directory()
        #expect(try await Self.start(directory, seconds: 3600) == 0)
        try await withBackgroundSession(folder.configuration(helper: usesHelper)) { _, _ in }
        #expect(folder.names.isEmpty)
        try await until { folder.helpers.isEmpty }
    }

    @Test("B10.31: a helper that has tasks, but no settings to load by, ends when no program comes")
    func leavesWithoutSettings() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        try directory.write(
            TransferRecord(Rig.download("http://127.0.0.1:9/"), allowed: nil, isDiscretionary: false, now: .now))
        #expect(try await Self.start(directory, seconds: 0) == 0)
        await Self.untilGone(directory)
        #expect(try directory.read(settingAside: false).records.map(\.task) == [1])
    }

    @Test("B10.40: a helper that comes when its session has been wound up leaves nothing")
    func comesLate() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        directory.removeEverything()
        #expect(try await Self.start(directory, seconds: 0) == TransferHelper.Status.noDirectory.rawValue)
        #expect(!FileManager.default.fileExists(atPath: directory.path))
    }

    @Test("B10.32: of two helpers for one session the second ends, and says why")
    func twice() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        #expect(try await Self.start(directory) == 0)
        let process = try #require(Self.process(directory))
        #expect(try await Self.start(directory) == TransferHelper.Status.inUse.rawValue)
        kill(process, SIGTERM)
        await Self.untilGone(directory)
        #expect(!FileManager.default.fileExists(atPath: directory.path + "/socket"))
    }

    @Test("B10.31: a helper refuses a path that is no directory, and arguments that it does not know")
    func refusals() async throws {
        let file = FileManager.default.temporaryDirectory.path + "/file-\(UUID().uuidString)"
        try Data().write(to: URL(fileURLWithPath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        let noDirectory = TransferHelper.Status.noDirectory.rawValue
        #expect(try await ChildRun.run("urlloading-transfers", ["--start", file]).exitCode == noDirectory)
        for arguments in [[], ["--start"], ["--start", "relative"], ["--other", "/"], ["--start", "/tmp", "x"]] {
            let run = try await ChildRun.run("urlloading-transfers", arguments)
            #expect(run.exitCode == TransferHelper.Status.usage.rawValue)
        }
    }

    @Test("B10.30, B9.11: a task that the disk has no room to write down is refused, and the others go on")
    func fullDisk() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        // A long label leaves nothing of the room for a file.
        let run = try await ChildRun.run(
            withRoomForFiles: 4 << 10, "urlloading-transfers", ["--start", directory.path, "60"])
        #expect(run.exitCode == 0)
        try await withServer(router: { _ in .text("fits") }) { server in
            let (owner, program, _) = try await Self.program(directory)
            var order = Rig.download(server.url("/a"), task: 1)
            order.label = String(repeating: "x", count: 20_000)
            owner.received(.start(order), from: program)
            #expect(try await program.end(of: 1)?.code == -3003)
            #expect(program.news(of: 1).map(\.number) == [0])
            owner.received(.start(Rig.download(server.url("/b"), task: 2)), from: program)
            #expect(try await program.end(of: 2) == nil)
            owner.received(.delivered(task: 2, number: 3), from: program)
            owner.received(.invalidate(cancelling: true), from: program)
            try await program.hear(.invalidated)
        }
        await Self.untilGone(directory)
    }

    @Test("B10.35: a helper with a standard error says there that a hook cannot be run")
    func missingHook() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        let errors = folder.path + "/errors"
        try await withServer(router: { _ in .text("x") }) { server in
            let helper = ChildRun.path(of: "urlloading-transfers")
            let command = "\"$0\" --serve \"$1\" 60 </dev/null >/dev/null 2>\"$2\" &"
            let run = try await ChildRun.run("/bin/sh", ["-c", command, helper, directory.path, errors])
            #expect(run.exitCode == 0)
            // The socket has its name before it is listened on.
            try await until { (try? await Self.connect(directory)) != nil }
            let process = try #require(Self.process(directory))
            var settings = Rig.settings
            settings.hook = ["/no/such/hook"]
            let (owner, program, _) = try await Self.program(directory, settings: settings)
            owner.received(.start(Rig.download(server.url("/a"))), from: program)
            try await program.hear(.accepted(task: 1))
            owner.disconnected(program)
            try await until {
                try String(contentsOfFile: errors, encoding: .utf8).contains(
                    "125, as where it cannot be run: /no/such/hook")
            }
            kill(process, SIGTERM)
            await Self.untilGone(directory)
        }
    }

    @Test("B10.35: a helper runs the hook when its program is wanted, with the identifier and the program's umask")
    func hook() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        let note = folder.path + "/note"
        try await withServer(router: { _ in .text("x") }) { server in
            // As a program with this umask starts it.
            let helper = ChildRun.path(of: "urlloading-transfers")
            let run = try await ChildRun.run(
                "/bin/sh", ["-c", "umask 027; exec \"$0\" \"$@\"", helper, "--start", directory.path, "60"])
            #expect(run.exitCode == 0)
            let process = try #require(Self.process(directory))
            var settings = Rig.settings
            // The note is renamed into place, so that it is whole when it is there.
            let command = "echo \"$0 $URLLOADING_BACKGROUND_IDENTIFIER $(umask)\" >\(note)- && mv \(note)- \(note)"
            settings.hook = ["/bin/sh", "-c", command, "called"]
            let (owner, program, _) = try await Self.program(directory, settings: settings)
            owner.received(.start(Rig.download(server.url("/a"))), from: program)
            try await program.hear(.accepted(task: 1))
            owner.disconnected(program)
            try await until { FileManager.default.fileExists(atPath: note) }
            let text = try String(contentsOfFile: note, encoding: .utf8)
            #expect(text == "called test 0027\n")
            kill(process, SIGTERM)
            await Self.untilGone(directory)
            #expect(try directory.read(settingAside: false).records.first?.events.count == 3)
        }
    }
}
