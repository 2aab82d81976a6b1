// The options that scripts for curl use every day, as the server and the disk see them.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust
import URLLoadingWire

@Suite("fetch: every day")
struct EverydayTests {
    /// Runs a test with a server and a folder.
    private func with(
        _ options: LoopbackServer.Options = .init(), router: @escaping LoopbackServer.Router = RequestTests.mirror,
        _ body: (LoopbackServer, Workplace) async throws -> Void
    ) async throws {
        let server = try LoopbackServer.start(options, router: router)
        try await body(server, try Workplace())
        await server.stop()
    }

    // MARK: URLs

    @Test("Choices in URLs are made, and stand in the names of files")
    func choices() async throws {
        try await with(router: { .text($0.target) }) { server, place in
            let run = try await place.shell("fetch -s -o 'f-#2-#1' '\(server.url("/{a,b}/[08-09]"))'")
            #expect(run.exitCode == 0 && place.names == ["f-08-a", "f-08-b", "f-09-a", "f-09-b"])
            #expect(place.text("f-09-a") == "/a/09")
            let literal = try await place.shell("fetch -g '\(server.url("/{a,b}"))'")
            #expect(literal.output == "/%7Ba,b%7D")
            let wrong = try await place.shell("fetch '\(server.url("/[3-1]"))'")
            #expect(wrong.exitCode == 3 && wrong.complaints.contains("--globoff"))
        }
    }

