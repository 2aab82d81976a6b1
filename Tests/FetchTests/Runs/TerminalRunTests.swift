// fetch on a terminal: passwords without echo, progress, bodies and heads that would steer it.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("fetch: on a terminal")
struct TerminalRunTests {
    @Test("A password that is not given is asked for without echo; control-C breaks off")
    func password() async throws {
        let server = try LoopbackServer.start { request in
            let value = request.fields.first(.authorization) ?? ""
            return value == "Basic " + Data("me:Tr0ub4dor".utf8).base64EncodedString()
                ? .text("inside")
                : ServerResponse.text("who?", status: 401).adding("WWW-Authenticate", "Basic realm=\"r\"")
        }
        let run = try await TerminalRun.run(
            ["-u", "me", server.url("/")], replies: [("Password of me for 127.0.0.1: ", "Tr0ub4dorX\u{7F}\r")])
        #expect(run.exitCode == 0 && run.screen.hasSuffix("inside") && !run.screen.contains("Tr0ub4dor"))
        let proxied = try await TerminalRun.run(
            ["-U", "you", "-x", "127.0.0.1:1", server.url("/")],
            replies: [("Password of you for the proxy http://127.0.0.1:1: ", "\u{03}")])
        #expect(proxied.exitCode == 130)
        #expect(
            try await FetchRun.run(
                ["-c", "exec setsid -w \"$0\" \"$@\"", ChildRun.path(of: "fetch"), "-u", "me", server.url("/")],
                program: "/bin/sh"
            ).exitCode == 2)
        await server.stop()
    }

    @Test("Files have a bar each while they come, drawn in place; the lines that stay are the ends")
    func progress() async throws {
        let gate = ServerGate()
        let server = try LoopbackServer.start { request in
            .slow([
                .init([UInt8](repeating: 65, count: 50_000)), .init([UInt8](repeating: 66, count: 50_000), when: gate),
            ])
        }
        let place = try Workplace()
        let files = ["-o", place.path + "/a", "-o", place.path + "/b\u{1B}[2J"]
        async let run = TerminalRun.run(files + [server.url("/1"), server.url("/2")], columns: 100)
        await server.wait { $0.requests == 2 }
        gate.open()
        let screen = try await run
        #expect(screen.exitCode == 0 && screen.screen.contains("B/s") && screen.screen.contains("\u{1B}["))
        #expect(screen.screen.contains("/a: 100 kB in ") && screen.screen.contains("/b\\x1b[2J: 100 kB in "))
        #expect(!screen.screen.contains("b\u{1B}[2J"))
        let quiet = try await TerminalRun.run(["-s"] + files + [server.url("/1"), server.url("/2")])
        #expect(quiet.screen.isEmpty)
        let dumb = try await TerminalRun.run(
            files + [server.url("/1"), server.url("/2")], environment: ["TERM": "dumb"])
        #expect(!dumb.screen.contains("\u{1B}") && dumb.screen.contains("100 kB in "))
        await server.stop()
    }

    @Test("What the terminal shows of control-C leaves nothing of the bar behind")
    func interrupted() async throws {
        let gate = ServerGate()
        let server = try LoopbackServer.start { _ in
            .slow([
                .init([UInt8](repeating: 65, count: 50_000)), .init([UInt8](repeating: 66, count: 50_000), when: gate),
            ])
        }
        let place = try Workplace()
        let run = try await TerminalRun.run(
            ["-o", place.path + "/a", server.url("/")], columns: 100, replies: [(after: "B/s", type: "\u{03}")])
        gate.open()
        #expect(run.exitCode == 130 && run.screen.contains("^C"))
        let end = try #require(run.screen.components(separatedBy: "^C").last)
        // Up to where the bar began, from the first column.
        #expect(end.hasPrefix("\r\u{1B}[1A\u{1B}[J"), "\(end.debugDescription)")
        await server.stop()
    }

    @Test("A rest of the greatest length that a server can announce has no share, and stops nothing but its own load")
    func greatestRest() async throws {
        let server = try LoopbackServer.start { _ in
            .script([
                .lines("HTTP/1.1 206 X\nContent-Range: bytes 5-9223372036854775806/*\n"),
                .lines("Content-Length: 9223372036854775807\n\n"), .text("hello"), .close,
            ])
        }
        let place = try Workplace()
        try place.write("12345", to: "f")
        let run = try await TerminalRun.run(["-C", "5", "-o", place.path + "/f", server.url("/")])
        #expect(run.exitCode == 18, "\(run.screen)")
        #expect(place.text("f") == "12345hello")
        await server.stop()
    }

    @Test("Standard output that goes elsewhere has a bar too, and one that is the terminal has none")
    func redirected() async throws {
        let server = try LoopbackServer.start { _ in .generated(length: 3_000_000) }
        let place = try Workplace()
        let away = try await TerminalRun.run([server.url("/")], output: place.path + "/out")
        #expect(away.exitCode == 0 && place.size("out") == 3_000_000)
        let text = try LoopbackServer.start { _ in .text("only this") }
        #expect(try await TerminalRun.run([text.url("/")]).screen == "only this")
        await text.stop()
        await server.stop()
    }

    @Test("JSON and heads are coloured on a terminal, not elsewhere, and as the options and NO_COLOR say")
    func colours() async throws {
        let server = try LoopbackServer.start { request in
            let answer = ServerResponse(
                status: request.path == "/no" ? 404 : 200, body: .bytes(Array("{\"a\":[1,true]}".utf8)))
            return answer.adding("Content-Type", "application/problem+json; charset=utf-8")
        }
        let url = server.url("/")
        let (name, number, word, end) = ("\u{1B}[34m", "\u{1B}[36m", "\u{1B}[35m", "\u{1B}[0m")
        let coloured = "{\n  \(name)\"a\"\(end): [\n    \(number)1\(end),\n    \(word)true\(end)\n  ]\n}\n"
        let plain = "{\n  \"a\": [\n    1,\n    true\n  ]\n}\n"
        func shown(_ options: [String], _ variables: [String: String?] = [:]) async throws -> String {
            // A terminal writes a line end as two characters.
            try await TerminalRun.run(options + [url], environment: variables).screen.replacingOccurrences(
                of: "\r\n", with: "\n")
        }
        #expect(try await shown([]) == coloured)
        #expect(try await shown(["--no-color"]) == plain)
        #expect(try await shown([], ["NO_COLOR": "1"]) == plain)
        #expect(
            try await shown(["--pretty", "all"], ["NO_COLOR": "1"]) == coloured,
            "the option is nearer than the variable")
        for options in [["--pretty", "none"], ["-o", "-"]] { #expect(try await shown(options) == "{\"a\":[1,true]}") }
        #expect(try await shown([], ["TERM": "dumb"]) == "{\"a\":[1,true]}")
        #expect(try await FetchRun.run(url).output == "{\"a\":[1,true]}")
        #expect(try await FetchRun.run("--pretty", "all", url).output == coloured)
        #expect(try await FetchRun.run("--pretty", "format", url).output == plain)
        let head = try await TerminalRun.run(["-i", server.url("/no")])
        #expect(
            head.screen.hasPrefix(
                "\u{1B}[31mHTTP/1.1 404 Not Found\(end)\r\n\(name)Content-Type\(end): application/problem+json"))
        await server.stop()
    }

    @Test("In a narrow window no line of the progress is wider than it")
    func narrow() async throws {
        let gate = ServerGate()
        let server = try LoopbackServer.start { _ in
            .slow([
                .init([UInt8](repeating: 65, count: 50_000)), .init([UInt8](repeating: 66, count: 50_000), when: gate),
            ])
        }
        let place = try Workplace()
        async let run = TerminalRun.run(["-o", place.path + "/a-name-that-is-long", server.url("/")], columns: 20)
        await server.wait { $0.requests == 1 }
        gate.open()
        let drawn = try await run.screen.components(separatedBy: "\u{1B}[J")
        // The lines that stay may be longer; those that are drawn again must not wrap.
        let bars = drawn.flatMap { $0.components(separatedBy: "\r\n") }.filter {
            $0.contains("B/s") && !$0.contains(" in ")
        }
        #expect(bars.allSatisfy { $0.count < 20 }, "\(bars)")
        await server.stop()
    }

    @Test("A body that is no text is refused on a terminal unless -o - asks for it; heads are shown, not obeyed")
    func hostile() async throws {
        let server = try LoopbackServer.start { request in
            switch request.path {
            case "/zero": .bytes([0x41, 0, 0x42])
            case "/late":
                .script([
                    .lines("HTTP/1.1 200 OK\nContent-Length: 3\n\n"), .text("A"), .delay(.milliseconds(200)),
                    .send([0, 0x42]),
                ])
            default: ServerResponse.text("body").adding("X-Evil", "\u{9B}31m")
            }
        }
        let late = try await TerminalRun.run([server.url("/late")])
        #expect(late.exitCode == 23 && !late.screen.contains("\0"), "\(late.screen)")
        let refused = try await TerminalRun.run([server.url("/zero")])
        #expect(refused.exitCode == 23 && refused.screen.contains("no text") && !refused.screen.contains("A\0B"))
        #expect(try await TerminalRun.run(["-o", "-", server.url("/zero")]).screen == "A\0B")
        let head = try await TerminalRun.run(["-i", server.url("/")])
        #expect(head.screen.hasSuffix("body") && !head.screen.unicodeScalars.contains("\u{9B}"), "\(head.screen)")
        await server.stop()
    }
}
