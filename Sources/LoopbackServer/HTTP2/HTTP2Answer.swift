// What an answer of a route is over HTTP/2. A pure function of request and answer. RFC 9113 §8.1.
//
// An answer has the status, fields and body that it has over HTTP/1.1. What only HTTP/1.1 can have becomes:
//
// - chunks, and a body that ends with the connection: a body that ends with its stream and declares no length;
// - the end of the connection behind an answer: a GOAWAY, and the end when no stream is left;
// - an answer that was encoded as HTTP/1.1, or comes from a script in pieces: translated, as a gateway would do it;
// - a script that only waits or ends the connection: does so;
// - what is no message of HTTP/1.1, or more than one, a web socket, a 1xx status as the answer: the stream is reset
//   with HTTP_1_1_REQUIRED.

import URLLoadingWire

/// What is done on a stream in answer to its request.
enum HTTP2Answer {
    case message(HTTP2Message)
    case steps([HTTP2Step])
    case http11Required

    init(_ response: ServerResponse, to request: RequestHead, body requestBody: [UInt8]) {
        switch response.body {
        case .script(let script):
            self = HTTP2Step.steps(script).map { .steps($0) } ?? Self.translated(script, for: request)
        case .http2(let steps): self = .steps(steps)
        case .webSocket: self = .http11Required
        case .encoded(let message): self = Self.translated([.send(message), .halfClose], for: request)
        case .none, .bytes, .echo, .pieces, .generated:
            guard response.status >= 200, let source = BodySource(response.body, echoing: requestBody) else {
                self = .http11Required
                return
            }
            self = .message(HTTP2Message(response, source, to: request))
        }
    }

    private static func translated(_ script: [ScriptStep], for request: RequestHead) -> HTTP2Answer {
        HTTP2Translation(script, for: request).map { .message(HTTP2Message($0)) } ?? .http11Required
    }
}

/// An answer, ready to be encoded.
struct HTTP2Message {
    /// What is waited for before its head.
    let pauses: [ServerResponse.Piece]
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
        pauses = []
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

    init(_ translation: HTTP2Translation) {
        pauses = translation.pauses
        informational = translation.informational
        head = translation.head
        framing = translation.framing
        body = HTTP2Body(.pieces(translation.pieces))
        trailers = translation.trailers
        declared = translation.hasBody ? .unknown : .none
        breakOff = translation.isCut ? ServerResponse.BreakOff(place: .inBody(after: 0), code: .internalError) : nil
        closesConnection = translation.closesConnection
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
