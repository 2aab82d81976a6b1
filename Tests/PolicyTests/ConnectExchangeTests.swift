// CONNECT and its answers, byte for byte, in every split.

import Testing
import URLLoadingPolicy
import URLLoadingWire

@Suite struct ConnectExchangeTests {
    /// What came of one exchange.
    private struct Result: Equatable {
        var refusal: Int?
        /// What the head that opens a tunnel says of the proof.
        var info: String?
        var end: ConnectExchange.Step = .needMore
        var error: WireError?
        var rest: [UInt8] = []
    }

    private func run(_ input: [UInt8], cuts: [Int] = []) -> Result {
        var exchange = ConnectExchange()
        var result = Result()
        var start = 0
        for end in cuts + [input.count] {
            let piece = Array(input[start..<end])
            start = end
            var offset = 0
            loop: while result.end == .needMore, result.error == nil {
                do {
                    switch try exchange.next(piece.span.bytes, offset: &offset) {
                    case .needMore: break loop
                    case .refused(let head): result.refusal = head.status
                    case .open: result.end = .open
                    case .ended(let isReusable): result.end = .ended(isReusable: isReusable)
                    }
                } catch {
                    result.error = error
                }
            }
            if result.end == .open { result.rest += piece[offset...] }
        }
        result.info = exchange.opening?.fields.first(.proxyAuthenticationInfo)
        return result
    }

    private func everySplit(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) -> Result {
        let input = Array(text.utf8)
        let whole = run(input)
        #expect(run(input, cuts: Array(input.indices.dropFirst())) == whole, sourceLocation: sourceLocation)
        for cut in input.indices.dropFirst() {
            #expect(run(input, cuts: [cut]) == whole, "cut at \(cut)", sourceLocation: sourceLocation)
        }
        return whole
    }

    @Test("B13.14, B13.15, B13.20: CONNECT holds its target, Host, User-Agent, credentials, and nothing else")
    func request() throws {
        let plain = try ConnectExchange.request(target: "a.test:443", userAgent: nil, authorization: nil)
        #expect(String(decoding: plain, as: UTF8.self) == "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n")
        let full = try ConnectExchange.request(
            target: "[::1]:8443", userAgent: "us/1", authorization: "Basic YWxpY2U6c2VzYW1l")
        #expect(
            String(decoding: full, as: UTF8.self) == """
                CONNECT [::1]:8443 HTTP/1.1\r
                Host: [::1]:8443\r
                User-Agent: us/1\r
                Proxy-Authorization: Basic YWxpY2U6c2VzYW1l\r
                \r

                """)
        #expect(throws: WireError.unsendableFieldValue) {
            _ = try ConnectExchange.request(target: "a.test:443", userAgent: nil, authorization: "x\r\nEvil: 1")
        }
    }

    @Test(
        "B13.16: any 2xx is a tunnel, lengths in it mean nothing, and what follows its head is the tunnel's",
        arguments: [
            "HTTP/1.1 200 Connection established\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\n", "HTTP/1.1 204\r\n\r\n",
            "HTTP/1.1 299 x\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\nTransfer-Encoding: what\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        ])
    func success(head: String) {
        #expect(everySplit(head) == Result(end: .open))
        let proven = "HTTP/1.1 200 x\r\nProxy-Authentication-Info: nextnonce=\"n\"\r\n\r\n"
        #expect(everySplit(proven) == Result(info: "nextnonce=\"n\"", end: .open))
        let result = everySplit(head + "\u{16}\u{3}hello")
        #expect(result.end == .open && result.rest == [0x16, 3] + Array("hello".utf8))
    }

    @Test("B13.17: every other status is a refusal; its body is passed over")
    func refusals() {
        for status in [300, 302, 400, 403, 404, 407, 502, 503, 599] {
            let result = everySplit("HTTP/1.1 \(status) x\r\nContent-Length: 4\r\n\r\nbody")
            #expect(result == Result(refusal: status, end: .ended(isReusable: true)), "\(status)")
        }
    }

    @Test("B2.100: CONNECT goes out again on the connection only where the refusal left it whole")
    func reuse() {
        for (answer, isReusable) in [
            ("HTTP/1.1 407 x\r\nContent-Length: 0\r\n\r\n", true),
            ("HTTP/1.1 407 x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", true),
            ("HTTP/1.0 407 x\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", true),
            ("HTTP/1.1 407 x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", false),
            ("HTTP/1.0 407 x\r\nContent-Length: 0\r\n\r\n", false),
        ] {
            #expect(everySplit(answer) == Result(refusal: 407, end: .ended(isReusable: isReusable)), "\(answer)")
        }
        let more = run(Array("HTTP/1.1 407 x\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n".utf8))
        #expect(more == Result(refusal: 407, end: .ended(isReusable: false)), "it says more than it was asked")
        let endless = "HTTP/1.1 407 x\r\n\r\n" + String(repeating: "x", count: 70_000)
        #expect(run(Array(endless.utf8)) == Result(refusal: 407, end: .ended(isReusable: false)))
        #expect(run(Array("HTTP/1.1 407 x\r\n\r\nbody".utf8)) == Result(refusal: 407), "its end is the connection's")
    }

    @Test("B13.17: an answer that is not HTTP is an error, as soon as it can be told")
    func garbage() {
        for (text, error) in [
            ("SSH-2.0-x\r\n", WireError.notHTTP), ("\u{5}\u{0}", .notHTTP),
            ("HTTP/2.0 200\r\n\r\n", .unsupportedVersion),
            ("HTTP/1.1 101 Switching Protocols\r\n\r\n", .unexpectedSwitchOfProtocols),
            ("HTTP/1.1 407 x\r\nContent-Length: x\r\n\r\n", .malformedContentLength),
        ] {
            #expect(everySplit(text).error == error, "\(text)")
        }
    }
}
