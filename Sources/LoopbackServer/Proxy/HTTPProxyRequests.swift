// The proxy's side of HTTP: requests with absolute targets are made into requests for their origins, CONNECT is passed
// on as a wish. Bytes in, wishes out; knows no sockets. RFC 9112 §3.2.2, §3.2.3.

import URLLoadingWire

/// Reads one client's requests, one after the other.
final class HTTPProxyRequests {
    enum Wish {
        case connect(RequestHead, host: String, port: Int)
        /// Connect there and send this, and what follows as `upstream`.
        case forward(RequestHead, message: [UInt8], host: String, port: Int)
        case upstream([UInt8])
        /// This text, and then the end.
        case refuse(String)
    }

    enum Progress { case goesOn, whole, broken }

    /// The request under way goes to its origin; its answer is awaited.
    var isForwarding = false {
        didSet { if isForwarding { responses.begin(isHEAD ? .toHEAD : .toOther) } }
    }
    private var requests = RequestDecoder()
    private var responses = ResponseDecoder()
    private var framing = BodyFraming.none
    private var isHEAD = false
    /// A request's head has come, its end has not.
    private var isInside = false

    /// Takes what is next out of `inbox`; nil when nothing is complete, or the last request waits for its answer.
    func next(_ inbox: inout [UInt8]) -> Wish? {
        guard isInside || !isForwarding else { return nil }
        var offset = 0
        defer { inbox.removeFirst(offset) }
        while true {
            let step: RequestDecoder.Step
            do {
                step = try requests.next(inbox.span.bytes, offset: &offset)
            } catch {
                return .refuse("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            }
            switch step {
            case .needMore: return nil
            case .head(let head, let framing):
                isInside = true
                self.framing = framing
                isHEAD = head.method == "HEAD"
                return wish(head)
            case .body(let range):
                if isForwarding { return .upstream(framed(Array(inbox[range]))) }
            case .end:
                isInside = false
                if isForwarding {
                    return framing == .chunked ? .upstream(RequestEncoder.lastChunk) : nil
                }
            }
        }
    }

    /// Bytes of the origin's answer have passed.
    func answered(_ bytes: UnsafeRawBufferPointer) -> Progress {
        guard isForwarding else { return .broken }
        var offset = 0
        do {
            while true {
                switch try responses.next(bytes.bytes, offset: &offset) {
                case .needMore: return .goesOn
                case .informational, .head, .body: break
                case .end:
                    isForwarding = false
                    return isInside || offset < bytes.count ? .broken : .whole
                case .switched: return .broken
                }
            }
        } catch {
            return .broken
        }
    }

    private func wish(_ head: RequestHead) -> Wish {
        if head.method == "CONNECT" {
            guard let (host, port) = Self.place(head.target[...], defaultPort: nil) else { return Self.badTarget }
            return .connect(head, host: host, port: port)
        }
        guard head.target.hasPrefix("http://") else { return Self.badTarget }
        let rest = head.target.dropFirst("http://".count)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        guard let (host, port) = Self.place(rest[..<end], defaultPort: 80) else { return Self.badTarget }
        var forwarded = head
        let path = String(rest[end...])
        forwarded.target = path.isEmpty ? (head.method == "OPTIONS" ? "*" : "/") : path
        forwarded.fields.removeAll(.proxyAuthorization)
        var message: [UInt8] = []
        do {
            try RequestEncoder.encode(forwarded, framing: framing, into: &message)
        } catch {
            return Self.badTarget
        }
        return .forward(head, message: message, host: host, port: port)
    }

    private func framed(_ bytes: [UInt8]) -> [UInt8] {
        guard framing == .chunked else { return bytes }
        var framed: [UInt8] = []
        RequestEncoder.encodeChunkHeader(size: bytes.count, into: &framed)
        return framed + bytes + RequestEncoder.chunkTrailer
    }

    private static func place(_ authority: Substring, defaultPort: Int?) -> (host: String, port: Int)? {
        var host = authority
        var port = defaultPort
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            host = authority[..<colon]
            port = Int(authority[authority.index(after: colon)...])
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard let port, (1...65_535).contains(port), !host.isEmpty else { return nil }
        return (String(host), port)
    }

    private static var badTarget: Wish {
        .refuse("HTTP/1.1 400 Bad Target\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    }
}
