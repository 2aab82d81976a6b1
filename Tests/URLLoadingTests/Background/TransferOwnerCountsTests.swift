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
}
