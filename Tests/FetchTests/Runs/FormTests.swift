// Forms: what --form makes of its texts and files as the server sees it, and --get, which puts data into the query.

import Foundation
import Testing
import URLLoadingFetch
import URLLoadingLoopbackServer

@Suite("fetch: forms")
struct FormTests {
    @Test("-F: what each text comes to")
    func parts() {
        func part(_ text: String) -> FormPart? { FormPart.read(text) }
        #expect(part("a=b") == FormPart(name: "a", content: .text("b")))
        #expect(part("a=") == FormPart(name: "a", content: .text("")))
        #expect(part("a=b=c;d") == FormPart(name: "a", content: .text("b=c;d")))
        #expect(part("a=@f.png") == FormPart(name: "a", content: .file("f.png")))
        #expect(part("a=<f") == FormPart(name: "a", content: .textOfFile("f")))
        #expect(part("a=@-;filename=x") == FormPart(name: "a", content: .file("-"), fileName: "x"))
        #expect(
            part("a=@f;type=text/plain;charset=utf-8;filename=\"x;\\\"y\"")
                == FormPart(
                    name: "a", content: .file("f"), fileName: "x;\"y", type: "text/plain;charset=utf-8"))
        #expect(part("a=@\"f;1\"") == FormPart(name: "a", content: .file("f;1")))
        #expect(part("a=\"b;type=x/y\"") == FormPart(name: "a", content: .text("b;type=x/y")))
        #expect(part("a=\"b\";type=x/y") == FormPart(name: "a", content: .text("b"), type: "x/y"))
        #expect(part("a=\"b\" and") == FormPart(name: "a", content: .text("\"b\" and")))
        #expect(FormPart.literal("a=@f;type=x") == FormPart(name: "a", content: .text("@f;type=x")))
        for text in ["a", "=b", "a=@", "a=<;type=x/y", "a=b;type=", "a=b;type=x/y\r\nEvil: 1", "a=@f;filename=x;more"] {
            #expect(part(text) == nil, "\(text)")
        }
    }

    @Test("--get: what cannot stand in a query is encoded, what is encoded stays")
    func queries() {
        #expect(QueryText.encoded(Data("a=b c&d=%41%4&e=ä#".utf8)) == "a=b%20c&d=%41%254&e=%C3%A4%23")
        // Every byte there is: digits are upper case, and what may stand in a query (RFC 3986 §3.4) stays.
        let plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/?".utf8
        for byte in UInt8.min...UInt8.max {
            let digits = String(byte, radix: 16, uppercase: true)
            let number = "%" + (byte < 16 ? "0" : "") + digits
            let text = plain.contains(byte) ? String(decoding: [byte], as: UTF8.self) : number
            #expect(QueryText.encoded(Data([byte])) == text)
            let isKept = plain.prefix(66).contains(byte)
            #expect(QueryText.form(Data([byte])) == (byte == 0x20 ? "+" : isKept ? text : number))
        }
        for (url, wanted) in [
            ("http://a", "http://a?x=1"), ("http://a/b?c", "http://a/b?c&x=1"), ("http://a/?", "http://a/?x=1"),
            ("http://a/./../b#part?", "http://a/./../b?x=1#part?"),
        ] {
            #expect(URL(string: url).flatMap { QueryText.adding(Data("x=1".utf8), to: $0) }?.absoluteString == wanted)
        }
    }

    /// The type's parameter and the body, with the boundary as `B`.
    private static func mirror(_ request: ServerRequest) -> ServerResponse {
        let type = request.fields.first("Content-Type") ?? ""
        let boundary = type.components(separatedBy: "boundary=").last ?? ""
        let length = request.fields.first("Content-Length") ?? "none"
        let body = String(decoding: request.body, as: UTF8.self)
        let isWhole = length == "\(request.bodyByteCount)"
        return .text(
            "\(request.method) \(type)\n\(isWhole)\n\(body)".replacingOccurrences(of: boundary, with: "B")
                .replacingOccurrences(of: "\r", with: ""))
    }

    @Test("-F sends texts, files, standard input, and escapes what would break out of a name")
    func wire() async throws {
        let server = try LoopbackServer.start(router: Self.mirror)
        let place = try Workplace()
        try place.write("<p>", to: "page.html")
        try place.write("line\n", to: "note")
        try place.write("x", to: "a\"b\r\nEvil: 1.bin")
        let run = try await place.shell(
            "printf typed | fetch -F town=Graz -F page=@page.html -F 'note=<note' -F 'in=@-;filename=in.txt;type=a/b' "
                + "-F \"odd=@$(printf 'a\"b\\r\\nEvil: 1.bin')\" --form-string raw=@note \(server.url("/"))")
        let wanted = """
            POST multipart/form-data; boundary=B
            true
            --B
            Content-Disposition: form-data; name="town"

            Graz
            --B
            Content-Disposition: form-data; name="page"; filename="page.html"
            Content-Type: text/html

            <p>
            --B
            Content-Disposition: form-data; name="note"

            line

            --B
            Content-Disposition: form-data; name="in"; filename="in.txt"
            Content-Type: a/b

            typed
            --B
            Content-Disposition: form-data; name="odd"; filename="a%22b%0D%0AEvil: 1.bin"
            Content-Type: application/octet-stream

            x
            --B
            Content-Disposition: form-data; name="raw"

            @note
            --B--

            """
        #expect(run.output == wanted)
        let other = try await place.shell("fetch -H 'Content-Type: multipart/mixed' -F a=b \(server.url("/"))")
        #expect(other.output.hasPrefix("POST multipart/mixed; boundary=B\ntrue\n"))
        for line in ["-F a=@nothing", "-F 'a=<nothing'", "-F a=@."] {
            let missing = try await place.shell("fetch \(line) \(server.url("/"))")
            #expect(missing.exitCode == 26 && missing.complaints.contains("fetch: "), "\(missing.complaints)")
        }
        await server.stop()
    }

    @Test(
        "A form is sent again after a question about passwords and a redirect that keeps it, after no other"
    )
    func again() async throws {
        let server = try LoopbackServer.start { request in
            switch request.path {
            case "/private" where !request.fields.contains(.authorization):
                ServerResponse.text("who?", status: 401).adding("WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\"")
            case "/kept": ServerResponse.status(307).adding("Location", "/private")
            case "/seen": ServerResponse.status(303).adding("Location", "/here")
            case "/here": .text("\(request.method) \(request.bodyByteCount)")
            default: Self.mirror(request)
            }
        }
        let place = try Workplace()
        try place.write(String(repeating: "a", count: 30_000), to: "file")
        let kept = try await place.shell("fetch -u ann:secret -F f=@file \(server.url("/kept"))")
        #expect(kept.output.hasPrefix("POST multipart/form-data; boundary=B\ntrue\n--B\n"))
        #expect(kept.output.hasSuffix("\n\n" + String(repeating: "a", count: 30_000) + "\n--B--\n"))
        let seen = try await place.shell("fetch -F f=@file \(server.url("/seen"))")
        #expect(seen.output == "GET 0" && seen.exitCode == 0, "\(seen.complaints)")
        await server.stop()
    }

    @Test("A file that becomes shorter while it is sent ends the run with 26, and says so")
    func shortened() async throws {
        let place = try Workplace()
        try place.write(String(repeating: "a", count: 1000), to: "file")
        let path = place.path + "/file"
        // The first answer comes when the form was sent; then there is less of the file.
        let server = try LoopbackServer.start { request in
            truncate(path, 10)
            return ServerResponse.text("who?", status: 401).adding("WWW-Authenticate", "Basic realm=\"r\"")
        }
        let run = try await place.shell("fetch -u ann:secret -F f=@file \(server.url("/"))")
        #expect(run.exitCode == 26)
        #expect(run.complaints == "fetch: file has become shorter while it was sent\n")
        await server.stop()
    }

    @Test("-G puts data into the query, with GET or what -I and -X say")
    func get() async throws {
        let server = try LoopbackServer.start { request in
            .text("\(request.method) \(request.target) \(request.bodyByteCount)")
        }
        let place = try Workplace()
        try place.write("two\n", to: "file")
        let run = try await place.shell("fetch -G -d 'q=a b' -d @file \(server.url("/find?l=de"))")
        #expect(run.output == "GET /find?l=de&q=a%20b&two 0")
        #expect(try await place.shell("fetch -G -X QUERY -d q \(server.url("/"))").output == "QUERY /?q 0")
        #expect(try await place.shell("fetch -IG -d q \(server.url("/"))").output.hasPrefix("HTTP/1.1 200 OK\n"))
        await server.stop()
    }
}
