// fetch over both protocols: which one is spoken, what is told about it, and that nothing else is another.

import Foundation
import Testing
import URLLoadingFetch
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTestSupport

@Suite("fetch: HTTP/1.1 and HTTP/2", .timeLimit(.minutes(5)))
struct HTTP2RunTests {
    /// What runs speak.
    enum SpokenProtocol: String, CaseIterable, Sendable {
        case http1 = "HTTP/1.1"
        case http2 = "HTTP/2"
        case priorKnowledge = "HTTP/2 without TLS"

        var isHTTP2: Bool { self != .http1 }

        var option: String {
            switch self {
            case .http1: "--http1.1"
            case .http2: "--http2"
            case .priorKnowledge: "--http2-prior-knowledge"
            }
        }

        /// As in start lines.
        var version: String { isHTTP2 ? "HTTP/2" : "HTTP/1.1" }

        /// A field's name as it goes over the wire.
        func field(_ name: String) -> String { isHTTP2 ? name.lowercased() : name }
    }

    /// Runs `body` with a server that speaks both, or what it is told, under TLS if wanted; and with
    /// the options that trust it.
    private func withSite(
        _ use: ServerHTTP2 = .offered, isSecure: Bool = true, router: @escaping LoopbackServer.Router = Self.site,
        _ body: (LoopbackServer, [String]) async throws -> Void
    ) async throws {
        let (root, identity) = try CertificateFactory.server("127.0.0.1")
        let anchor = try ScratchFile(root.pem)
        var options = LoopbackServer.Options(tls: isSecure ? ServerTLS(identity: identity) : nil)
        options.http2 = use
        try await withServer(options, router: router) { server in
            try await body(server, isSecure ? ["--cacert", anchor.path] : [])
        }
    }

    /// The same for one protocol.
    private func withSite(
        speaking spoken: SpokenProtocol, router: @escaping LoopbackServer.Router = Self.site,
        _ body: (LoopbackServer, [String]) async throws -> Void
    ) async throws {
        try await withSite(isSecure: spoken != .priorKnowledge, router: router) { server, options in
            try await body(server, options + [spoken.option])
            #expect((server.stats.http2Connections > 0) == spoken.isHTTP2)
        }
    }

    private static func site(_ request: ServerRequest) -> ServerResponse {
        switch request.path {
        case "/moved": ServerResponse.status(302).adding("Location", "/there")
        case "/early":
            .script([
                .lines("HTTP/1.1 103 Early Hints\nLink: <a>\n\nHTTP/1.1 200 OK\nX-A: 1\nContent-Length: 4\n\nbody")
            ])
        case "/missing": .text("nothing", status: 404)
        case "/packed": ServerResponse.text(String(repeating: "again ", count: 1000)).compressed()
        case "/file": .generated(length: 100_000, tag: "\"v\"", to: request)
        default: ServerResponse.text(request.protocolName).adding("X-Method", request.method)
        }
    }

    // MARK: Which protocol

    @Test(
        "H1.1, H1.5: over TLS both are offered, unless --http1.1 says otherwise; the last of several options counts",
        arguments: [
            ([], "h2 2"), (["--http2"], "h2 2"), (["--http1.1"], "http/1.1 1.1"), (["--http2-prior-knowledge"], "h2 2"),
            (["--http1.1", "--http2"], "h2 2"), (["--http2-prior-knowledge", "--http1.1"], "http/1.1 1.1"),
        ] as [([String], String)])
    func offered(choice: [String], expected: String) async throws {
        try await withSite { server, options in
            let run = try await FetchRun.run(options + choice + ["-w", " %{http_version}", server.url("/")])
            #expect(run.output == expected && run.exitCode == 0, "\(run.complaints)")
        }
    }

    @Test("H1.2: a server that has only one of them is spoken to in that", arguments: [ServerHTTP2.off, .required])
    func chosen(use: ServerHTTP2) async throws {
        try await withSite(use) { server, options in
            let run = try await FetchRun.run(options + ["-w", " %{http_version}", server.url("/")])
            #expect(run.output == (use.use == .off ? "http/1.1 1.1" : "h2 2"), "\(run.complaints)")
        }
    }

    @Test(
        "H1.3, H1.4: without TLS it is HTTP/1.1, or HTTP/2 by prior knowledge; nothing is asked for",
        arguments: [
            ([], "http/1.1 1.1"), (["--http2"], "http/1.1 1.1"), (["--http2-prior-knowledge"], "h2 2"),
            (["--http2-prior-knowledge", "--http2"], "http/1.1 1.1"),
        ] as [([String], String)])
    func inClear(choice: [String], expected: String) async throws {
        try await withSite(
            isSecure: false,
            router: { request in
                request.fields.contains("Upgrade") ? .status(500) : Self.site(request)
            }
        ) { server, options in
            let run = try await FetchRun.run(choice + ["-w", " %{http_version}", server.url("/")])
            #expect(run.output == expected && run.exitCode == 0, "\(run.complaints)")
        }
    }

