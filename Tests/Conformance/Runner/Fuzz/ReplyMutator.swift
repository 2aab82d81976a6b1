// Replies that no server should give: good ones, spoilt in a few places, or nothing that ever was one. The same numbers
// make the same replies.
//
// Must not know: drivers.

import URLLoadingLoopbackServer
import URLLoadingTestSupport

/// Makes up replies.
struct ReplyMutator {
    private var random: SeededRandom

    init(seed: UInt64, of number: Int) {
        random = SeededRandom(seed: seed, of: number)
    }

    /// What is sent in answer to one request, and how it ends.
    mutating func steps() -> [ScriptStep] {
        var bytes = reply()
        var steps: [ScriptStep] = []
        if random.chance(10) {
            steps.append(.sendOneByteAtATime(Array(bytes.prefix(2000))))
            bytes = Array(bytes.dropFirst(2000))
        }
        while !bytes.isEmpty {
            let count = random.chance(60) ? bytes.count : Int.random(in: 1...bytes.count, using: &random)
            steps.append(.send(Array(bytes.prefix(count))))
            bytes = Array(bytes.dropFirst(count))
            if random.chance(10) { steps.append(.delay(.milliseconds(Int.random(in: 0...20, using: &random)))) }
        }
        switch Int.random(in: 0..<20, using: &random) {
        case 0: steps += [.waitForClose, .close]
        case 1: steps += [.reset]
        case 2: steps += [.drop]
        case 3: steps += [.halfClose, .waitForClose]
        case 4: steps += [.closeNotify, .waitForClose, .close]
        case 5..<13: steps += [.close]
        // The connection stays, for what may still be asked on it.
        default: break
        }
        return steps
    }

    /// The bytes of a reply.
    mutating func reply() -> [UInt8] {
        if random.chance(4) { return random.noise(Int.random(in: 0...3000, using: &random)) }
        var bytes = GoodReplies.all.randomElement(using: &random) ?? []
        for _ in 0..<(random.chance(15) ? 0 : Int.random(in: 1...6, using: &random)) { spoil(&bytes) }
        return bytes
    }

    private mutating func spoil(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        switch Int.random(in: 0..<11, using: &random) {
        case 0, 1, 2:
            let word = Self.words.randomElement(using: &random) ?? ""
            bytes.insert(contentsOf: word.utf8, at: random.place(in: bytes).start)
        case 3:
            let other = GoodReplies.all.randomElement(using: &random) ?? []
            let kept = bytes[..<random.place(in: bytes).start]
            bytes = kept + other.suffix(Int.random(in: 0...other.count, using: &random))
        default: random.spoil(&bytes)
        }
    }

    private static let words = [
        "\r\n", "\r\n\r\n", "\n", "\r", "\0", "0\r\n\r\n", "chunked", "Content-Length: 5\r\n", "Content-Length: -1\r\n",
        "Content-Length: 99999999999999999999\r\n", "Transfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Content-Encoding: gzip\r\n", "Content-Encoding: deflate, gzip, br\r\n", "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "HTTP/1.1 200 OK\r\n", "Connection: close\r\n",
        "Location: /again\r\n", "Location: //\r\n", "Location: \r\n", "Location: http://[::1/\r\n",
        "Retry-After: -5\r\n",
        "Set-Cookie: a=b; Max-Age=99999999999999999; Domain=.; Path=/\r\n", "Set-Cookie: =;;;=\r\n",
        "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256\r\n",
        "WWW-Authenticate: NTLM TlRMTVNTUAACAAAAAAAAADgAAAABAAAA\r\n", "WWW-Authenticate: Negotiate YIIB\r\n",
        "Proxy-Authenticate: Basic realm=\"p\"\r\n", "Cache-Control: max-age=99999999999999\r\n", "Vary: *\r\n",
        "Expires: Thu, 99 Foo 9999 99:99:99 GMT\r\n", "Content-Range: bytes 5-1/2\r\n",
        "Content-Range: bytes 1-*/*\r\n",
        "Content-Type: text/html; charset=\"\r\n", "Content-Disposition: attachment; filename=\"../../etc/x\"\r\n",
        "Content-Disposition: attachment; filename*=UTF-8''%00%2F\r\n", "ETag: W/\r\n", " folded\r\n", ": nameless\r\n",
        "FFFFFFFFFFFFFFFF\r\n", "7fffffffffffffff;a=\"b\r\n", "--b--\r\n", "--b\r\n\r\n", "%00", "\u{1F4A5}",
    ]
}

