// Header blocks, in both directions. What comes is given on as it arrives and is never collected; each block is
// decoded by the driver, whether its stream is there or not, because the tables of both ends have to stay
// alike. RFC 9113 §4.3, §8.1.

/// A header block that comes, and what it is expected to be.
package enum HTTP2Block: Sendable, Equatable {
    /// The head of a request, which opens this stream, or of an answer: a final one or a 1xx.
    case head(HTTP2StreamID)
    /// Fields behind a body.
    case trailers(HTTP2StreamID)
    /// A block that no stream waits for: to be decoded, and forgotten.
    case discarded

    /// The stream that waits for it.
    package var stream: HTTP2StreamID? {
        switch self {
        case .head(let stream), .trailers(let stream): stream
        case .discarded: nil
        }
    }
}

/// What a header block was found to be.
package enum HTTP2BlockContent: Sendable, Equatable {
    /// The head of a request or a final answer, and what it declares about the body.
    case final(HTTP2DeclaredLength)
    /// A 1xx answer.
    case informational
    /// Fields behind a body.
    case trailers
    /// A block that no stream waits for.
    case discarded
    /// Fields that break the rules of HTTP (H4.7).
    case malformed
    /// More fields than we take; they were decoded and not kept (H4.9).
    case tooLarge
    /// More than we decode (H9.5): the connection ends.
    case boundless
    /// The block cannot be decoded (H8.10): the connection ends.
    case undecodable
}

extension HTTP2ConnectionMachine {
    /// The block that is being received.
    struct IncomingBlock {
        /// The number on the wire.
        let number: UInt32
        /// The stream that it belongs to, nil if it is discarded.
        let stream: HTTP2StreamID?
        let endsStream: Bool
        var budget: HTTP2BlockBudget
        /// Whether all of it has come, and its content is to be told.
        var isComplete = false
    }

    // MARK: Receiving

    mutating func blockBegins(
        on number: UInt32, frameBytes: Int, endsStream: Bool, _ now: Duration
    ) throws(HTTP2Fault) {
        // Order: a stream that ends by this was told of, or was not opened.
        let budget = try HTTP2BlockBudget(frameBytes: frameBytes, limits)
        let block = try expectedBlock(on: number, endsStream: endsStream, now)
        guard phase == .running else { return }
        incomingBlock = IncomingBlock(
            number: number, stream: block.stream, endsStream: endsStream, budget: budget)
        actions.add(.blockBegins(block))
    }

    /// What the block is expected to be. What is wrong with its stream alone is answered here, since the block goes on
    /// nevertheless.
    private mutating func expectedBlock(
        on number: UInt32, endsStream: Bool, _ now: Duration
    ) throws(HTTP2Fault) -> HTTP2Block {
        switch try place(of: number, mayOpen: true) {
        case .open(let slot):
            do throws(HTTP2Fault.Reason) {
                let id = streams.id(of: slot)
                return try streams[slot].machine.expectsTrailers(endsMessage: endsStream) ? .trailers(id) : .head(id)
            } catch {
                handle(.stream(number, error), now)
            }
        case .new: if let id = opened(by: number, now) { return .head(id) }
        case .gone:
            try budget.spend(1, now: now)
            try answerGone(number)
        case .ignored: try budget.spend(1, now: now)
        }
        return .discarded
    }

    mutating func blockEnds() {
        guard incomingBlock != nil else { return }
        incomingBlock?.isComplete = true
        actions.add(.blockEnds(byteCount: incomingBlock?.budget.byteCount ?? 0))
    }

    /// The block that has ended was decoded, and this is what it was.
    package mutating func blockDecoded(_ content: HTTP2BlockContent, now: Duration) {
        guard phase == .running, let block = incomingBlock, block.isComplete else { return }
        incomingBlock = nil
        switch content {
        case .undecodable: return fail(.connection(.compression, stream: block.number))
        case .boundless: return fail(.connection(.blockTooLarge, stream: block.number))
        case .final, .informational, .trailers, .discarded, .malformed, .tooLarge: break
        }
        // It may have been cancelled while its block came.
        guard let id = block.stream, streams.contains(id) else { return }
        do throws(HTTP2Fault.Reason) {
            try accept(content, on: id, endsStream: block.endsStream)
        } catch {
            // H9.6 is a flood, and the others are this stream's alone.
            return handle(
                error == .informationalAnswers ? .connection(error, stream: id.number) : .stream(id.number, error), now)
        }
        if block.endsStream { messageEnds(id, now) }
    }

    private mutating func accept(
        _ content: HTTP2BlockContent, on id: HTTP2StreamID, endsStream: Bool
    ) throws(HTTP2Fault.Reason) {
        let kind: HTTP2HeadKind
        switch content {
        case .final(let length):
            kind = .final
            streams[id.slot].toReceive = length
        case .informational: kind = .informational
        case .trailers: kind = .trailers
        case .tooLarge: throw .listTooLarge
        case .malformed, .discarded, .boundless, .undecodable: throw .malformed
        }
        try streams[id.slot].machine.receive(
            kind, endsMessage: endsStream, by: role == .client ? .server : .client, limit: limits.informationalAnswers)
        // H4.6: before the head is told, so that an answer that is wrong by itself is none.
        if endsStream, !streams[id.slot].toReceive.mayEnd { throw .bodyLength }
        actions.add(.head(id, kind))
    }

    /// Whether a message ends with the block that has come: it has no body.
    package var endsWithBlock: Bool { incomingBlock?.endsStream ?? false }

    // MARK: Sending

    /// Whether a stream, which may be an old one, is still there: to be asked before a block is encoded for it.
    package func isOpen(_ id: HTTP2StreamID) -> Bool { phase == .running && streams.contains(id) }

    /// Writes a header block that was encoded for a stream. The body that follows ends the message, or has ended it
    /// before it began if it is `none` (H3.6). Answers how many bytes it took, frame headers included (H6.6).
    ///
    /// What was encoded has to be written, or the tables part: if it cannot be, the connection
    /// fails, and the answer is 0.
    @discardableResult
    package mutating func sendBlock(
        _ block: RawSpan, on id: HTTP2StreamID, _ kind: HTTP2HeadKind = .final, body: HTTP2DeclaredLength = .none,
        now: Duration
    ) -> Int {
        guard phase == .running else { return 0 }
        let endsMessage = kind == .trailers || kind == .final && body.isReached
        guard streams.contains(id), role == .server || kind != .informational,
            kind != .trailers || streams[id.slot].toSend.mayEnd,
            streams[id.slot].machine.send(kind, endsMessage: endsMessage)
        else {
            fail(.connection(.misuse, stream: id.number))
            return 0
        }
        if unwritten == id { unwritten = nil }
        streams[id.slot].isOnTheWire = true
        if kind == .final { streams[id.slot].toSend = body }
        let before = output.count
        HTTP2FrameEncoder.encodeBlock(
            block, stream: id.number, endsStream: endsMessage, maximumFrameSize: peerSettings.maximumFrameSize,
            into: &output)
        let byteCount = output.count - before
        if pingsWithNextHead {
            pingsWithNextHead = false
            writePing(now)
        }
        if endsMessage { sendingEnded(id.slot) }
        return byteCount
    }
}
