// What a route answers. Values only: the connection frames and writes them. RFC 9112 §6 and §7.

import URLLoadingWire

/// An answer to one request.
package struct ServerResponse: Sendable {
    /// The body, and where its bytes come from.
    package enum Body: Sendable {
        /// No body, and no field that speaks of one.
        case none
        /// These bytes.
        case bytes([UInt8])
        /// Pieces written one after the other; with chunked framing each is a chunk of its own.
        case pieces([Piece])
        /// So many bytes of `GeneratedBytes`, from a position on, made while they are written.
        case generated(length: Int64, from: Int64 = 0)
        /// The body of the request.
        case echo
        /// A whole message, head and framing included, written as it is.
        case encoded([UInt8])
        /// Steps played on the connection in place of a message.
        case script([ScriptStep])
        /// A web socket in place of a body; nothing where the request asks for none.
        case webSocket(WebSocketRoute)
        /// Steps played on the connection of HTTP/2 in place of an answer; over HTTP/1.1 there is no such answer.
        case http2([HTTP2Step])
    }

    /// How the client is told where the body ends.
    package enum Framing: Sendable {
        /// Content-Length where the length is known, else chunked, and for HTTP/1.0 by closing.
        case automatic
        /// Transfer-Encoding: chunked.
        case chunked
        /// By closing the connection.
        case untilClose
    }

    /// A part of a slow body.
    package struct Piece: Sendable {
        /// The bytes.
        package var bytes: [UInt8]
        /// How long to wait before they are written.
        package var delay: Duration?
        /// What to wait for before they are written.
        package var gate: ServerGate?

        /// A piece, after a pause or a gate if wanted.
        package init(_ bytes: [UInt8], after delay: Duration? = nil, when gate: ServerGate? = nil) {
            self.bytes = bytes
            self.delay = delay
            self.gate = gate
        }

        /// A piece of text, after a pause or a gate if wanted.
        package init(_ text: String, after delay: Duration? = nil, when gate: ServerGate? = nil) {
            self.init(Array(text.utf8), after: delay, when: gate)
        }
    }

    /// Where an answer breaks off: HTTP/2 then resets the stream, HTTP/1.1 has only the end of the connection for it.
    package struct BreakOff: Sendable {
        /// How far the answer gets.
        package enum Place: Sendable, Equatable {
            /// Nothing is sent but informational heads.
            case beforeHead
            /// The head, which says what it says about the body, and so many bytes of it.
            case inBody(after: Int64)
            /// All of it: of what is left of the request nothing is wanted.
            case behindEnd
        }

        /// How far the answer gets.
        package var place: Place
        /// The code that the stream is reset with; HTTP/1.1 has none.
        package var code: HTTP2ErrorCode
    }

    /// The status code.
    package var status: Int
    /// The fields, without those that frame the body.
    package var fields: Fields
    /// The body.
    package var body: Body
    /// The body's framing.
    package var framing: Framing = .automatic
    /// Fields after a chunked body; they make the framing chunked.
    package var trailers = Fields()
    /// Heads with a 1xx status that are written before.
    package var informational: [ResponseHead] = []
    /// Whether the connection ends with this answer, which then says so; over HTTP/2 a GOAWAY says it.
    package var closesConnection = false
    /// Where it breaks off; nil for a whole answer.
    package var breakOff: BreakOff?

    /// An answer with a body.
    package init(status: Int = 200, fields: Fields = Fields(), body: Body = .bytes([])) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}

extension ServerResponse {
    /// A status with an empty body.
    package static func status(_ status: Int) -> ServerResponse {
        ServerResponse(status: status)
    }

    /// Plain text.
    package static func text(_ text: String, status: Int = 200) -> ServerResponse {
        .bytes(Array(text.utf8), type: "text/plain; charset=utf-8", status: status)
    }

    /// Bytes of some type.
    package static func bytes(
        _ bytes: [UInt8], type: String = "application/octet-stream", status: Int = 200
    ) -> ServerResponse {
        ServerResponse(status: status, body: .bytes(bytes)).adding("Content-Type", type)
    }

    /// One chunk for each element, and trailers if wanted.
    package static func chunks(_ chunks: [[UInt8]], trailers: Fields = Fields()) -> ServerResponse {
        var response = ServerResponse(body: .pieces(chunks.map { Piece($0) }))
        response.framing = .chunked
        response.trailers = trailers
        return response
    }

