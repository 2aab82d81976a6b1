// Starts the simulation, which needs a process of its own: it takes the place of the process's clock and network.

import Testing
import URLLoadingTestSupport

// A release build has no place for a simulated machine.
#if DEBUG
    /// The library, played from seeds.
    @Suite(.serialized, .timeLimit(.minutes(15))) struct SimulationTests {
        @Test(
            "Whatever a seed brings about, each task ends once, with its own answer, in time; and a seed is one story")
        func seeds() async throws {
            let count = Sanitizer.isActive ? "20" : "100"
            let run = try await ChildRun.run(testProgram: "simulate", ["--seeds", count, "--from", "5001", "--twice"])
            #expect(run.exitCode == 0, "\(run.outputText) \(run.complaintsText)")
            #expect(run.outputText.hasSuffix("nothing wrong\n"))
        }
    }
#endif