/// Replies that are as they should be.
enum GoodReplies {
    static let all: [[UInt8]] = texts.map { Array($0.utf8) } + compressed

    private static let texts = [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n5;a=b\r\nhello\r\n3\r\nxyz\r\n0\r\nX: y\r\n\r\n",
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end", "HTTP/1.0 200 OK\r\n\r\nold",
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 301 Moved\r\nLocation: /a\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 302 Found\r\nLocation: ../b?c=d#e\r\nContent-Length: 4\r\n\r\nbody",
        "HTTP/1.1 303 See Other\r\nLocation: c\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 307 Temporary\r\nLocation: /d\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 308 Permanent\r\nLocation: \r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nSet-Cookie: a=b; Path=/; HttpOnly; SameSite=Lax\r\nSet-Cookie: c=d; Expires=Wed, 09 Jun 2032 10:18:14 GMT\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nCache-Control: max-age=60, stale-while-revalidate=9\r\nETag: \"a\"\r\nVary: Accept\r\nAge: 3\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 3\r\n\r\nabc",
        "HTTP/1.1 401 Who\r\nWWW-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 401 Who\r\nWWW-Authenticate: Digest realm=\"r\", qop=\"auth,auth-int\", nonce=\"abc\", opaque=\"x\", stale=true\r\nContent-Length: 2\r\n\r\nno",
        "HTTP/1.1 401 Who\r\nWWW-Authenticate: NTLM\r\nWWW-Authenticate: Negotiate\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 407 Proxy\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 206 Partial\r\nContent-Range: bytes 2-4/5\r\nETag: \"a\"\r\nContent-Length: 3\r\n\r\nllo",
        "HTTP/1.1 416 Range\r\nContent-Range: bytes */5\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nAccept-Ranges: bytes\r\nContent-Length: 5000\r\n\r\n"
            + String(repeating: "0123456789", count: 500),
        "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\none\r\n--b\r\nContent-Length: 3\r\n\r\ntwo\r\n--b--\r\n",
        "HTTP/1.1 200 OK\r\nContent-Disposition: attachment; filename=\"a b.txt\"; filename*=UTF-8''%e2%82%ac.txt\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        "HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 4\r\n\r\nbusy",
        "HTTP/1.1 200\r\nContent-Length:0\r\n\r\n",
        "HTTP/1.1 425 Early\r\nContent-Length: 0\r\nStrict-Transport-Security: max-age=5\r\nAlt-Svc: h2=\":1\"\r\n\r\n",
        "HTTP/1.1 104 Resumption\r\nLocation: /u\r\nUpload-Draft-Interop-Version: 8\r\nUpload-Limit: max-size=9\r\n\r\nHTTP/1.1 200 OK\r\nUpload-Complete: ?1\r\nUpload-Offset: 3\r\nContent-Length: 0\r\n\r\n",
        "\u{5}\u{0}\u{5}\u{0}\u{0}\u{1}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}", "220 ftp ready\r\n331 password\r\n230 in\r\n",
    ]

    private static let compressed: [[UInt8]] = [Gzip.Format.gzip, .zlib, .raw].compactMap { format in
        let body = [UInt8](repeating: 97, count: 20_000)
        return Gzip.compress(body, format: format).map { bytes in
            Array(
                "HTTP/1.1 200 OK\r\nContent-Encoding: \(format == .gzip ? "gzip" : "deflate")\r\nContent-Length: \(bytes.count)\r\n\r\n"
                    .utf8) + bytes
        }
    }
}