    /// Pieces with pauses or gates before them.
    package static func slow(_ pieces: [Piece], framing: Framing = .automatic) -> ServerResponse {
        var response = ServerResponse(body: .pieces(pieces))
        response.framing = framing
        return response
    }

    /// A large body that is made while it is sent.
    package static func generated(length: Int64, framing: Framing = .automatic) -> ServerResponse {
        var response = ServerResponse(body: .generated(length: length))
        response.framing = framing
        return response.adding("Content-Type", "application/octet-stream")
    }

    /// A large body that is made while it is sent, or the part that a request asks for by Range while the tag is still
    /// right: one range of bytes without an end, as RFC 9110 §14 has it.
    package static func generated(length: Int64, tag: String, to request: ServerRequest) -> ServerResponse {
        let whole = generated(length: length).adding("ETag", tag).adding("Accept-Ranges", "bytes")
        guard let range = request.fields.first(.range), request.fields.first(.ifRange).map({ $0 == tag }) ?? true,
            range.hasPrefix("bytes="), range.hasSuffix("-"), let start = Int64(range.dropFirst(6).dropLast()),
            start >= 0
        else { return whole }
        guard start < length else {
            return .text("there is no such part", status: 416).adding("Content-Range", "bytes */\(length)")
        }
        var part = whole
        part.status = 206
        part.body = .generated(length: length - start, from: start)
        return part.adding("Content-Range", "bytes \(start)-\(length - 1)/\(length)")
    }

    /// The request's body, with the request's Content-Type.
    package static func echo(_ request: ServerRequest) -> ServerResponse {
        let type = request.fields.first(.contentType) ?? "application/octet-stream"
        return ServerResponse(body: .echo).adding("Content-Type", type)
    }

    /// Steps played on the connection in place of a message.
    package static func script(_ steps: [ScriptStep]) -> ServerResponse {
        ServerResponse(body: .script(steps))
    }

    /// A message encoded once, for answers that must cost nothing.
    package static func encoded(_ message: [UInt8]) -> ServerResponse {
        ServerResponse(body: .encoded(message))
    }

    /// This answer with one more field behind its body.
    package func addingTrailer(_ name: String, _ value: String) -> ServerResponse {
        var response = self
        response.trailers.append(name, value)
        return response
    }

    /// A copy of this answer with one more field.
    package func adding(_ name: String, _ value: String) -> ServerResponse {
        var response = self
        response.fields.append(name, value)
        return response
    }

    /// A copy of this answer after which the connection ends.
    package func closing() -> ServerResponse {
        var response = self
        response.closesConnection = true
        return response
    }

    /// This answer, broken off at a place.
    package func breakingOff(_ place: BreakOff.Place, _ code: HTTP2ErrorCode = .internalError) -> ServerResponse {
        var response = self
        response.breakOff = BreakOff(place: place, code: code)
        return response
    }

    /// No answer: the stream is reset with a code, or the connection of HTTP/1.1 ended.
    package static func reset(_ code: HTTP2ErrorCode) -> ServerResponse {
        ServerResponse().breakingOff(.beforeHead, code)
    }

    /// Steps played on the connection of HTTP/2 in place of an answer.
    package static func http2(_ steps: [HTTP2Step]) -> ServerResponse {
        ServerResponse(body: .http2(steps))
    }

    /// What is sent in place of an answer that its protocol does not allow: its author finds the reason in the body.
    static func unsendable(_ error: WireError) -> ServerResponse {
        .text("the route's answer cannot be sent: \(error)\n", status: 500)
    }

    /// A copy of this answer with its bytes compressed and the coding named; untouched where the
    /// body is not plain bytes.
    package func compressed(_ format: Gzip.Format = .gzip) -> ServerResponse {
        guard case .bytes(let bytes) = body, let compressed = Gzip.compress(bytes, format: format) else { return self }
        var response = self
        response.body = .bytes(compressed)
        response.fields.replace("Content-Encoding", with: format == .gzip ? "gzip" : "deflate")
        return response
    }

    /// The whole message as bytes, for `encoded(_:)`; nil where the body is not plain bytes or a field is not legal.
    package func message() -> [UInt8]? {
        guard case .bytes(let bytes) = body else { return nil }
        let head = ResponseHead(status: status, fields: fields)
        var message: [UInt8] = []
        do {
            try ResponseEncoder.encode(head, framing: .length(Int64(bytes.count)), into: &message)
        } catch {
            return nil
        }
        message.append(contentsOf: bytes)
        return message
    }
}
