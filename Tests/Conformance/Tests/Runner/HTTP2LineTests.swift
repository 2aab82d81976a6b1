// The lines of cases about HTTP/2: what they send arrives, what they expect can be wrong, and a client
// that breaks a rule fails.

import Testing
import URLLoadingTestSupport

@Suite("Case lines of HTTP/2", .serialized)
struct HTTP2LineTests {
    private static let beginning = """
        group g
        * H4.7: t
        server a | http2: required
        session {"http2":"prior_knowledge"}

        """

    private func run(_ lines: String) async throws -> ChildRun {
        let folder = try CaseDirectory()
        try folder.write("a.case", Self.beginning + lines)
        return try await conformance(["--cases", folder.path])
    }

    @Test(
        "Every kind of step is played",
        arguments: [
            "settings window=70000 9=1 ; headers 1 end frames=2 pad=3 | :status: 200 | a: b",
            "ping || 12345678 ; block 1 end || \\x88",
            "until heads 1 ; headers 1 | :status: 200 ; data 1 pad=2 || x ; data 1 end",
            "until frames 1 headers ; frame F0 00 0 || x ; raw || \\0\\0\\x01\\x01\\x05\\0\\0\\0\\x01\\x88",
            "times 3 ping ; until frames 3 pong ; bytewise headers 1 end | :status: 200",
            "until requests 1 ; stop-reading ; read ; wait g ; window 0 5 ; window 1 5 ; pong ; headers 1 end | :status: 200 ; half-close",
            "headers 1 end | :status: 200 ; goaway NO_ERROR 1 ; close",
            "goaway 0 2147483647 ; headers 1 end | :status: 200 ; until end",
        ])
    func steps(steps: String) async throws {
        for style in ["alone", "1 alone", "@a 1 alone"] {
            let run = try await run(
                "<<h2 \(style)\n+ settings ; ack ; until heads 1\n+ \(steps)\nstart x GET /\n^h2 headers\nopen g\nfinish x\n= 200\n"
            )
            #expect(run.exitCode == 0, "\(run.complaintsText)")
        }
    }

    @Test("Streams and connections are reset and closed, and answers of steps are answers to what they fit")
    func ends() async throws {
        let run = try await run(
            """
            <h2 GET @a/1
            + rst 1 CANCEL
            <h2* GET /2
            + reset
            < 200
            > GET /1
            = error networkConnectionLost
            > POST /3
            = answer 3
            > GET /2
            = error networkConnectionLost
            ^h2 closed 1
            * H4.7: u
            server a | http2: required | streams: 5 | window: 70000 | frame: 20000 | list: 1000 | connection-window: 70000
            session {"http2":"prior_knowledge"}
            <<h2 2
            + until heads 1 ; drop
            <<h2
            + until answers 1 ; until frames 1 goaway ; close
            < 200
            > GET /
            = 200
            close s
            ^h2 closed 1

            """)
        #expect(run.exitCode == 0, "\(run.complaintsText)")
    }

    @Test(
        "What the client sends is seen",
        arguments: [
            "^h2 settings 0 @a connection=1 | push: 0 | !streams | Length: 24",
            "^h2 window | Increment: 16711681 | Stream: 0",
            "^h2 headers 1 | Names: :method :scheme | :path: / | x-a: * | !x-b | End: yes | Connection: 1\n^h2 ack",
            "^h2 no rst\n^h2 no headers 3\n^h2 count 1 headers\n^h2 streams 1",
            "close s\n^h2 closed 1\n^h2 goaway | Code: NO_ERROR",
        ])
    func seen(lines: String) async throws {
        let run = try await run("< 200\n> GET / | X-A: 1\n= 200\n\(lines)\n")
        #expect(run.exitCode == 0, "\(run.complaintsText)")
    }

    @Test(
        "Whatever a case can expect of HTTP/2 can be wrong",
        arguments: [
            ("^h2 rst", "no rst came, but settings"), ("^h2 headers 3", "no headers came"),
            ("^h2 headers\n^h2 settings", "no settings came"), ("^h2 headers | a: b", "a is missing"),
            ("^h2 headers | x-a: 2", "x-a is \"1\""), ("^h2 headers | !x-a", "x-a is there"),
            ("^h2 headers | Names: :scheme", "Names is \":method\""), ("^h2 headers | End: no", "End is \"yes\""),
            ("^h2 headers | Code: CANCEL", "Code is \"none\""), ("^h2 settings | push: 1", "push is \"0\""),
            ("^h2 settings | !push", "push is there"),
            ("^h2 window | Increment: 1", "Increment is"), ("^h2 window | Length: 5", "Length is \"4\""),
            ("^h2 window | Payload: x", "Payload is"), ("^h2 window | Nonsense: x", "no Nonsense"),
            ("^h2 no headers", "headers with flags 5 on 1 came"), ("^h2 count 2 headers", "came 1 times"),
            ("^h2 count 0 headers", "came 1 times"), ("^h2 streams 2", "1 streams came"),
            ("^h2 streams 0", "1 streams came"),
            ("^h2 headers @b", "no server b"), ("^ POST /", "received GET"),
        ])
    func wrong(line: String, reason: String) async throws {
        let run = try await run("< 200\n> GET / | X-A: 1\n= 200\nclose s\n^h2 closed 1\n\(line)\n")
        #expect(run.exitCode == 1)
        #expect(run.complaintsText.contains(reason), "\(run.complaintsText)")
    }

    @Test("A client that breaks a rule of HTTP/2 fails the case, and so do servers that are set up wrongly")
    func broken() async throws {
        // What it was allowed by the script the server knows nothing of.
        let run = try await run(
            "server b | http2: required | window: 1\n<<h2 @b\n+ settings window=9\n<* 200\n"
                + "> GET http://{b}/\n> PUT http://{b}/ || 123456789\n? x absent\n")
        #expect(run.exitCode == 1)
        #expect(run.complaintsText.contains("the client has broken a rule of HTTP/2"), "\(run.complaintsText)")
        for (lines, reason) in [
            ("server b | http2: maybe", "off, offered or required"),
            ("server b | http2: off | streams: x", "streams is a number"),
            ("server b | streams: 1", "no setting streams"), ("server a", "two servers a"),
        ] {
            let run = try await self.run("\(lines)\n> GET /\n= 200\n")
            #expect(run.exitCode == 1)
            #expect(run.complaintsText.contains(reason), "\(run.complaintsText)")
        }
    }
}
