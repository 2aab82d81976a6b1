// fetch whose output is not taken: a pipe that is full, a pipe that no process has open.

import Testing
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("fetch: readers that have stopped", .timeLimit(.minutes(5)))
struct StoppedReaderTests {
    /// Makes `full`, a pipe that takes nothing more and whose reader reads nothing, and `unread`, a pipe that no
    /// process has open.
    private static let pipes = """
        mkfifo full unread; exec 3<>full
        dd if=/dev/zero of=full bs=4096 count=1024 oflag=nonblock 2>/dev/null

        """

    // What is written behind the body is written also where the signal has come before: whenever it
    // comes, it meets the wait.
    @Test(
        "One SIGTERM ends a run whose output nobody takes with 130",
        arguments: [
            "-w x > full", "-w x > full 2>&1", "-c - > full", "-c full", "-c unread", "--har unread",
            "--etag-save unread",
        ])
    func interrupted(output: String) async throws {
        let server = try LoopbackServer.start { _ in .text("body").adding("ETag", "\"v\"") }
        let place = try Workplace()
        let run = try await place.shell(
            """
            \(Self.pipes)fetch -sS -o body \(server.url("/")) \(output) & child=$!
            until [ -e body ] || ! kill -0 $child 2>/dev/null; do sleep 0.02; done
            kill -TERM $child; wait $child
            """)
        #expect(run.exitCode == 130, "\(run.complaints)")
        #expect(place.text("body") == "body")
        await server.stop()
    }

    @Test(
        "--max-time ends an attempt whose output nobody takes with 28",
        arguments: ["> full", "-o full", "-o unread", "-i > full", "-D full -o body"])
    func timedOut(output: String) async throws {
        let server = try LoopbackServer.start { $0.path == "/long" ? .generated(length: 300_000) : .text("body") }
        let place = try Workplace()
        for path in ["/", "/long"] {
            let run = try await place.shell(
                "exec 3>&-; rm -f full unread; \(Self.pipes)fetch -sS -m 2 \(server.url(path)) \(output)")
            #expect(run.exitCode == 28, "\(path): \(run.complaints)")
        }
        await server.stop()
    }

    @Test("A pipe that others share keeps its flags while a long body goes through it, and after")
    func sharedFlags() async throws {
        let server = try LoopbackServer.start { _ in .generated(length: 300_000) }
        let place = try Workplace()
        // More than a pipe holds is still to be written when the first look is taken.
        let run = try await place.shell(
            """
            mkfifo pipe; exec 3<>pipe; grep flags /proc/self/fdinfo/3 > before
            fetch -s -o whole \(server.url("/"))
            fetch -s \(server.url("/")) >&3 & child=$!
            timeout 60 head -c 200000 <&3 > all; grep flags /proc/self/fdinfo/3 > during
            timeout 60 head -c 100000 <&3 >> all; wait $child && grep flags /proc/self/fdinfo/3 > after
            cmp before during && cmp before after && cmp whole all
            """)
        #expect(run.exitCode == 0, "\(run.complaints)")
        #expect(place.size("all") == 300_000)
        await server.stop()
    }

    @Test("A reader that comes late gets everything", arguments: ["-o unread", "> unread"])
    func late(output: String) async throws {
        let server = try LoopbackServer.start { _ in .generated(length: 300_000) }
        let place = try Workplace()
        let run = try await place.shell(
            """
            \(Self.pipes)fetch -s \(server.url("/")) \(output) & child=$!
            cat unread > all; wait $child
            """)
        #expect(run.exitCode == 0, "\(run.complaints)")
        #expect(place.size("all") == 300_000)
        await server.stop()
    }
}
