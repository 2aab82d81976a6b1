// Web socket mode: lines in, messages out, and how it ends.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

@Suite("fetch: web sockets")
struct WebSocketRunTests {
    private func webSocketURL(_ server: LoopbackServer, _ path: String = "/") -> String {
        "ws" + server.url(path).dropFirst(4)
    }

    @Test("Lines of standard input are messages; their answers are written, and then goodbye is said")
    func echo() async throws {
        let server = try LoopbackServer.start { request in
            request.fields.first("X-Test") == "yes" ? .webSocket() : .status(403)
        }
        let place = try Workplace()
        let url = webSocketURL(server)
        let run = try await place.shell("printf 'one\\ntwö\\r\\n\\nlast' | fetch --linger 0 -H 'X-Test: yes' \(url)")
        #expect(run.exitCode == 0 && run.output == "one\ntwö\n\nlast\n" && run.complaints.isEmpty, "\(run.complaints)")
        let bytes = try await place.shell(
            "printf '\\377\\376\\n' | fetch --linger 0 -H 'X-Test: yes' \(url) | od -An -tx1")
        #expect(bytes.output.trimmingCharacters(in: .whitespacesAndNewlines) == "ff fe")
        let refused = try await place.shell("fetch \(url) < /dev/null")
        #expect(refused.exitCode != 0 && refused.complaints.hasPrefix("fetch: "))
        let verbose = try await place.shell("echo x | fetch -v --linger 0 -H 'X-Test: yes' \(url)")
        #expect(
            verbose.complaints.contains("* the web socket is open") && verbose.complaints.contains("closed with 1000"))
        #expect(verbose.output == "x\n" && verbose.complaints.contains("> GET / HTTP/1.1"))
        await server.stop()
    }

    @Test("Answers that come later than the end of the input are waited for, until there is quiet or a goodbye")
    func late() async throws {
        let server = try LoopbackServer.start { request in
            let answer: [WebSocketStep] = [
                .expect(text: "a"), .expect(text: "b"), .delay(.milliseconds(200)), .text("late"),
            ]
            return .webSocket(.init(.script(request.path == "/bye" ? answer + [.close(1000)] : answer)))
        }
        let place = try Workplace()
        let bye = try await place.shell("printf 'a\\nb\\n' | fetch --linger 500 \(webSocketURL(server, "/bye"))")
        #expect(bye.exitCode == 0 && bye.output == "late\n" && bye.complaints.isEmpty, "\(bye.complaints)")
        let quiet = try await place.shell("printf 'a\\nb\\n' | fetch \(webSocketURL(server))")
        #expect(quiet.exitCode == 0 && quiet.output == "late\n" && quiet.complaints.isEmpty, "\(quiet.complaints)")
        await server.stop()
    }

    @Test("A server that says goodbye ends it well, one that says why not with 18, one that is gone too")
    func ends() async throws {
        let server = try LoopbackServer.start { request in
            switch request.path {
            case "/bye": .webSocket(.init(.script([.text("first"), .close(1000, "enough")])))
            case "/bad": .webSocket(.init(.script([.close(1011, "broken\u{9B}")])))
            default: .webSocket(.init(.script([.text("first"), .drop])))
            }
        }
        let place = try Workplace()
        // Standard input stays open: it is not what ends these.
        func run(_ path: String) async throws -> FetchRun {
            try await place.shell("mkfifo in 2>/dev/null; exec 3<>in; fetch \(webSocketURL(server, path)) <&3")
        }
        let bye = try await run("/bye")
        #expect(bye.exitCode == 0 && bye.output == "first\n", "\(bye.complaints)")
        let bad = try await run("/bad")
        #expect(
            bad.exitCode == 18 && bad.complaints == "fetch: the server closed the web socket with 1011: broken\\x9b\n")
        let gone = try await run("/drop")
        #expect(gone.exitCode == 18 && gone.output == "first\n", "\(gone.complaints)")
        #expect(try await place.shell("fetch ws://127.0.0.1:1/ </dev/null").exitCode == 7)
        await server.stop()
    }

    @Test("--har and --timing know web sockets too; what makes no sense for them is refused")
    func reports() async throws {
        let server = try LoopbackServer.start { _ in .webSocket() }
        let place = try Workplace()
        let run = try await place.shell("echo x | fetch --linger 0 --har run.har --timing \(webSocketURL(server))")
        #expect(
            run.exitCode == 0 && run.complaints.contains(" 101")
                && place.text("run.har")?.contains("\"status\" : 101") == true)
        for options in ["-i", "-f", "--retry 1", "--cache", "-r 0-1", "-w x", "--compressed", "--parallel-max 2"] {
            #expect(
                try await place.shell("fetch \(options) \(webSocketURL(server)) </dev/null").exitCode == 2,
                "\(options)")
        }
        await server.stop()
    }

    @Test("--proto and --proto-redir hold for web sockets too: nothing is sent in clear that shall not be")
    func schemes() async throws {
        let server = try LoopbackServer.start { request in
            request.path == "/away" ? ServerResponse.status(302).adding("Location", "/") : .webSocket()
        }
        let place = try Workplace()
        for option in ["--proto =https", "--proto -ws"] {
            let run = try await place.shell("echo s | fetch --linger 0 \(option) \(webSocketURL(server))")
            #expect(run.exitCode == 1 && run.output.isEmpty, "\(option)")
            #expect(run.complaints == "fetch: --proto does not allow ws\n")
        }
        #expect(server.stats.requests == 0)
        let away = try await place.shell(
            "echo s | fetch --linger 0 --proto-redir =https \(webSocketURL(server, "/away"))")
        #expect(away.exitCode == 1 && away.output.isEmpty)
        #expect(away.complaints == "fetch: the server redirects to ws, which is not allowed\n")
        #expect(server.stats.requests == 1)
        #expect(try await place.shell("echo s | fetch --linger 0 \(webSocketURL(server, "/away"))").output == "s\n")
        await server.stop()
    }
}
