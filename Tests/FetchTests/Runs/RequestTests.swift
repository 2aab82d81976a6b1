// What each option about the request makes of it, as the server sees it.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

@Suite("fetch: requests")
struct RequestTests {
    /// Tells the request: method, target, some fields, body.
    static func mirror(_ request: ServerRequest) -> ServerResponse {
        let names = [
            "X-Test", "User-Agent", "Referer", "Range", "Accept-Encoding", "Content-Type", "Accept", "Cookie",
            "Content-Length", "Transfer-Encoding",
        ]
        let fields = names.compactMap { name in request.fields.first(.init(name)).map { "\(name): \($0)" } }
        let lines =
            ["\(request.method) \(request.target)"] + fields + ["", String(decoding: request.body, as: UTF8.self)]
        return .text(lines.joined(separator: "\n"))
    }

    @Test("-X, -H, -A, -e, -r, --compressed")
    func fields() async throws {
        let server = try LoopbackServer.start(router: Self.mirror)
        let run = try await FetchRun.run(
            "-X", "PURGE", "-H", "X-Test: one", "-H", "X-Test: two", "-A", "me/1", "-e", "http://from/", "-r", "5-9",
            server.url("/a?b"))
        let lines = run.output.split(separator: "\n")
        #expect(lines.first == "PURGE /a?b" && lines.contains("X-Test: one,two") && lines.contains("User-Agent: me/1"))
        #expect(lines.contains("Referer: http://from/") && lines.contains("Range: bytes=5-9"))
        let cookies = try await FetchRun.run("-H", "Cookie: a=1", "-H", "cookie: b=2", server.url("/"))
        #expect(cookies.output.contains("Cookie: a=1; b=2\n"))
        let compressed = try await FetchRun.run("--compressed", server.url("/"))
        #expect(compressed.output.contains("Accept-Encoding: gzip"))
        let plain = try await FetchRun.run(server.url("/"))
        #expect(plain.output.hasPrefix("GET /\n") && plain.output.contains("Accept-Encoding: identity\n"))
        #expect(plain.output.contains("User-Agent: fetch/\(URLSession.libraryVersion)\n"))
        await server.stop()
    }

