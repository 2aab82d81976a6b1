// Case files as the program reads them: what is refused, with the number of its line, and what tables and words become.

import Testing
import URLLoadingTestSupport

@Suite("Case files", .serialized)
struct CaseFileTests {
    @Test(
        "What is not understood is refused, with file and line, before anything runs",
        arguments: [
            ("nonsense\n", 4, "begins no line"), ("< abc\n", 4, "status"), ("> GET\n", 4, "URL"),
            ("> GET / timeout\n", 4, "no option"), ("= error\n", 4, "error's name"), ("= 200 extra\n", 4, "extra"),
            ("? path {\n", 4, "not JSON"), ("session {\"a\":}\n", 4, "not JSON"), ("<< \\q\n", 4, "unknown escape"),
            ("<< {close\n", 4, "not closed"), ("<< \\xZZ\n", 4, "hexadecimal"), ("< 200 | Name\n", 4, "no colon"),
            ("connections many\n", 4, "number"), ("cert a robot\n", 4, "authority"),
            ("> GET /\n", 3, "expects nothing"),
            ("= 200\n* B1.1: a title\n= 200\n", 5, "comes twice"),
            ("= 200\n* nothing\n= 200\n", 5, "references: title"),
            ("= 200\n* X9: t\n= 200\n", 5, "neither"), ("= 200\ngroup other\n", 5, "one group"),
            ("- B1.1: a row ~ x\n", 4, "behind \"form\""), ("= 200\nform\n= $2\n- B1.1: a row ~ x\n", 7, "no column 2"),
            ("= 200\nform\n= $1\n- B1.1: a row ~ 200 ~ x\n", 7, "every column"),
            ("= 200\neach open x\n", 5, "before all"),
            ("< 200\n+ text x\n", 5, "behind \"<ws\""), ("<ws\n+ nonsense\n", 5, "no step"),
            ("<ws\n+ frame x\n", 5, "first byte"), ("<ws\n+ expect nonsense\n", 5, "expected to get"),
            ("<ws\n+ close x\n", 5, "code"), ("<ws nonsense\n", 4, "not understood"),
            ("ws nonsense\n", 4, "nothing that is done"), ("ws got nonsense\n", 4, "text, binary"),
            ("ws send x\n", 4, "text or binary"), ("ws open / x=1\n", 4, "no option x"),
            ("<ws\nws open /\n", 3, "expects nothing"),
            ("<h2\n+ nonsense\n", 5, "no step of HTTP/2"), ("<<h2\n+ text x\n", 5, "no step of HTTP/2"),
            ("<<h2 alone x\n", 4, "not understood"), ("<h2 200\n", 4, "not understood"),
            ("<<h2\n+ settings x=1\n", 5, "no setting"), ("<<h2\n+ settings window\n", 5, "no setting a value"),
            ("<<h2\n+ rst 1 NONSENSE\n", 5, "no code"), ("<<h2\n+ rst CANCEL\n", 5, "stream is missing"),
            ("<<h2\n+ frame nonsense 00 0\n", 5, "no type"), ("<<h2\n+ frame data\n", 5, "flags is missing"),
            ("<<h2\n+ data 1 frames=2\n", 5, "not understood"), ("<<h2\n+ headers 1 pad=256\n", 5, "not understood"),
            ("<<h2\n+ headers 1 | !a\n", 5, "no !a"), ("<<h2\n+ headers 1 | a\n", 5, "no colon"),
            ("<<h2\n+ until nonsense\n", 5, "a script waits"), ("<<h2\n+ until frames 1 F0\n", 5, "known type"),
            ("<<h2\n+ times x ping\n", 5, "how many"), ("<<h2\n+ wait\n", 5, "gate"),
            ("<<h2\n+ close now\n", 5, "not understood"), ("<<h2\n+ ping 1\n", 5, "not understood"),
            ("<<h2\n> GET /\n+ close\n", 6, "behind \"<ws\""), ("<<h2\n+ close\n", 3, "expects nothing"),
            ("^h2\n", 4, "what was received"), ("^h2 nonsense\n", 4, "no type"), ("^h2 count ping\n", 4, "how many"),
            ("^h2 no ping | a: b\n", 4, "no parts"), ("^h2 closed x\n", 4, "how many"),
            ("^h2 ping connection=x\n", 4, "connection's number"),
        ])
    func faults(lines: String, line: Int, reason: String) async throws {
        let folder = try CaseDirectory()
        try folder.write("x.case", "group g\n\n* R9112 §6.3, B16.31: a title\n" + lines)
        let run = try await conformance(["--cases", folder.path])
        #expect(run.exitCode == 2 && run.output.isEmpty)
        #expect(run.complaintsText.hasPrefix("conformance: x.case:\(line): "), "\(run.complaintsText)")
        #expect(run.complaintsText.contains(reason), "\(run.complaintsText)")
    }