    @Test("A URL without a scheme is tried by http where https fails, never with what is private or asks for TLS")
    func guessed() async throws {
        try await with(router: { .text($0.target) }) { server, place in
            let there = "--resolve plain.test:127.0.0.1 plain.test:\(server.port)/a"
            let run = try await place.shell("fetch \(there)")
            #expect(run.output == "/a" && run.exitCode == 0)
            #expect(run.complaints == "fetch: no https at plain.test: trying http\n")
            let pin = "--pinnedpubkey sha256//\(String(repeating: "A", count: 43))="
            try place.write(try CertificateFactory.root().certificate.pem, to: "ca")
            for options in [
                "-H 'X: y'", "-u me:secret", "-d x", "-b a=b", "--proto =https", "-X DELETE", pin, "--cacert ca",
                "--capath .", "--tlsv1.3", "--tls-max 1.2", "--tls",
            ] {
                let run = try await place.shell("fetch \(options) \(there)")
                #expect(run.exitCode == 35 && !run.complaints.contains("trying"), "\(options): \(run.complaints)")
            }
            #expect(
                try await place.shell("fetch --resolve plain.test:127.0.0.1 'plain.test:\(server.port)/a?b'").exitCode
                    == 35)
            let closed = try await place.shell("fetch --resolve plain.test:127.0.0.1 plain.test:1/")
            #expect(closed.exitCode == 7 && closed.complaints.contains("trying http"))
            #expect(try await place.shell("fetch localhost:\(server.port)/b").output == "/b")
            #expect(try await place.shell("fetch :\(server.port)/c").output == "/c")
            #expect(try await place.shell("fetch --url localhost:\(server.port)/d").output == "/d")
        }
    }

    @Test("--next has options of its own, and cookies are shared")
    func next() async throws {
        try await with(router: { request in
            let answer = RequestTests.mirror(request)
            return request.path == "/login" ? answer.adding("Set-Cookie", "sid=7; Path=/") : answer
        }) { server, place in
            let run = try await place.shell(
                "fetch -s -d x \(server.url("/login")) --next -A you \(server.url("/page"))")
            let lines = run.output.split(separator: "\n").map(String.init)
            #expect(lines.first == "POST /login" && lines.contains("xGET /page") && lines.contains("Cookie: sid=7"))
            #expect(lines.contains("User-Agent: you") && run.exitCode == 0)
        }
    }

    @Test("--proto is for URLs and redirects, --proto-redir for redirects alone; both end with 1")
    func schemes() async throws {
        try await with(router: { request in
            request.path == "/away"
                ? ServerResponse.status(302).adding("Location", "https://127.0.0.1:1/") : .text("here")
        }) { server, place in
            let refused = try await place.shell("fetch --proto =https \(server.url("/"))")
            #expect(refused.exitCode == 1 && refused.complaints == "fetch: --proto does not allow http\n")
            for option in ["--proto =http", "--proto-redir =http", "--proto -https"] {
                let run = try await place.shell("fetch \(option) \(server.url("/away"))")
                #expect(
                    run.exitCode == 1 && run.complaints.contains("redirects to https, which is not allowed"),
                    "\(option)")
            }
            #expect(try await place.shell("fetch --proto-redir =https \(server.url("/"))").output == "here")
            #expect(try await place.shell("fetch \(server.url("/away"))").exitCode == 7)
            let count = server.stats.requests
            for options in ["--repeat 1", "--compare \(server.url("/other"))", "--compare https://127.0.0.1:1/"] {
                let run = try await place.shell("fetch --proto =https \(options) \(server.url("/"))")
                #expect(run.exitCode == 1 && run.output.isEmpty, "\(options)")
                #expect(run.complaints == "fetch: --proto does not allow http\n")
            }
            let other = try await place.shell(
                "fetch --proto =http --compare https://127.0.0.1:1/ \(server.url("/"))")
            #expect(other.exitCode == 1 && other.complaints == "fetch: --proto does not allow https\n")
            #expect(server.stats.requests == count)
        }
    }

    // MARK: Requests

    @Test("--data-raw, --data-urlencode, --url-query, --oauth2-bearer")
    func bodies() async throws {
        try await with(router: { request in
            .text(
                "\(request.target) \(request.fields.first(.authorization) ?? "-") \(String(decoding: request.body, as: UTF8.self))"
            )
        }) { server, place in
            try place.write("a b&", to: "file")
            func run(_ options: String) async throws -> String {
                try await place.shell("fetch \(options) \(server.url("/x?y"))").output
            }
            #expect(try await run("--data-raw @file -d z") == "/x?y - @file&z")
            #expect(
                try await run("--data-urlencode 'n=a b' --data-urlencode m@file --data-urlencode '=1+1'")
                    == "/x?y - n=a+b&m=a+b%26&1%2B1")
            #expect(try await run("--url-query 'n=a b' --url-query '+m=%20'") == "/x?y&n=a+b&m=%20 - ")
            #expect(try await run("-G --data-urlencode 'n=ä'") == "/x?y&n=%C3%A4 - ")
            #expect(try await run("--oauth2-bearer tok") == "/x?y Bearer tok ")
            #expect(try await place.shell("fetch --oauth2-bearer 't k' \(server.url("/"))").exitCode == 2)
        }
    }

    @Test("-u goes with the first request over https, with --basic over http; --digest and --anyauth wait")
    func passwords() async throws {
        let asking: LoopbackServer.Router = { request in
            let shown = request.fields.first(.authorization)
            if request.path == "/ahead" { return .text(shown ?? "none") }
            if shown?.hasPrefix("Digest") == true || shown?.hasPrefix("Basic") == true, request.path == "/both" {
                return .text(shown.map { String($0.prefix(6)) } ?? "")
            }
            return ServerResponse.text("who?", status: 401).adding("WWW-Authenticate", "Basic realm=\"r\"")
                .adding("WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\"")
        }
        let root = try CertificateFactory.root()
        let issued = try root.issue(.server(hosts: ["127.0.0.1"]))
        var secure = LoopbackServer.Options()
        secure.tls = ServerTLS(identity: issued.identity)
        try await with(secure, router: asking) { server, place in
            try place.write(root.certificate.pem, to: "ca")
            let run = "fetch -s --cacert ca -u me:secret \(server.url("/ahead"))"
            #expect(try await place.shell(run).output == "Basic bWU6c2VjcmV0")
            for option in ["--anyauth", "--digest", "--ntlm"] {
                #expect(try await place.shell("\(run) \(option)").output == "none", "\(option)")
            }
        }
        try await with(router: asking) { server, place in
            let run = "fetch -s -u me:secret"
            let waiting = try await place.shell("\(run) \(server.url("/ahead"))")
            #expect(waiting.output == "none")
            #expect(try await place.shell("\(run) --basic \(server.url("/ahead"))").output == "Basic bWU6c2VjcmV0")
            #expect(try await place.shell("\(run) --digest \(server.url("/both"))").output == "Digest")
            #expect(try await place.shell("\(run) --basic \(server.url("/both"))").output == "Basic ")
            #expect(try await place.shell("\(run) --ntlm \(server.url("/both"))").output == "who?")
        }
    }

    // MARK: Conditions and files

    @Test("-z and --etag-compare leave a file as it is when nothing is new; --etag-save keeps the tag")
    func conditions() async throws {
        try await with(router: { request in
            let isSame =
                request.fields.first("If-None-Match") == "\"v\"" || request.fields.first("If-Modified-Since") != nil
            let answer = isSame ? ServerResponse.status(304) : ServerResponse.text("new")
            return answer.adding("ETag", "\"v\"").adding("X-Since", request.fields.first("If-Modified-Since") ?? "-")
        }) { server, place in
            let url = server.url("/f")
            #expect(try await place.shell("fetch -so f --etag-save tag --etag-compare tag \(url)").exitCode == 0)
            #expect(place.text("f") == "new" && place.text("tag") == "\"v\"\n")
            try place.write("mine", to: "f")
            let again = try await place.shell("fetch -o f --etag-save tag --etag-compare tag \(url)")
            #expect(
                again.exitCode == 0 && place.text("f") == "mine"
                    && again.complaints == "f: nothing new, it is as it was\n")
            #expect(place.names == ["f", "tag"])
            let since = try await place.shell("fetch -s -D - -z 2020-01-02 \(url)")
            #expect(since.output.contains("X-Since: Thu, 02 Jan 2020 00:00:00 GMT\n"))
            let file = try await place.shell("touch -d '2021-02-03 04:05:06 UTC' t; fetch -s -D - -z t \(url)")
            #expect(file.output.contains("X-Since: Wed, 03 Feb 2021 04:05:06 GMT\n"))
            let wrong = try await place.shell("fetch -z soon \(url)")
            #expect(wrong.exitCode == 2 && wrong.complaints.contains("soon is neither a file nor a date"))
        }
    }

    @Test("--etag-save keeps no tag of a body that broke off, so that the next run gets the body")
    func tagsOfBrokenBodies() async throws {
        let count = Guarded(0)
        try await with(router: { request in
            if request.fields.first("If-None-Match") == "\"v\"" { return ServerResponse.status(304) }
            guard count.add(1) > 1 else {
                return .script([.lines("HTTP/1.1 200 OK\nETag: \"v\"\nContent-Length: 9\n\nhalf"), .close])
            }
            return ServerResponse.text("whole").adding("ETag", "\"v\"")
        }) { (server, place) async throws in
            let line = "fetch -so f --etag-save tag --etag-compare tag \(server.url("/f"))"
            #expect(try await place.shell(line).exitCode == 18)
            #expect(place.names == [])
            #expect(try await place.shell(line).exitCode == 0)
            #expect(place.text("f") == "whole")
            #expect(try await place.shell(line).exitCode == 0)
            #expect(place.names == ["f", "tag"])
        }
    }

    @Test("-R, --output-dir, --create-dirs, --no-clobber, -D")
    func files() async throws {
        try await with(router: { request in
            if request.path == "/moved" { return ServerResponse.status(302).adding("Location", "/f") }
            return ServerResponse.text("new").adding("Last-Modified", "Wed, 03 Feb 2021 04:05:06 GMT")
        }) { server, place in
            let missing = try await place.shell("fetch -s -O --output-dir a/b \(server.url("/f"))")
            #expect(missing.exitCode == 23 && place.names == [])
            let made = try await place.shell(
                "fetch -s -RO --output-dir a/b --create-dirs -D heads \(server.url("/moved"))")
            #expect(made.exitCode == 0 && place.text("a/b/moved") == "new")
            #expect(try await place.shell("stat -c %Y a/b/moved").output == "1612325106\n")
            let heads = try #require(place.text("heads"))
            #expect(heads.hasPrefix("HTTP/1.1 302 ") && heads.contains("\n\nHTTP/1.1 200 OK\n"))
            try place.write("old", to: "f")
            for _ in 0..<2 { _ = try await place.shell("fetch -s --no-clobber -o f \(server.url("/f"))") }
            #expect(place.text("f") == "old" && place.text("f.1") == "new" && place.text("f.2") == "new")
        }
    }

    @Test("--fail-with-body, --fail-early, --max-filesize")
    func failures() async throws {
        try await with(router: { request in
            switch request.path {
            case "/long": .generated(length: 5000)
            case "/chunked": .generated(length: 5000, framing: .chunked)
            case "/hang": .script([.waitForClose])
            case "/ok": .text("ok")
            default: .text("why", status: 404)
            }
        }) { server, place in
            let body = try await place.shell("fetch --fail-with-body \(server.url("/no"))")
            #expect(body.exitCode == 22 && body.output == "why" && body.complaints.contains("status 404"))
            let file = try await place.shell("fetch -s --fail-with-body -o f \(server.url("/no"))")
            #expect(file.exitCode == 22 && place.text("f") == "why")
            let early = try await place.shell("fetch -s -f --fail-early \(server.url("/no")) \(server.url("/ok"))")
            #expect(early.exitCode == 22 && early.output == "")
            let cut = try await place.shell(
                "fetch -f -Z --fail-early -o a \(server.url("/hang")) -o b \(server.url("/no"))")
            #expect(cut.exitCode == 22 && cut.complaints.contains("404") && !cut.complaints.contains("interrupted"))
            let late = try await place.shell("fetch -s -f \(server.url("/no")) \(server.url("/ok"))")
            #expect(late.exitCode == 22 && late.output == "ok")
            let groups = try await place.shell(
                "fetch -s -f --fail-early \(server.url("/no")) --next \(server.url("/ok"))")
            #expect(groups.exitCode == 22 && groups.output == "")
            for path in ["/long", "/chunked"] {
                let run = try await place.shell("fetch -o f2 --max-filesize 4999 \(server.url(path))")
                #expect(run.exitCode == 63 && place.text("f2") == nil, "\(run.complaints)")
                #expect(try await place.shell("fetch -so f3 --max-filesize 5k \(server.url(path))").exitCode == 0)
            }
        }
    }

    @Test("--limit-rate holds for what fits into buffers, in both directions, and an interruption ends the wait")
    func smallBodies() async throws {
        try await with(router: { .text($0.method == "PUT" ? "" : String(repeating: "x", count: 30_000)) }) {
            server, place in
            try place.write(String(repeating: "x", count: 30_000), to: "g")
            for options in ["-o f", "-T g -o h"] {
                let start = ContinuousClock.now
                let run = try await place.shell("fetch -s \(options) --limit-rate 50k \(server.url("/"))")
                #expect(run.exitCode == 0 && ContinuousClock.now - start > .seconds(0.5), "\(options)")
            }
            #expect(place.size("f") == 30_000)
            // Without an end of the wait this would take hours.
            let ended = try await place.shell(
                """
                mkfifo out; fetch -s --limit-rate 1 \(server.url("/")) > out & child=$!
                exec 3< out; head -c 1 <&3 > first; kill -TERM $child; wait $child
                """)
            #expect(ended.exitCode == 130, "\(ended.complaints)")
        }
    }

    @Test("--limit-rate takes its time, and --retry-all-errors and --retry-max-time count attempts")
    func patience() async throws {
        let failures = Watched(0)
        try await with(router: { request in
            if request.path == "/large" { return .generated(length: 5_000_000) }
            failures.change { $0 += 1 }
            return .text("no", status: 404)
        }) { server, place in
            let start = ContinuousClock.now
            let run = try await place.shell("fetch -so f --limit-rate 2M \(server.url("/large"))")
            #expect(run.exitCode == 0 && place.size("f") == 5_000_000 && ContinuousClock.now - start > .seconds(2))
            let all = try await place.shell(
                "fetch -sf --retry 2 --retry-all-errors --retry-delay 0.01 \(server.url("/no"))")
            #expect(all.exitCode == 22 && failures.value == 3)
            let few = try await place.shell(
                "fetch -sf --retry 5 --retry-all-errors --retry-delay 30 --retry-max-time 1 \(server.url("/no"))")
            #expect(few.exitCode == 22 && failures.value == 4)
            #expect(try await place.shell("fetch --retry-max-time 1 \(server.url("/no"))").exitCode == 2)
        }
    }

    // MARK: The way and trust

    @Test("-4 and -6 choose the family; an address of the other is refused")
    func families() async throws {
        try await with(router: { .text($0.target) }) { server, place in
            // The server listens on 127.0.0.1 alone.
            #expect(try await place.shell("fetch -4 localhost:\(server.port)/a").output == "/a")
            #expect(try await place.shell("fetch -s -6 localhost:\(server.port)/a").exitCode == 7)
            let wrong = try await place.shell("fetch -6 127.0.0.1:\(server.port)/a")
            #expect(wrong.exitCode == 6 && wrong.complaints.contains("127.0.0.1 is no address of --ipv6"))
            #expect(try await place.shell("fetch -4 'http://[::1]:\(server.port)/a'").exitCode == 6)
            let unknown = try await place.shell("fetch -4 http://urlloading-test.invalid/")
            #expect(unknown.exitCode == 6 && unknown.complaints.contains("urlloading-test.invalid: "))
            #expect(!unknown.complaints.contains("hostResolver") && !unknown.complaints.contains("Error Domain"))
        }
    }

    @Test("--tls-max, --tlsv1.3, --capath and --keylog")
    func tls() async throws {
        let root = try CertificateFactory.root()
        let issued = try root.issue(.server(hosts: ["127.0.0.1"]))
        var options = LoopbackServer.Options()
        options.tls = ServerTLS(identity: issued.identity)
        try await with(options, router: { _ in .text("good") }) { server, place in
            _ = try await place.shell("mkdir cas")
            try place.write(root.certificate.pem, to: "cas/one")
            try place.write("no certificate", to: "cas/two")
            let url = server.url("/")
            #expect(try await place.shell("fetch --capath cas \(url)").output == "good")
            #expect(try await place.shell("fetch --capath nowhere \(url)").exitCode == 77)
            let old = try await place.shell("fetch -v --capath cas --tls-max 1.2 \(url)")
            #expect(old.output == "good" && old.complaints.contains("TLS 1.2"))
            let new = try await place.shell("fetch -v --capath cas --tlsv1.3 \(url)")
            #expect(new.output == "good" && new.complaints.contains("TLS 1.3"))
            #expect(try await place.shell("fetch --tlsv1.3 --tls-max 1.2 \(url)").exitCode == 2)
            #expect(try await place.shell("fetch --tls-max 1.4 \(url)").exitCode == 2)
            let keys = ["SSLKEYLOGFILE": place.path + "/keys"]
            #expect(
                try await place.shell("fetch --capath cas \(url)", changing: keys).exitCode == 0
                    && place.text("keys") == nil)
            #expect(try await place.shell("fetch --keylog --capath cas \(url)", changing: keys).exitCode == 0)
            #expect(place.text("keys")?.contains("CLIENT_") == true)
            #expect(try place.rights("keys") == 0o600)
            let unset = try await place.shell("fetch --keylog --capath cas \(url)", changing: ["SSLKEYLOGFILE": nil])
            #expect(unset.exitCode == 2 && unset.complaints.contains("SSLKEYLOGFILE"))
            let careless = try await place.shell("fetch -k \(url)")
            #expect(careless.output == "good" && careless.complaints.contains("warning: --insecure"))
        }
    }

    // MARK: What is told

    @Test("--tls shows the chain with names, dates and a pin that can be used, and by what it was judged")
    func certificates() async throws {
        let root = try CertificateFactory.root()
        let issued = try root.issue(.server(hosts: ["127.0.0.1"]))
        var options = LoopbackServer.Options()
        options.tls = ServerTLS(identity: issued.identity)
        try await with(options, router: { _ in .text("good") }) { server, place in
            try place.write(root.certificate.pem, to: "ca")
            let run = try await place.shell("fetch --tls --cacert ca \(server.url("/"))")
            let lines = run.complaints.split(separator: "\n").map(String.init)
            #expect(run.output == "good" && lines.first?.hasPrefix("TLS: TLS 1.3, ") == true, "\(lines)")
            #expect(lines.contains("  for        127.0.0.1") && lines.contains { $0.hasPrefix("  issued by  CN=") })
            #expect(lines.contains { $0.hasPrefix("  good       from 2") && $0.hasSuffix(" days more") })
            #expect(lines.last == "judged by the certificates of ca: trusted")
            let pin = try #require(lines.first { $0.hasPrefix("  pin        ") }.map { String($0.dropFirst(13)) })
            #expect(pin == "sha256//\(Data(issued.certificate.spkiSHA256).base64EncodedString())")
            #expect(
                try await place.shell("fetch --cacert ca --pinnedpubkey '\(pin)' \(server.url("/"))").output == "good")
            let refused = try await place.shell("fetch --tls \(server.url("/"))")
            #expect(
                refused.exitCode == 60 && refused.complaints.contains("judged by the system's certificates: refused\n"))
            #expect(
                try await place.shell("fetch -k --tls \(server.url("/"))").complaints.contains(
                    "judged by nothing (--insecure)"))
        }
        try await with(router: { _ in .text("plain") }) { server, place in
            let run = try await place.shell("fetch --tls \(server.url("/"))")
            #expect(
                run.complaints == "TLS: none was spoken, or by a connection that was open already\n"
                    && run.output == "plain")
        }
    }

    @Test("--repeat asks so many times, over one connection, and shows the times")
    func repetition() async throws {
        try await with(router: { request in
            request.path == "/bad" ? ServerResponse.script([.close]) : .text("body")
        }) { server, place in
            let run = try await place.shell("fetch --repeat 20 \(server.url("/"))")
            #expect(
                run.exitCode == 0 && run.output.hasPrefix("20 requests in ")
                    && run.output.contains(" 1 connection, 0 failures\nstatus 200: 20\n"))
            #expect(server.stats.requests == 20 && run.complaints == "" && !run.output.contains("body"))
            let many = try await place.shell("fetch --repeat 20 -Z --parallel-max 4 \(server.url("/"))")
            #expect(
                many.output.contains("status 200: 20") && server.stats.requests == 40
                    && server.stats.connectionsAccepted <= 5)
            let bad = try await place.shell("fetch --repeat 3 \(server.url("/bad"))")
            #expect(
                bad.exitCode == 52 && bad.output.contains("3 failures\n") && bad.output.contains("failure 3 times: "))
            for options in ["-o f", "-i", "-w x", "--retry 1", "--etag-save t", "--compare x", server.url("/")] {
                #expect(
                    try await place.shell("fetch --repeat 2 \(options) \(server.url("/"))").exitCode == 2, "\(options)")
            }
        }
    }

    @Test("--compare sets two answers against each other")
    func comparison() async throws {
        try await with(router: { .text("one\n\($0.path)\n").adding("X-Path", String($0.path)) }) { server, place in
            let run = try await place.shell("fetch --compare \(server.url("/b")) \(server.url("/a"))")
            let lines = run.output.split(separator: "\n").map(String.init)
            #expect(
                run.exitCode == 0 && lines.first == "--- \(server.url("/a"))" && lines[1] == "+++ \(server.url("/b"))")
            #expect(
                lines.contains("- x-path: /a") && lines.contains("+ x-path: /b") && lines.contains("- /a")
                    && lines.contains("+ /b"))
            #expect(lines.last?.hasPrefix("first byte ") == true && !run.output.contains("\u{1B}"))
            let coloured = try await place.shell("fetch --pretty all --compare \(server.url("/b")) \(server.url("/a"))")
            #expect(coloured.output.contains("\u{1B}[31m- /a\u{1B}[0m\n"))
            let gone = try await place.shell("fetch --compare http://127.0.0.1:1/ \(server.url("/a"))")
            #expect(
                gone.exitCode == 7 && gone.output == "" && gone.complaints.hasPrefix("fetch: http://127.0.0.1:1/: "))
        }
    }

    @Test("--stderr, --no-progress-meter, and the user's own file of options")
    func reports() async throws {
        try await with(router: { _ in .text("gone", status: 404) }) { server, place in
            let run = try await place.shell("fetch --stderr told -f \(server.url("/"))")
            #expect(
                run.exitCode == 22 && run.complaints == ""
                    && place.text("told")?.hasPrefix("fetch: the server answered with status 404\n") == true)
            let mixed = try await place.shell("fetch --stderr - -f \(server.url("/"))")
            #expect(mixed.output.hasPrefix("fetch: the server answered with status 404\n") && mixed.complaints == "")
            let quiet = try await place.shell("fetch --no-progress-meter -o f \(server.url("/"))")
            #expect(
                quiet.complaints
                    == "fetch: warning: the server answered with status 404; what it sent is in f (--fail keeps none of it)\n"
            )
            _ = try await place.shell("mkdir -p conf/fetch")
            try place.write("fail\nsilent\n", to: "conf/fetch/config")
            let own = ["XDG_CONFIG_HOME": place.path + "/conf"]
            #expect(try await place.shell("fetch \(server.url("/"))", changing: own).exitCode == 22)
            #expect(try await place.shell("fetch -q \(server.url("/"))", changing: own).output == "gone")
            #expect(try await place.shell("echo url = \(server.url("/")) | fetch -q -K -").output == "gone")
            try place.write("nonsense\n", to: "conf/fetch/config")
            let wrong = try await place.shell("fetch \(server.url("/"))", changing: own)
            #expect(wrong.exitCode == 2 && wrong.complaints.contains("line 1: there is no option --nonsense"))
        }
    }
}
