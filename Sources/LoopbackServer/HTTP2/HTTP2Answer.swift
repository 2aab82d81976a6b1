// What an answer of a route is over HTTP/2. A pure function of request and answer. RFC 9113 §8.1.
//
// An answer has the status, fields and body that it has over HTTP/1.1. What only HTTP/1.1 can have becomes:
//
// - chunks, and a body that ends with the connection: a body that ends with its stream and declares no length;
// - the end of the connection behind an answer: a GOAWAY, and the end when no stream is left;
// - an answer that was encoded as HTTP/1.1: it is taken apart, and answered if it is a good one;
// - a script that only waits or ends the connection: does so;
// - a script with bytes of its own, a message of HTTP/1.1 that is broken, a web socket, a 1xx status as the answer: the
//   stream is reset with HTTP_1_1_REQUIRED.

import URLLoadingWire

/// What is done on a stream in answer to its request.
enum HTTP2Answer {
    case message(HTTP2Message)
    case steps([HTTP2Step])
    case http11Required

    init(_ response: ServerResponse, to request: RequestHead, body requestBody: [UInt8]) {
        switch response.body {
        case .script(let script): self = HTTP2Step.steps(script).map { .steps($0) } ?? .http11Required
        case .http2(let steps): self = .steps(steps)
        case .webSocket: self = .http11Required
        case .encoded(let message):
            guard let plain = ServerResponse(decoding: message) else {
                self = .http11Required
                return
            }
            self = .init(plain, to: request, body: requestBody)
        case .none, .bytes, .echo, .pieces, .generated:
            guard response.status >= 200, let source = BodySource(response.body, echoing: requestBody) else {
                self = .http11Required
                return
            }
            self = .message(HTTP2Message(response, source, to: request))
        }
    }
}

/// An answer, ready to be encoded.
struct HTTP2Message {
    let informational: [ResponseHead]
    let head: ResponseHead
    /// What the head says about the body's length.
    let framing: BodyFraming
    /// What its frames are held against.
    let declared: HTTP2DeclaredLength
    let body: HTTP2Body
    let trailers: Fields
    let breakOff: ServerResponse.BreakOff?
    let closesConnection: Bool

    init(_ response: ServerResponse, _ source: BodySource, to request: RequestHead) {
        informational = response.informational
        head = ResponseHead(status: response.status, fields: response.fields)
        trailers = response.trailers
        breakOff = response.breakOff
        closesConnection = response.closesConnection
        framing = Self.framing(of: response, source)
        guard request.method != "HEAD", framing != .none else {
            declared = .none
            body = HTTP2Body(.bytes([]))
            return
        }
        if case .inBody(let count) = response.breakOff?.place {
            declared = .unknown
            body = HTTP2Body(source.prefix(count))
        } else {
            // Trailers are the end of the stream, which a length that is reached would be otherwise.
            declared = if case .length(let length) = framing, trailers.isEmpty { .bytes(length) } else { .unknown }
            body = HTTP2Body(source)
        }
    }

    private static func framing(of response: ServerResponse, _ source: BodySource) -> BodyFraming {
        if case .none = response.body { return .none }
        switch (response.status, response.framing) {
        case (204, _), (304, _): return .none
        case (_, .automatic) where response.trailers.isEmpty: return .length(source.length)
        case (_, .automatic), (_, .chunked), (_, .untilClose): return .untilClose
        }
    }
}

extension ServerResponse {
    /// The answer that a message of HTTP/1.1 is; nil if it is none, or not a whole one.
    fileprivate init?(decoding message: [UInt8]) {
        var decoder = ResponseDecoder()
        decoder.begin(.toOther)
        var body: [UInt8] = []
        var response = ServerResponse()
        var offset = 0
        do {
            while true {
                var step = try decoder.next(message.span.bytes, offset: &offset)
                if step == .needMore { step = try decoder.endOfStream() }
                switch step {
                case .informational(let head): response.informational.append(head)
                case .head(let head, _):
                    response.status = head.status
                    response.fields = head.fields
                case .body(let range): body += message[range]
                case .end(let trailers):
                    response.trailers = trailers
                    response.body = .bytes(body)
                    self = response
                    return
                case .needMore, .switched: return nil
                }
            }
        } catch {
            return nil
        }
    }
}
