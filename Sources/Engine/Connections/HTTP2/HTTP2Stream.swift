// One request and its answer on an HTTP/2 connection. What comes in is in +Reading, what goes out in +Writing; the
// stored properties are theirs, too.
//
// It is over for the connection when the machine says so; it may outlive that by what its owner has not taken yet.
//
// Must not know: the pool, retries, redirects, users: those are the owner's.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

/// An exchange on a connection that it shares.
final class HTTP2Stream {
    // `@exclusivity(unchecked)`: as in `HTTP1Connection`.
    let connection: HTTP2Connection
    @exclusivity(unchecked) private(set) var id = HTTP2StreamID(number: 0, slot: -1)
    @exclusivity(unchecked) private(set) var owner: (any ExchangeOwner)?
    /// What the answer is to, for the end of its body.
    @exclusivity(unchecked) private(set) var expected = ExpectedResponse.toOther
    /// The connection had carried others before.
    @exclusivity(unchecked) private var isLater = false
    /// What the connection had sent when this began.
    @exclusivity(unchecked) private(set) var sentBefore = 0

    // The way in.
    @exclusivity(unchecked) var progress = Progress.awaiting
    /// An informational answer has come.
    @exclusivity(unchecked) var isInformed = false
    /// The server has said where it keeps what it gets of an upload.
    @exclusivity(unchecked) var isTakenUp = false
    /// Why the message is malformed that the machine is about to refuse.
    @exclusivity(unchecked) var fault: HeaderFault?
    /// What came of the body while the owner could take no more: at most as much as the stream's window lets in.
    @exclusivity(unchecked) var held = HeldBody()
    /// Bytes of the body that came, held ones included.
    @exclusivity(unchecked) var bodyBytes: Int64 = 0

    // The way out.
    @exclusivity(unchecked) var sending = Sending.nothing
    @exclusivity(unchecked) var piece = Piece.none
    /// How much of a body of known length is still to be given to the connection.
    @exclusivity(unchecked) var toSend: Int64?

    /// How far the answer has come.
    enum Progress {
        /// No final head.
        case awaiting
        /// Its head is here; and how many bytes the body has, if that was said.
        case receiving(expected: Int64?)
        /// It is whole.
        case ended
        /// It is whole, and the stream over: what the owner has not taken yet it takes when it can.
        case over
        /// The stream is over, and the answer never will be whole. The owner is told when it
        /// has taken what came before.
        case lost(HTTP2StreamEnd, expected: Int64?)
    }

    init(on connection: HTTP2Connection) {
        self.connection = connection
    }

    // MARK: The course

    /// Sends the owner's request; what comes back is told to the owner.
    func begin(for owner: any ExchangeOwner) {
        self.owner = owner
        let connection = connection
        isLater = connection.hasServed
        sentBefore = connection.channel.bytesSent
        guard !connection.isClosed, let id = connection.machine.open(now: connection.now) else {
            // Its last place has gone since the pool gave it away.
            letGo()
            connection.pool.released(connection.id, idleLimit: nil)
            return owner.exchangeFailed(
                .connectionLost(nil, phase: owner.phase, received: 0, expected: nil),
                facts: facts(.unprocessed(asksForCalm: false)))
        }
        self.id = id
        connection.add(self, as: id)
        expected = owner.handle.request.head.method == "HEAD" ? .toHEAD : .toOther
        do throws(WireError) {
            let headBytes = try sendHead(of: owner)
            owner.requestStarted(headBytes: headBytes)
        } catch {
            // Nothing was written: the connection is as good as before.
            letGo()
            connection.machine.cancel(id)
            connection.carryOut()
            return owner.exchangeFailed(.invalidRequest(error), facts: facts(nil, bytesWritten: false))
        }
        if case .nothing = sending { owner.requestSent() }
        connection.carryOut()
    }

    /// Gives the exchange up: its answer is of no use any more (H6.1). `isTimedOut` says that the server did not answer
    /// in time (H6.4).
    func abandon(isTimedOut: Bool) {
        guard owner != nil else { return }
        noteBodyBytes()
        letGo()
        if !connection.heldTrailers.isEmpty { connection.heldTrailers[id] = nil }
        if isTimedOut { connection.machine.timedOut(id, now: connection.now) } else { connection.machine.cancel(id) }
        connection.carryOut()
    }

