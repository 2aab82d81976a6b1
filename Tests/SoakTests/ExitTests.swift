// The end of a process whose loops are still at work.

import Testing
import URLLoadingTestSupport

@Suite("The end of a program", .timeLimit(.minutes(5)))
struct ExitTests {
    @Test(
        "OpenSSL frees nothing at the end of a process, where a loop may be in the midst of a handshake",
        arguments: ["hash", "certificate", "load"])
    func openSSLStays(firstUse: String) async throws {
        let run = try await ChildRun.run(testProgram: "exit", [firstUse])
        #expect(run.exitCode == 0 && !run.outputText.isEmpty)
        #expect(!run.outputText.contains("cleaned up") && !run.outputText.contains("what?"), "\(run.outputText)")
    }
}
