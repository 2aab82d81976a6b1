// What is written, and what may not be written.

import Testing
import URLLoadingWire

@Suite("Encoders")
struct EncoderTests {
    private func encode(_ head: RequestHead, _ framing: BodyFraming = .none) throws(WireError) -> String {
        var out: [UInt8] = []
        try RequestEncoder.encode(head, framing: framing, into: &out)
        return String(decoding: out, as: UTF8.self)
    }

    private func encode(_ head: ResponseHead, _ framing: BodyFraming = .none) throws(WireError) -> String {
        var out: [UInt8] = []
        try ResponseEncoder.encode(head, framing: framing, into: &out)
        return String(decoding: out, as: UTF8.self)
    }

    private func request(_ method: String = "GET", _ target: String = "/", _ pairs: (String, String)...) -> RequestHead
    {
        var fields = Fields()
        for (name, value) in pairs { fields.append(name, value) }
        return RequestHead(method: method, target: target, fields: fields)
    }

    @Test("B5.21, B5.25: a request is its line, its fields in order, and an empty line")
    func requestHead() throws {
        let head = request("GET", "/a?b=c", ("Host", "example.com"), ("Accept", "*/*"), ("X", ""))
        #expect(try encode(head) == "GET /a?b=c HTTP/1.1\r\nHost: example.com\r\nAccept: */*\r\nX: \r\n\r\n")
    }

    @Test("B5.30: framing writes its own field")
    func requestFraming() throws {
        let head = request("POST", "/", ("Host", "h"))
        #expect(try encode(head, .length(0)) == "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
        #expect(try encode(head, .length(1_234_567_890)).hasSuffix("Content-Length: 1234567890\r\n\r\n"))
        #expect(try encode(head, .length(.max)).hasSuffix("Content-Length: 9223372036854775807\r\n\r\n"))
        #expect(try encode(head, .chunked) == "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
    }

    @Test("B5.27: framing fields of the caller are replaced, never doubled")
    func framingFieldsAreReplaced() throws {
        let head = request("POST", "/", ("content-length", "7"), ("Host", "h"), ("TRANSFER-ENCODING", "chunked"))
        #expect(try encode(head, .length(3)) == "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n")
        #expect(try encode(head, .none) == "POST / HTTP/1.1\r\nHost: h\r\n\r\n")
    }

    @Test("Sealed fields are sent, found and compared as the ones they were made of")
    func sealedFields() throws {
        let head = request("GET", "/", ("Host", "example.com"), ("Accept", "*/*"), ("X", ""), ("Accept", "a, b"))
        var sealed = head
        sealed.fields = head.fields.sealed()
        #expect(try encode(sealed) == encode(head))
        #expect(try encode(sealed, .length(3)) == encode(head, .length(3)))
        #expect(sealed.fields == head.fields && sealed.fields.combined(.accept) == "*/*, a, b")
        // A change takes the seal back, and what was added is checked and sent.
        var changed = sealed
        changed.fields.append("Y", "z")
        #expect(try encode(changed).hasSuffix("\r\nY: z\r\n\r\n"))
        changed.fields.append("Y", "a\r\nb")
        #expect(throws: WireError.unsendableFieldValue) { try encode(changed) }
        changed.fields.removeAll("Y")
        changed.fields.removeAll("Host")
        #expect(try encode(changed) == "GET / HTTP/1.1\r\nAccept: */*\r\nX: \r\nAccept: a, b\r\n\r\n")
    }

    @Test("Fields that may not be sent, or not as they are, are not sealed into a message")
    func unsealableFields() throws {
        var split = request("GET", "/", ("A", "b\r\nC: d"))
        split.fields = split.fields.sealed()
        #expect(throws: WireError.unsendableFieldValue) { try encode(split) }
        var framed = request("POST", "/", ("Host", "h"), ("Content-Length", "7"))
        framed.fields = framed.fields.sealed()
        #expect(try encode(framed, .length(3)) == "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n")
    }

    @Test(
        "Whether fields ask for the connection's end is known before and after sealing",
        arguments: [
            (["close"], true), (["keep-alive, CLOSE"], true), (["keep-alive"], false), (["closed"], false), ([], false),
        ])
    func askToClose(connection: [String], asks: Bool) {
        var fields = Fields()
        fields.append("User-Agent", "close")
        for value in connection { fields.append("connection", value) }
        #expect(fields.askToClose == asks && fields.sealed().askToClose == asks)
    }

    @Test("B16.65: any token is a method, any visible ASCII a target")
    func methodsAndTargets() throws {
        #expect(try encode(request("m!x~", "*")) == "m!x~ * HTTP/1.1\r\n\r\n")
        let long = "/" + String(repeating: "x", count: 5000)
        #expect(try encode(request("GET", long)) == "GET \(long) HTTP/1.1\r\n\r\n")
        var old = request()
        old.version = .http10
        #expect(try encode(old) == "GET / HTTP/1.0\r\n\r\n")
    }

    @Test(
        "R9112 §11.1: a method that is not a token is refused",
        arguments: [
            "", " ", "GET ", "GE T", "GET\r\n", "GET\0", "G\u{E9}T", "GET/", "(x)",
            String(repeating: "a", count: 40) + " ",
        ])
    func unsendableMethod(method: String) {
        #expect(throws: WireError.unsendableMethod) { try encode(request(method)) }
    }

    @Test(
        "R9112 §11.1: a target with white space, control bytes or bytes beyond ASCII is refused",
        arguments: [
            "", " ", "/ ", "/\r\nX: y", "/\n", "/\0", "/\t", "/\u{7F}", "/\u{E9}",
            String(repeating: "/", count: 40) + "\n",
        ])
    func unsendableTarget(target: String) {
        #expect(throws: WireError.unsendableTarget) { try encode(request("GET", target)) }
    }

