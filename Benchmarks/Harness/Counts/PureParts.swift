// The pure parts of the path of a GET, each by itself and often: what machines and codecs cost without sockets, threads
// and API around them.

import URLLoadingPolicy
import URLLoadingWire

/// A pure part, by its name in the table of counts.
enum PurePart: String, CaseIterable {
    /// The head of a GET with five fields into a reused buffer.
    case encodeRequest = "encode-request"
    /// A small answer with five fields.
    case decodeResponse = "decode-response"
    /// An answer with 16 fields and 1.5 KB of body.
    case decodeFields = "decode-16-fields"
    /// An answer of 64 chunks of 1 KiB.
    case decodeChunks = "decode-64-chunks"
    /// A small answer with five fields, one byte at a time.
    case decodeBytewise = "decode-bytewise"
    /// The head of a GET with five fields as a header block of HTTP/2, when all of them are known.
    case encodeBlock = "encode-block"
    /// A header block of HTTP/2 with 16 fields, none of which is known.
    case decodeBlock = "decode-block"
    /// A field looked up by name and made a string.
    case lookUpField = "look-up-field"
    /// A request given an idle connection and the connection given back.
    case poolCycle = "pool-cycle"
    /// Whether a cookie's Domain is more than one owner has.
    case checkDomain = "check-domain"
    /// Both sides of a TLS 1.3 handshake, the server judged by the library.
    case handshake
    /// Both sides of a TLS 1.3 handshake, the server judged by OpenSSL's own verification.
    case handshakeByOpenSSL = "handshake-by-openssl"

    /// Units of the shorter run: enough to see them beside the start of a program.
    var units: Int {
        switch self {
        case .handshake, .handshakeByOpenSSL: 20
        default: 1_000
        }
    }

    /// Does it so many times.
    func run(times: Int) throws {
        switch self {
        case .encodeRequest: try encode(times)
        case .decodeResponse: try decode(Message.small, times)
        case .decodeFields: try decode(Message.fields, times)
        case .decodeChunks: try decode(Message.chunks, times)
        case .decodeBytewise: try decode(Message.small, times, step: 1)
        case .encodeBlock: try encodeBlock(times)
        case .decodeBlock: try decodeBlock(times)
        case .lookUpField: try lookUp(times)
        case .poolCycle: cycle(times)
        case .checkDomain: try checkDomain(times)
        case .handshake: try HandshakeCount().run(times: times, byOpenSSL: false)
        case .handshakeByOpenSSL: try HandshakeCount().run(times: times, byOpenSSL: true)
        }
    }

    private func encode(_ times: Int) throws {
        let head = Message.request
        var buffer: [UInt8] = []
        var total = 0
        for _ in 0..<times {
            buffer.removeAll(keepingCapacity: true)
            try RequestEncoder.encode(head, framing: .none, into: &buffer)
            total += buffer.count
        }
        try expect(total == times * buffer.count)
    }

    private func encodeBlock(_ times: Int) throws {
        let head = Message.request
        var encoder = HPACKEncoder()
        var buffer: [UInt8] = []
        for _ in 0..<times {
            buffer.removeAll(keepingCapacity: true)
            try encoder.encode(head, scheme: "https", authority: "example.org", framing: .none, into: &buffer)
        }
        // Of each field an index is left.
        try expect(buffer.count == 4 + 4)
    }

    private func decodeBlock(_ times: Int) throws {
        var fields = Fields()
        for field in Material.extraFields { fields.append(field.name, field.value) }
        var encoder = HPACKEncoder()
        var block: [UInt8] = []
        try encoder.encode(ResponseHead(status: 200, fields: fields), framing: .length(1_500), into: &block)
        var decoder = HPACKDecoder()
        var total = 0
        for _ in 0..<times {
            decoder.beginBlock()
            try decoder.decode(block.span.bytes)
            try decoder.endBlock()
            total += decoder.list.count
        }
        try expect(total == times * (fields.count + 2))
    }