    @Test("H1.4: an answer in HTTP/1.1 to --http2-prior-knowledge is an error, and nothing is tried again in that")
    func wrongKnowledge() async throws {
        try await withSite(.off, isSecure: false) { server, _ in
            let run = try await FetchRun.run("--http2-prior-knowledge", "-w", "%{http_version}", server.url("/"))
            #expect(run.exitCode == 8 && run.output == "0")
            #expect(run.complaints.hasPrefix("fetch: ") && run.complaints.contains("does not begin as HTTP/2 does"))
            #expect(run.complaints.contains("leave --http2-prior-knowledge out"), "\(run.complaints)")
            #expect(server.stats.requests == 0 && server.stats.connectionsAccepted == 1)
        }
    }

    @Test("%{http_version} is 1 for HTTP/1.0, as in curl, and 0 without an answer")
    func oldVersions() async throws {
        let server = try LoopbackServer.start { _ in .script([.lines("HTTP/1.0 200 OK\n\nold"), .close]) }
        #expect(try await FetchRun.run("-w", " %{http_version}", server.url("/")).output == "old 1")
        await server.stop()
        #expect(try await FetchRun.run("-s", "-w", "%{http_version}", "http://127.0.0.1:1/").output == "0")
    }

    // MARK: What is told

    @Test("H4.1: -i, -I and -f -i show the status line and the fields as they came", arguments: SpokenProtocol.allCases)
    func heads(spoken: SpokenProtocol) async throws {
        try await withSite(speaking: spoken) { server, options in
            let words = spoken.isHTTP2 ? [" 103", " 200", " 404"] : [" 103 Early Hints", " 200 OK", " 404 Not Found"]
            let lines = words.map { spoken.version + $0 + "\n" }
            let shown = try await FetchRun.run(options + ["-i", server.url("/early")]).output
            #expect(shown.hasPrefix("\(lines[0])\(spoken.field("Link")): <a>\n\n\(lines[1])"), "\(shown)")
            #expect(shown.contains("\n\(spoken.field("X-A")): 1\n") && shown.hasSuffix("\n\nbody"), "\(shown)")
            let head = try await FetchRun.run(options + ["-I", server.url("/")]).output
            #expect(head.hasPrefix(lines[1]) && head.hasSuffix("\n\n"), "\(head)")
            #expect(head.contains("\n\(spoken.field("X-Method")): HEAD\n"), "\(head)")
            let failed = try await FetchRun.run(options + ["-f", "-i", server.url("/missing")])
            #expect(failed.output.hasPrefix(lines[2]) && failed.exitCode == 22, "\(failed.output)")
        }
    }