    @Test(
        "R9112 §11.1: a field name that is not a token is refused",
        arguments: [
            "", " ", "A ", "A:", "A\r\nB", "A\n", "\0", "\u{E9}", "A b", String(repeating: "a", count: 40) + ":",
        ])
    func unsendableName(name: String) {
        #expect(throws: WireError.unsendableFieldName) { try encode(request("GET", "/", (name, "x"), ("Y", "z"))) }
    }

    @Test(
        "R9110 §5.5: a field value with a control byte is refused",
        arguments: [
            "a\r\nB: c", "a\rb", "a\nb", "a\0b", "\u{1}", "\u{7F}", "\r\n", String(repeating: "a", count: 40) + "\n",
        ])
    func unsendableValue(value: String) {
        #expect(throws: WireError.unsendableFieldValue) { try encode(request("GET", "/", ("A", value), ("Y", "z"))) }
        #expect(throws: WireError.unsendableFieldValue) { try encode(request("GET", "/", ("A", value))) }
    }

    @Test("R9110 §5.5: tabs, and text beyond ASCII, may be sent in a value")
    func sendableValues() throws {
        #expect(try encode(request("GET", "/", ("A", "b\tc \u{E9}"))) == "GET / HTTP/1.1\r\nA: b\tc \u{E9}\r\n\r\n")
    }

    @Test("R9112 §11.1: nothing is written when something is refused")
    func nothingIsWritten() {
        var out: [UInt8] = [1, 2, 3]
        #expect(throws: WireError.unsendableFieldValue) {
            try RequestEncoder.encode(request("GET", "/", ("A", "\n")), framing: .none, into: &out)
        }
        #expect(throws: WireError.unsendableReason) {
            try ResponseEncoder.encode(ResponseHead(status: 200, reason: "a\r\nB: c"), framing: .none, into: &out)
        }
        #expect(out == [1, 2, 3])
    }

    @Test("R9112 §6.3: a request cannot end with the connection, and no length is negative")
    func unsendableFraming() {
        #expect(throws: WireError.unsendableFraming) { try encode(request(), .untilClose) }
        #expect(throws: WireError.unsendableFraming) { try encode(request(), .length(-1)) }
        #expect(WireError.unsendableFraming.kind == .invalidRequest)
    }

    @Test("R9112 §7.1: chunks are written with their size in hexadecimal, and an empty one is not written")
    func chunks() {
        for (size, text) in [
            (1, "1"), (9, "9"), (10, "a"), (15, "f"), (16, "10"), (255, "ff"), (4096, "1000"), (0xABCDEF, "abcdef"),
            (Int.max, "7fffffffffffffff"),
        ] {
            var out: [UInt8] = [0x21]
            RequestEncoder.encodeChunkHeader(size: size, into: &out)
            #expect(String(decoding: out, as: UTF8.self) == "!" + text + "\r\n")
        }
        var out: [UInt8] = []
        RequestEncoder.encodeChunkHeader(size: 0, into: &out)
        RequestEncoder.encodeChunkHeader(size: -5, into: &out)
        #expect(out.isEmpty)
        #expect(RequestEncoder.chunkTrailer == Array("\r\n".utf8))
        #expect(RequestEncoder.lastChunk == Array("0\r\n\r\n".utf8))
    }

    @Test("R9112 §4: a response is its status line, its fields, and an empty line")
    func responseHead() throws {
        var fields = Fields()
        fields.append(.server, "demo")
        fields.append(.contentLength, "9")
        var head = ResponseHead(status: 200, fields: fields)
        #expect(try encode(head) == "HTTP/1.1 200 OK\r\nServer: demo\r\nContent-Length: 9\r\n\r\n")
        #expect(try encode(head, .untilClose) == "HTTP/1.1 200 OK\r\nServer: demo\r\nContent-Length: 9\r\n\r\n")
        #expect(try encode(head, .length(2)) == "HTTP/1.1 200 OK\r\nServer: demo\r\nContent-Length: 2\r\n\r\n")
        #expect(try encode(head, .chunked) == "HTTP/1.1 200 OK\r\nServer: demo\r\nTransfer-Encoding: chunked\r\n\r\n")
        head = ResponseHead(status: 999, reason: "Gr\u{FC}n \t!", version: .http10)
        #expect(try encode(head) == "HTTP/1.0 999 Gr\u{FC}n \t!\r\n\r\n")
    }

    @Test("B16.19: only three-digit codes are written", arguments: [-1, 0, 99, 1000, Int.max])
    func unsendableStatus(status: Int) {
        #expect(throws: WireError.unsendableStatus) { try encode(ResponseHead(status: status)) }
    }

    @Test(
        "R9112 §3: a request that is written is read back equal", arguments: [BodyFraming.none, .length(7), .chunked])
    func roundTrip(framing: BodyFraming) throws {
        let head = request("PUT", "/x", ("Host", "h"), ("Accept-Language", "en, de;q=0.5"))
        var out: [UInt8] = []
        try RequestEncoder.encode(head, framing: framing, into: &out)
        var decoder = RequestDecoder()
        var offset = 0
        guard case .head(var read, let readFraming) = try decoder.next(out.span.bytes, offset: &offset) else {
            Issue.record("no head")
            return
        }
        #expect(readFraming == framing)
        read.fields.removeAll(.contentLength)
        read.fields.removeAll(.transferEncoding)
        #expect(read == head)
    }
}
