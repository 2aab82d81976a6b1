// What an FTP server says, as one connection among others of a loop.

import Testing
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport

@testable import URLLoadingEngine

@Suite("FTP control connections")
struct FTPControlTests {
    /// Counts what it is told.
    private final class Count: FTPControlObserver {
        private(set) var replies = 0
        private(set) var ends = 0

        func replied(_ reply: FTPReply) { replies += 1 }
        func controlMoved() {}
        func controlFailed(_ failure: FTPFailure) { ends += 1 }
        func controlEnded(_ error: SystemError?) { ends += 1 }
    }

    @Test("A flood of replies is read turn by turn, to its end")
    func flood() {
        let rig = EngineRig()
        let (ours, theirs) = MemoryStream.pair(on: rig.reactor)
        // Reads that bring next to nothing have their price, too.
        let reply = Array("120 wait\r\n".utf8)
        ours.readLimit = reply.count
        let flood = Array(repeating: reply, count: 3000).flatMap { $0 }
        guard case .bytes(flood.count) = flood.withUnsafeBytes({ theirs.write($0) }) else {
            Issue.record("the flood does not fit")
            return
        }
        let count = Count()
        let control = FTPControl(ours, core: rig.core, owner: count)
        control.read()
        #expect((1..<3000).contains(count.replies))
        rig.settle()
        #expect(count.replies == 3000 && count.ends == 0)
        control.close()
        theirs.close()
        rig.expectClean()
    }
}
