// What a script of HTTP/1.1 is over HTTP/2: the message that its bytes are, as a gateway would pass it on, with the
// pauses where they were. A pure function.
//
// Where the connection ends in the middle of the message, the stream is reset. Where the script ends there and the
// connection stays, so does the stream.

import URLLoadingWire

/// One message of HTTP/1.1, taken apart.
struct HTTP2Translation {
    /// What is waited for before anything is sent.
    private(set) var pauses: [ServerResponse.Piece] = []
    private(set) var informational: [ResponseHead] = []
    private(set) var head = ResponseHead(status: 0, fields: Fields())
    /// What the head says about the body's length.
    private(set) var framing = BodyFraming.none
    /// The body, and its pauses.
    private(set) var pieces: [ServerResponse.Piece] = []
    private(set) var trailers = Fields()
    /// Whether the message ends before its end.
    private(set) var isCut = false
    private(set) var closesConnection = false

    private var hasBegun = false
    private var hasHead = false
    private var isWhole = false

    /// Whether the stream goes on behind the head.
    var hasBody: Bool { framing != .none }

    /// `nil` where a script is not one message, or waits in its head.
    init?(_ script: [ScriptStep], for request: RequestHead) {
        var decoder = ResponseDecoder()
        decoder.begin(request.method == "HEAD" ? .toHEAD : .toOther)
        do throws(WireError) {
            for step in script {
                switch step {
                case .send(let bytes), .sendOneByteAtATime(let bytes): try take(bytes, &decoder)
                case .sendGenerated(let length, let start):
                    guard (0...Self.mostGenerated).contains(length), start >= 0 else { return nil }
                    try take(GeneratedBytes.bytes(Int(length), from: start), &decoder)
                case .delay(let duration): guard pause(.init([], after: duration)) else { return nil }
                case .wait(let gate): guard pause(.init([], when: gate)) else { return nil }
                case .waitForClose: guard pause(.init([], when: ServerGate())) else { return nil }
                case .halfClose, .closeNotify: try end(&decoder)
                case .close, .drop:
                    try end(&decoder)
                    closesConnection = !isCut
                case .reset:
                    if !hasHead { return nil }
                    isCut = !isWhole
                    closesConnection = isWhole
                case .sendGeneratedChunks, .waitForRequest: return nil
                }
            }
        } catch {
            return nil
        }
        guard hasHead else { return nil }
        // Nothing more comes, and no end either.
        if !isWhole, !isCut { _ = pause(.init([], when: ServerGate())) }
    }

    private mutating func take(_ bytes: [UInt8], _ decoder: inout ResponseDecoder) throws(WireError) {
        hasBegun = true
        var offset = 0
        while !isCut {
            // What follows a message is another, or none.
            if isWhole, offset < bytes.count { throw .notHTTP }
            let step = try decoder.next(bytes.span.bytes, offset: &offset)
            if step == .needMore { return }
            try take(step, of: bytes)
            if isWhole, offset == bytes.count { return }
        }
    }

    private mutating func take(_ step: ResponseDecoder.Step, of bytes: [UInt8]) throws(WireError) {
        switch step {
        case .informational(let head): informational.append(head)
        case .head(let found, let framing):
            head = found
            head.fields.removeAll(.transferEncoding)
            hasHead = true
            self.framing = if case .chunked = framing { .untilClose } else { framing }
        case .body(let range): pieces.append(.init(Array(bytes[range])))
        case .end(let trailers):
            self.trailers = trailers
            isWhole = true
        case .needMore, .switched: throw .notHTTP
        }
    }

    /// Whether the pause is one before the message, in its body, or behind its end, where it means nothing.
    private mutating func pause(_ pause: ServerResponse.Piece) -> Bool {
        if !hasBegun {
            pauses.append(pause)
        } else if !isWhole, !isCut {
            pieces.append(pause)
        }
        return !hasBegun || hasHead
    }

    /// The connection ends.
    private mutating func end(_ decoder: inout ResponseDecoder) throws(WireError) {
        guard !isWhole, !isCut else { return }
        guard hasHead else { throw .closedBeforeResponse }
        do throws(WireError) {
            try take(decoder.endOfStream(), of: [])
        } catch {
            isCut = true
        }
    }

    /// All of it is made at once.
    private static let mostGenerated: Int64 = 4 << 20
}