    private func decode(_ message: [UInt8], _ times: Int, step: Int = .max) throws {
        var decoder = ResponseDecoder()
        var finished = 0
        var bodyBytes = 0
        for _ in 0..<times {
            decoder.begin(.toOther)
            var start = 0
            while start < message.count {
                let end = min(message.count, step == .max ? message.count : start + step)
                let piece = message.span.bytes.extracting(start..<end)
                var offset = 0
                reading: while true {
                    switch try decoder.next(piece, offset: &offset) {
                    case .needMore: break reading
                    case .head, .informational, .switched: break
                    case .body(let range): bodyBytes += range.count
                    case .end:
                        finished += 1
                        break reading
                    }
                }
                start = end
            }
        }
        try expect(finished == times && bodyBytes > 0)
    }

    private func lookUp(_ times: Int) throws {
        var decoder = ResponseDecoder()
        decoder.begin(.toOther)
        var offset = 0
        guard case .head(let head, _) = try decoder.next(Message.fields.span.bytes, offset: &offset) else {
            return try expect(false)
        }
        var total = 0
        for _ in 0..<times { total += head.fields.first(.contentType)?.utf8.count ?? 0 }
        try expect(total > 0)
    }

    private func cycle(_ times: Int) {
        guard let origin = Origin(scheme: .http, host: "example.org") else { return }
        let key = PoolKey(origin: origin)
        var pool = PoolMachine()
        let now = Duration.seconds(1)
        pool.requested(0, key: key, priority: 0.5, now: now)
        guard case .dial(let dial) = pool.nextAction() else { return }
        pool.established(dial, now: now)
        while pool.nextAction() != nil {}
        pool.released(dial, idleLimit: nil, now: now)
        while pool.nextAction() != nil {}
        for request in 1...max(1, times) {
            pool.requested(request, key: key, priority: 0.5, now: now)
            while let action = pool.nextAction() {
                if case .use(_, let connection) = action { pool.released(connection, idleLimit: nil, now: now) }
            }
        }
    }

    private func checkDomain(_ times: Int) throws {
        let suffixes = PublicSuffixes.builtIn
        try expect(!(0..<times).contains { _ in suffixes.isTooWide("example.com", for: "www.example.com") })
    }

    private func expect(_ condition: Bool) throws {
        if !condition { throw HarnessError("\(rawValue) did not do its work") }
    }
}

/// Messages as clients and servers send them.
private enum Message {
    static let request: RequestHead = {
        var fields = Fields()
        fields.append("Host", "example.org")
        fields.append("Accept", "*/*")
        fields.append("Accept-Language", "en")
        fields.append("Accept-Encoding", "gzip, deflate")
        fields.append("User-Agent", "benchmark (unknown version) URLLoading")
        return RequestHead(method: "GET", target: "/small", fields: fields)
    }()

    private static let usual = [
        "Server: nginx/1.22.1", "Date: Mon, 06 May 2024 10:00:00 GMT", "Connection: keep-alive",
    ]

    static let small = message(["Content-Type: text/plain", "Content-Length: 13"], body: Array("Hello, world!".utf8))

    static let fields: [UInt8] = {
        let body = Array(Material.document.utf8)
        let extra = Material.extraFields.map { "\($0.name): \($0.value)" }
        return message(["Content-Type: application/json", "Content-Length: \(body.count)"] + extra, body: body)
    }()

    static let chunks: [UInt8] = {
        let chunk = Array("400\r\n".utf8) + [UInt8](repeating: 0x61, count: 1_024) + Array("\r\n".utf8)
        let body = (0..<64).flatMap { _ in chunk } + Array("0\r\n\r\n".utf8)
        return message(["Content-Type: text/plain", "Transfer-Encoding: chunked"], body: body)
    }()

    private static func message(_ fields: [String], body: [UInt8]) -> [UInt8] {
        let head = (["HTTP/1.1 200 OK"] + usual + fields).joined(separator: "\r\n") + "\r\n\r\n"
        return Array(head.utf8) + body
    }
}
