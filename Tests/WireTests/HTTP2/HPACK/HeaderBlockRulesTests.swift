// Decoded header lists as heads: the values that HTTP/1.1 gives too, and everything that makes a list malformed.

import Testing
import URLLoadingWire

@Suite("Header blocks as heads")
struct HeaderBlockRulesTests {
    /// The list that a block of these fields gives.
    private func list(_ pairs: [(String, String)]) throws -> HeaderList {
        var reader = HPACKReader()
        _ = try reader.read(pairs.flatMap { Block.literal($0, $1) })
        return reader.decoder.list
    }

    private func response(_ pairs: (String, String)...) throws -> ResponseHead { try response(pairs) }

    private func response(_ pairs: [(String, String)]) throws -> ResponseHead {
        try HeaderBlockRules.responseHead(list(pairs))
    }

    private func request(_ pairs: (String, String)...) throws -> HeaderBlockRules.Request {
        try HeaderBlockRules.requestHead(list(pairs))
    }

    private func trailers(_ pairs: (String, String)...) throws -> Fields {
        try HeaderBlockRules.trailers(list(pairs))
    }

    // MARK: Responses

    @Test("H4.7: :status is the code and no field; the head is what HTTP/1.1 gives")
    func responseHead() throws {
        let head = try HeaderBlockRules.responseHead(
            list([(":status", "404"), ("server", "x"), ("set-cookie", "a=1"), ("set-cookie", "b=2")]), byteCount: 77)
        #expect(head.status == 404)
        #expect(head.reason == "Not Found")
        #expect(head.byteCount == 77 && head.version == .http2)
        #expect(
            head.fields.texts == [
                TextField("server", "x"), TextField("set-cookie", "a=1"), TextField("set-cookie", "b=2"),
            ])
        #expect(head.fields.combined("Set-Cookie") == "a=1, b=2")
        #expect(try response((":status", "200")).fields.isEmpty)
        #expect(try response((":status", "103"), ("link", "</a>")).isInformational)
    }

    @Test("H4.7: :status missing, twice, late, or not three digits of 100 to 999")
    func status() throws {
        #expect(throws: HeaderFault.missingPseudoField) { try response() }
        #expect(throws: HeaderFault.missingPseudoField) { try response(("server", "x")) }
        #expect(throws: HeaderFault.repeatedPseudoField) { try response((":status", "200"), (":status", "200")) }
        #expect(throws: HeaderFault.latePseudoField) {
            try response((":status", "200"), ("a", "b"), (":status", "200"))
        }
        #expect(throws: HeaderFault.missingPseudoField) { try response(("a", "b"), (":status", "200")) }
        for status in ["", "2", "20", "2000", "099", "000", "+20", "-20", "2 0", "20x", "200 ", "２00"] {
            #expect(throws: HeaderFault.malformedStatus, "\(status)") { try response((":status", status)) }
        }
        for status in [100, 199, 200, 599, 999] {
            #expect(try response((":status", "\(status)")).status == status)
        }
    }

    @Test(
        "H4.7: other pseudo-header fields",
        arguments: [":method", ":path", ":scheme", ":authority", ":", ":Status", ":x"])
    func otherPseudoFields(name: String) {
        #expect(throws: HeaderFault.unexpectedPseudoField) { try response((":status", "200"), (name, "x")) }
        #expect(throws: HeaderFault.latePseudoField) { try response((":status", "200"), ("a", "b"), (name, "x")) }
        #expect(throws: HeaderFault.latePseudoField) { try trailers((name, "x")) }
        #expect(throws: HeaderFault.latePseudoField) { try trailers(("a", "b"), (name, "x")) }
    }

    @Test("H4.7: names that are empty, in upper case, or hold what no token holds")
    func names() throws {
        for name in ["Server", "serveR", "X", "x-Custom-name-that-is-long-enough"] {
            #expect(throws: HeaderFault.uppercaseFieldName, "\(name)") { try response((":status", "200"), (name, "x")) }
            #expect(throws: HeaderFault.uppercaseFieldName, "\(name)") { try trailers((name, "x")) }
        }
        for name in [
            "", "a b", " a", "a ", "a:", "a:b", "a\u{0}", "a\r\n", "ä", "a\u{7F}", "a(", "a-name-of-sixteen/and-more",
            "a\"A",
        ] {
            #expect(throws: HeaderFault.malformedFieldName, "\(name)") { try response((":status", "200"), (name, "x")) }
            #expect(throws: HeaderFault.malformedFieldName, "\(name)") { try trailers((name, "x")) }
        }
        let odd = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
        #expect(try response((":status", "200"), (odd, "x")).fields.name(at: 0) == odd)
    }

    @Test("H4.7: values with NUL, CR or LF; other control bytes become spaces, and outer white space goes")
    func values() throws {
        for value in ["\u{0}", "a\u{0}b", "a\r", "\na", "a\r\nb: c", "a long value that has one\nsomewhere"] {
            #expect(throws: HeaderFault.malformedFieldValue) { try response((":status", "200"), ("a", value)) }
            #expect(throws: HeaderFault.malformedFieldValue) { try trailers(("a", "b"), ("c", value)) }
        }
        let head = try response(
            (":status", "200"), ("a", " \t b c\t "), ("empty", ""), ("blank", "  "), ("d", "x\u{1}y\u{7F}"),
            ("tab", "x\ty"),
            ("set-cookie", "a=\u{2}"), ("e", "\u{E4}"))
        #expect(
            head.fields.texts == [
                TextField("a", "b c"), TextField("empty", ""), TextField("blank", ""), TextField("d", "x y"),
                TextField("tab", "x\ty"), TextField("set-cookie", ""), TextField("e", "\u{E4}"),
            ])
    }

    @Test(
        "H4.7, H3.4: fields about connections of HTTP/1.1",
        arguments: [
            "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "http2-settings", "te",
        ])
    func connectionFields(name: String) {
        #expect(throws: HeaderFault.connectionSpecificField) { try response((":status", "200"), (name, "x")) }
        #expect(throws: HeaderFault.connectionSpecificField) { try trailers((name, "x")) }
        #expect(throws: HeaderFault.connectionSpecificField) {
            try request((":method", "GET"), (":scheme", "http"), (":path", "/"), (name, "close"))
        }
    }

    @Test("H4.7: trailers are fields alone")
    func trailerFields() throws {
        #expect(
            try trailers(("grpc-status", "0"), ("checksum", " x")).texts == [
                TextField("grpc-status", "0"), TextField("checksum", "x"),
            ])
        #expect(try trailers().isEmpty)
    }

    @Test("H4.6: content-length: equal values are one; different ones, signs, letters and overflow are malformed")
    func contentLength() throws {
        func framing(_ values: String...) throws -> BodyFraming {
            let head = try response([(":status", "200")] + values.map { ("content-length", $0) })
            return try HeaderBlockRules.bodyFraming(of: head, to: .toOther)
        }
        #expect(try framing() == .untilClose)
        #expect(try framing("0") == .length(0))
        #expect(try framing("9223372036854775807") == .length(.max))
        #expect(try framing("12", "12") == .length(12))
        #expect(try framing("12, 12") == .length(12))
        #expect(throws: HeaderFault.conflictingContentLengths) { try framing("12", "13") }
        #expect(throws: HeaderFault.conflictingContentLengths) { try framing("12, 13") }
        for value in ["+1", "-1", "1a", "0x1", "", "1.0", "9223372036854775808", "1 2"] {
            #expect(throws: HeaderFault.malformedContentLength, "\(value)") { try framing(value) }
        }
    }

    @Test("H4.6: what HEAD, 204 and 304 say about a length is about another answer")
    func bodiless() throws {
        for (status, request) in [("200", .toHEAD), ("204", .toOther), ("304", .toOther)]
            as [(String, ExpectedResponse)]
        {
            let head = try response((":status", status), ("content-length", "7"))
            #expect(try HeaderBlockRules.bodyFraming(of: head, to: request) == .none)
        }
    }

    @Test("H4.6: a request's content-length, as a server reads it")
    func requestLength() throws {
        let start = [(":method", "POST"), (":scheme", "http"), (":path", "/")]
        func framing(_ values: String...) throws -> BodyFraming {
            try HeaderBlockRules.bodyFraming(
                of: HeaderBlockRules.requestHead(list(start + values.map { ("content-length", $0) })))
        }
        #expect(try framing() == .untilClose)
        #expect(try framing("3") == .length(3))
        #expect(throws: HeaderFault.malformedContentLength) { try framing("x") }
    }

    @Test("H4.9: a list that was too large gives no head")
    func tooLarge() throws {
        var reader = HPACKReader(limits: HPACKLimits(listBytes: 50))
        _ = try reader.read([0x88] + Block.literal("a", "b"))
        #expect(throws: HeaderFault.tooLarge) { try HeaderBlockRules.responseHead(reader.decoder.list) }
        #expect(throws: HeaderFault.tooLarge) { try HeaderBlockRules.requestHead(reader.decoder.list) }
        #expect(throws: HeaderFault.tooLarge) { try HeaderBlockRules.trailers(reader.decoder.list) }
    }

    @Test("H4.9: a head or trailers may have 1,000 fields, however few bytes they took")
    func tooMany() throws {
        var reader = HPACKReader()
        func via(_ count: Int) -> [UInt8] { Array(repeating: 0xBC, count: count) }
        _ = try reader.read([0x88] + via(1000))
        let head = try HeaderBlockRules.responseHead(reader.decoder.list)
        #expect(head.fields.count == 1000)
        _ = try reader.read([0x88] + via(1001))
        #expect(throws: HeaderFault.tooLarge) { try HeaderBlockRules.responseHead(reader.decoder.list) }
        _ = try reader.read([0x82, 0x84, 0x86] + via(1001))
        #expect(throws: HeaderFault.tooLarge) { try HeaderBlockRules.requestHead(reader.decoder.list) }
        _ = try reader.read(via(1000))
        let trailers = try HeaderBlockRules.trailers(reader.decoder.list)
        #expect(trailers.count == 1000)
        _ = try reader.read(via(1001))
        #expect(throws: HeaderFault.tooLarge) { try HeaderBlockRules.trailers(reader.decoder.list) }
    }

    // MARK: Requests

    @Test("H3.1, H3.2: a request as a server reads it: the authority is its Host")
    func requestHead() throws {
        let request = try request(
            (":method", "POST"), (":scheme", "https"), (":path", "/a?b"), (":authority", "example.com:8443"),
            ("te", "trailers"), ("cookie", "a=1"), ("x", "y"), ("cookie", "b=2"), ("cookie", "c"))
        #expect(request.scheme == "https")
        #expect(request.head.method == "POST")
        #expect(request.head.target == "/a?b")
        #expect(
            request.head.fields.texts == [
                TextField("host", "example.com:8443"), TextField("te", "trailers"), TextField("cookie", "a=1; b=2; c"),
                TextField("x", "y"),
            ])
        let options = try self.request((":method", "OPTIONS"), (":path", "*"), (":scheme", "http"), ("host", "a"))
        #expect(options.head.target == "*")
        #expect(options.head.fields.texts == [TextField("host", "a")])
        let connect = try self.request((":method", "CONNECT"), (":authority", "example.com:443"))
        #expect(connect.head.target == "example.com:443")
        #expect(connect.scheme == "")
    }

    @Test("H3.2: bytes that are not text come through a request as they are")
    func requestBytes() throws {
        var reader = HPACKReader()
        let block = Block.literal(":authority", "a") + [0x00] + Block.string([0x78]) + Block.string([0xFF, 0xE4])
        _ = try reader.read([0x82, 0x84, 0x86] + block)
        let fields = try HeaderBlockRules.requestHead(reader.decoder.list).head.fields
        #expect(fields.count == 2)
        #expect(fields.withValueBytes(at: 1) { Array($0) } == [0xFF, 0xE4])
    }

    @Test("H3.1: a request's pseudo-header fields: each once, before all others, and none but these")
    func requestPseudoFields() throws {
        let whole = [(":method", "GET"), (":scheme", "http"), (":path", "/")]
        for missing in whole.indices {
            var fields = whole
            fields.remove(at: missing)
            #expect(throws: HeaderFault.missingPseudoField) { try HeaderBlockRules.requestHead(list(fields)) }
            #expect(throws: HeaderFault.repeatedPseudoField) {
                try HeaderBlockRules.requestHead(list(whole + [whole[missing]]))
            }
            #expect(throws: HeaderFault.latePseudoField) {
                try HeaderBlockRules.requestHead(list(whole + [("a", "b"), whole[missing]]))
            }
        }
        for name in [":status", ":protocol", ":"] {
            #expect(throws: HeaderFault.unexpectedPseudoField) {
                try HeaderBlockRules.requestHead(list(whole + [(name, "200")]))
            }
        }
        #expect(throws: HeaderFault.unexpectedPseudoField) {
            try request((":method", "CONNECT"), (":authority", "a:1"), (":path", "/"))
        }
        #expect(throws: HeaderFault.missingPseudoField) { try request((":method", "CONNECT")) }
    }

    @Test("H3.1, H3.2: a method, scheme, path or authority that can be none")
    func malformedTargets() {
        func expect(_ method: String, _ scheme: String, _ path: String, _ authority: String, host: String? = nil) {
            #expect(throws: HeaderFault.malformedTarget, "\(method) \(scheme) \(path) \(authority)") {
                try HeaderBlockRules.requestHead(
                    list(
                        [(":method", method), (":scheme", scheme), (":path", path), (":authority", authority)]
                            + (host.map { [("host", $0)] } ?? [])))
            }
        }
        expect("", "http", "/", "a")
        expect("G T", "http", "/", "a")
        expect("GET", "", "/", "a")
        expect("GET", "ht tp", "/", "a")
        expect("GET", "http", "", "a")
        expect("GET", "http", "a", "a")
        expect("GET", "http", "/a b", "a")
        expect("GET", "http", "/a\r\nb: c", "a")
        expect("GET", "http", "/", "")
        expect("GET", "http", "/", "user@a")
        expect("GET", "http", "/", "a b")
        expect("GET", "http", "/", "a", host: "b")
    }

    @Test("H4.7: every fault says something else, and is malformed but for what HTTP/1.1 calls a bad response")
    func descriptions() {
        let faults: [HeaderFault] = [
            .malformedFieldName, .uppercaseFieldName, .malformedFieldValue, .connectionSpecificField,
            .malformedContentLength, .conflictingContentLengths, .tooLarge, .missingPseudoField, .repeatedPseudoField,
            .latePseudoField, .unexpectedPseudoField, .malformedStatus, .malformedTarget, .switchingProtocols,
        ]
        #expect(Set(faults.map(\.description)).count == faults.count)
        let bad = faults.filter { $0.kind == .badResponse }
        #expect(bad == [.switchingProtocols])
        #expect(faults.filter { $0.kind == .malformedResponse }.count == faults.count - bad.count)
    }
}
