// The fields of a request, from the application's to the wire.

import Testing
import URLLoadingPolicy
import URLLoadingWire

@Suite struct RequestFieldRulesTests {
    private func fields(_ pairs: [(String, String)]) -> Fields {
        var fields = Fields()
        for (name, value) in pairs { fields.append(name, value) }
        return fields
    }

    private func lines(_ fields: Fields) -> [String] {
        (0..<fields.count).map { "\(fields.name(at: $0)): \(fields.value(at: $0))" }
    }

    private func sent(
        _ application: [(String, String)] = [], additional: [(String, String)] = [], method: String = "GET",
        body: RequestBodyLength = .none, origin: Origin? = Origin(scheme: .https, host: "example.com", port: 8443)
    ) throws -> [String] {
        lines(
            RequestFieldRules.fields(
                application: fields(application), additional: fields(additional),
                defaults: DefaultFields(acceptLanguage: "en", userAgent: "test/1"), method: method,
                origin: try #require(origin), body: body))
    }

    @Test("B5.16, B5.21: Host comes first, the defaults last")
    func defaults() throws {
        #expect(
            try sent([("X-One", "1")]) == [
                "Host: example.com:8443", "X-One: 1", "Accept: */*", "Accept-Language: en",
                "Accept-Encoding: \(CodingLibraries.system.acceptEncoding)", "User-Agent: test/1",
                "Connection: keep-alive",
            ])
    }

    @Test("B5.16: a default is added only where the request has no field of that name, in any case")
    func defaultsYield() throws {
        let application = [
            ("ACCEPT", "text/html"), ("accept-language", "de"), ("Accept-encoding", "identity"), ("user-agent", "me"),
        ]
        #expect(
            try sent(application) == [
                "Host: example.com:8443", "ACCEPT: text/html", "accept-language: de", "Accept-encoding: identity",
                "user-agent: me", "Connection: keep-alive",
            ])
    }

    @Test("B5.18: no coding is asked for besides a Range, unless the request names one")
    func part() throws {
        let identity = "Accept-Encoding: identity"
        #expect(try sent([("range", "bytes=0-9")]).contains(identity))
        #expect(try sent(additional: [("Range", "bytes=0-9")]).contains(identity))
        let own = try sent([("Range", "bytes=0-9"), ("Accept-Encoding", "gzip")])
        #expect(own.contains("Accept-Encoding: gzip") && !own.contains(identity))
    }

    @Test("B5.16: a default without value is left out")
    func noDefaults() throws {
        var defaults = DefaultFields()
        defaults.accept = nil
        defaults.acceptEncoding = nil
        let origin = try #require(Origin(scheme: .http, host: "h"))
        let result = RequestFieldRules.fields(
            application: Fields(), defaults: defaults, method: "GET", origin: origin, body: .none)
        #expect(lines(result) == ["Host: h", "Connection: keep-alive"])
    }

    @Test("B5.13: Host and Authorization set by the application are honoured")
    func honoured() throws {
        let result = try sent([("Authorization", "Basic x"), ("host", "other.example"), ("Host", "second.example")])
        #expect(result.prefix(2) == ["Host: other.example", "Authorization: Basic x"])
        #expect(result.count { $0.lowercased().hasPrefix("host:") } == 1)
        #expect(try sent([("Host", "")]).first == "Host: example.com:8443")
        #expect(try sent([("Host", "a\r\nb")]).first == "Host: example.com:8443")
        #expect(try sent(additional: [("Host", "more.example")]).first == "Host: more.example")
    }

    @Test("B5.40: a request without content has no 100-continue, whoever has set it")
    func expectation() throws {
        let field = [("Expect", "100-continue")]
        for body in [RequestBodyLength.none, .known(0)] {
            #expect(try !sent(field, body: body).contains("Expect: 100-continue"))
            #expect(try !sent(additional: field, body: body).contains("Expect: 100-continue"))
        }
        for body in [RequestBodyLength.known(1), .stream] {
            #expect(try sent(field, body: body).contains("Expect: 100-continue"))
        }
    }

    static let dropped = [
        "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
        "Proxy-Authorization", "Content-Length", "transfer-encoding", "CONNECTION",
    ]

    @Test("B5.13: connection-specific and computed fields are dropped", arguments: dropped)
    func droppedFields(name: String) throws {
        #expect(!RequestFieldRules.isSent(name))
        #expect(!(try sent([(name, "x")], additional: [(name, "x")]).contains("\(name): x")))
    }

    @Test("B5.13, H3.4: what Connection names is dropped with it, Host excepted")
    func namedByConnection() throws {
        let result = try sent(
            [("Connection", "close, x-hop ,X-Other"), ("X-Hop", "1"), ("X-OTHER", "2"), ("X-Stays", "3")],
            additional: [("Connection", "x-more, Host"), ("X-More", "4"), ("X-Also", "5")])
        #expect(result.prefix(3) == ["Host: example.com:8443", "X-Stays: 3", "X-Also: 5"])
        #expect(result.filter { $0.hasPrefix("X-") } == ["X-Stays: 3", "X-Also: 5"])
    }

