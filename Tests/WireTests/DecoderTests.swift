// What vectors cannot say about the decoders: counters, order of calls, errors that stay.

import Testing
import URLLoadingWire

@Suite("Decoders")
struct DecoderTests {
    private func error(_ body: () throws(WireError) -> Void) -> WireError? {
        do {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test("B16.9: bytes that no request asked for are an error, no bytes are none")
    func unsolicitedBytes() throws {
        var decoder = ResponseDecoder()
        var offset = 0
        let nothing: [UInt8] = []
        #expect(try decoder.next(nothing.span.bytes, offset: &offset) == .needMore)
        #expect(try decoder.endOfStream() == .needMore)
        let bytes = Array("HTTP/1.1 408 Request Timeout\r\n\r\n".utf8)
        #expect(throws: WireError.bytesWithoutRequest) { _ = try decoder.next(bytes.span.bytes, offset: &offset) }
        #expect(offset == 0)
        #expect(throws: WireError.bytesWithoutRequest) { _ = try decoder.endOfStream() }
        #expect(WireError.bytesWithoutRequest.kind == .truncated)
    }

    @Test(
        "B5.58: the length of an answer without a body is read as that of one with a body",
        arguments: [
            ([("Content-Length", "5")], 5), ([("Content-Length", "2, 2")], 2), ([], nil),
            ([("Content-Length", "2"), ("content-length", "2")], 2),
            ([("Content-Length", "2"), ("Content-Length", "3")], nil), ([("Content-Length", "x")], nil),
            ([("Content-Length", "5"), ("Transfer-Encoding", "chunked")], nil),
            ([("Content-Length", "9223372036854775807")], .max), ([("Content-Length", "9223372036854775808")], nil),
        ] as [([(String, String)], Int64?)])
    func announcedLength(fields: [(String, String)], length: Int64?) {
        var head = ResponseHead(status: 200)
        for (name, value) in fields { head.fields.append(name, value) }
        #expect(head.announcedLength == length)
    }

    @Test("B16.5: after an error every call throws it again")
    func errorsStay() {
        var decoder = ResponseDecoder()
        decoder.begin(.toOther)
        let bytes = Array("nonsense".utf8)
        var offset = 0
        for _ in 0..<3 {
            #expect(throws: WireError.notHTTP) { _ = try decoder.next(bytes.span.bytes, offset: &offset) }
        }
        decoder.begin(.toOther)
        #expect(throws: WireError.notHTTP) { _ = try decoder.endOfStream() }

        var requests = RequestDecoder()
        let request = Array("GET\r\n\r\n".utf8)
        for _ in 0..<3 {
            #expect(throws: WireError.malformedRequestLine) {
                _ = try requests.next(request.span.bytes, offset: &offset)
            }
        }
        #expect(throws: WireError.malformedRequestLine) { _ = try requests.endOfStream() }
    }

    @Test("B16.37: an error of the end of the stream stays as well")
    func endOfStreamStays() throws {
        var decoder = ResponseDecoder()
        decoder.begin(.toOther)
        #expect(throws: WireError.closedBeforeResponse) { _ = try decoder.endOfStream() }
        #expect(throws: WireError.closedBeforeResponse) { _ = try decoder.endOfStream() }
    }

    @Test("B12.19: body bytes are counted with and without framing")
    func counters() throws {
        var decoder = ResponseDecoder()
        decoder.begin(.toOther)
        let bytes = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x\r\nhello\r\n0\r\nA: b\r\n\r\n".utf8)
        let headBytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8.count
        var offset = 0
        guard case .head(let head, .chunked) = try decoder.next(bytes.span.bytes, offset: &offset) else {
            Issue.record("no head")
            return
        }
        #expect(head.byteCount == headBytes)
        #expect(offset == headBytes)
        while case .body = try decoder.next(bytes.span.bytes, offset: &offset) {}
        #expect(decoder.bodyBytesReceived == 5)
        #expect(decoder.wireBodyBytes == Int64(bytes.count - headBytes))

        decoder.begin(.toOther)
        #expect(decoder.bodyBytesReceived == 0)
        #expect(decoder.wireBodyBytes == 0)
        let plain = Array("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc".utf8)
        offset = 0
        _ = try decoder.next(plain.span.bytes, offset: &offset)
        _ = try decoder.next(plain.span.bytes, offset: &offset)
        #expect(decoder.bodyBytesReceived == 3)
        #expect(decoder.wireBodyBytes == 3)
    }

    @Test("R9112 §6: begin in the middle of a response changes nothing")
    func beginTwice() throws {
        var decoder = ResponseDecoder()
        decoder.begin(.toHEAD)
        decoder.begin(.toOther)
        let bytes = Array("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n".utf8)
        var offset = 0
        guard case .head(_, .none) = try decoder.next(bytes.span.bytes, offset: &offset) else {
            Issue.record("the first begin must count")
            return
        }
        #expect(try decoder.next(bytes.span.bytes, offset: &offset) == .end(trailers: Fields()))
    }

    @Test("B16.36: the end of a response may be told by the end of the stream even where it is known")
    func endOfStreamAtTheEnd() throws {
        var decoder = ResponseDecoder()
        decoder.begin(.toOther)
        let bytes = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
        var offset = 0
        _ = try decoder.next(bytes.span.bytes, offset: &offset)
        #expect(try decoder.endOfStream() == .end(trailers: Fields()))
        #expect(try decoder.endOfStream() == .needMore)
    }

    @Test("B16.63: what comes after a switch of protocols is left alone")
    func switched() throws {
        var decoder = ResponseDecoder()
        decoder.begin(.toCONNECT)
        let bytes = Array("HTTP/1.1 200 OK\r\n\r\n\u{16}\u{3}\u{1}".utf8)
        var offset = 0
        guard case .head = try decoder.next(bytes.span.bytes, offset: &offset) else {
            Issue.record("no head")
            return
        }
        for _ in 0..<2 { #expect(try decoder.next(bytes.span.bytes, offset: &offset) == .switched) }
        #expect(offset == bytes.count - 3)
        #expect(try decoder.endOfStream() == .switched)
    }

    @Test("R9112 §7.1: requests count their body bytes, and end with the stream where they are complete")
    func requestCounters() throws {
        var decoder = RequestDecoder()
        let bytes = Array("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n".utf8)
        var offset = 0
        while try decoder.next(bytes.span.bytes, offset: &offset) != .end {}
        #expect(decoder.bodyBytesReceived == 2)
        #expect(try decoder.endOfStream() == .needMore)
        let next = Array("GET / HTTP/1.1\r\n\r\n".utf8)
        offset = 0
        _ = try decoder.next(next.span.bytes, offset: &offset)
        #expect(decoder.bodyBytesReceived == 0)
        #expect(try decoder.endOfStream() == .end)
    }

    @Test("B16.42: the chunked decoder alone gives data as ranges of the bytes given")
    func chunkedDecoder() throws {
        var decoder = ChunkedDecoder()
        let bytes = Array("3\r\nabc\r\n0\r\nT: 1\r\n\r\nnext".utf8)
        var offset = 0
        #expect(try decoder.next(bytes.span.bytes, offset: &offset) == .body(3..<6))
        guard case .end(let trailers) = try decoder.next(bytes.span.bytes, offset: &offset) else {
            Issue.record("no end")
            return
        }
        #expect(trailers.first("T") == "1")
        #expect(offset == bytes.count - 4)
    }

    @Test("B16.16: the reason is the server's, and the registered one if none is given to send")
    func reasons() {
        #expect(ResponseHead(status: 404).reason == "Not Found")
        #expect(ResponseHead(status: 404, reason: "Weg").reason == "Weg")
        #expect(ResponseHead(status: 799).reason == "")
        for status in 100...599 {
            let reason = ResponseHead(status: status).reason
            #expect(reason.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F })
        }
    }

    @Test("B16.17: versions of HTTP/1 are one digit; HTTP/2 is not HTTP/1.0")
    func versions() {
        #expect(HTTPVersion(minor: -1) == .http10)
        #expect(HTTPVersion(minor: 12).minor == 9)
        #expect(HTTPVersion.http11.persistsByDefault)
        #expect(!HTTPVersion.http10.persistsByDefault)
        #expect(HTTPVersion.http2 != .http10 && HTTPVersion.http2.persistsByDefault)
    }
}