    @Test(
        "B12.6, H3.3, H3.4: -v shows what was sent and what came, as it was spelled", arguments: SpokenProtocol.allCases
    )
    func trace(spoken: SpokenProtocol) async throws {
        try await withSite(speaking: spoken) { server, options in
            let run = try await FetchRun.run(options + ["-v", "-H", "X-One: 1", server.url("/moved?a")])
            let lines = run.complaints.split(separator: "\n").map(String.init)
            #expect(
                lines.contains("> GET /moved?a \(spoken.version)") && lines.contains("> GET /there \(spoken.version)"))
            #expect(lines.count { $0 == "> \(spoken.field("Host")): 127.0.0.1:\(server.port)" } == 2, "\(lines)")
            #expect(lines.count { $0 == "> \(spoken.field("X-One")): 1" } == 2, "\(lines)")
            #expect(lines.contains { $0.lowercased().hasPrefix("> connection:") } == !spoken.isHTTP2, "\(lines)")
            #expect(lines.contains("< \(spoken.version) 302\(spoken.isHTTP2 ? "" : " Found")"), "\(lines)")
            #expect(lines.contains("< \(spoken.field("Location")): /there"), "\(lines)")
        }
    }

    @Test("H1.9: --timing and --har name the protocol of each exchange", arguments: SpokenProtocol.allCases)
    func reports(spoken: SpokenProtocol) async throws {
        try await withSite(speaking: spoken) { server, options in
            let place = try Workplace()
            let words = (options + ["--timing", "--har", "run.har", "-w", "%{http_version}"]).joined(separator: " ")
            let run = try await place.shell("fetch \(words) \(server.url("/moved"))")
            let titles = run.complaints.split(separator: "\n").filter { $0.hasPrefix("GET ") }
            #expect(titles.count == 2 && titles.allSatisfy { $0.contains(", \(spoken.version)") }, "\(run.complaints)")
            #expect(titles.map { $0.hasSuffix(", on an open connection") } == [false, true], "\(run.complaints)")
            #expect(run.output == (spoken.isHTTP2 ? "h22" : "http/1.11.1"))
            let archive = try JSONDecoder().decode(HAR.self, from: Data(try #require(place.text("run.har")).utf8))
            #expect(archive.log.entries.map(\.response.status) == [302, 200])
            for entry in archive.log.entries {
                #expect(entry.request.httpVersion == spoken.version && entry.response.httpVersion == spoken.version)
                #expect(entry.response.statusText.isEmpty == spoken.isHTTP2)
                let names = entry.request.headers.map(\.name)
                #expect(names.contains(spoken.field("User-Agent")) && names.contains(spoken.field("Host")), "\(names)")
                #expect(names.contains("Connection") != spoken.isHTTP2, "\(names)")
                #expect(entry.request.headersSize > 0 && entry.response.headersSize > 0)
            }
        }
    }

    // MARK: Everything else

    @Test("H3.5: bodies of every kind arrive, with their length where it is known", arguments: SpokenProtocol.allCases)
    func bodies(spoken: SpokenProtocol) async throws {
        try await withSite(speaking: spoken, router: RequestTests.mirror) { server, options in
            let place = try Workplace()
            try place.write("contents", to: "file")
            let fetch = "fetch " + options.joined(separator: " ")
            let form = try await place.shell("\(fetch) -d a=1 -d b=2 \(server.url("/"))").output
            #expect(form.hasPrefix("POST /\n") && form.hasSuffix("\n\na=1&b=2"), "\(form)")
            #expect(form.contains("Content-Length: 7\n"), "\(form)")
            let file = try await place.shell("\(fetch) -T file \(server.url("/dir/"))").output
            #expect(file.hasPrefix("PUT /dir/file\n") && file.hasSuffix("\n\ncontents"), "\(file)")
            #expect(file.contains("Content-Length: 8\n"), "\(file)")
            let stream = try await place.shell("printf 'from a pipe' | \(fetch) -T - \(server.url("/x"))").output
            #expect(stream.hasPrefix("PUT /x\n") && stream.hasSuffix("\n\nfrom a pipe"), "\(stream)")
            #expect(!stream.contains("Content-Length"), "\(stream)")
            #expect(stream.contains("Transfer-Encoding: chunked\n") != spoken.isHTTP2, "\(stream)")
            let parts = try await place.shell("\(fetch) -F a=b -F f=@file \(server.url("/"))").output
            #expect(parts.contains("Content-Type: multipart/form-data; boundary="), "\(parts)")
            #expect(parts.contains("Content-Length: ") && parts.contains("\r\n\r\ncontents\r\n"), "\(parts)")
        }
    }

    @Test("H2.1: files of one host come at once, over one connection of HTTP/2", arguments: SpokenProtocol.allCases)
    func files(spoken: SpokenProtocol) async throws {
        try await withSite(speaking: spoken) { server, options in
            let place = try Workplace()
            let urls = (1...20).map { server.url("/file?\($0)") }
            let outputs = (1...20).map { "-o \($0)" }
            let words =
                options + ["-s", "--parallel-max", "20", "-w", "'%{http_version} %{size_download}\\n'"] + outputs
            let run = try await place.shell("fetch \((words + urls).joined(separator: " "))")
            let line = spoken.isHTTP2 ? "2 100000\n" : "1.1 100000\n"
            #expect(run.exitCode == 0 && run.output == String(repeating: line, count: 20), "\(run.output)")
            // Before it was known what the server speaks, more may have been dialled; nothing was spoken there.
            #expect(server.stats.http2Connections == (spoken.isHTTP2 ? 1 : 0))
            let bytes = Data(GeneratedBytes.bytes(100_000))
            for number in 1...20 {
                #expect(FileManager.default.contents(atPath: "\(place.path)/\(number)") == bytes, "\(number)")
            }
        }
    }

    @Test("H6.7: -C - goes on, --compressed asks and undoes, -r gets a part", arguments: SpokenProtocol.allCases)
    func parts(spoken: SpokenProtocol) async throws {
        try await withSite(speaking: spoken) { server, options in
            let place = try Workplace()
            let fetch = "fetch " + options.joined(separator: " ")
            #expect(try await place.shell("\(fetch) -so whole \(server.url("/file"))").exitCode == 0)
            let note = "{\"version\":1,\"url\":\"\(server.url("/file"))\",\"validator\":\"\\\"v\\\"\"}"
            try place.write(note, to: "part.part.note")
            _ = try await place.shell("head -c 5000 whole > part.part; chmod 600 part.part.note")
            let rest = try await place.shell("\(fetch) -C - -o part \(server.url("/file")) && cmp part whole")
            #expect(
                rest.exitCode == 0 && rest.complaints.contains("behind 5.0 kB that were there"), "\(rest.complaints)")
            let packed = try await place.shell("\(fetch) --compressed \(server.url("/packed"))")
            #expect(packed.output == String(repeating: "again ", count: 1000), "\(packed.complaints)")
            let range = try await place.shell("\(fetch) -r 99990- -so range -w '%{http_code}' \(server.url("/file"))")
            #expect(range.output == "206" && place.size("range") == 10, "\(range.complaints)")
        }
    }
}
