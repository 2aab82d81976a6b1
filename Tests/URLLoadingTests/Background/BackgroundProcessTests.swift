// Background sessions of a program that is killed, with a helper process that is not, or is too (behaviour 10.2). The
// program is the test program `background`: ten downloads and five uploads.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Background sessions: processes", .serialized, .timeLimit(.minutes(4)))
struct BackgroundProcessTests {
    private let folder = BackgroundFolder()
    private let gate = ServerGate()

    /// A program begins its transfers, and is killed while they are under way; its helper goes on.
    private func loseProgram(_ server: LoopbackServer) async throws {
        try prepare()
        let first = try await start(server, "stay")
        await server.wait { $0.requests >= 4 }
        kill(first.process, SIGKILL)
        await first.end()
    }

    @Test(
        "B10.2, B10.14 to B10.18, B10.30, B10.31, B10.34: the program's next run hears once of all that a helper has done"
    )
    func killed() async throws {
        try await withServer(router: router) { server in
            try await loseProgram(server)
            gate.open()
            // No program runs that could hear of it.
            await server.wait { $0.responses == 15 }
            try await until { try await run(server, "pending").outputText == "must be shown\n" }
            #expect(try await run(server, "resume").exitCode == 0)
            let log = self.log
            checkEverythingOnce()
            #expect(log.filter { $0 == "events" || $0 == "invalid" } == ["events", "invalid"])
            #expect(log.last == "invalid")
            try await checkNothingIsLeft()
        }
    }

    @Test("B10.2, B10.31: what a program has resumed goes on when it ends at once, in good order")
    func endsAtOnce() async throws {
        try await withServer(router: router) { server in
            try prepare()
            #expect(try await run(server, "leave").exitCode == 0)
            await server.wait { $0.requests >= 1 }
            gate.open()
            #expect(try await run(server, "resume").exitCode == 0)
            let told = log.filter { $0.hasPrefix("file") || $0.hasPrefix("end") }
            #expect(told == ["file download-1", "end download-1 0"])
            #expect(server.stats.requests == 1)
            try await checkNothingIsLeft()
        }
    }

    @Test("B10.31, B10.33, B10.16: without a helper the journals alone bring everything back")
    func alone() async throws {
        try await withServer(router: router) { server in
            try prepare()
            #expect(try await run(server, "begin", alone: true).exitCode == 128 + SIGKILL)
            #expect(folder.journals.count == 15)
            #expect(folder.processes.isEmpty)
            try await goOn(server, with: Self.met, alone: true)
            checkEverythingOnce()
            try await checkNothingIsLeft()
        }
    }

    @Test("B10.30: a damaged journal is spoken of where no task is left, and the program has no helper")
    func damagedAlone() async throws {
        try await withServer(router: router) { server in
            try prepare()
            #expect(try await run(server, "leave", alone: true).exitCode == 0)
            let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
            let journal = try #require(files.first { $0.hasSuffix("/task-1") })
            try Data("no journal".utf8).write(to: folder.url.appendingPathComponent(journal))
            let resumed = try await run(server, "resume", alone: true)
            #expect(resumed.exitCode == 0)
            #expect(resumed.complaintsText.contains("a journal of a background session is unusable"))
            #expect(log == ["invalid"])
        }
    }

    @Test("B10.33: ends that a program heard of before it was killed are not told again")
    func killedLater() async throws {
        let held = Set((8...10).map { "/download-\($0)" })
        try await withServer(router: { request in
            // One of the four places is left for all others, and the program hears of their ends.
            held.contains { $0 == request.path } ? self.router(request) : self.answer(request)
        }) { server in
            try prepare()
            let first = try await start(server, "stay")
            try await until { folder.journals.count == 3 && log.filter { $0.hasPrefix("end") }.count == 12 }
            kill(first.process, SIGKILL)
            await first.end()
            try await goOn(server, with: Self.met.filter { line in held.contains { line.hasSuffix($0) } })
            checkEverythingOnce()
            try await checkNothingIsLeft()
        }
    }

