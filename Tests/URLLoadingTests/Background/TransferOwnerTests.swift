// The owner of a background session's transfers, in this process, with a server of its own: what it carries out and
// tells, and whom it refuses.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingTestSupport

@testable import URLLoading

@Suite(.timeLimit(.minutes(2))) struct TransferOwnerTests {
    @Test("B10.34: a finished download is told in order, and its file kept until that was confirmed")
    func download() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        try await withServer(router: { _ in .text("hello") }) { server in
            let owner = try Rig.owner(directory)
            let (program, tasks) = try await Rig.program(owner)
            #expect(tasks.isEmpty)
            owner.received(.start(Rig.download(server.url("/a"))), from: program)
            #expect(try await program.end(of: 1) == nil)
            let news = program.news(of: 1)
            #expect(news.map(\.number) == [1, 2, 3])
            #expect(try Rig.file(news) == Data("hello".utf8))
            let head = try await program.first { if case .responded(1, let head) = $0 { head } else { nil } }
            #expect(head.status == 200)
            #expect(program.events.contains(.accepted(task: 1)))
            // It is written down, and readable by this user only.
            #expect(try directory.read(settingAside: false).records.first?.events == news)
            owner.received(.delivered(task: 1, number: 3), from: program)
            owner.received(.list, from: program)
            let left = try await program.tasks()
            #expect(left.isEmpty)
            #expect(try directory.read(settingAside: false).records.isEmpty)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.filesPath).isEmpty)
            await Rig.stop(owner)
        }
    }

    @Test("B10.8, B4.5: redirects are followed, and told")
    func redirect() async throws {
        let folder = try StateFolder()
        try await withServer(router: { request in
            request.path == "/a" ? .status(302).adding("Location", "/b") : .text("there")
        }) { server in
            let owner = try Rig.owner(try folder.directory())
            let (program, _) = try await Rig.program(owner)
            owner.received(.start(Rig.download(server.url("/a"))), from: program)
            #expect(try await program.end(of: 1) == nil)
            let request = try await program.first { if case .redirected(1, let request) = $0 { request } else { nil } }
            #expect(request.url == server.url("/b"))
            await Rig.stop(owner)
        }
    }

    @Test("B10.5, B11.16: an upload sends its file, and its answer comes in one")
    func upload() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        try await withServer(router: { _ in ServerResponse(body: .echo) }) { server in
            let source = folder.path + "/source"
            let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            try bytes.write(to: URL(fileURLWithPath: source))
            let owner = try Rig.owner(directory)
            let (program, _) = try await Rig.program(owner)
            let order = TransferOrder(
                task: 3, kind: .upload, request: TransferRequest(method: "PUT", url: server.url("/u")), source: source)
            owner.received(.start(order), from: program)
            #expect(try await program.end(of: 3) == nil)
            let file = try Rig.file(program.news(of: 3))
            #expect(firstDifference(file, bytes) == nil)
            let sent = program.events.compactMap { if case .progress(3, let counts) = $0 { counts.sent } else { nil } }
            #expect(sent.last == 200_000)
            await Rig.stop(owner)
        }
    }

    @Test("B10.5: a data task's answer comes in a file")
    func dataTask() async throws {
        let folder = try StateFolder()
        try await withServer(router: { _ in .text("data") }) { server in
            let owner = try Rig.owner(try folder.directory())
            let (program, _) = try await Rig.program(owner)
            owner.received(
                .start(TransferOrder(task: 2, kind: .data, request: TransferRequest(url: server.url("/")))),
                from: program)
            #expect(try await program.end(of: 2) == nil)
            #expect(try Rig.file(program.news(of: 2)) == Data("data".utf8))
            await Rig.stop(owner)
        }
    }

    @Test("B10.32: an owner serves one program at a time, and a directory has one owner at a time")
    func oneProgram() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        let owner = try Rig.owner(directory)
        let (first, _) = try await Rig.program(owner)
        let second = ScribeChannel()
        owner.received(
            .hello(TransferHello(settings: Rig.settings, judgesServers: false, answersChallenges: false)), from: second)
        try await second.end()
        #expect(second.events == [.refused(.inUse)])
        // What a refused program sends is not heard.
        owner.received(.invalidate(cancelling: true), from: second)
        owner.received(.list, from: first)
        try await first.tasks()
        #expect(throws: BackgroundDirectoryFailure.inUse) {
            try Rig.owner(directory) { $0.lockPatience = .zero }
        }
        #expect(BackgroundDirectoryFailure.inUse.code == .backgroundSessionInUseByAnotherProcess)
        await Rig.stop(owner)
        let next = try Rig.owner(directory) { $0.lockPatience = .zero }
        await Rig.stop(next)
    }

    @Test("B10.32: an owner refuses a program of another session, and one that speaks another version")
    func refusals() async throws {
        let folder = try StateFolder()
        let owner = try Rig.owner(try folder.directory())
        let (program, _) = try await Rig.program(owner)
        owner.disconnected(program)
        let other = ScribeChannel()
        owner.received(
            .hello(
                TransferHello(
                    settings: TransferSettings(identifier: "other"), judgesServers: false, answersChallenges: false)),
            from: other)
        try await other.end()
        #expect(other.events == [.refused(.otherSession)])
        var hello = TransferHello(settings: Rig.settings, judgesServers: false, answersChallenges: false)
        hello.version = 9
        let strange = ScribeChannel()
        owner.received(.hello(hello), from: strange)
        try await strange.end()
        #expect(strange.events == [.refused(.version(TransferLimits.version))])
        await Rig.stop(owner)
    }

    @Test("B10.40: an invalidated session leaves nothing behind, and its tasks end with −999 first")
    func invalidation() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        let ended = Signal()
        try await withServer(router: { _ in .slow([.init("x"), .init("y", when: ServerGate())]) }) { server in
            let owner = try Rig.owner(directory) { $0.whenInvalidated = { ended.fire() } }
            let program = try await Rig.downloading(server.url("/a"), by: owner)
            owner.received(.invalidate(cancelling: true), from: program)
            #expect(try await program.end(of: 1)?.code == -999)
            owner.received(.delivered(task: 1, number: 99), from: program)
            try await program.end()
            #expect(program.events.last == .invalidated)
            await ended.wait()
            #expect(try directory.read(settingAside: false).settings == nil)
            #expect(try directory.read(settingAside: false).records.isEmpty)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.filesPath).isEmpty)
        }
    }

    @Test("B10.24: a cancelled download gives its resume data before its end, if they are wanted")
    func cancellation() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        try await withServer(router: { _ in
            var response = ServerResponse.slow([.init("abc"), .init("def", when: ServerGate())], framing: .chunked)
            response = response.adding("ETag", "\"v\"")
            return response
        }) { server in
            let owner = try Rig.owner(directory)
            let program = try await Rig.downloading(server.url("/a"), by: owner)
            owner.received(.cancel(task: 1, wantsResumeData: true), from: program)
            #expect(try await program.end(of: 1)?.code == -999)
            let data = program.events.compactMap { if case .resumeData(1, let data) = $0 { data } else { nil } }.first
            let point = ResumeData(Data(try #require(data)))
            #expect(point?.byteCount == 3)
            // The part is there still, for a task that goes on with it.
            #expect(FileManager.default.fileExists(atPath: directory.file(try #require(point).fileName)))
            await Rig.stop(owner)
        }
    }

    @Test(
        "B10.42: an attempt that began by other settings goes on beside those that begin by new ones, and its end counts"
    )
    func changedSettings() async throws {
        let folder = try StateFolder()
        let gate = ServerGate()
        try await withServer(router: { request in
            request.path == "/old" ? .slow([.init("x"), .init("y", when: gate)]) : .text("new")
        }) { server in
            let owner = try Rig.owner(try folder.directory())
            let first = try await Rig.downloading(server.url("/old"), by: owner)
            owner.disconnected(first)
            var settings = Rig.settings
            settings.requestTimeout += 1
            let (second, _) = try await Rig.program(owner, settings: settings)
            owner.received(.start(Rig.download(server.url("/new"), task: 2)), from: second)
            #expect(try await second.end(of: 2) == nil)
            gate.open()
            #expect(try await second.end(of: 1) == nil)
            #expect(try Rig.file(second.news(of: 1)) == Data("xy".utf8))
            #expect(try Rig.file(second.news(of: 2)) == Data("new".utf8))
            await Rig.stop(owner)
        }
    }

    @Test(
        "B9.31, B10.34: an error in answer to the request for the rest leaves a part only that the program has data of",
        arguments: [false, true])
    func errorInPlaceOfRest(isPrograms: Bool) async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        try await withServer(router: { request in
            guard request.fields.first("Range") == nil else { return ServerResponse.text("later", status: 503) }
            return .script([
                .lines("HTTP/1.1 200 OK\nETag: \"v\"\nContent-Length: 6\n\nabc"), .drop,
            ])
        }) { server in
            let owner = try Rig.owner(directory)
            let (program, _) = try await Rig.program(owner)
            var order = Rig.download(server.url("/a"))
            if isPrograms { order.original.flags |= TransferRequest.beginsWithPart }
            owner.received(.start(order), from: program)
            #expect(try await program.end(of: 1) == nil)
            #expect(try Rig.file(program.news(of: 1)) == Data("later".utf8))
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.filesPath)
            #expect(names.contains("download-1"))
            #expect(names.count == (isPrograms ? 2 : 1), "\(names)")
            await Rig.stop(owner)
        }
    }

    @Test("B11.6: a file that is not there ends an upload, and is not tried again")
    func missingSource() async throws {
        let folder = try StateFolder()
        let owner = try Rig.owner(try folder.directory())
        let (program, _) = try await Rig.program(owner)
        owner.received(
            .start(
                TransferOrder(
                    task: 1, kind: .upload, request: TransferRequest(method: "PUT", url: "http://127.0.0.1:1/"),
                    source: folder.path + "/missing")), from: program)
        #expect(try await program.end(of: 1)?.code == -1100)
        await Rig.stop(owner)
    }
}
