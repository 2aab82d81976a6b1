// Turns the bytes of a connection into responses, one for each request that was announced. It answers with heads,
// ranges and verdicts; it keeps no body byte. It knows no socket and no time, and whether the connection may be used
// again is `ExchangeMachine`'s to say. RFC 9112 §4 to §8.
//
// The phase is a trivial enum and the parsers that own memory stand beside it: a step moves a few words and copies
// no buffer.

/// A resumable decoder of the responses on one connection.
package struct ResponseDecoder: ~Copyable {
    /// What was found.
    package enum Step: Sendable, Equatable {
        /// All bytes were used; partial heads are kept inside.
        case needMore
        /// A 1xx response; the final one is still to come.
        case informational(ResponseHead)
        /// The final response's head and how its body ends.
        case head(ResponseHead, BodyFraming)
        /// Body bytes, as offsets into the bytes given; never empty.
        case body(Range<Int>)
        /// The response is complete; what follows is not part of it.
        case end(trailers: Fields)
        /// The connection is no longer HTTP: what follows belongs to another protocol.
        case switched
    }

    private enum Phase {
        /// No request is unanswered.
        case idle
        case head
        case length(remaining: Int64)
        case chunked
        case untilClose
        /// The body is over, `end` has not been answered yet.
        case complete
        case switched
        case failed(WireError)
    }

    private var phase = Phase.idle
    private var expected = ExpectedResponse.toOther
    private var informationalCount = 0
    private var expectedBytes: Int64 = 0
    /// What the latest final response says about its end and the connection's; read once for both.
    private var fields = FramingFields()
    private var head: HeadParser
    private var chunks: ChunkedDecoder

    /// Bytes of the current response's body without framing.
    package private(set) var bodyBytesReceived: Int64 = 0
    /// Bytes of the current response's body with chunk sizes and trailers.
    package private(set) var wireBodyBytes: Int64 = 0

    /// Makes a decoder for a new connection.
    package init(limits: WireLimits = .standard) {
        head = HeadParser(.response, limits: limits)
        chunks = ChunkedDecoder(limits: limits)
    }

    /// What the latest final response means for its connection.
    package var persistence: Persistence { Persistence(fields) }

    // MARK: Events

    /// A request's head has been written: exactly one final response follows.
    package mutating func begin(_ expected: ExpectedResponse) {
        guard case .idle = phase else { return }
        self.expected = expected
        phase = .head
        informationalCount = 0
        bodyBytesReceived = 0
        wireBodyBytes = 0
    }

    /// Decodes from `bytes` at `offset` and moves `offset` behind what was used.
    ///
    /// After an error every call throws it again.
    package mutating func next(_ bytes: RawSpan, offset: inout Int) throws(WireError) -> Step {
        do throws(WireError) {
            return try step(bytes, &offset)
        } catch {
            phase = .failed(error)
            throw error
        }
    }

    /// The peer will send no more: `end` for a body that ends this way, `needMore` between two exchanges, else throws
    /// where the message was cut (B16.36 to B16.38, B16.41).
    package mutating func endOfStream() throws(WireError) -> Step {
        switch phase {
        case .idle: return .needMore
        case .switched: return .switched
        case .complete, .untilClose:
            phase = .idle
            return .end(trailers: Fields())
        case .head:
            throw fail(head.isInside || informationalCount > 0 ? .closedInHead : .closedBeforeResponse)
        case .length: throw fail(.closedInBody(received: bodyBytesReceived, expected: expectedBytes))
        case .chunked: throw fail(.closedInChunked(received: bodyBytesReceived))
        case .failed(let error): throw error
        }
    }

    // MARK: Steps

    private mutating func step(_ bytes: RawSpan, _ offset: inout Int) throws(WireError) -> Step {
        switch phase {
        case .length(let remaining):
            guard offset < bytes.byteCount else { return .needMore }
            return takeBody(bytes, &offset, remaining)
        case .chunked:
            return try takeChunk(bytes, &offset)
        case .untilClose:
            guard offset < bytes.byteCount else { return .needMore }
            return take(offset..<bytes.byteCount, &offset)
        case .head:
            guard offset < bytes.byteCount, try head.parse(bytes, offset: &offset) else { return .needMore }
            return try received(head.takeResponseHead())
        case .complete:
            phase = .idle
            return .end(trailers: Fields())
        case .idle:
            // B16.9: these bytes answer no request.
            guard offset < bytes.byteCount else { return .needMore }
            throw .bytesWithoutRequest
        case .switched: return .switched
        case .failed(let error): throw error
        }
    }

    private mutating func received(_ head: consuming ResponseHead) throws(WireError) -> Step {
        if head.status == 101 {
            // B16.63
            guard expected == .toUpgrade else { throw .unexpectedSwitchOfProtocols }
            phase = .switched
            return .head(head, .none)
        }
        if head.isInformational {
            informationalCount += 1
            let limit = self.head.limits.informationalCount
            guard informationalCount <= limit else {
                throw .tooManyInformationalResponses(limit: limit)
            }
            return .informational(head)
        }
        fields = FramingFields(head.fields, readsKeepAlive: true)
        if expected == .toCONNECT, head.status < 300 {
            phase = .switched
            return .head(head, .none)
        }
        let framing = try BodyFraming.ofResponse(head, fields, to: expected)
        switch framing {
        case .none, .length(0): phase = .complete
        case .length(let count):
            expectedBytes = count
            phase = .length(remaining: count)
        case .chunked:
            chunks = ChunkedDecoder(limits: self.head.limits)
            phase = .chunked
        case .untilClose: phase = .untilClose
        }
        return .head(head, framing)
    }

    private mutating func takeBody(_ bytes: RawSpan, _ offset: inout Int, _ remaining: Int64) -> Step {
        let count = min(remaining, Int64(bytes.byteCount - offset))
        phase = count == remaining ? .complete : .length(remaining: remaining - count)
        return take(offset..<(offset + Int(count)), &offset)
    }

    private mutating func take(_ range: Range<Int>, _ offset: inout Int) -> Step {
        offset = range.upperBound
        bodyBytesReceived += Int64(range.count)
        wireBodyBytes += Int64(range.count)
        return .body(range)
    }

    private mutating func takeChunk(_ bytes: RawSpan, _ offset: inout Int) throws(WireError) -> Step {
        let before = offset
        let step = try chunks.next(bytes, offset: &offset)
        wireBodyBytes += Int64(offset - before)
        switch step {
        case .needMore: return .needMore
        case .body(let range):
            bodyBytesReceived += Int64(range.count)
            return .body(range)
        case .end(let trailers):
            phase = .idle
            return .end(trailers: trailers)
        }
    }

    private mutating func fail(_ error: WireError) -> WireError {
        phase = .failed(error)
        return error
    }
}
