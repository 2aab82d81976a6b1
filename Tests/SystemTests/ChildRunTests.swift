// What programs that tests start find.

import Testing
import URLLoadingTestSupport

@Suite("Programs that tests start", .timeLimit(.minutes(5)))
struct ChildRunTests {
    @Test("No signal is blocked, though the thread that tasks run on blocks most of them")
    func signals() async throws {
        let run = try await ChildRun.run("/bin/sh", ["-c", "grep SigBlk /proc/self/status"])
        #expect(run.outputText == "SigBlk:\t0000000000000000\n")
    }
}
