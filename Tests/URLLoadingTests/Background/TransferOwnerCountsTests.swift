// What the owner of a background session's transfers counts, tells and writes down of their bytes.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingTestSupport

@testable import URLLoading

@Suite(.timeLimit(.minutes(2))) struct TransferOwnerCountsTests {
    @Test(
        "B10.3, B1.50: what comes is known to be nothing where an answer has no body, as in other sessions",
        arguments: [TransferKind.download, .data])
    func noBody(kind: TransferKind) async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        try await withServer(router: { _ in ServerResponse(status: 204, body: .none) }) { server in
            let owner = try Rig.owner(directory)
            let (program, _) = try await Rig.program(owner)
            owner.received(
                .start(TransferOrder(task: 1, kind: kind, request: TransferRequest(url: server.url("/")))),
                from: program)
            #expect(try await program.end(of: 1) == nil)
            let counts = program.events.compactMap { if case .progress(1, let counts) = $0 { counts } else { nil } }
            #expect(counts.last?.expectedToReceive == 0)
            #expect(try directory.read(settingAside: false).records.first?.counts.expectedToReceive == 0)
            await Rig.stop(owner)
        }
    }

    @Test(
        "B10.3, B1.49: a download that fails before it has told of progress has its response, and what came is counted",
        arguments: [true, false])
    func failedEarly(isCut: Bool) async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        let text = Array(String(repeating: "some text, and ", count: 100).utf8)
        let body = isCut ? Array(try #require(Gzip.compress(text)).dropLast(8)) : text
        try await withServer(router: { _ in .bytes(body).adding("Content-Encoding", "gzip") }) { server in
            let owner = try Rig.owner(directory)
            let (program, _) = try await Rig.program(owner)
            owner.received(.start(Rig.download(server.url("/"))), from: program)
            #expect(try await program.end(of: 1) != nil)
            let events = program.events
            let heads = events.compactMap { if case .responded(1, let head) = $0 { head.status } else { nil } }
            #expect(heads == [200])
            let record = try #require(try directory.read(settingAside: false).records.first)
            #expect(record.head?.status == 200)
            #expect(record.counts.expectedToReceive == -1 && (record.counts.received > 0) == isCut)
            let counts = events.compactMap { if case .progress(1, let counts) = $0 { counts } else { nil } }
            #expect(counts.last == record.counts)
            await Rig.stop(owner)
        }
    }

    @Test("B10.33, B9.27: how far a download is that goes on is in its journal when the program hears of it")
    func resumed() async throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        try directory.write(settings: Rig.settings)
        let gate = ServerGate()
        try await withServer(router: { _ in
            .script([
                .lines("HTTP/1.1 206 x\nETag: \"v1\"\nContent-Range: bytes 5-9/10\nContent-Length: 5\n\n"),
                .wait(gate), .text("world"),
            ])
        }) { server in
            let part = try Rig.leavePart(of: try server.at("/"), in: directory.filesPath)
            let owner = try Rig.owner(directory)
            let (program, _) = try await Rig.program(owner)
            var order = Rig.download(server.url("/"))
            order.resumption = Array(part.encoded)
            owner.received(.start(order), from: program)
            try await program.hear(.resumedAt(task: 1, offset: 5, total: 10))
            let counts = try directory.read(settingAside: false).records.first?.counts
            #expect(counts?.received == 5 && counts?.expectedToReceive == 10)
            gate.open()
            #expect(try await program.end(of: 1) == nil)
            #expect(try Rig.file(program.news(of: 1)) == Data("helloworld".utf8))
            await Rig.stop(owner)
        }
    }
}
