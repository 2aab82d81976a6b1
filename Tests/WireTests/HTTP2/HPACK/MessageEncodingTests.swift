// Heads as header blocks: what the client's requests and a server's responses become, and what is never sent.

import Testing
import URLLoadingWire

@Suite("Heads as header blocks")
struct MessageEncodingTests {
    /// The fields of the block that a request becomes.
    private func sent(
        _ method: String = "GET", _ target: String = "/", _ fields: [(String, String)] = [], scheme: String = "https",
        authority: String = "example.com", framing: BodyFraming = .none, sealed: Bool = false
    ) throws -> [TextField] {
        var encoder = HPACKEncoder()
        var reader = HPACKReader()
        var block: [UInt8] = []
        let fields = Fields(fields)
        try encoder.encode(
            RequestHead(method: method, target: target, fields: sealed ? fields.sealed() : fields), scheme: scheme,
            authority: authority, framing: framing, into: &block)
        return try reader.read(block)
    }

    private func pseudo(_ method: String = "GET", _ path: String = "/", authority: String = "example.com")
        -> [TextField]
    {
        [
            TextField(":method", method), TextField(":scheme", "https"), TextField(":authority", authority),
            TextField(":path", path),
        ]
    }

    // MARK: Requests

    @Test("H3.1: the pseudo-header fields come first, each once; CONNECT is never sent")
    func pseudoFields() throws {
        #expect(try sent() == pseudo())
        #expect(try sent("OPTIONS", "*", [("a", "b")]) == pseudo("OPTIONS", "*") + [TextField("a", "b")])
        #expect(throws: WireError.unsendableMethod) { try sent("CONNECT", "/") }
        #expect(throws: WireError.unsendableMethod) { try sent("G T") }
        #expect(throws: WireError.unsendableMethod) { try sent("") }
    }