    @Test("B10.36: another helper takes over from one that dies, and the program does not notice")
    func helperKilled() async throws {
        try await withServer(router: router) { server in
            try prepare()
            let program = try await start(server, "run")
            await server.wait { $0.requests >= 4 }
            // The one that has started it may still be there for a moment.
            try await until { folder.helpers.count == 1 }
            for helper in folder.helpers { kill(helper, SIGKILL) }
            gate.open()
            await program.end()
            checkEverythingOnce()
            try await checkNothingIsLeft()
        }
    }

    @Test("B10.30, B10.36: after program and helper both have died, all transfers go on with the next program")
    func bothKilled() async throws {
        try await withServer(router: router) { server in
            try prepare()
            let first = try await start(server, "stay")
            await server.wait { $0.requests >= 4 }
            for process in folder.processes { kill(process, SIGKILL) }
            await first.end()
            try await until { folder.processes.isEmpty }
            try await goOn(server, with: Self.met)
            checkEverythingOnce()
            try await checkNothingIsLeft()
        }
    }

    @Test("B10.31, B10.36: a program that carries transfers out itself takes them over from an earlier run's helper")
    func helperReplaced() async throws {
        try await withServer(router: router) { server in
            try await loseProgram(server)
            try await until { folder.helpers.count == 1 }
            try await goOn(server, with: Self.met, alone: true)
            checkEverythingOnce()
            try await checkNothingIsLeft()
        }
    }

    @Test("B10.39, B10.21: transfers wait for a server that is down")
    func serverDown() async throws {
        gate.open()
        // No server listens there yet.
        let place = try ReservedPort()
        try prepare()
        #expect(try await run("http://127.0.0.1:\(place.number)/", "begin").exitCode == 128 + SIGKILL)
        try await withServer(LoopbackServer.Options(port: place.number), router: router) { server in
            place.keep()
            #expect(try await run(server, "resume").exitCode == 0)
            checkEverythingOnce()
            try await checkNothingIsLeft()
        }
    }

    @Test("B10.32, B10.24: a second program with the identifier gets -996")
    func twoPrograms() async throws {
        try await withServer(router: router) { server in
            try prepare()
            let first = try await start(server, "run")
            #expect(try await run(server, "intrude").exitCode == 0)
            #expect(log.filter { !$0.hasPrefix("met") } == ["end intruder -996", "invalid"])
            gate.open()
            await first.end()
            #expect(log.filter { $0.hasPrefix("end") }.count == 16)
            #expect(!log.contains("file intruder"))
            try await checkNothingIsLeft()
        }
    }

    @Test(
        "B10.30, B9.11: a task that the program's disk has no room to write down ends with -3003, and others go on",
        arguments: [false, true])
    func fullDisk(alone: Bool) async throws {
        try await withServer(router: { _ in .text("fits") }) { server in
            try prepare()
            let run = try await ChildRun.run(
                withRoomForFiles: 4 << 10, ChildRun.testPrograms,
                ["background", folder.path, server.url("/"), "crowd"],
                changing: ["BACKGROUND_TOOL_ALONE": alone ? "1" : nil])
            #expect(run.exitCode == 0)
            #expect(log.sorted() == ["end long -3003", "end short 0", "file short", "invalid"])
            #expect(server.stats.requests == 1)
            try await until { folder.processes.isEmpty }
        }
    }

