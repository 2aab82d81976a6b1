// Turns the bytes of a connection into requests: the server's side of `ResponseDecoder`. Requests may follow one
// another without a pause. It knows no socket and no time. RFC 9112 §3, §6, §7.

/// A resumable decoder of the requests on one connection.
package struct RequestDecoder: ~Copyable {
    /// What was found.
    package enum Step: Sendable, Equatable {
        /// All bytes were used; partial heads are kept inside.
        case needMore
        /// A request's head and how its body ends.
        case head(RequestHead, BodyFraming)
        /// Body bytes, as offsets into the bytes given; never empty.
        case body(Range<Int>)
        /// The request is complete; what follows is the next one.
        case end
    }

    private enum Phase {
        case head
        case length(remaining: Int64)
        case chunked
        /// The body is over, `end` has not been answered yet.
        case complete
        case failed(WireError)
    }

    private let limits: WireLimits
    private var phase = Phase.head
    private var expectedBytes: Int64 = 0
    private var head: HeadParser
    private var chunks: ChunkedDecoder

    /// Bytes of the current request's body without framing.
    package private(set) var bodyBytesReceived: Int64 = 0
    /// The fields behind the body of the latest request, once all of it has come.
    package private(set) var trailers = Fields()

    /// Makes a decoder for a new connection.
    package init(limits: WireLimits = .standard) {
        self.limits = limits
        head = HeadParser(.request, limits: limits)
        chunks = ChunkedDecoder(limits: limits)
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

    /// The peer will send no more: `needMore` between two requests, else throws where the message was cut.
    package mutating func endOfStream() throws(WireError) -> Step {
        switch phase {
        case .head:
            guard head.isInside else { return .needMore }
            throw .closedInHead
        case .complete:
            phase = .head
            return .end
        case .length: throw .closedInBody(received: bodyBytesReceived, expected: expectedBytes)
        case .chunked: throw .closedInChunked(received: bodyBytesReceived)
        case .failed(let error): throw error
        }
    }

    private mutating func step(_ bytes: RawSpan, _ offset: inout Int) throws(WireError) -> Step {
        switch phase {
        case .head:
            guard offset < bytes.byteCount, try head.parse(bytes, offset: &offset) else { return .needMore }
            return try received(head.takeRequestHead())
        case .length(let remaining):
            guard offset < bytes.byteCount else { return .needMore }
            let count = min(remaining, Int64(bytes.byteCount - offset))
            phase = count == remaining ? .complete : .length(remaining: remaining - count)
            let range = offset..<(offset + Int(count))
            offset = range.upperBound
            bodyBytesReceived += count
            return .body(range)
        case .chunked:
            return try takeChunk(bytes, &offset)
        case .complete:
            phase = .head
            return .end
        case .failed(let error): throw error
        }
    }

    private mutating func received(_ head: consuming RequestHead) throws(WireError) -> Step {
        bodyBytesReceived = 0
        trailers = Fields()
        let framing = try BodyFraming.ofRequest(head)
        switch framing {
        case .none, .length(0), .untilClose: phase = .complete
        case .length(let count):
            expectedBytes = count
            phase = .length(remaining: count)
        case .chunked:
            chunks = ChunkedDecoder(limits: limits)
            phase = .chunked
        }
        return .head(head, framing)
    }

    private mutating func takeChunk(_ bytes: RawSpan, _ offset: inout Int) throws(WireError) -> Step {
        switch try chunks.next(bytes, offset: &offset) {
        case .needMore: return .needMore
        case .body(let range):
            bodyBytesReceived += Int64(range.count)
            return .body(range)
        case .end(let trailers):
            self.trailers = trailers
            phase = .head
            return .end
        }
    }
}