    @Test("A file without a group, a line without a case, and a folder that is none are refused")
    func noGroup() async throws {
        let folder = try CaseDirectory()
        for text in ["* B1.1: t\n= 200\n", "= 200\n"] {
            try folder.write("x.case", text)
            let run = try await conformance(["--cases", folder.path])
            #expect(run.exitCode == 2 && run.complaintsText.hasPrefix("conformance: x.case:1: "))
        }
        #expect(try await conformance(["--cases", folder.path("nowhere")]).exitCode == 2)
    }

    @Test("A table has a case a row, with its columns in the form's lines; lines for each case come first")
    func table() async throws {
        let folder = try CaseDirectory()
        try folder.write(
            "x.case",
            """
            group g
            each session {"headers":[["X-Each","yes"]]}
            form
            < 200 $2
            > GET $1
            = answer 1 $2
            ^ GET $1 | X-Each: yes
            - B1.1: one ~ /a ~ | A: b
            - B1.2: two ~ /b ~
            * B1.3: alone
            < 200
            > GET /c
            = 200 | !A
            """)
        let run = try await conformance(["--cases", folder.path])
        #expect(run.exitCode == 0, "\(run.complaintsText)")
        #expect(run.outputText.contains(/all +3 +3 +0 +0 +0/))
        let list = try await conformance(["--cases", folder.path, "--list"])
        #expect(list.outputText == "g: one [B1.1]\ng: two [B1.2]\ng: alone [B1.3]\n")
    }

    @Test("Escapes, repetitions and words become bytes")
    func words() async throws {
        let folder = try CaseDirectory()
        try folder.write(
            "x.case",
            #"""
            group g
            * B1.1: escapes
            << HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n\x41\\\{bc*2}{base64 a b}{close}
            > GET /
            = 200 || A\\bcbcYSBi
            * B1.2: ports and dates
            < 200 | X: {date 86400} || {a}
            > GET http://127.0.0.1:{port:a}/
            = 200 | X: {date 86400} || 127.0.0.1:{port a}
            """#)
        let run = try await conformance(["--cases", folder.path])
        #expect(run.exitCode == 0, "\(run.complaintsText)")
    }

    /// The examples of RFC 7616 §3.9.1, sent by hand: the runner's arithmetic finds them right, and nothing else.
    @Test(
        "Digests are computed as the RFC's examples are",
        arguments: [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ])
    func digests(algorithm: String, response: String) async throws {
        let folder = try CaseDirectory()
        let field = """
            Digest username="Mufasa", realm="http-auth@example.org", uri="/dir/index.html", algorithm=\(algorithm), \
            nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", nc=00000001, \
            cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", qop=auth, response="\(response)", opaque="x"
            """
        var text = "group g\n"
        for (title, password, parts) in [
            ("right", "Life", "nc: 00000001 | quoted realm: yes | quoted nc: no"), ("wrong password", "life", "nc: *"),
            ("wrong count", "Life", "nc: 00000002"),
        ] {
            // The example's password is "Circle of Life"; a word of a line has no spaces.
            text += "* B1.1: \(title)\n< 200\n> GET /dir/index.html | Authorization: \(field)\n= 200\n"
            text += "^ GET /dir/index.html\nproof Mufasa Circle\\x20of\\x20\(password) | \(parts)\n"
        }
        try folder.write("x.case", text)
        let run = try await conformance(["--cases", folder.path])
        #expect(run.exitCode == 1)
        #expect(run.complaintsText.contains("g: wrong password") && run.complaintsText.contains("g: wrong count"))
        #expect(!run.complaintsText.contains("g: right"), "\(run.complaintsText)")
    }
}
