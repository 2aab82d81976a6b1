// What the load's server answers: everything follows from the target, so that the client knows what is right without
// being told by the answer itself.

import URLLoadingLoopbackServer
import URLLoadingWire

/// The routes of the load.
enum SoakServer {
    /// The longest body that is given, whatever length a request names once the network has changed it.
    static let longestBody = 8 << 20

    static func answer(_ request: ServerRequest) -> ServerResponse {
        let answer = route(request)
        // Connections are ended now and then, so that the plans of later ones come up too; those
        // that many share last longer.
        let last = request.stream == nil ? 8 + request.connection % 24 : 30 + request.connection % 200
        return request.number >= last ? answer.closing() : answer
    }

    private static func route(_ request: ServerRequest) -> ServerResponse {
        let words = request.path.split(separator: "/").map(String.init)
        let numbers = words.dropFirst().map { Int($0) ?? 0 }
        let number = numbers.first ?? 0
        let length = min(max(0, numbers.dropFirst().first ?? 0), longestBody)
        switch words.first {
        case "body": return body(number, length, request.query.map(String.init) ?? "")
        case "range": return part(number, length, of: request)
        case "slow": return slow(number, length)
        case "hash": return .text("\(request.bodyByteCount) \(SoakBody.hash(request.body))")
        case "echo": return .echo(request)
        case "redirect":
            let (hops, body) = (number, numbers.dropFirst().map(String.init).joined(separator: "/"))
            let next = hops > 1 ? "/redirect/\(hops - 1)/\(body)" : "/body/\(body)"
            return ServerResponse(status: hops % 2 == 0 ? 307 : 302).adding("Location", next)
        case "cookie": return cookie(number, words.last ?? "", request)
        case "auth":
            // "me:secret"
            guard request.fields.first("Authorization") == "Basic bWU6c2VjcmV0" else {
                return .text("who?", status: 401).adding("WWW-Authenticate", "Basic realm=\"r\(number)\"")
            }
            return .text("welcome \(number)")
        case "ahead": return ForgedAnswers.answer(number, to: request)
        case "broken":
            let point = Int64(numbers.dropFirst(2).first ?? 0)
            return .bytes(SoakBody.bytes(number, length: length)).breakingOff(.inBody(after: point))
        case "http1":
            if request.stream != nil { return .reset(.http11Required) }
            return .text("\(number) over \(request.protocolName)")
        case "stranger":
            return ServerResponse(status: 302).adding("Location", "http://127.0.0.1:\(number)/")
        case "silent": return .script([.waitForClose, .close])
        default: return .text("no such place", status: 404)
        }
    }

    private static func body(_ number: Int, _ length: Int, _ query: String) -> ServerResponse {
        let bytes = SoakBody.bytes(number, length: length)
        var answer = ServerResponse.bytes(bytes)
        if query.contains("gzip") { answer = answer.compressed() }
        if query.contains("deflate") { answer = answer.compressed(.zlib) }
        if query.contains("chunked") { answer.framing = .chunked }
        if query.contains("pieces") {
            answer.body = .pieces(
                stride(from: 0, to: bytes.count, by: 1000).map { .init(Array(bytes[$0..<min($0 + 1000, bytes.count)])) }
            )
            answer.framing = .chunked
        }
        if query.contains("hint") {
            answer.informational = [ResponseHead(status: 103, fields: Fields())]
        }
        return query.contains("close") ? answer.closing() : answer
    }

    private static func slow(_ number: Int, _ length: Int) -> ServerResponse {
        let bytes = SoakBody.bytes(number, length: length)
        let step = max(1, length / 8)
        return .slow(
            stride(from: 0, to: bytes.count, by: step)
                .map { .init(Array(bytes[$0..<min($0 + step, bytes.count)]), after: .milliseconds(3)) })
    }

    /// The body or, where it is asked for with the right tag, its rest (RFC 9110 §14).
    private static func part(_ number: Int, _ length: Int, of request: ServerRequest) -> ServerResponse {
        let bytes = SoakBody.bytes(number, length: length)
        let tag = "\"\(number)\""
        let whole = ServerResponse.bytes(bytes).adding("ETag", tag).adding("Accept-Ranges", "bytes")
        guard let range = request.fields.first(.range), request.fields.first(.ifRange) == tag,
            range.hasPrefix("bytes="), range.hasSuffix("-"), let start = Int(range.dropFirst(6).dropLast()),
            (0..<length).contains(start)
        else { return whole }
        var part = whole
        part.status = 206
        part.body = .bytes(Array(bytes[start...]))
        return part.adding("Content-Range", "bytes \(start)-\(length - 1)/\(length)")
    }

    private static func cookie(_ number: Int, _ verb: String, _ request: ServerRequest) -> ServerResponse {
        let path = "Path=/cookie/\(number)"
        switch verb {
        case "set": return .text("set").adding("Set-Cookie", "c\(number)=v\(number); \(path); Max-Age=600")
        case "clear": return .text("clear").adding("Set-Cookie", "c\(number)=; \(path); Max-Age=0")
        default: return .text(request.fields.first("Cookie") ?? "none")
        }
    }
}