    /// The stream is over, for the reason given.
    func closed(_ end: HTTP2StreamEnd) {
        guard let owner else { return }
        switch progress {
        case .ended: progress = .over
        case .receiving(let expected):
            progress = .lost(end, expected: expected)
            dropBody()
        case .awaiting: return fail(end, owner)
        case .over, .lost: return
        }
        if held.isEmpty, !owner.isReadPaused { tellEnd() }
    }

    /// Tells the owner how the stream has ended, if it has; everything that came was taken.
    func tellEnd() {
        guard let owner else { return }
        switch progress {
        case .over: complete(owner)
        case .lost(let end, _): fail(end, owner)
        case .awaiting, .receiving, .ended: break
        }
    }

    private func fail(_ end: HTTP2StreamEnd, _ owner: any ExchangeOwner) {
        let error = error(for: end, phase: owner.phase)
        // What has been answered was looked at, whatever the server says. An informational answer may be a gateway's.
        let isUnanswered = if case .awaiting = progress { !isTakenUp } else { false }
        let facts = facts(
            isUnanswered ? ExchangeFacts.Refusal(end, tookOthers: connection.machine.hasTakenSome) : nil)
        noteBodyBytes()
        // The request may be sent again: its body is not closed here, but where the request ends.
        leaveBody()
        letGo()
        owner.exchangeFailed(error, facts: facts)
    }

    private func complete(_ owner: any ExchangeOwner) {
        noteBodyBytes()
        letGo()
        owner.responseEnded()
    }

    /// H6.6: also of an answer that does not come to its end.
    private func noteBodyBytes() {
        if case .awaiting = progress { return }
        owner?.noteWireBodyBytes(bodyBytes)
    }

    /// Lets go of the owner and of what was still to come or to be sent.
    func letGo() {
        owner = nil
        held = HeldBody()
        dropBody()
    }

    // MARK: Errors

    private func facts(_ refusal: ExchangeFacts.Refusal?, bytesWritten: Bool = true) -> ExchangeFacts {
        // B6.29: something of it, if only an informational one.
        let hasAnswer = if case .awaiting = progress { isInformed } else { true }
        return ExchangeFacts(
            reusedConnection: isLater, bytesWritten: bytesWritten && connection.channel.bytesSent != sentBefore,
            responseBytes: hasAnswer, refusal: refusal, doubtsOthers: false)
    }

    private func error(for end: HTTP2StreamEnd, phase: EngineError.Phase) -> EngineError {
        let expected: Int64? =
            switch progress {
            case .receiving(let expected), .lost(_, let expected): expected
            case .awaiting, .ended, .over: nil
            }
        switch end {
        case .connectionFailed(let fault): return .http2(.connection(fault))
        case .connectionLost, .cancelled, .timedOut, .bodyTooShort, .finished, .turnedAway:
            switch connection.loss {
            case .tls(let error): return .tls(error, host: connection.key.origin.host)
            case .system(let error):
                return .connectionLost(error, phase: phase, received: bodyBytes, expected: expected)
            case nil: return .connectionLost(nil, phase: phase, received: bodyBytes, expected: expected)
            }
        case .reset(let code): return .http2(.reset(code))
        case .faulted(let reason): return .http2(.malformed(reason, fault))
        }
    }
}

extension ExchangeFacts.Refusal {
    /// What the end of a stream says about its request having been looked at; nil where it may have been. `tookOthers`
    /// says that a GOAWAY has left other streams to their ends.
    fileprivate init?(_ end: HTTP2StreamEnd, tookOthers: Bool) {
        if tookOthers, end == .turnedAway(.noError) {
            self = .outlasted
        } else if end.peerCode == .http11Required {
            self = .needsHTTP1
        } else if end.isUnprocessed {
            self = .unprocessed(asksForCalm: end.peerCode == .enhanceYourCalm)
        } else {
            return nil
        }
    }
}