    @Test("H3.2: a Host becomes :authority and is never sent beside it; user information is not sent")
    func authority() throws {
        #expect(
            try sent("GET", "/", [("Host", "other.example:8443"), ("A", "b")])
                == pseudo(authority: "other.example:8443") + [TextField("a", "b")])
        #expect(try sent(authority: "[::1]:8080") == pseudo(authority: "[::1]:8080"))
        for authority in ["", "user@example.com", "user:secret@example.com", "a b", "a\r\n"] {
            #expect(throws: WireError.unsendableFieldValue) { try sent(authority: authority) }
        }
        #expect(throws: WireError.unsendableFieldValue) { try sent("GET", "/", [("host", "a@b")]) }
    }

    @Test("H3.2: :path is a path with its query")
    func path() throws {
        #expect(try sent("GET", "/a/b?c=d&e") == pseudo("GET", "/a/b?c=d&e"))
        #expect(try sent("GET", "/?q") == pseudo("GET", "/?q"))
        for target in ["", "?q", "a", "https://example.com/", "/a b", "/\u{E4}", "/a\r\nb", "**"] {
            #expect(throws: WireError.unsendableTarget, "\(target)") { try sent("GET", target) }
        }
    }

    @Test("H3.3: names in lower case; white space around values goes; what 9110 does not allow is refused")
    func names() throws {
        #expect(
            try sent("GET", "/", [("X-Custom-Header-Name", " v\t"), ("ETAG-LIKE", "A"), ("x_`Z~|^AZaz", "Z")])
                == pseudo() + [
                    TextField("x-custom-header-name", "v"), TextField("etag-like", "A"), TextField("x_`z~|^azaz", "Z"),
                ])
        for sealed in [false, true] {
            #expect(
                try sent("GET", "/", [("Accept", "*/*"), ("User-Agent", "x")], sealed: sealed)
                    == pseudo() + [TextField("accept", "*/*"), TextField("user-agent", "x")])
        }
        for name in ["", "a b", "a:", ":path", "a\r\n", "a\u{0}", "\u{E4}"] {
            #expect(throws: WireError.unsendableFieldName) { try sent("GET", "/", [(name, "v")]) }
        }
        for value in ["a\r\nb: c", "\u{0}", "a\n", "a\r"] {
            #expect(throws: WireError.unsendableFieldValue) { try sent("GET", "/", [("a", value)]) }
        }
    }

    @Test("H3.3: a request that may not be sent leaves no trace in the block or the table")
    func nothingWritten() throws {
        var encoder = HPACKEncoder()
        var reader = HPACKReader()
        var block: [UInt8] = [1, 2, 3]
        let bad = RequestHead(method: "GET", target: "/", fields: Fields([("x-good", "1"), ("x-bad", "\n")]))
        #expect(throws: WireError.unsendableFieldValue) {
            try encoder.encode(bad, scheme: "https", authority: "a", framing: .none, into: &block)
        }
        #expect(block == [1, 2, 3])
        let fields = [TextField("x-good", "1")]
        #expect(try reader.read(encoder.block(fields)) == fields)
    }

    @Test("H3.4: never sent: connection and what it names, and the fields of connections; te only as trailers")
    func connectionFields() throws {
        let fields = [
            ("Connection", "keep-alive, X-One"), ("connection", "x-TWO, close"), ("Keep-Alive", "timeout=5"),
            ("Proxy-Connection", "keep-alive"), ("Transfer-Encoding", "chunked"), ("Upgrade", "h2c"),
            ("HTTP2-Settings", "AAA"), ("X-One", "1"), ("x-two", "2"), ("X-Three", "3"), ("TE", "gzip, trailers;q=0.5"),
        ]
        #expect(try sent("GET", "/", fields) == pseudo() + [TextField("x-three", "3")])
        #expect(
            try sent("GET", "/", [("TE", "gzip, Trailers"), ("a", "b")])
                == pseudo() + [TextField("te", "trailers"), TextField("a", "b")])
        #expect(try sent("GET", "/", [("TE", "gzip")]) == pseudo())
        // What was sent is shown in the head's own spelling.
        #expect(
            Fields(fields + [("Host", "a")]).sentInHTTP2.texts == [TextField("X-Three", "3"), TextField("Host", "a")])
        #expect(
            Fields([("TE", "gzip, Trailers"), ("A", "b")]).sentInHTTP2 == Fields([("TE", "trailers"), ("A", "b")]))
        #expect(Fields([("TE", "gzip")]).sentInHTTP2.isEmpty)
    }

    @Test("H3.4: content-length follows from the body, once")
    func contentLength() throws {
        let fields = [("Content-Length", "7"), ("a", "b")]
        #expect(
            try sent("POST", "/", fields, framing: .length(12))
                == pseudo("POST") + [TextField("a", "b"), TextField("content-length", "12")])
        #expect(try sent("POST", "/", fields, framing: .length(0)).last == TextField("content-length", "0"))
        #expect(try sent("POST", "/", fields, framing: .chunked) == pseudo("POST") + [TextField("a", "b")])
        #expect(try sent("GET", "/", fields) == pseudo() + [TextField("a", "b")])
        #expect(throws: WireError.unsendableFraming) { try sent(framing: .untilClose) }
        #expect(throws: WireError.unsendableFraming) { try sent(framing: .length(-1)) }
    }

    @Test("H3.8, H3.9: a repeated request is an index a field, but for what must not be in a table")
    func repeated() throws {
        var encoder = HPACKEncoder()
        var reader = HPACKReader()
        let head = RequestHead(
            method: "GET", target: "/items",
            fields: Fields([
                ("Host", "example.com"), ("Accept", "*/*"), ("Authorization", "Bearer 1"), ("X-Custom", "value"),
            ]))
        var blocks: [[UInt8]] = []
        for _ in 0..<3 {
            var block: [UInt8] = []
            try encoder.encode(head, scheme: "https", authority: "", framing: .none, into: &block)
            blocks.append(block)
            let request = try HeaderBlockRules.requestHead(reader.list(block))
            #expect(request.head == head)
            #expect(request.scheme == "https")
        }
        #expect(blocks[1].count < blocks[0].count)
        #expect(blocks[1] == blocks[2])
        #expect(blocks[1].prefix(5) == [0x82, 0x87, 0xC1, 0xC0, 0xBF])
        #expect(blocks[1].dropFirst(5).starts(with: Block.integer(23, 0x10, prefixBits: 4)))
        #expect(blocks[1].last == 0xBE)
    }

    // MARK: Responses

    private func answered(
        _ status: Int, _ fields: [(String, String)], framing: BodyFraming = .none
    ) throws -> [TextField] {
        var encoder = HPACKEncoder()
        var reader = HPACKReader()
        var block: [UInt8] = []
        try encoder.encode(ResponseHead(status: status, fields: Fields(fields)), framing: framing, into: &block)
        return try reader.read(block)
    }

    @Test("H4.2: a server's response: :status, then its fields; no 101")
    func responses() throws {
        #expect(
            try answered(200, [("Server", "x"), ("Connection", "close")])
                == [TextField(":status", "200"), TextField("server", "x")])
        #expect(try answered(103, []) == [TextField(":status", "103")])
        #expect(
            try answered(200, [("Content-Length", "5")]) == [
                TextField(":status", "200"), TextField("content-length", "5"),
            ])
        #expect(
            try answered(200, [("Content-Length", "5")], framing: .length(6))
                == [TextField(":status", "200"), TextField("content-length", "6")])
        for status in [99, 101, 1000] { #expect(throws: WireError.unsendableStatus) { try answered(status, []) } }
        #expect(throws: WireError.unsendableFieldValue) { try answered(200, [("a", "\n")]) }
    }

    @Test("H4.7: trailers have no pseudo-header fields")
    func trailers() throws {
        var encoder = HPACKEncoder()
        var reader = HPACKReader()
        var block: [UInt8] = []
        try encoder.encode(trailers: Fields([("Checksum", "x"), ("Upgrade", "y")]), into: &block)
        #expect(try reader.read(block) == [TextField("checksum", "x")])
        #expect(throws: WireError.unsendableFieldName) {
            try encoder.encode(trailers: Fields([(":status", "200")]), into: &block)
        }
    }
}

extension HPACKReader {
    /// The list of one block.
    fileprivate mutating func list(_ block: [UInt8]) throws(HPACKError) -> HeaderList {
        _ = try read(block)
        return decoder.list
    }
}
