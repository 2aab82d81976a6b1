// Turns a route's answer into bytes and steps: which framing, which fields, whether the connection lives on.
// A pure function of request and answer. RFC 9112 §6 and §9.3, the sender's side.

import URLLoadingWire

enum AnswerEncoder {
    /// Prepares `player` and says whether the connection ends with the answer; throws where a field may not be sent.
    static func encode(
        _ response: ServerResponse, to request: RequestHead, body requestBody: [UInt8], into player: inout AnswerPlayer
    ) throws(WireError) -> Bool {
        let closes = response.closesConnection || !isPersistent(request) || response.breakOff?.place == .behindEnd
        let body: BodySource
        switch response.body {
        case .script(let steps):
            player.steps = steps
            return closes
        case .encoded(let message):
            player.first = message
            return closes
        case .http2: throw .unsendableFraming
        case .none, .webSocket, .bytes, .echo, .pieces, .generated:
            body = BodySource(response.body, echoing: requestBody) ?? .bytes([])
        }

        for informational in response.informational {
            try ResponseEncoder.encode(informational, framing: .none, into: &player.first)
        }
        if response.breakOff?.place == .beforeHead {
            player.steps = breakingOff
            return closes
        }
        let framing = framing(of: response, body: body, to: request)
        var head = ResponseHead(status: response.status, fields: response.fields)
        if closes || framing == .untilClose {
            head.fields.append(.connection, "close")
        } else if request.version.minor == 0 {
            head.fields.append(.connection, "keep-alive")
        }
        try ResponseEncoder.encode(head, framing: framing, into: &player.first)
        if request.method != "HEAD", framing != .none {
            if case .inBody(let count) = response.breakOff?.place {
                encode(body.prefix(count), framing: framing, trailers: nil, into: &player)
                player.steps += breakingOff
            } else {
                encode(body, framing: framing, trailers: response.trailers, into: &player)
            }
        }
        return closes || framing == .untilClose
    }

    /// RFC 9112 §9.3: 1.1 persists unless told otherwise, 1.0 only when told so.
    private static func isPersistent(_ request: RequestHead) -> Bool {
        if request.fields.hasToken(.connection, "close") { return false }
        return request.version.minor > 0 || request.fields.hasToken(.connection, "keep-alive")
    }

    /// RFC 9112 §6: no framing for answers that cannot have a body, and no chunks for HTTP/1.0.
    private static func framing(of response: ServerResponse, body: BodySource, to request: RequestHead) -> BodyFraming {
        if case .none = response.body { return .none }
        switch response.status {
        case ..<200, 204, 304: return .none
        default: break
        }
        switch response.framing {
        case .automatic:
            guard response.trailers.isEmpty else { return request.version.minor > 0 ? .chunked : .untilClose }
            return .length(body.length)
        case .chunked:
            return request.version.minor > 0 ? .chunked : .untilClose
        case .untilClose:
            return .untilClose
        }
    }

    /// Prepares the body, and what ends it where it is to be ended: without trailers, be they empty ones, it is not.
    private static func encode(
        _ body: BodySource, framing: BodyFraming, trailers: Fields?, into player: inout AnswerPlayer
    ) {
        let isChunked = framing == .chunked
        switch body {
        case .bytes(let bytes) where bytes.count <= copiedAtMost:
            if isChunked { appendChunk(bytes, to: &player.first) } else { player.first += bytes }
        case .bytes(let bytes):
            if isChunked { RequestEncoder.encodeChunkHeader(size: bytes.count, into: &player.first) }
            player.steps.append(.send(bytes))
            if isChunked { player.steps.append(.send(lineEnd)) }
        case .pieces(let pieces):
            for piece in pieces { append(piece, isChunked: isChunked, to: &player.steps) }
        case .generated(let length, let start):
            player.steps.append(
                isChunked ? .sendGeneratedChunks(length: length) : .sendGenerated(length: length, from: start))
        }
        guard isChunked, let trailers else { return }
        let end = lastChunk(trailers)
        if player.steps.isEmpty { player.first += end } else { player.steps.append(.send(end)) }
    }

    private static func append(_ piece: ServerResponse.Piece, isChunked: Bool, to steps: inout [ScriptStep]) {
        if let delay = piece.delay { steps.append(.delay(delay)) }
        if let gate = piece.gate { steps.append(.wait(gate)) }
        // A chunk of no bytes would be the last one.
        guard isChunked, !piece.bytes.isEmpty else {
            if !piece.bytes.isEmpty { steps.append(.send(piece.bytes)) }
            return
        }
        var chunk: [UInt8] = []
        chunk.reserveCapacity(piece.bytes.count + 16)
        appendChunk(piece.bytes, to: &chunk)
        steps.append(.send(chunk))
    }

    private static func appendChunk(_ bytes: [UInt8], to message: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        RequestEncoder.encodeChunkHeader(size: bytes.count, into: &message)
        message += bytes
        message += lineEnd
    }

    private static func lastChunk(_ trailers: Fields) -> [UInt8] {
        var bytes = Array("0\r\n".utf8)
        for index in 0..<trailers.count {
            trailers.withNameBytes(at: index) { bytes.append(contentsOf: $0) }
            bytes += Array(": ".utf8)
            trailers.withValueBytes(at: index) { bytes.append(contentsOf: $0) }
            bytes += lineEnd
        }
        bytes += lineEnd
        return bytes
    }

    private static let lineEnd: [UInt8] = [13, 10]
    // The half-close waits until everything has been handed over.
    private static let breakingOff: [ScriptStep] = [.halfClose, .drop]
    // Below this, one send of a copy is cheaper than two sends.
    private static let copiedAtMost = 64 << 10
}
