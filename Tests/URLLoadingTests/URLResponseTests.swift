// Responses (behaviour 5.4 and 5.5).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer

@Suite("Responses")
struct URLResponseTests {
    private func response(
        _ fields: [String: String]?, status: Int = 200, url: String = "https://example.com/dir/file.txt?q"
    )
        throws -> HTTPURLResponse
    {
        let url = try #require(URL(string: url))
        return try #require(
            HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields))
    }

    @Test("B5.44: repeated fields are one entry, in the order of arrival")
    func repeatedFields() async throws {
        let router: LoopbackServer.Router = { _ in
            ServerResponse.text("x").adding("Set-Cookie", "a=1").adding("x-CUSTOM", "1").adding("set-cookie", "b=2")
                .adding("X-Custom", "2")
        }
        try await withServer(router: router) { server in
            let session = URLSession(configuration: .default)
            let (_, answer) = try await session.data(from: try server.at("/"))
            let response = try #require(answer as? HTTPURLResponse)
            let fields = try #require(response.allHeaderFields as? [String: String])
            #expect(fields["Set-Cookie"] == "a=1, b=2")
            #expect(
                fields[ProtocolUnderTest.field("x-CUSTOM")] == "1, 2", "B5.45: an unknown name keeps its first spelling"
            )
            #expect(response.value(forHTTPHeaderField: "X-CUSTOM") == "1, 2", "B5.46")
        }
    }

    @Test("statusLine and receivedFields show the head as it was received", .http1Only("The text of HTTP/1.1"))
    func headAsItCame() async throws {
        let router: LoopbackServer.Router = { _ in
            .script([
                .lines(
                    "HTTP/1.0 299 Rather  fine\nx-b: 1\nSet-Cookie: a=1\nContent-Length: 0\nSET-COOKIE: b=2\nX-A:  2 \n\n"
                )
            ])
        }
        try await withServer(router: router) { server in
            let session = URLSession(configuration: .default)
            let (_, answer) = try await session.data(from: try server.at("/"))
            let response = try #require(answer as? HTTPURLResponse)
            #expect(response.statusLine == "HTTP/1.0 299 Rather  fine")
            #expect(
                response.receivedFields.map { "\($0.name): \($0.value)" }
                    == ["x-b: 1", "Set-Cookie: a=1", "Content-Length: 0", "SET-COOKIE: b=2", "X-A: 2"])
        }
        let made = try response(["B": "2", "A": "1"], status: 404)
        #expect(made.statusLine == "HTTP/1.1 404 Not Found" && made.receivedFields.map(\.name) == ["A", "B"])
    }

    @Test(
        "B5.45: well-known names get canonical capitals",
        arguments: [
            ("location", "Location"), ("CONTENT-LENGTH", "Content-Length"), ("etag", "Etag"),
            ("content-type", "Content-Type"), ("www-authenticate", "Www-Authenticate"), ("x-my-Field", "x-my-Field"),
            ("x-powered-BY", "X-Powered-By"), ("TE", "Te"), ("coo\u{212A}ie", "Cookie"),
        ])
    func capitals(given: String, wanted: String) throws {
        #expect(try response([given: "1"]).allHeaderFields as? [String: String] == [wanted: "1"])
    }

    @Test("B5.47: values are trimmed, and bytes that are not UTF-8 are ISO-8859-1")
    func valueBytes() async throws {
        let head =
            Array("HTTP/1.1 200 OK\r\nX-Latin:caf".utf8) + [0xE9]
            + Array("  \r\nX-UTF: café\r\nContent-Length: 0\r\n\r\n".utf8)
        try await withServer(router: { _ in .script([.send(head)]) }) { server in
            let session = URLSession(configuration: .default)
            let (_, answer) = try await session.data(from: try server.at("/"))
            let response = try #require(answer as? HTTPURLResponse)
            #expect(response.value(forHTTPHeaderField: "X-Latin") == "café")
            #expect(response.value(forHTTPHeaderField: "X-UTF") == "café")
        }
    }

    @Test("B5.48, B5.61: a response without fields has an empty dictionary")
    func noFields() throws {
        #expect(try response(nil).allHeaderFields.isEmpty)
        #expect(HTTPURLResponse().statusCode == 0)
        #expect(URLResponse().expectedContentLength == -1)
    }

    @Test("B5.49: any three-digit status is shown as it is", arguments: [100, 299, 600, 999])
    func statuses(status: Int) async throws {
        guard status >= 200 else { return }
        try await withServer(router: { _ in .status(status) }) { server in
            let session = URLSession(configuration: .default)
            let (_, answer) = try await session.data(from: try server.at("/"))
            #expect((answer as? HTTPURLResponse)?.statusCode == status)
        }
    }

    @Test(
        "B5.50: localizedString(forStatusCode:) gives a phrase for each status",
        arguments: [
            (200, "no error"), (404, "not found"), (299, "success"), (399, "redirected"), (499, "client error"),
            (599, "server error"), (103, "informational"), (503, "service unavailable"),
        ])
    func phrases(status: Int, phrase: String) {
        #expect(HTTPURLResponse.localizedString(forStatusCode: status) == phrase)
    }

    @Test(
        "B5.51, B5.52: type and charset of Content-Type",
        arguments: [
            ("Text/HTML; Charset=\"UTF-8\"", "text/html", "utf-8"), ("text/plain", "text/plain", nil),
            ("text/html;charset=ISO-8859-4", "text/html", "iso-8859-4"), ("", nil, nil),
            ("application/json; a=\"x;charset=no\"; charset=utf-16", "application/json", "utf-16"),
            (" image/png ;charset=", "image/png", nil), (";charset=utf-8", nil, "utf-8"),
        ] as [(String, String?, String?)])
    func contentType(value: String, type: String?, charset: String?) throws {
        let response = try response(["Content-Type": value])
        #expect(response.mimeType == type)
        #expect(response.textEncodingName == charset)
    }

    @Test(
        "B5.72: of several Content-Type fields the last one that is a media type is used",
        arguments: [
            (["text/html", "image/png"], "image/png", nil), (["text/html, image/png"], "image/png", nil),
            (["text/html;charset=UTF-8", "text/html"], "text/html", "utf-8"),
            (["text/html;charset=UTF-8, text/plain"], "text/plain", nil),
            (["text/html;charset=utf-8, text/plain, text/html"], "text/html", nil),
            (["text/html;charset=utf-8, text/html;charset=latin1"], "text/html", "latin1"),
            (["text/html", "nonsense"], "text/html", nil), (["image/png, */*"], "image/png", nil),
            (["image/png", ""], "image/png", nil), (["image/png,,"], "image/png", nil),
            (["text/html;x=\"a,text/plain\";charset=utf-8"], "text/html", "utf-8"),
            (["text/html;x=\"a, text/plain"], "text/html", nil),
            (["text/html;x=\"a\\", "text/plain"], "text/html", nil),
            (["nonsense", "more"], "nonsense, more", nil),
        ] as [([String], String?, String?)])
    func severalTypes(values: [String], type: String?, charset: String?) async throws {
        let lines = values.map { "Content-Type: \($0)\r\n" }.joined()
        let head = Array("HTTP/1.1 200 OK\r\n\(lines)Content-Length: 0\r\n\r\n".utf8)
        try await withServer(router: { _ in .script([.send(head)]) }) { server in
            let (_, live) = try await URLSession(configuration: .default).data(from: try server.at("/"))
            for response in [live, try response(["Content-Type": values.joined(separator: ", ")])] {
                #expect(response.mimeType == type && response.textEncodingName == charset)
            }
        }
    }

    @Test("B5.51, B5.54: without Content-Type a response has no MIME type")
    func noContentType() throws {
        #expect(try response([:]).mimeType == nil)
        #expect(try response([:]).textEncodingName == nil)
    }

    @Test("B5.53: a URLResponse keeps the values that it is made with")
    func plainResponse() throws {
        let response = URLResponse(
            url: try #require(URL(string: "https://example.com/x.txt")), mimeType: "Text/HTML",
            expectedContentLength: 7, textEncodingName: "UTF-8")
        #expect(response.mimeType == "Text/HTML")
        #expect(response.textEncodingName == "UTF-8")
        #expect(response.expectedContentLength == 7)
        #expect(response.suggestedFilename == "x.txt")
    }

    @Test(
        "B5.55, B5.56: Content-Length of a response that a program has made",
        arguments: [
            (["Content-Length": "997"], 997), ([:], -1), (["content-length": "5", "Transfer-Encoding": "chunked"], 5),
            (["Content-Length": "5", "Content-Encoding": "gzip"], 5), (["Content-Length": "-5"], -1),
            (["Content-Length": "99999999999999999999"], -1), (["Content-Length": "abc"], -1),
        ] as [([String: String], Int64)])
    func contentLength(fields: [String: String], length: Int64) throws {
        #expect(try response(fields).expectedContentLength == length)
    }

    @Test("B5.58: the response to HEAD reports Content-Length")
    func headLength() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let session = URLSession(configuration: .default)
            var request = URLRequest(url: try server.at("/"))
            request.httpMethod = "HEAD"
            let (data, response) = try await session.data(for: request)
            #expect(data.isEmpty)
            #expect(response.expectedContentLength == 5)
        }
    }

    @Test(
        "B5.58, B16.31, B16.34: to HEAD a length is reported as GET would have it",
        .http1Only("Lengths are framed otherwise"),
        arguments: [
            ("Content-Length: 2\r\nContent-Length: 3", -1), ("Content-Length: 5\r\nTransfer-Encoding: chunked", -1),
            ("Content-Length: 2, 2", 2), ("Content-Length: 7", 7),
            ("Content-Encoding: gzip\r\nContent-Length: 33", -1),
            ("Content-Encoding: identity\r\nContent-Length: 33", 33),
            ("Content-Encoding: unheard-of\r\nContent-Length: 33", 33),
        ] as [(String, Int64)])
    func doubtfulHeadLength(lines: String, length: Int64) async throws {
        let head = Array("HTTP/1.1 200 OK\r\n\(lines)\r\n\r\n".utf8)
        try await withServer(router: { _ in .script([.send(head)]) }) { server in
            let session = URLSession(configuration: .ephemeral)
            var request = URLRequest(url: try server.at("/"))
            request.httpMethod = "HEAD"
            let (_, response) = try await session.data(for: request)
            #expect(response.expectedContentLength == length)
            session.invalidateAndCancel()
        }
    }

    @Test("B5.59: a response in chunks has no expected length")
    func chunkedLength() async throws {
        try await withServer(router: { _ in .chunks([Array("ab".utf8), Array("cd".utf8)]) }) { server in
            let (data, response) = try await URLSession(configuration: .default).data(from: try server.at("/"))
            #expect(data.count == 4 && response.expectedContentLength == -1)
        }
    }

    @Test("B5.62: responses survive archiving, those of servers too")
    func archiving() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let session = URLSession(configuration: .default)
            let (_, live) = try await session.data(from: try server.at("/x"))
            let made = try response([
                "Content-Type": "text/html; charset=utf-8", "Content-Disposition": "attachment; filename=a.b",
            ])
            for response in [live, made] {
                let data = try NSKeyedArchiver.archivedData(withRootObject: response, requiringSecureCoding: true)
                let read = try #require(
                    try NSKeyedUnarchiver.unarchivedObject(ofClass: HTTPURLResponse.self, from: data))
                #expect(read.isEqual(response))
                #expect(read.suggestedFilename == response.suggestedFilename)
                #expect(read.url == response.url)
                #expect(read.mimeType == response.mimeType)
            }
        }
    }

    @Test("B5.63: responses are equal by their contents")
    func equality() throws {
        let one = try response(["X": "1"])
        #expect(one.isEqual(try response(["X": "1"])))
        #expect(one.hash == (try response(["X": "1"])).hash)
        #expect(!one.isEqual(try response(["X": "2"])))
        #expect(!one.isEqual(try response(["X": "1"], status: 201)))
        #expect(!one.isEqual(try response(["X": "1"], url: "https://example.com/other")))
        #expect(!one.isEqual(nil))
        #expect(one.copy() as? HTTPURLResponse === one)
    }

    @Test("B17.57: descriptions hold no password")
    func noPasswordInDescription() throws {
        let response = try response([:], url: "https://user:secret@example.com/")
        #expect(!response.description.contains("secret"))
        #expect(response.description.contains("user@example.com"))
    }

    @Test("A description shows the status and the fields, and no secret among them")
    func fieldsInDescription() throws {
        let accents = try response(
            [
                "Link":
                    "<https://a:\u{301}secret@h.example/>, <https:\u{301}//b:secret@h.example/>, <x://\u{301}c:secret@h/>"
            ],
            url: "https://example.com/")
        #expect(accents.description.components(separatedBy: "secret").count == 2, "of the second, which is no URL")

        let response = try response(
            [
                "Content-Type": "text/html; charset=utf-8", "Server": "nginx", "ETag": "\"1\\2\"", "X-Name": "Ré",
                "Set-Cookie": "session=secret", "X-Auth-Token": "secret", "authorization": "Basic secret",
                "WWW-Authenticate": "Basic realm=\"files\"",
                "Link": "<https://a:secret@example.com/>, <https://b:secret@example.com/>",
                "Content-Security-Policy": "img-src data: https://c:secret@example.com:8443/a:b",
            ], url: "https://example.com/")
        let place = String(UInt(bitPattern: ObjectIdentifier(response)), radix: 16)
        #expect(
            response.description == #"""
                <NSHTTPURLResponse: 0x\#(place)> { URL: https://example.com/ } { Status Code: 200, Headers {
                    Authorization =     (
                        "(not shown)"
                    );
                    "Content-Security-Policy" =     (
                        "img-src data: https://c@example.com:8443/a:b"
                    );
                    "Content-Type" =     (
                        "text/html; charset=utf-8"
                    );
                    Etag =     (
                        "\"1\\2\""
                    );
                    Link =     (
                        "<https://a@example.com/>, <https://b@example.com/>"
                    );
                    Server =     (
                        nginx
                    );
                    "Set-Cookie" =     (
                        "(not shown)"
                    );
                    "Www-Authenticate" =     (
                        "Basic realm=\"files\""
                    );
                    "X-Auth-Token" =     (
                        "(not shown)"
                    );
                    "X-Name" =     (
                        "R\U00e9"
                    );
                } }
                """#)
        #expect(HTTPURLResponse().description.hasSuffix("> { URL: (null) } { Status Code: 0, Headers {\n} }"))
        #expect(URLResponse().description.hasPrefix("<NSURLResponse: 0x"))
        #expect(URLResponse().description.hasSuffix("> { URL: (null) }"))
    }

    @Test(
        "B5.64, B5.65: the suggested file name is that in Content-Disposition, else the URL's last part, else Unknown",
        arguments: [
            ("attachment; filename=x.bin", "https://example.com/y", "x.bin"),
            (nil, "https://example.com/dir/file.txt?q=a/b", "file.txt"), (nil, "https://example.com/dir/", "dir"),
            (nil, "https://www.swift.org", "Unknown"), (nil, "https://www.swift.org/", "Unknown"),
            ("", "https://example.com/y", "y"),
        ] as [(String?, String, String)])
    func filenames(disposition: String?, url: String, wanted: String) throws {
        let fields = disposition.map { ["Content-Disposition": $0, "Content-Type": "text/html"] }
        #expect(try response(fields, url: url).suggestedFilename == wanted)
    }

    @Test(
        "B5.66: filename is a token or a quoted string, and the last well-formed one is used",
        arguments: [
            ("attachment; filename=\"a;b.txt\"; size=3", "https://example.com/y", "a;b.txt"),
            ("attachment; filename=\"a\\\"b.txt\"", "https://example.com/y", "a\"b.txt"),
            ("attachment; filename=first; filename=second", "https://example.com/y", "second"),
            ("attachment; other=\"filename=no\"", "https://example.com/y", "y"),
            ("attachment; filename=\"unfinished", "https://example.com/y", "y"),
            ("attachment; filename=\"\"", "https://example.com/y", "y"),
        ] as [(String?, String, String)])
    func filenameParameter(disposition: String?, url: String, wanted: String) throws {
        try filenames(disposition: disposition, url: url, wanted: wanted)
    }

    @Test(
        "B5.67: filename* wins unless it cannot be decoded",
        arguments: [
            ("attachment; filename*=UTF-8''na%C3%AFve.txt; filename=plain", "https://example.com/y", "naïve.txt"),
            ("attachment; filename*=iso-8859-1'en'na%EFve.txt", "https://example.com/y", "naïve.txt"),
            ("attachment; filename*=UTF-8''bad%ZZ; filename=plain", "https://example.com/y", "plain"),
            ("attachment; filename*=UTF-8''bad%FF; filename=plain", "https://example.com/y", "plain"),
        ] as [(String?, String, String)])
    func filenameStar(disposition: String?, url: String, wanted: String) throws {
        try filenames(disposition: disposition, url: url, wanted: wanted)
    }

    @Test(
        "B5.68: a suggested file name has no slashes and no control characters, and is not only dots",
        arguments: [
            (nil, "https://example.com/a%2Fb", "a_b"),
            ("attachment; filename=\"a/../b\"", "https://example.com/y", "a_.._b"),
            ("attachment; filename=\"..\"", "https://example.com/y", "y"),
            ("attachment; filename=\"a\u{1}\u{7}b\"", "https://example.com/y", "ab"),
            ("attachment; filename=\" \"", "https://example.com/y", "y"),
            (nil, "https://example.com/%20%C2%A0", "Unknown"),
        ] as [(String?, String, String)])
    func filenameCharacters(disposition: String?, url: String, wanted: String) throws {
        try filenames(disposition: disposition, url: url, wanted: wanted)
    }

    @Test("B5.68: a suggested file name has at most 255 bytes, is cut at a character's border, and keeps its ending")
    func longFilenames() throws {
        func expect(_ name: String, _ wanted: String, _ location: SourceLocation = #_sourceLocation) throws {
            let suggested = try response(["Content-Disposition": "attachment; filename=\"\(name)\""]).suggestedFilename
            #expect(suggested == wanted, sourceLocation: location)
        }
        func a(_ count: Int) -> String { String(repeating: "a", count: count) }
        try expect(a(251) + ".txt", a(251) + ".txt")
        try expect(a(252) + ".txt", a(251) + ".txt")
        try expect(a(300), a(255))
        try expect("x." + a(300), "x." + a(253))
        try expect("." + a(300), "." + a(254))
        // Four bytes and a mark of two: the last of them would have no room for its mark.
        let marked = "😀\u{301}"
        try expect(String(repeating: marked, count: 42) + ".txt", String(repeating: marked, count: 41) + ".txt")
        // One character of more bytes than a name can have.
        try expect("a" + String(repeating: "\u{301}", count: 200), "file.txt")
    }

    @Test(
        "B5.69, B5.70: inline without a file name means the URL's name, and no extension is added for the type",
        arguments: [
            ("inline", "https://example.com/y", "y"), ("inline", "https://example.com/noextension", "noextension"),
        ])
    func filenameFallback(disposition: String?, url: String, wanted: String) throws {
        try filenames(disposition: disposition, url: url, wanted: wanted)
    }
}
