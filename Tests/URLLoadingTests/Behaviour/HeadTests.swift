// Behaviour 16.2, seen by a program: which heads are responses, and which are −1017.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer

@Suite("Heads of responses", .http1Only("The text of HTTP/1.1"))
struct HeadTests {
    @Test(
        "B16.16: a status line may do without reason and without the last space",
        arguments: ["200 OK", "200 ", "200", "200 \u{FC}ber\tall", "200 404 Not Found"])
    func statusLine(rest: String) async throws {
        #expect(try await see("HTTP/1.1 \(rest)\nContent-Length: 2\n\nok") == .answer(200, "ok"))
    }

    @Test("B16.17: HTTP/1.0 and 1.x are read, other major versions are −1017")
    func versions() async throws {
        #expect(try await see("HTTP/1.0 200 OK\nContent-Length: 2\n\nok") == .answer(200, "ok", reused: false))
        #expect(try await see("HTTP/1.9 200 OK\nContent-Length: 2\n\nok") == .answer(200, "ok"))
        for version in ["HTTP/0.9", "HTTP/2.0", "HTTP/2", "HTTP/3", "HTTP/1.10", "HTTP/1.", "HTTP/A.1", "http/1.1"] {
            #expect(
                try await see("\(version) 200 OK\nContent-Length: 2\n\nok") == .failure(.cannotParseResponse),
                "\(version)")
        }
    }

    @Test(
        "B16.18: what does not start with HTTP/ is −1017",
        arguments: [
            "<html>old</html>\n", "PRI * HTTP/2.0\n\nSM\n\n", "\u{0}\u{0}\u{12}\u{4}", "ICY 200 OK\n\n", "H",
            " HTTP/1.1 200 OK\n\n",
            "\u{FEFF}HTTP/1.1 200 OK\nContent-Length: 0\n\n", "\u{15}\u{3}\u{1}\u{0}\u{2}\u{2}\u{46}",
        ])
    func noHTTP(text: String) async throws {
        let seen = try await see(text, then: [.close])
        // An "H" may still begin a status line: only the end of the connection shows that it does not.
        #expect(seen == .failure(text == "H" ? .networkConnectionLost : .cannotParseResponse))
    }

    @Test(
        "B16.19: no code, or one of two or four digits, is −1017 without response or data",
        arguments: ["HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 OK", "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 2 0 0"])
    func codes(line: String) async throws {
        #expect(try await see("\(line)\nContent-Length: 2\n\nok") == .failure(.cannotParseResponse))
    }

    @Test("B16.20: 600 to 999 are delivered as they are, below 100 is −1017")
    func outOfRange() async throws {
        for code in ["599", "600", "999"] {
            #expect(try await see("HTTP/1.1 \(code) X\nContent-Length: 1\n\nx") == .answer(Int(code) ?? 0, "x"))
        }
        for code in ["099", "000", "-12"] {
            #expect(try await see("HTTP/1.1 \(code) X\nContent-Length: 1\n\nx") == .failure(.cannotParseResponse))
        }
    }

    @Test("B16.21: one empty line before the status line is forgiven, two are not")
    func emptyLines() async throws {
        #expect(try await see("\n\(ok)Content-Length: 2\n\nok") == .answer(200, "ok"))
        #expect(try await see("\n\n\(ok)Content-Length: 2\n\nok") == .failure(.cannotParseResponse))
    }

    @Test("B16.22: a bare LF may end lines, a bare CR is −1017")
    func lineEnds() async throws {
        #expect(try await see(raw: "HTTP/1.1 200 OK\nContent-Length: 2\n\nok") == .answer(200, "ok"))
        #expect(
            try await see(raw: "HTTP/1.1 200 OK\r\nX: a\rContent-Length: 2\r\n\r\nok") == .failure(.cannotParseResponse)
        )
        #expect(try await see(raw: "HTTP/1.1 200 OK\rContent-Length: 2\r\rok", then: [.close]).code != nil)
    }

    @Test(
        "B16.23, B16.25: blanks before the colon, no colon, and names that are no tokens are −1017",
        arguments: ["Name : v", "Name\t: v", "no colon", ": v", "N\u{E4}me: v", "Na me: v", "Na(me: v", "N\u{0}: v"])
    func names(field: String) async throws {
        #expect(try await see("\(ok)\(field)\nContent-Length: 2\n\nok") == .failure(.cannotParseResponse))
    }

    @Test("B16.24: a folded line is joined by one space; a fold before the first field is −1017")
    func folds() async throws {
        try await withServer(router: { _ in .script([.lines("\(ok)X: a\n \t  b\nContent-Length: 0\n\n")]) }) { server in
            let load = try await Load(server.at())
            #expect(load.fields["X"] == "a b")
        }
        #expect(try await see("\(ok) X: a\nContent-Length: 2\n\nok") == .failure(.cannotParseResponse))
    }

    @Test("B16.26: NUL in a value is −1017, other control bytes are kept out")
    func controls() async throws {
        #expect(try await see("\(ok)X: a\u{0}b\nContent-Length: 2\n\nok") == .failure(.cannotParseResponse))
        try await withServer(
            router: { _ in .script([.lines("\(ok)X: a\u{1}b\u{7F}c\nContent-Length: 0\n\n")]) }
        ) { server in
            let load = try await Load(server.at())
            #expect(load.fields["X"] == "a b c")
        }
    }

    @Test("B16.27: the limits of a head: 64 KiB a line, 256 KiB in all, 1000 fields")
    func limits() async throws {
        let end = "Content-Length: 2\n\nok"
        func fields(_ count: Int, of size: Int) -> String {
            (0..<count).map { "F\($0): " + String(repeating: "v", count: size) + "\n" }.joined()
        }
        #expect(try await see(ok + fields(1, of: 60_000) + end) == .answer(200, "ok"))
        #expect(try await see(ok + fields(1, of: 70_000) + end) == .failure(.cannotParseResponse))
        #expect(try await see(ok + fields(5, of: 50_000) + end) == .answer(200, "ok"))
        #expect(try await see(ok + fields(6, of: 50_000) + end) == .failure(.cannotParseResponse))
        #expect(try await see(ok + fields(999, of: 5) + end) == .answer(200, "ok"))
        #expect(try await see(ok + fields(1000, of: 5) + end) == .failure(.cannotParseResponse))
        let reason = String(repeating: "r", count: 70_000)
        #expect(try await see("HTTP/1.1 200 \(reason)\n" + end) == .failure(.cannotParseResponse))
        // A line without end is refused when it has become too long, not when it ends.
        let endless = ok + "X: " + String(repeating: "x", count: 300_000)
        #expect(try await see(endless, then: [.waitForClose]) == .failure(.cannotParseResponse))
    }

    @Test("B16.28: a head that drips in keeps the idle timer alive; the resource time-out ends it")
    func slowHead() async throws {
        let drip: [ScriptStep] = (0..<300).flatMap { [ScriptStep.text("X-\($0): v\r\n"), .delay(.milliseconds(100))] }
        try await withServer(router: { _ in .script([.text("HTTP/1.1 200 OK\r\n")] + drip) }) { server in
            let session = URLSession.made {
                // Long, since a busy machine may stand still for seconds, which are no silence of the server's.
                $0.timeoutIntervalForRequest = 10
                $0.timeoutIntervalForResource = 10.5
            }
            let load = try await Load(server.at(), in: session)
            #expect(load.code == .timedOut)
            #expect(load.message.contains("The transfer took longer"), "\(load.message)")
        }
    }

    @Test("B16.29: a refusal that a server sends before the request is the answer")
    func early() async throws {
        func load(_ greeting: String) async throws -> Load {
            var options = LoopbackServer.Options()
            options.greeting = { _ in [.lines(greeting), .close] }
            return try await withServer(options, router: { _ in .text("never") }) { server in
                try await Load(server.at())
            }
        }
        let refused = try await load("HTTP/1.1 503 Busy\nContent-Length: 4\n\nbusy")
        // The request may be sent before the refusal has come; then the refusal is an ordinary answer.
        #expect(refused.status == 503 && refused.text == "busy", "\(String(describing: refused.error))")
    }
}
