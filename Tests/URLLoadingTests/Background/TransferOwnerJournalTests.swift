// What the owner of a background session's transfers leaves for the next one, and for programs that come later: news
// that was not confirmed, journals, and parts of downloads.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingTestSupport

@testable import URLLoading

@Suite(.timeLimit(.minutes(2))) struct TransferOwnerJournalTests {
    @Test(
        "B10.33, B10.16, B10.17: the next program hears all news that was not confirmed, and then that there is no more"
    )
    func undelivered() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        try await withServer(router: { _ in .text("kept") }) { server in
            let owner = try Rig.owner(directory)
            let (first, _) = try await Rig.program(owner)
            owner.received(.start(Rig.download(server.url("/a"))), from: first)
            _ = try await first.end(of: 1)
            owner.disconnected(first)
            await Rig.stop(owner)

            let second = try Rig.owner(directory)
            let (program, tasks) = try await Rig.program(second)
            #expect(tasks.map(\.task) == [1])
            #expect(tasks.first?.isOver == true)
            #expect(tasks.first?.head?.status == 200)
            #expect(try await program.end(of: 1) == nil)
            #expect(try Rig.file(program.news(of: 1)) == Data("kept".utf8))
            #expect(!program.events.contains(.allDelivered))
            second.received(.delivered(task: 1, number: 3), from: program)
            try await program.hear(.allDelivered)
            await Rig.stop(second)
        }
    }

    @Test("B10.19: a program that hears of every end as it comes is not told that all news is delivered")
    func nothingWaited() async throws {
        let folder = try StateFolder()
        try await withServer(router: { _ in .text("x") }) { server in
            let owner = try Rig.owner(try folder.directory())
            let (program, _) = try await Rig.program(owner)
            owner.received(.start(Rig.download(server.url("/a"))), from: program)
            _ = try await program.end(of: 1)
            owner.received(.delivered(task: 1, number: 3), from: program)
            owner.received(.list, from: program)
            try await program.tasks()
            #expect(!program.events.contains(.allDelivered))
            await Rig.stop(owner)
        }
    }

    @Test("B10.36: a task that is cancelled just before its owner stops is over: no later owner carries it out again")
    func cancelledBeforeStop() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        try await withServer(router: { _ in .slow([.init("x"), .init("y", when: ServerGate())]) }) { server in
            let owner = try Rig.owner(directory)
            let program = try await Rig.downloading(server.url("/a"), by: owner)
            owner.received(.cancel(task: 1, wantsResumeData: false), from: program)
            await Rig.stop(owner)
            let record = try #require(try directory.read(settingAside: false).records.first)
            #expect(record.state == .over)
            guard case .completed(let failure?)? = record.events.last?.content else {
                Issue.record("no end: \(record.events)")
                return
            }
            #expect(failure.code == -999 && record.events.count == 2)
            #expect(server.stats.requests == 1)
        }
    }

    @Test("B10.34: a download that is whole when its owner is stopped is over, and its file is kept")
    func wholeBeforeStop() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        try await withServer(router: { _ in .slow([.init("x"), .init("y", when: ServerGate())]) }) { server in
            let owner = try Rig.owner(directory)
            _ = try await Rig.downloading(server.url("/a"), by: owner)
            let whole = URL(fileURLWithPath: folder.path + "/whole")
            try Data("xy".utf8).write(to: whole)
            // As the attempt says it just before its end.
            owner.run { owner in
                if let attempt = owner.transfers[1]?.attempt { owner.downloaded(attempt, to: whole) }
            }
            await Rig.stop(owner)
            let record = try #require(try directory.read(settingAside: false).records.first)
            #expect(record.state == .over)
            #expect(try Rig.file(record.events) == Data("xy".utf8))
        }
    }

    @Test("B10.30: the journal of a download that began anew names the file that is written, from its first bytes on")
    func begunAnew() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        try await withServer(router: { request in
            let isAgain = request.fields.first("Range") != nil
            let response = ServerResponse.slow(
                [.init(isAgain ? "ab" : "abc"), .init("def", when: ServerGate())], framing: .chunked)
            return response.adding("ETag", isAgain ? "\"new\"" : "\"old\"")
        }) { server in
            let first = try Rig.owner(directory)
            _ = try await Rig.downloading(server.url("/a"), by: first)
            await Rig.stop(first)
            // It begins with the greeting: the program hears of all of it.
            let second = try Rig.owner(directory) { $0.greetingPatience = .seconds(60) }
            let (two, _) = try await Rig.program(second)
            _ = try await two.first {
                if case .progress(1, let counts) = $0, counts.received == 2 { counts } else { nil }
            }
            let record = try #require(try directory.read(settingAside: false).records.first)
            let point = try #require(record.resumption.flatMap { ResumeData(Data($0)) })
            #expect(point.byteCount == 2)
            #expect(FileManager.default.fileExists(atPath: directory.file(point.fileName)))
            await Rig.stop(second)
        }
    }

    /// A server has begun an upload, and breaks off once the gate is open.
    private static func begun(until gate: ServerGate) -> ServerResponse {
        .script([
            .lines("HTTP/1.1 104 x\nUpload-Draft-Interop-Version: 8\nLocation: /u\n\n"), .wait(gate), .drop,
        ])
    }

    /// What was on the disk of an upload that a server had begun, before its owner was ended.
    private func begunUpload(
        to url: String, in folder: StateFolder, _ directory: BackgroundDirectory
    ) async throws -> TransferRecord {
        let source = folder.path + "/source"
        try Data("hello".utf8).write(to: URL(fileURLWithPath: source))
        let owner = try Rig.owner(directory)
        let (program, _) = try await Rig.program(owner)
        let order = TransferOrder(
            task: 1, kind: .upload, request: TransferRequest(method: "POST", url: url), source: source)
        owner.received(.start(order), from: program)
        let record = { try directory.read(settingAside: false).records.first }
        try await until { try record()?.resumption != nil }
        let killed = try #require(try record())
        await Rig.stop(owner)
        return killed
    }

    @Test("B10.30, B11.31: an upload goes on with the next owner, whatever has become of the one that began it")
    func uploadAfterKill() async throws {
        let folder = try StateFolder()
        let asked = Guarded<[String]>([])
        let gate = ServerGate()
        try await withServer(router: { request in
            asked.change { $0.append("\(request.method) \(request.path)") }
            guard request.method == "POST" else {
                return ServerResponse(status: 204, body: .none).adding("Upload-Offset", "5")
                    .adding("Upload-Complete", "?1")
            }
            return Self.begun(until: gate)
        }) { server in
            let directory = try folder.directory()
            let killed = try await begunUpload(to: server.url("/files"), in: folder, directory)
            gate.open()

            // As it was on the disk when nothing had been stopped.
            try directory.write(killed)
            let second = try Rig.owner(directory) { $0.greetingPatience = .seconds(60) }
            let (program, _) = try await Rig.program(second)
            #expect(try await program.end(of: 1) == nil)
            #expect(asked.value == ["POST /files", "HEAD /u"])
            await Rig.stop(second)
        }
    }

    @Test(
        "B10.30, B11.35: an upload whose resource is gone when the next owner goes on begins anew, unless its program has taken it up",
        arguments: [false, true])
    func uploadOfGoneResource(isOfProgram: Bool) async throws {
        let folder = try StateFolder()
        let asked = Guarded<[String]>([])
        let gate = ServerGate()
        try await withServer(router: { request in
            asked.change { $0.append("\(request.method) \(request.path)") }
            guard request.method == "POST" else { return .status(404) }
            guard asked.value.count == 1 else { return .text("had it all") }
            return Self.begun(until: gate)
        }) { server in
            let directory = try folder.directory()
            var killed = try await begunUpload(to: server.url("/files"), in: folder, directory)
            gate.open()

            if isOfProgram { killed.original.flags |= TransferRequest.beginsWithPart }
            try directory.write(killed)
            let second = try Rig.owner(directory) { $0.greetingPatience = .seconds(60) }
            let (program, _) = try await Rig.program(second)
            #expect(try await program.end(of: 1)?.code == (isOfProgram ? -1011 : nil))
            #expect(asked.value == ["POST /files", "HEAD /u"] + (isOfProgram ? [] : ["POST /files"]))
            await Rig.stop(second)
        }
    }

    @Test("B9.20, B10.30: a task that cannot be written down ends with the resume data that it was to go on with")
    func unwritableJournal() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        // No journal can be put in its place.
        try FileManager.default.createDirectory(
            atPath: directory.path + "/task-1", withIntermediateDirectories: false)
        let owner = try Rig.owner(directory) { $0.report = { _ in } }
        let (program, _) = try await Rig.program(owner)
        var order = Rig.download("http://127.0.0.1:9/")
        order.resumption = [1, 2, 3]
        owner.received(.start(order), from: program)
        #expect(try await program.end(of: 1)?.resumeData == [1, 2, 3])
        await Rig.stop(owner)
    }

    @Test("B9.20, B10.34: the part of a download that has failed stays until the program has heard, however old it is")
    func oldPartOfFailure() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        try directory.write(settings: Rig.settings)
        let url = try #require(URL(string: "http://127.0.0.1:9/"))
        let part = try Rig.leavePart(of: url, in: directory.filesPath)
        let nobodys = try Rig.leavePart(of: url, in: directory.filesPath)
        #expect(part.fileName != nobodys.fileName)
        var record = TransferRecord(Rig.download(url.absoluteString), allowed: nil, isDiscretionary: false, now: .now)
        record.state = .over
        var failure = TransferFailure(code: -1001, text: "late", url: url.absoluteString)
        failure.resumeData = Array(part.encoded)
        record.end(failure)
        try directory.write(record)
        // Long after both were written.
        let clock = MovableClock()
        clock.setCalendar(4_000_000_000_000)
        let owner = try Rig.owner(directory) { $0.clock = clock.clock }
        let (program, _) = try await Rig.program(owner)
        #expect(try await program.end(of: 1)?.resumeData == failure.resumeData)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.filesPath) == [part.fileName])
        await Rig.stop(owner)
    }
}