    @Test(
        "B5.7: a field whose name is not a token is dropped",
        arguments: ["", "a b", "a:b", "ä", "a\r\nb", "a\u{0}", "(a)"])
    func namesThatAreNoTokens(name: String) throws {
        #expect(!RequestFieldRules.isSent(name))
        #expect(try sent([(name, "x")]).count == 6)
    }

    @Test("B5.14: an additional field is added only where the request has none of that name")
    func additional() throws {
        let result = try sent(
            [("X-Mine", "1")], additional: [("x-mine", "2"), ("X-More", "3"), ("X-More", "4"), ("Accept", "a/b")])
        #expect(result.prefix(5) == ["Host: example.com:8443", "X-Mine: 1", "X-More: 3", "X-More: 4", "Accept: a/b"])
        #expect(!result.contains("Accept: */*"))
    }

    @Test(
        "B5.6: a folded value is sent as one line, other line ends and NUL are refused",
        arguments: [
            ("plain", "plain"), ("", ""), ("a\r\n b", "a b"), ("a \t\r\n \t b", "a b"), ("a\r\n b\r\n\tc", "a b c"),
            ("\r\n a", "a"), ("a\r\n ", "a"), ("a\r\nb", nil), ("a\nb", nil), ("a\rb", nil), ("a\u{0}b", nil),
            ("a\r\n", nil),
            ("a\r", nil), ("ü\r\n ü", "ü ü"),
        ] as [(String, String?)])
    func folding(value: String, expected: String?) throws {
        #expect(RequestFieldRules.unfolded(value) == expected)
        let result = try sent([("X-A", value)])
        #expect(result.contains { $0.hasPrefix("X-A:") } == (expected != nil))
    }

    @Test("B5.32: only POST with a body gets the form type, and only if it has none")
    func contentType() throws {
        let form = "Content-Type: application/x-www-form-urlencoded"
        #expect(try sent(method: "POST", body: .known(1)).contains(form))
        #expect(try sent(method: "POST", body: .stream).contains(form))
        #expect(try !sent([("content-type", "text/plain")], method: "POST", body: .known(1)).contains(form))
        for method in ["PUT", "PATCH", "DELETE", "GET", "post"] {
            #expect(try !sent(method: method, body: .known(1)).contains(form))
        }
    }

    @Test("B5.31: an empty body is as good as none", arguments: [RequestBodyLength.none, .known(0)])
    func emptyBody(body: RequestBodyLength) throws {
        #expect(!body.hasContent)
        #expect(try !sent(method: "POST", body: body).contains { $0.hasPrefix("Content-Type") })
        #expect(!RequestFieldRules.isRefused(method: "GET", body: body))
    }

    @Test("B5.26: data and files have their length, whatever the application says (B5.27)")
    func knownLength() {
        #expect(RequestFieldRules.framing(method: "PUT", body: .known(5), applicationLength: nil) == .length(5))
        #expect(RequestFieldRules.framing(method: "PUT", body: .known(5), applicationLength: "7") == .length(5))
    }

    @Test(
        "B5.28: a stream is chunked unless the application gave its length",
        arguments: [
            (nil, BodyFraming.chunked), ("12", .length(12)), ("0", .length(0)), ("-1", .chunked), ("x", .chunked),
            ("", .chunked), ("1 2", .chunked), ("9223372036854775807", .length(.max)),
            ("9223372036854775808", .chunked),
            ("99999999999999999999999", .chunked),
        ] as [(String?, BodyFraming)])
    func streamFraming(length: String?, expected: BodyFraming) {
        #expect(RequestFieldRules.framing(method: "POST", body: .stream, applicationLength: length) == expected)
    }

    @Test("B5.30: POST, PUT and PATCH without a body say so, the others do not")
    func framingWithoutBody() {
        for method in ["POST", "PUT", "PATCH"] {
            for body in [RequestBodyLength.none, .known(0)] {
                #expect(RequestFieldRules.framing(method: method, body: body, applicationLength: "5") == .length(0))
            }
        }
        for method in ["GET", "HEAD", "DELETE", "OPTIONS", "TRACE", "put"] {
            #expect(RequestFieldRules.framing(method: method, body: .none, applicationLength: nil) == .none)
        }
    }

    @Test("B5.33: GET with a body is refused, HEAD with one is not")
    func getWithBody() {
        #expect(RequestFieldRules.isRefused(method: "GET", body: .known(1)))
        #expect(RequestFieldRules.isRefused(method: "GET", body: .stream))
        #expect(!RequestFieldRules.isRefused(method: "GET", body: .known(0)))
        #expect(!RequestFieldRules.isRefused(method: "HEAD", body: .known(1)))
        #expect(!RequestFieldRules.isRefused(method: "POST", body: .stream))
    }
}