    @Test("B10.46: a damaged journal is told on the program's standard error, also where a helper has the transfers")
    func damaged() async throws {
        try await withServer(router: router) { server in
            try prepare()
            #expect(try await run(server, "begin", alone: true).exitCode == 128 + SIGKILL)
            let journals = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String }
                .filter { $0.contains("/task-") }
            #expect(journals?.count == 15)
            for journal in journals ?? [] {
                try Data("no journal".utf8).write(to: folder.url.appendingPathComponent(journal))
            }
            let run = try await run(server, "resume")
            #expect(run.exitCode == 0)
            let lines = run.complaintsText.split(separator: "\n")
            #expect(lines.count == 15)
            #expect(lines.allSatisfy { $0.contains("a journal of a background session is unusable") })
            try await checkNothingIsLeft()
        }
    }

    @Test("B10.40: invalidating and cancelling ends the helper, and removes socket and journals")
    func invalidated() async throws {
        try await withServer(router: router) { server in
            try await withBackgroundSession(folder.configuration(helper: true)) { session, scribe in
                for _ in 0..<3 { session.downloadTask(with: try server.at("/download-1")).resume() }
                await server.wait { $0.requests == 3 }
                try await until { folder.helpers.count == 1 && folder.names.contains("socket") }
                session.invalidateAndCancel()
                await scribe.transcript.invalidated.wait()
                #expect(Set(scribe.transcript.calls) == ["end 1 -999", "end 2 -999", "end 3 -999", "invalid"])
            }
        }
        #expect(folder.names.isEmpty)
        try await until { folder.helpers.isEmpty }
    }

    @Test("B10.31: a helper works in a directory whose path is too long for a socket's address")
    func longPath() async throws {
        let configuration = folder.configuration(helper: true)
        configuration.backgroundStateDirectory = folder.url.appendingPathComponent(String(repeating: "long", count: 40))
        try await withServer(router: { _ in .text("hello") }) { server in
            try await withBackgroundSession(configuration) { session, scribe in
                session.downloadTask(with: try server.at("/")).resume()
                await scribe.ended.wait()
                #expect(scribe.transcript.calls == ["file 1 hello", "end 1 nil"])
                try await until { folder.helpers.count == 1 }
            }
        }
        try await until { folder.helpers.isEmpty }
    }

    @Test("B10.31: without a program for the helper this process carries the transfers out itself")
    func noHelper() async throws {
        let configuration = folder.configuration(helper: true)
        configuration.backgroundHelper = URL(fileURLWithPath: "/nowhere/at/all")
        try await withServer(router: { _ in .text("hello") }) { server in
            try await withBackgroundSession(configuration) { session, scribe in
                session.downloadTask(with: try server.at("/")).resume()
                await scribe.ended.wait()
                #expect(scribe.transcript.calls == ["file 1 hello", "end 1 nil"])
                #expect(folder.helpers.isEmpty)
            }
        }
    }

    @Test("B10.31, B10.36: a helper that hangs before it is ready is ended, and this process carries the transfers out")
    func hangingHelper() async throws {
        let helper = folder.path + "/helper"
        // Opening a pipe without a writer takes for ever.
        try Data("#!/bin/sh\nread -r line <\"$0-pipe\"\n".utf8).write(to: URL(fileURLWithPath: helper))
        #expect(chmod(helper, 0o700) == 0 && mkfifo(helper + "-pipe", 0o600) == 0)
        let configuration = folder.configuration(helper: true)
        configuration.backgroundHelper = URL(fileURLWithPath: helper)
        configuration.backgroundHelperPatience = .milliseconds(20)
        try await withServer(router: { _ in .text("hello") }) { server in
            try await withBackgroundSession(configuration) { session, scribe in
                session.downloadTask(with: try server.at("/")).resume()
                await scribe.ended.wait()
                #expect(scribe.transcript.calls == ["file 1 hello", "end 1 nil"])
                #expect(folder.processes.isEmpty)
            }
        }
    }

    @Test("B10.29: a program that may run in the background needs no background session for what it loads there")
    func ordinary() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let run = try await run(server, "ordinary")
            #expect(run.exitCode == 0 && run.outputText == "hello\n")
            #expect(folder.processes.isEmpty && folder.names.isEmpty)
        }
    }

    // MARK: The program

    private static let labels = (1...10).map { "download-\($0)" } + (1...5).map { "upload-\($0)" }
    private static let met = labels.enumerated().map { "met \($0.offset + 1) \($0.element) /\($0.element)" }.sorted()

    /// Whatever is asked for comes when the gate is open.
    private var router: LoopbackServer.Router {
        { request in
            var response = answer(request)
            if case .bytes(let bytes) = response.body { response.body = .pieces([.init(bytes, when: gate)]) }
            return response
        }
    }

    private func answer(_ request: ServerRequest) -> ServerResponse {
        guard request.method == "PUT" else { return .bytes(Self.content(String(request.path.dropFirst()))) }
        return .text(request.body == Self.content(String(request.path.dropFirst())) ? "right" : "wrong")
    }

    private static func content(_ name: String) -> [UInt8] {
        let first = name.utf8.reduce(0) { $0 + Int($1) }
        return (0..<(name.utf8.count * 3001)).map { UInt8(truncatingIfNeeded: $0 / 7 + first) }
    }

    private func prepare() throws {
        try FileManager.default.createDirectory(
            at: folder.url.appendingPathComponent("done"), withIntermediateDirectories: true)
        for number in 1...5 {
            try Data(Self.content("upload-\(number)")).write(to: folder.url.appendingPathComponent("upload-\(number)"))
        }
    }

    private var log: [String] {
        ((try? String(contentsOfFile: folder.path + "/log", encoding: .utf8)) ?? "").split(separator: "\n").map(
            String.init)
    }

    private func run(_ server: LoopbackServer, _ mode: String, alone: Bool = false) async throws -> ChildRun {
        try await run(server.url("/"), mode, alone: alone)
    }

    /// Runs the program to its end. A helper that lives on has none of its descriptors, or this
    /// would wait for the helper.
    private func run(_ url: String, _ mode: String, alone: Bool = false) async throws -> ChildRun {
        try await ChildRun.run(
            testProgram: "background", [folder.path, url, mode], changing: ["BACKGROUND_TOOL_ALONE": alone ? "1" : nil])
    }

    /// A program that runs beside the test.
    private struct Beside: Sendable {
        let process: pid_t
        let ended: Signal

        func end() async { await ended.wait() }
    }

    /// Runs a program that finds these tasks before any of them can end, and hears of their ends.
    private func goOn(_ server: LoopbackServer, with met: [String], alone: Bool = false) async throws {
        let ended = begin(server, "resume", alone: alone)
        try await until { log.filter { $0.hasPrefix("met") }.sorted() == met }
        gate.open()
        await ended.wait()
    }

    private func begin(_ server: LoopbackServer, _ mode: String, alone: Bool = false) -> Signal {
        let ended = Signal()
        let url = server.url("/")
        // Only the path: the folder object ends the program when it is released, so this task must not hold it.
        let path = folder.path
        Task {
            _ = try? await ChildRun.run(
                testProgram: "background", [path, url, mode], changing: ["BACKGROUND_TOOL_ALONE": alone ? "1" : nil])
            ended.fire()
        }
        return ended
    }

    private func start(_ server: LoopbackServer, _ mode: String) async throws -> Beside {
        let ended = begin(server, mode)
        try await until { FileManager.default.fileExists(atPath: folder.path + "/began") }
        let helpers = Set(folder.helpers)
        let process = try #require(folder.processes.first { !helpers.contains($0) })
        return Beside(process: process, ended: ended)
    }

    private func checkEverythingOnce() {
        let log = log
        #expect(log.filter { $0.hasPrefix("end") }.sorted() == Self.labels.map { "end \($0) 0" }.sorted())
        #expect(log.filter { $0.hasPrefix("file") }.sorted() == (1...10).map { "file download-\($0)" }.sorted())
        #expect(log.filter { $0.hasPrefix("answer") }.sorted() == (1...5).map { "answer upload-\($0) right" })
        for number in 1...10 {
            let file = FileManager.default.contents(atPath: folder.path + "/done/download-\(number)")
            #expect(file == Data(Self.content("download-\(number)")))
        }
    }

    private func checkNothingIsLeft() async throws {
        try await until { folder.processes.isEmpty }
        let kept = Set(["log", "began"] + Self.labels)
        #expect(folder.names.filter { !kept.contains($0) } == [])
    }
}
