// fetch where few files may be open at a time.

import Testing
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("fetch with few descriptors", .timeLimit(.minutes(5)))
struct DescriptorRunTests {
    @Test("100 hosts asked one after the other answer where 64 descriptors are allowed: idle connections make room")
    func manyHosts() async throws {
        try await withServer(router: { _ in .text("in\n") }) { server in
            let hosts = (1...100).map { "http://host-\($0).test:\(server.port)/" }
            let run = try await Self.run(descriptors: 64, ["--resolve", "*:\(server.port):127.0.0.1"] + hosts)
            #expect(run.exitCode == 0, "\(run.complaints)")
            #expect(run.output == String(repeating: "in\n", count: 100))
            // Each has a connection of its own.
            #expect(server.stats.connectionsAccepted == 100)
        }
    }

    // A sanitizer needs it itself.
    @Test("Without /proc, where Swift finds the command line, fetch says so", .enabled(if: canHideProc))
    func noProc() async throws {
        let run = try await FetchRun.run(
            ["-rm", "/bin/sh", "-c", Self.hidingProc + "exec \"$0\" --version", ChildRun.path(of: "fetch")],
            program: Self.unshare)
        // The system's loader has not found all libraries where they lie beside the program, which it asks /proc for.
        if run.exitCode == 127 { return }
        #expect(run.exitCode == 70 && run.output.isEmpty)
        #expect(run.complaints.hasPrefix("fetch: the command line cannot be read: /proc is not there\n"))
    }

    /// Whether a name space without /proc can be had here.
    private static let canHideProc =
        !Sanitizer.isActive && (try? ChildRun(unshare, ["-rm", "/bin/sh", "-c", hidingProc + "true"]))?.exitCode == 0
    private static let hidingProc = "mount -t tmpfs none /proc && "
    private static let unshare = "/usr/bin/unshare"

    // A sanitizer needs descriptors itself.
    @Test(
        "With too few descriptors fetch says so and ends, and no signal ends it", .enabled(if: !Sanitizer.isActive),
        arguments: 4...24)
    func tooFew(count: Int) async throws {
        // Several times: whether Dispatch wants a descriptor just when there is none is a matter of microseconds.
        for _ in 0..<5 {
            let run = try await Self.run(descriptors: count, ["http://127.0.0.1:1/"])
            #expect(run.output.isEmpty)
            switch run.exitCode {
            // The system's loader has not found enough to load the program by.
            case 127: break
            case 70:
                #expect(run.complaints == "fetch: too few files may be open at a time: raise the limit (ulimit -n)\n")
            default:
                // With enough of them fetch comes as far as connecting: a descriptor is missing
                // there, or no server listens.
                #expect(run.exitCode == 7, "\(run.complaints)")
                #expect(
                    run.complaints.contains("Too many open files") || run.complaints.contains("Connection refused"),
                    "\(run.complaints)")
            }
        }
    }

    /// Runs fetch where so many files may be open, its three standard ones included.
    private static func run(descriptors count: Int, _ arguments: [String]) async throws -> FetchRun {
        let script = "ulimit -n \(count); exec \"$0\" \"$@\""
        return try await FetchRun.run(["-c", script, ChildRun.path(of: "fetch")] + arguments, program: "/bin/sh")
    }
}