    @Test("B16.51: --compressed asks for br and zstd where their libraries are found, and only there")
    func libraryCodings() async throws {
        let coded = StoredCodings.zstandard(Array("undone".utf8))
        let server = try LoopbackServer.start { request in
            if request.path == "/asked" { return .text(request.fields.first(.acceptEncoding) ?? "none") }
            return .bytes(coded).adding("Content-Encoding", "zstd")
        }
        let found = CodingLibraries.system
        #expect(try await FetchRun.run("--compressed", server.url("/asked")).output == found.acceptEncoding)
        if found.zstandard != nil {
            for option in ["--compressed", "-s"] {
                #expect(try await FetchRun.run(option, server.url("/zstd")).output == "undone")
            }
        }
        // Where the libraries are no libraries, which the loader finds first.
        let folder = FileManager.default.temporaryDirectory.appending(path: "no-codings-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in ["libbrotlidec.so.1", "libzstd.so.1"] { try Data().write(to: folder.appending(path: name)) }
        let others = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"].map { ":\($0)" } ?? ""
        let changes = ["LD_LIBRARY_PATH": folder.path + others]
        let asked = try await FetchRun.run(["--compressed", server.url("/asked")], changing: changes)
        #expect(asked.output == "gzip, deflate", "\(asked.complaints)")
        let untouched = folder.appending(path: "untouched")
        let run = try await FetchRun.run(["-s", "-o", untouched.path, server.url("/zstd")], changing: changes)
        #expect(run.exitCode == 0, "\(run.complaints)")
        #expect(try Data(contentsOf: untouched) == Data(coded))
        await server.stop()
    }

    @Test("-d, --data-binary and --json, from texts, files and standard input")
    func bodies() async throws {
        let server = try LoopbackServer.start(router: Self.mirror)
        let place = try Workplace()
        try place.write("two\nlines\n", to: "body")
        let url = server.url("/")
        let form = try await place.shell("fetch -d a=1 -d @body \(url)")
        #expect(form.output.hasPrefix("POST /\n") && form.output.hasSuffix("\n\na=1&twolines"))
        #expect(form.output.contains("Content-Type: application/x-www-form-urlencoded\n"))
        let binary = try await place.shell("fetch -H 'Content-Type: text/plain' --data-binary @body \(url)")
        #expect(binary.output.hasSuffix("\n\ntwo\nlines\n") && binary.output.contains("Content-Type: text/plain\n"))
        let json = try await place.shell("echo '{\"a\": 1}' | fetch --json @- \(url)")
        #expect(json.output.hasSuffix("\n\n{\"a\": 1}\n") && json.output.contains("Content-Type: application/json\n"))
        #expect(json.output.contains("Accept: application/json\n"))
        let missing = try await place.shell("fetch -d @nothing \(url)")
        #expect(missing.exitCode == 26 && missing.complaints.hasPrefix("fetch: nothing cannot be read: No such file"))
        await server.stop()
    }

    @Test("-T sends a file with its length, or standard input without; a directory's URL gets the file's name")
    func uploads() async throws {
        let server = try LoopbackServer.start(router: Self.mirror)
        let place = try Workplace()
        try place.write("contents", to: "a file")
        let file = try await place.shell("fetch -T 'a file' \(server.url("/dir/"))")
        #expect(file.output.hasPrefix("PUT /dir/a%20file\n") && file.output.contains("Content-Length: 8\n"))
        #expect(file.output.hasSuffix("\n\ncontents"))
        let stream = try await place.shell("printf 'from a pipe' | fetch -T - \(server.url("/x"))")
        #expect(stream.output.hasPrefix("PUT /x\n") && stream.output.contains("Transfer-Encoding: chunked\n"))
        #expect(stream.output.hasSuffix("\n\nfrom a pipe"))
        try place.write("read before\nthe rest", to: "lines")
        let rest = try await place.shell("{ read first; fetch -T - \(server.url("/x")); } < lines")
        #expect(rest.output.hasSuffix("\n\nthe rest"))
        let missing = try await place.shell("fetch -T nothing \(server.url("/x"))")
        #expect(missing.exitCode == 26 && missing.complaints.contains("nothing cannot be read"))
        #expect(try await place.shell("fetch -T . \(server.url("/x"))").exitCode == 26)
        await server.stop()
    }

    @Test("-I asks for the head alone and shows it")
    func head() async throws {
        let server = try LoopbackServer.start { request in
            request.method == "HEAD" ? ServerResponse.text("12345").adding("X-Only", "head") : .status(500)
        }
        let run = try await FetchRun.run("-I", server.url("/"))
        #expect(run.exitCode == 0 && run.output.hasPrefix("HTTP/1.1 200 OK\n") && run.output.contains("X-Only: head\n"))
        #expect(run.output.hasSuffix("\n\n") && run.output.contains("Content-Length: 5\n"))
        await server.stop()
    }

    @Test("-i shows the heads as they came, those of 1xx answers, redirects and questions for a password too")
    func heads() async throws {
        let server = try LoopbackServer.start { request in
            switch request.path {
            case "/early":
                .script([
                    .lines(
                        "HTTP/1.1 103 Early\nLink: <a>\n\nHTTP/1.1 200 Fine\nx-b: 1\nSet-Cookie: a=1\nset-cookie: b=2\n"
                    ),
                    .lines("Content-Length: 4\nX-A: 2\n\nbody"),
                ])
            case "/away": .script([.lines("HTTP/1.1 302 There\nLocation: /early\nContent-Length: 0\n\n")])
            default:
                request.fields.contains(.authorization)
                    ? .script([.lines("HTTP/1.1 302 In\nLocation: /away\nContent-Length: 0\n\n")])
                    : .script([
                        .lines("HTTP/1.1 401 Who\nWWW-Authenticate: Basic realm=\"r\"\nContent-Length: 0\n\n")
                    ])
            }
        }
        let last = "HTTP/1.1 200 Fine\nx-b: 1\nSet-Cookie: a=1\nset-cookie: b=2\nContent-Length: 4\nX-A: 2\n\nbody"
        let away = "HTTP/1.1 302 There\nLocation: /early\nContent-Length: 0\n\n"
        let early = "HTTP/1.1 103 Early\nLink: <a>\n\n"
        let who = "HTTP/1.1 401 Who\nWWW-Authenticate: Basic realm=\"r\"\nContent-Length: 0\n\n"
        #expect(try await FetchRun.run("-i", server.url("/away")).output == away + early + last)
        let all = try await FetchRun.run("-i", "-u", "me:pw", server.url("/"))
        #expect(all.output == who + "HTTP/1.1 302 In\nLocation: /away\nContent-Length: 0\n\n" + away + early + last)
        #expect(try await FetchRun.run("-i", server.url("/")).output == who)
        #expect(try await FetchRun.run("-i", "--no-redirects", server.url("/away")).output == away)
        let far = try await FetchRun.run("-i", "--max-redirs", "0", server.url("/away"))
        #expect(far.output == away && far.exitCode == 47)
        let place = try Workplace()
        #expect(try await place.shell("fetch -sio f \(server.url("/away"))").exitCode == 0)
        #expect(place.text("f") == away + early + last)
        await server.stop()
    }

    @Test(
        "What a run that was killed while it wrote a jar has left goes with the next jar; what is being written stays")
    func killedJar() async throws {
        let server = try LoopbackServer.start { _ in .text("").adding("Set-Cookie", "sid=new") }
        let place = try Workplace()
        let others = try await place.shell(
            "ln -s nowhere .fetch-new-linked; mkdir .fetch-new-folder; echo > .fetch-new-by")
        #expect(others.exitCode == 0)
        // As a run that is writing now has it.
        try place.write("locked", to: ".fetch-new-locked")
        let writer = open("\(place.path)/.fetch-new-locked", O_RDWR | O_CLOEXEC)
        defer { close(writer) }
        #expect(flock(writer, LOCK_EX | LOCK_NB) == 0)
        for jar in ["jar", "\(place.path)/jar"] {
            try place.write("sid\told", to: ".fetch-new-killed")
            let run = try await place.shell("fetch -c '\(jar)' \(server.url("/"))")
            #expect(run.exitCode == 0, "\(run.complaints)")
            #expect(place.names == ["by", "folder", "linked", "locked"].map { ".fetch-new-" + $0 } + ["jar"])
            #expect(place.text("jar")?.contains("sid\tnew\n") == true)
        }
        await server.stop()
    }

    @Test("-b sends cookies of the command line or of a file; -c keeps what was set, for its owner alone")
    func cookies() async throws {
        let server = try LoopbackServer.start { request in
            request.path == "/set"
                ? ServerResponse.text("set").adding("Set-Cookie", "sid=kept; Max-Age=3600; HttpOnly")
                : .text(request.fields.first(.cookie) ?? "none")
        }
        let place = try Workplace()
        #expect(try await place.shell("fetch -b a=1 \(server.url("/"))").output == "a=1")
        let both = try await place.shell("umask 0; fetch -c jar \(server.url("/set")) \(server.url("/"))")
        #expect(both.output == "setsid=kept")
        #expect(try place.rights("jar") == 0o600 && place.names == ["jar"])
        #expect(place.text("jar")?.contains("#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t") == true)
        #expect(try await place.shell("fetch -b jar \(server.url("/"))").output == "sid=kept")
        #expect(try await place.shell("fetch -b no-such-file \(server.url("/"))").output == "none")
        #expect(try await place.shell("fetch -b a=1 -b 'b=2; c=3' \(server.url("/"))").output == "a=1; b=2; c=3")
        try place.write("127.0.0.1\tFALSE\t/\tFALSE\t0\tmore\tone\n", to: "other")
        let files = try await place.shell("fetch -b jar -b other \(server.url("/"))").output
        #expect(Set(files.components(separatedBy: "; ")) == ["sid=kept", "more=one"])
        #expect(try await place.shell("fetch -c /nowhere/jar \(server.url("/"))").exitCode == 23)
        await server.stop()
    }

    @Test("Redirects are followed, not with --no-redirects, and no further than --max-redirs")
    func redirects() async throws {
        let server = try LoopbackServer.start { request in
            guard let number = Int(request.path.dropFirst()), number > 0 else { return .text("there") }
            return ServerResponse.text("moved", status: 302).adding("Location", "/\(number - 1)")
        }
        #expect(try await FetchRun.run(server.url("/3")).output == "there")
        #expect(try await FetchRun.run("--no-redirects", "-L", server.url("/3")).output == "there")
        #expect(try await FetchRun.run("--no-redirects", server.url("/3")).output == "moved")
        #expect(try await FetchRun.run("--max-redirs", "3", server.url("/3")).output == "there")
        let far = try await FetchRun.run("--max-redirs", "2", server.url("/3"))
        #expect(far.exitCode == 47 && far.output.isEmpty)
        #expect(far.complaints.hasPrefix("fetch: the server redirects more than 2 times\n"))
        await server.stop()
    }

    @Test("-u answers the URL's server when it asks for a password, and no server that a redirect leads to")
    func passwords() async throws {
        let door = "Basic " + Data("me:secret".utf8).base64EncodedString()
        let other = try LoopbackServer.start { request in
            request.fields.contains(.authorization)
                ? .text("leak")
                : ServerResponse.text("who?", status: 401).adding("WWW-Authenticate", "Basic realm=\"o\"")
        }
        let target = other.url("/")
        let server = try LoopbackServer.start { request in
            guard request.fields.first(.authorization) == door else {
                return ServerResponse.text("who?", status: 401).adding("WWW-Authenticate", "Basic realm=\"r\"")
            }
            return request.path == "/away" ? ServerResponse.status(302).adding("Location", target) : .text("in")
        }
        #expect(try await FetchRun.run("-u", "me:secret", server.url("/")).output == "in")
        #expect(try await FetchRun.run("-u", "me:wrong", server.url("/")).output == "who?")
        #expect(try await FetchRun.run("-fu", "me:wrong", server.url("/")).exitCode == 22)
        #expect(try await FetchRun.run("-u", "me:secret", server.url("/away")).output == "who?")
        await server.stop()
        await other.stop()
    }

    @Test("--timeout is of silence, --resolve and --unix-socket lead elsewhere, --cacert of nonsense is 77")
    func places() async throws {
        let server = try LoopbackServer.start { request in
            request.path == "/never" ? .script([.waitForClose]) : .text("for \(request.fields.first("Host") ?? "")")
        }
        let silent = try await FetchRun.run("--timeout", "0.2", server.url("/never"))
        #expect(silent.exitCode == 28)
        let named = try await FetchRun.run(
            "--resolve", "name.test:127.0.0.1", "http://name.test:\(server.port)/")
        #expect(named.output == "for name.test:\(server.port)")
        for value in ["name.test:\(server.port):127.0.0.1", "*:\(server.port):127.0.0.1"] {
            #expect(try await FetchRun.run("--resolve", value, "http://name.test:\(server.port)/").exitCode == 0)
        }
        let elsewhere = try await FetchRun.run("--resolve", "name.test:1:127.0.0.1", "http://name.test:\(server.port)/")
        #expect(elsewhere.exitCode == 6)
        for value in [
            "name.test:80:127.0.0.1:\(server.port)", "::localhost:\(server.port)", "name.test:::\(server.port)",
        ] {
            let run = try await FetchRun.run(
                "--connect-to", value, "--resolve", "name.test:\(server.port):127.0.0.1", "http://name.test/")
            #expect(run.output == "for name.test", "\(value)")
        }
        let place = try Workplace()
        let local = try LoopbackServer.start(.init(unixPath: place.path + "/s")) { _ in .text("by socket") }
        #expect(try await FetchRun.run("--unix-socket", place.path + "/s", "http://a/").output == "by socket")
        try place.write("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", to: "bad.pem")
        #expect(try await FetchRun.run("--cacert", place.path + "/bad.pem", "https://127.0.0.1:1/").exitCode == 77)
        await local.stop()
        await server.stop()
    }
}
