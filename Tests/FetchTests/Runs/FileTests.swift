// Bodies that become files: names, places, what broke off and goes on.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("fetch: files", .timeLimit(.minutes(5)))
struct FileTests {
    private static let length: Int64 = 300_000
    private static let bytes = GeneratedBytes.bytes(Int(length))

    /// A file with a tag; its first answer breaks off, if wanted.
    private func site(breaking: Bool = true, tag: @escaping @Sendable () -> String = { "\"v1\"" }) throws
        -> LoopbackServer
    {
        let count = Guarded(0)
        return try LoopbackServer.start { request in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            guard breaking, isFirst else { return .generated(length: Self.length, tag: tag(), to: request) }
            return .script([
                .lines("HTTP/1.1 200 OK\nETag: \(tag())\nContent-Length: \(Self.length)\n\n"),
                .sendGenerated(length: 100_000), .close,
            ])
        }
    }

    @Test(
        "-o and -O write files in one step, and say so in one line; -J takes the server's name, and overwrites nothing")
    func names() async throws {
        let server = try LoopbackServer.start { request in
            let response = ServerResponse.text("body of \(request.path)")
            return request.path == "/named"
                ? response.adding("Content-Disposition", "attachment; filename=\"../.evil\"") : response
        }
        let place = try Workplace()
        let run = try await place.shell("umask 022; fetch -o one \(server.url("/a"))")
        #expect(run.exitCode == 0 && run.output.isEmpty && place.text("one") == "body of /a")
        #expect(run.complaints.hasPrefix("one: 10 B in ") && run.complaints.filter { $0 == "\n" }.count == 1)
        #expect(try place.rights("one") == 0o644)
        #expect(
            try await place.shell("chmod 600 one; ln -s one link; fetch -so link \(server.url("/b"))").complaints == "")
        #expect(place.text("one") == "body of /b")
        #expect(try place.rights("one") == 0o600)
        #expect(try await place.shell("fetch -sO '\(server.url("/dir/x%20y.txt?q"))'").exitCode == 0)
        #expect(place.text("x y.txt") == "body of /dir/x%20y.txt")
        #expect(try await place.shell("fetch -sO \(server.url("/"))").exitCode == 23)
        #expect(try await place.shell("fetch -sOJ \(server.url("/named"))").exitCode == 0)
        #expect(place.names == ["_._.evil", "link", "one", "x y.txt"])
        let again = try await place.shell("fetch -OJ \(server.url("/named"))")
        #expect(again.exitCode == 23 && again.complaints.contains("is there already"))
        #expect(try await place.shell("fetch -i -so head \(server.url("/a"))").exitCode == 0)
        #expect(
            place.text("head")?.hasPrefix("HTTP/1.1 200 OK\n") == true
                && place.text("head")?.hasSuffix("body of /a") == true)
        #expect(try await place.shell("fetch -o - \(server.url("/a"))").output == "body of /a")
        await server.stop()
    }

    @Test("-J with a name that is too long says that no file could have it")
    func longName() async throws {
        let server = try LoopbackServer.start { _ in
            let name = String(repeating: "n", count: 300)
            return ServerResponse.text("new").adding("Content-Disposition", "attachment; filename=\(name)")
        }
        let place = try Workplace()
        let run = try await place.shell("fetch -OJ \(server.url("/"))")
        #expect(run.exitCode == 23 && run.complaints.contains("gives no name that a file could have"))
        #expect(place.names == [])
        await server.stop()
    }

    @Test("-J leaves parts and notes of its name alone, whose they may be")
    func namedParts() async throws {
        let server = try LoopbackServer.start { _ in
            ServerResponse.text("new").adding("Content-Disposition", "attachment; filename=f").adding("ETag", "\"v\"")
        }
        let place = try Workplace()
        for (name, link) in [("f.part", false), ("f.part.note", false), ("f", true), ("f.part", true)] {
            if link {
                _ = try await place.shell("ln -s nowhere \(name)")
            } else {
                try place.write("old", to: name)
            }
            let run = try await place.shell("fetch -OJ \(server.url("/"))")
            #expect(run.exitCode == 23 && run.complaints.contains("\(name) is there already"), "\(run.complaints)")
            #expect(place.names == [name] && (link || place.text(name) == "old"))
            _ = try await place.shell("rm \(name)")
        }
        let twice = try await place.shell("fetch -s --parallel-max 1 -OJ \(server.url("/")) \(server.url("/"))")
        #expect(twice.exitCode == 23 && place.names == ["f"] && place.text("f") == "new")
        await server.stop()
    }

    @Test("One file for two URLs is a mistake that is told before anything is asked for; a device has room for both")
    func sharedFiles() async throws {
        let server = try LoopbackServer.start { _ in .text("body") }
        let place = try Workplace()
        let (one, two) = (server.url("/a/x"), server.url("/b/x"))
        for options in ["-o y -o y", "-o y -o ./y", "-O"] {
            let run = try await place.shell("fetch \(options) \(one) \(two)")
            #expect(
                run.exitCode == 2 && run.complaints.contains("would be the output of two URLs"), "\(run.complaints)")
        }
        #expect(server.stats.requests == 0 && place.names == [])
        #expect(try await place.shell("fetch -s -o /dev/null -o /dev/null \(one) \(two)").exitCode == 0)
        #expect(try await place.shell("fetch -o - -o - \(one) \(two)").output == "bodybody")
        #expect(try await place.shell("fetch -IO \(one) \(two)").exitCode == 0)
        await server.stop()
    }

    @Test("A file that holds what came with an error status is told of, unless nothing is to be told")
    func errorPages() async throws {
        let server = try LoopbackServer.start { _ in .text("no such page", status: 404) }
        let place = try Workplace()
        let run = try await place.shell("fetch -O \(server.url("/page"))")
        #expect(run.exitCode == 0 && place.text("page") == "no such page")
        #expect(run.complaints.contains("fetch: warning: the server answered with status 404; what it sent is in page"))
        #expect(try await place.shell("fetch -sO \(server.url("/page"))").complaints.isEmpty)
        #expect(try await place.shell("rm page; fetch -fsO \(server.url("/page"))").exitCode == 22 && place.names == [])
        #expect(try await place.shell("fetch \(server.url("/page"))").complaints.isEmpty)
        await server.stop()
    }

    @Test("A reader that has seen enough ends the run with 23, and nothing is said about it")
    func closedPipe() async throws {
        let server = try LoopbackServer.start { _ in .generated(length: 3_000_000) }
        let place = try Workplace()
        let run = try await place.shell("{ fetch \(server.url("/")); echo $? >&2; } | head -c 3 | wc -c")
        #expect(
            run.output.trimmingCharacters(in: .whitespaces) == "3\n" && run.complaints == "23\n", "\(run.complaints)")
        await server.stop()
    }

    @Test("Devices are written to, directories and places that are not there end with 23 before anything is asked")
    func places() async throws {
        let server = try LoopbackServer.start { _ in .text("body") }
        let place = try Workplace()
        #expect(try await place.shell("fetch -so /dev/null \(server.url("/"))").exitCode == 0)
        let pipe = try await place.shell("mkfifo p; cat p & fetch -so p \(server.url("/")); wait")
        #expect(pipe.output == "body")
        // A name with which Foundation stops the process.
        #expect(try await place.shell("fetch -T 'a///b//' \(server.url("/"))").exitCode == 26)
        let linked = try await place.shell("fetch -so /dev/stdout \(server.url("/")) | cat")
        #expect(linked.output == "body", "\(linked.complaints)")
        let count = server.stats.requests
        #expect(try await place.shell("fetch -o . \(server.url("/"))").exitCode == 23)
        let nowhere = try await place.shell("fetch -o /nowhere/file \(server.url("/"))")
        #expect(nowhere.exitCode == 23 && nowhere.complaints.contains("No such file or directory"))
        #expect(server.stats.requests == count)
        #expect(try await place.shell("fetch \(server.url("/")) > /dev/full").exitCode == 23)
        #expect(try await place.shell("fetch --create-dirs -so x \(server.url("/"))").exitCode == 0)
        let missing = try await place.shell("fetch -C 5 -o missing \(server.url("/"))")
        #expect(missing.exitCode == 36, "\(missing.complaints)")
        #expect(missing.complaints == "fetch: missing is not there, so that it cannot be gone on with at 5\n")
        let full = try await place.shell("fetch -o /dev/full \(server.url("/"))")
        #expect(full.exitCode == 23, "\(full.complaints)")
        #expect(full.complaints.hasPrefix("fetch: /dev/full cannot be written: No space left"), "\(full.complaints)")
        let report = try await place.shell("fetch -so /dev/null -S -w x \(server.url("/")) > /dev/full")
        #expect(report.exitCode == 23 && report.complaints.contains("standard output cannot be written"))
        #expect(try await place.shell("ln -s /etc/passwd f.part; fetch -o f \(server.url("/"))").exitCode == 23)
        await server.stop()
    }

    @Test("Cookies, archives and tags go through a pipe, which stays one, and through standard output, which is -")
    func writtenThrough() async throws {
        let server = try LoopbackServer.start { _ in
            ServerResponse.text("body").adding("Set-Cookie", "sid=kept").adding("ETag", "\"v\"")
        }
        let place = try Workplace()
        for (option, text) in [
            ("-c", "# Netscape HTTP Cookie File\n"), ("--har", "\"version\""), ("--etag-save", "\"v\"\n"),
        ] {
            // The shell holds both ends of the pipe, so that nothing waits, and looks first whether there still is one.
            let pipe = try await place.shell(
                """
                mkfifo p; exec 3<>p; fetch -s -o body \(option) p \(server.url("/")) || exit
                [ -p p ] || exit 99; dd bs=64k count=1 <&3 2>/dev/null; rm p
                """)
            #expect(pipe.exitCode == 0 && pipe.output.contains(text), "\(option): \(pipe.output)")
            let output = try await place.shell("fetch -s -o body \(option) - \(server.url("/"))")
            #expect(output.exitCode == 0 && output.output.contains(text), "\(option): \(output.complaints)")
            let full = try await place.shell("fetch -o body \(option) - \(server.url("/")) > /dev/full")
            #expect(full.exitCode == 23 && full.complaints.contains("standard output cannot be written"))
        }
        #expect(place.names == ["body"])
        await server.stop()
    }

    @Test("What broke off is kept with a note of its version, and -C - fetches the rest alone")
    func resumes() async throws {
        let server = try site()
        let place = try Workplace()
        let url = server.url("/f")
        let broken = try await place.shell("umask 0; fetch -O \(url)")
        #expect(broken.exitCode == 18 && broken.complaints.contains("100 kB are kept in "))
        #expect(place.names == ["f.part", "f.part.note"] && place.size("f.part") == 100_000)
        #expect(try place.rights("f.part.note") == 0o600)
        let rest = try await place.shell("fetch -C - -O -w '%{http_code} %{size_download}' \(url)")
        #expect(rest.exitCode == 0 && rest.output == "206 200000")
        #expect(rest.complaints.contains("200 kB behind 100 kB that were there"))
        #expect(place.names == ["f"] && FileManager.default.contents(atPath: place.path + "/f") == Data(Self.bytes))
        let done = try await place.shell("fetch -C - -O \(url)")
        #expect(done.exitCode == 36 && done.complaints.contains("nothing tells of which version"))
        await server.stop()
    }

    @Test("A resource that has changed is fetched anew, never joined; a part of another URL, or without a note, too")
    func changed() async throws {
        let tag = Guarded("\"v1\"")
        let server = try site { tag.withLock(\.self) }
        let place = try Workplace()
        #expect(try await place.shell("fetch -sO \(server.url("/f"))").exitCode == 18)
        tag.withLock { $0 = "\"v2\"" }
        let run = try await place.shell("fetch -C - -O -w '%{http_code}' \(server.url("/f"))")
        #expect(run.output == "200" && run.complaints.contains("the resource has changed"))
        #expect(FileManager.default.contents(atPath: place.path + "/f") == Data(Self.bytes))
        for (note, words) in [
            ("{\"version\":1,\"url\":\"http://other/\",\"validator\":\"\\\"v2\\\"\"}", "of another URL"),
            ("no note", "no note"),
        ] {
            try place.write("other bytes", to: "g.part")
            try place.write(note, to: "g.part.note")
            let run = try await place.shell("chmod 600 g.part.note; fetch -C - -o g \(server.url("/f"))")
            #expect(run.exitCode == 0 && run.complaints.contains(words), "\(run.complaints)")
            #expect(FileManager.default.contents(atPath: place.path + "/g") == Data(Self.bytes))
        }
        await server.stop()
    }

    @Test("A part that ends before the file does is no whole: 18, and the next run or attempt asks for what is missing")
    func shortParts() async throws {
        let server = try LoopbackServer.start { request in
            switch request.fields.first(.range) {
            case nil:
                .script([
                    .lines("HTTP/1.1 200 OK\nETag: \"v\"\nContent-Length: \(Self.length)\n\n"),
                    .sendGenerated(length: 100_000), .close,
                ])
            case "bytes=100000-":
                .script([
                    .lines(
                        """
                        HTTP/1.1 206 Partial Content
                        ETag: "v"
                        Content-Length: 50000
                        Content-Range: bytes 100000-149999/\(Self.length)\n\n
                        """),
                    .sendGenerated(length: 50_000, from: 100_000), .close,
                ])
            default: .generated(length: Self.length, tag: "\"v\"", to: request)
            }
        }
        let place = try Workplace()
        let url = server.url("/f")
        #expect(try await place.shell("fetch -sO \(url)").exitCode == 18 && place.size("f.part") == 100_000)
        let short = try await place.shell("fetch -C - -O \(url)")
        #expect(short.exitCode == 18 && short.complaints.contains("150 kB are kept in "), "\(short.complaints)")
        #expect(short.complaints.contains("the server's part ends after 150000 of 300000 bytes"))
        #expect(place.names == ["f.part", "f.part.note"] && place.size("f.part") == 150_000)
        #expect(try await place.shell("fetch -sC - -O \(url)").exitCode == 0 && place.names == ["f"])
        #expect(FileManager.default.contents(atPath: place.path + "/f") == Data(Self.bytes))

        let count = server.stats.requests
        let patient = try await place.shell("fetch --retry 2 --retry-delay 0.01 -o g \(url)")
        #expect(patient.exitCode == 0 && server.stats.requests == count + 3, "\(patient.complaints)")
        #expect(FileManager.default.contents(atPath: place.path + "/g") == Data(Self.bytes))

        try Data(Self.bytes.prefix(100_000)).write(to: URL(fileURLWithPath: place.path + "/h"))
        #expect(try await place.shell("fetch -s -C 100000 -o h \(url)").exitCode == 18 && place.size("h") == 150_000)
        await server.stop()
    }

    @Test("-C N goes on there by the user's word, and explains why where it cannot")
    func explicit() async throws {
        let server = try site(breaking: false)
        let place = try Workplace()
        try Data(Self.bytes.prefix(50_000)).write(to: URL(fileURLWithPath: place.path + "/f"))
        #expect(try await place.shell("fetch -s -C 40000 -O \(server.url("/f"))").exitCode == 0)
        #expect(FileManager.default.contents(atPath: place.path + "/f") == Data(Self.bytes))
        let long = try await place.shell("fetch -C 400000 -O \(server.url("/f"))")
        #expect(long.exitCode == 36 && long.complaints.contains("has only 300000 bytes"))
        let none = try LoopbackServer.start { _ in .text("whole") }
        let whole = try await place.shell("fetch -C 300000 -o f \(none.url("/f"))")
        #expect(whole.exitCode == 36 && place.size("f") == 300_000)
        #expect(try await place.shell("fetch -s -C 300000 -O \(server.url("/f"))").exitCode == 0)
        #expect(FileManager.default.contents(atPath: place.path + "/f") == Data(Self.bytes))
        let refusing = try LoopbackServer.start { _ in .text("gone", status: 404) }
        let refused = try await place.shell("fetch -C 40000 -O \(refusing.url("/f"))")
        #expect(refused.exitCode == 22 && refused.complaints.contains("f is as it was"), "\(refused.complaints)")
        #expect(try await place.shell("fetch -s -C 40000 -o f http://127.0.0.1:1/").exitCode == 7)
        #expect(FileManager.default.contents(atPath: place.path + "/f") == Data(Self.bytes))
        await refusing.stop()
        await none.stop()
        await server.stop()
    }

    @Test("What cannot be gone on with leaves nothing; an answer that refuses leaves the part as it was")
    func leftovers() async throws {
        let server = try LoopbackServer.start { request in
            switch request.path {
            case "/weak":
                .script([.lines("HTTP/1.1 200 OK\nContent-Length: 4096\n\n"), .sendGenerated(length: 512), .close])
            case "/f" where request.fields.contains(.range): .text("gone", status: 404)
            default:
                .script([
                    .lines("HTTP/1.1 200 OK\nETag: \"v\"\nContent-Length: 4096\n\n"), .sendGenerated(length: 512),
                    .close,
                ])
            }
        }
        let place = try Workplace()
        #expect(try await place.shell("fetch -O \(server.url("/weak"))").exitCode == 18)
        #expect(place.names == [])
        #expect(try await place.shell("fetch -O \(server.url("/f"))").exitCode == 18)
        let refused = try await place.shell("fetch -C - -O \(server.url("/f"))")
        #expect(
            refused.exitCode == 22 && place.size("f.part") == 512 && place.names.count == 2, "\(refused.complaints)")
        await server.stop()
    }

    @Test(
        "--retry goes on with the rest of a file, waits no less than the server asks, and says so; bodies on a pipe are whole"
    )
    func retries() async throws {
        let server = try site()
        let place = try Workplace()
        let run = try await place.shell("fetch --retry 1 --retry-delay 0.01 -O \(server.url("/f"))")
        let told = "bytes (127.0.0.1); attempt 2 of 2 in 10.0 ms"
        #expect(run.exitCode == 0 && run.complaints.contains(told), "\(run.complaints)")
        #expect(FileManager.default.contents(atPath: place.path + "/f") == Data(Self.bytes))
        #expect(server.stats.requests == 2)
        await server.stop()

        let count = Guarded(0)
        let busy = try LoopbackServer.start { _ in
            count.withLock { $0 += 1 }
            return count.withLock(\.self) < 3
                ? ServerResponse.text("busy", status: 503).adding("Retry-After", "0") : .text("done")
        }
        let patient = try await FetchRun.run("--retry", "2", "--retry-delay", "0.01", busy.url("/"))
        #expect(patient.output == "done" && patient.complaints.contains("status 503; attempt 2 of 3 in 10.0 ms"))
        count.withLock { $0 = 0 }
        let less = try await FetchRun.run("--retry", "1", "--retry-delay", "0.01", "-f", busy.url("/"))
        #expect(less.exitCode == 22 && less.output.isEmpty)
        await busy.stop()

        let broken = try site()
        let piped = try await FetchRun.run("--retry", "3", "--retry-delay", "0.01", broken.url("/f"))
        #expect(piped.exitCode == 18 && broken.stats.requests == 1)
        await broken.stop()
    }

    @Test("Many URLs: files at once with a line each, standard output in order; the first failure is the exit code")
    func many() async throws {
        let gate = ServerGate()
        let server = try LoopbackServer.start { request in
            request.path == "/slow"
                ? .slow([.init("slow", when: gate)])
                : request.path == "/bad" ? .text("bad", status: 404) : .text(String(request.path))
        }
        let place = try Workplace()
        let urls = ["/a", "/slow", "/c"].map { server.url($0) }.joined(separator: " ")
        async let run = place.shell("fetch -O \(urls)")
        await server.wait { $0.requests == 3 }
        gate.open()
        let files = try await run
        #expect(files.exitCode == 0 && place.names == ["a", "c", "slow"], "\(files.complaints)")
        #expect(files.complaints.filter { $0 == "\n" }.count == 3, "\(files.complaints)")
        #expect(try await place.shell("fetch \(urls)").output == "/aslow/c")
        let one = try await place.shell("fetch --parallel-max 1 -sO \(urls)")
        #expect(one.exitCode == 0)
        let mixed = try await place.shell("fetch -f -o x -o y \(server.url("/bad")) http://127.0.0.1:1/")
        #expect(mixed.exitCode == 22 && mixed.complaints.contains("/bad: the server answered with status 404"))
        await server.stop()
    }

    @Test("Control-C ends with 130, keeps what can be gone on with, and a second run goes on")
    func interrupted() async throws {
        let gate = ServerGate()
        let server = try LoopbackServer.start { request in
            guard !request.fields.contains(.range) else {
                return .generated(length: Self.length, tag: "\"v\"", to: request)
            }
            return .script([
                .lines("HTTP/1.1 200 OK\nETag: \"v\"\nContent-Length: \(Self.length)\n\n"),
                .sendGenerated(length: 100_000), .wait(gate), .close,
            ])
        }
        let place = try Workplace()
        let run = try await place.shell(
            """
            fetch -O \(server.url("/f")) & child=$!
            until [ "$(stat -c %s f.part 2>/dev/null)" = 100000 ]; do sleep 0.02; done
            kill -TERM $child; wait $child
            """)
        gate.open()
        #expect(run.exitCode == 130 && run.complaints.contains("100 kB are kept"), "\(run.complaints)")
        #expect(try await place.shell("fetch -sC - -O \(server.url("/f"))").exitCode == 0)
        #expect(FileManager.default.contents(atPath: place.path + "/f") == Data(Self.bytes))
        await server.stop()
    }

    /// A server whose `/f` is held up in its middle until anything else is asked for, and a run of the shell in a place
    /// of its own: `$F` is the URL of `/f`, `$GO` lets it go on, and the function `half` waits for the first half.
    private func held(_ line: String) async throws -> (FetchRun, size: Int?) {
        let gate = ServerGate()
        let server = try LoopbackServer.start { request in
            guard request.path == "/f" else {
                gate.open()
                return .text("")
            }
            return .script([
                .lines("HTTP/1.1 200 OK\nContent-Length: 200000\n\n"), .sendGenerated(length: 100_000), .wait(gate),
                .sendGenerated(length: 100_000),
            ])
        }
        let place = try Workplace()
        let run = try await place.shell(
            """
            F=\(server.url("/f")); GO=\(server.url("/go"))
            half() { until [ "$(stat -c %s f.part 2>/dev/null)" = 100000 ]; do sleep 0.02; done; }
            \(line)
            """)
        await server.stop()
        return (run, place.size("f"))
    }

    /// A set of signals, as /proc shows it; the lowest bits are SIGHUP, SIGINT and SIGQUIT.
    private func signals(_ run: FetchRun) throws -> Int {
        let digits = run.output.split(whereSeparator: \.isWhitespace).last
        return try #require(digits.flatMap { Int($0, radix: 16) }, "\(run.output)")
    }

    @Test("Users that may not read a file may not read its part, also one that an earlier run has left")
    func rightsOfPart() async throws {
        for left in ["", "echo left > f.part; "] {
            let (run, size) = try await held(
                """
                umask 022; echo old > f; chmod 600 f; \(left)
                fetch -so f $F & child=$!
                half; stat -c %a f.part; fetch $GO; wait $child; code=$?
                stat -c %a f; exit $code
                """)
            #expect(run.exitCode == 0 && size == 200_000, "\(run.complaints)")
            #expect(run.output == "600\n600\n")
        }
    }

    @Test("A file that may not be written is not replaced; a link that leads nowhere stays one, and gets its file")
    func notReplaced() async throws {
        let server = try LoopbackServer.start { _ in .text("new") }
        let place = try Workplace()
        // Root may write everything, unless it does without that.
        let plain = geteuid() == 0 ? "setpriv --bounding-set -dac_override" : "env"
        try place.write("old", to: "kept")
        if try await place.shell("\(plain) true").exitCode == 0 {
            let kept = try await place.shell("chmod 444 kept; \(plain) fetch -o kept \(server.url("/"))")
            #expect(kept.exitCode == 23 && kept.complaints.contains("kept cannot be written: Permission denied"))
        }
        let circle = try await place.shell("ln -s b a; ln -s a b; fetch -o a \(server.url("/"))")
        #expect(circle.exitCode == 23, "\(circle.complaints)")
        #expect(server.stats.requests == 0 && place.text("kept") == "old" && place.names == ["a", "b", "kept"])
        let link = try await place.shell(
            "mkdir dir; ln -s ../there dir/two; ln -s dir/two one; fetch -so one \(server.url("/"))")
        #expect(link.exitCode == 0 && place.text("there") == "new", "\(link.complaints)")
        let last = try await place.shell("readlink one; readlink dir/two; ls dir")
        #expect(last.output == "dir/two\n../there\ntwo\n")
        await server.stop()
    }

    @Test(
        "A file of another user stays that user's, with its rights: it is given a new one, or the old one is written",
        .enabled(if: geteuid() == 0, "only root can make a file of another user"))
    func otherOwner() async throws {
        let server = try LoopbackServer.start { .text($0.target) }
        let place = try Workplace()
        let given = try await place.shell(
            """
            echo a longer text > f; chmod 646 f; chown 65534 f
            fetch -so f \(server.url("/1")); echo $?; stat -c '%u %a' f
            """)
        #expect(given.output == "0\n65534 646\n" && place.text("f") == "/1", "\(given.complaints)")
        // Without this right root is like other users.
        let plain = "setpriv --inh-caps -chown --bounding-set -chown"
        if try await place.shell("\(plain) true").exitCode == 0 {
            let written = try await place.shell(
                """
                echo a longer text > f; ln f same
                \(plain) fetch -so f \(server.url("/2")); echo $?; stat -c '%u %a %h' f; ls
                """)
            #expect(written.output == "0\n65534 646 2\nf\nsame\n", "\(written.complaints)")
            #expect(place.text("f") == "/2" && place.text("same") == "/2")
        }
        await server.stop()
    }

    @Test("Signals that the caller ignores stay ignored, as with nohup and in the background")
    func ignoredSignals() async throws {
        let (run, size) = try await held(
            """
            (trap '' HUP INT QUIT; exec fetch -so f $F) & child=$!
            half; kill -HUP $child; kill -INT $child; grep SigIgn /proc/$child/status
            fetch $GO; wait $child
            """)
        #expect(run.exitCode == 0 && size == 200_000, "\(run.complaints)")
        #expect(try signals(run) & 0b111 == 0b111)
    }

    @Test("SIGQUIT is left to the system, which ends the process, and no report of a crash is written")
    func quit() async throws {
        let (run, size) = try await held(
            """
            (half; grep SigCgt /proc/$(cat pid)/status; fetch $GO) &
            F=$F sh -c 'echo $$ > pid; exec fetch -so f $F'; code=$?
            wait; exit $code
            """)
        #expect(run.exitCode == 0 && size == 200_000, "\(run.complaints)")
        #expect(try signals(run) & 0b100 == 0)
    }
}
