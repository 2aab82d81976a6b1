// A transaction's way in: the response goes to the receiver, decoded, as fast as that takes it; what is not wanted is
// read for the connection's sake only.
//
// Must not know: URLSession, where bytes come from, how the request was sent.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

extension Transaction {
    // MARK: From the connection

    /// A 1xx response came; 100 is the engine's own affair (B11.19).
    func received(informational head: ResponseHead) {
        if head.status != 100 { receiver.received(informational: head) }
    }

    /// The final response's head came.
    func received(head: ResponseHead, framing: BodyFraming, from acceptance: ServerAcceptance) {
        hasResponse = true
        noteHead(head)
        body = ResponseBody.make(
            for: head, framing: framing, decodes: handle.request.decodesContent,
            limits: receiver.decodingLimits)
        receiver.answers(acceptedAs: acceptance)
        heed(receiver.received(head: head, framing: framing, decoding: body != nil))
    }

    /// The records and hooks have a final head, also that of an answer after which the request is sent again.
    @inline(__always)
    func noteHead(_ head: ResponseHead) {
        timeline.responseStarted(reactor.nanoseconds)
        timeline.responseHeadBytes = Int64(head.byteCount)
        timeline.status = head.status
        if head.version == .http10 { timeline.spoken = .http10 }
        handle.request.trace?.tell(.answered(status: head.status))
    }

    /// Bytes of the body came, still coded.
    func received(body piece: BodyPiece) {
        guard let body else {
            if discardBudget != nil { return discard(piece.bytes.count) }
            timeline.responseBodyBytesDecoded += Int64(piece.bytes.count)
            return heed(receiver.received(body: piece))
        }
        if body.isCoded { timeline.responseBodyBytesCoded += Int64(piece.bytes.count) }
        deliver { sink throws(WireError) in try body.take(piece.bytes, buffers: core.buffers.decoded, to: sink) }
        // Where so much is held, the rest waits in the connection.
        if body.holdsAll, body.holdsMuch { isReceiverFull = true }
    }

    /// Fields came behind the body.
    func received(trailers: Fields) {
        if discardBudget == nil { receiver.received(trailers: trailers) }
    }

    /// The body's length on the wire, framing included.
    func noteWireBodyBytes(_ count: Int64) {
        timeline.responseBodyBytes = count
    }

    /// The exchange is over; the connection is no longer this transaction's.
    func responseEnded() {
        guard case .exchanging = state else { return }
        timeline.responseEnded(reactor.nanoseconds)
        state = .draining
        endIfDrained()
    }

    // MARK: From the receiver

    /// The receiver can take more.
    func resumeReading() {
        guard isReceiverFull || body?.holdsAll == true else { return }
        isReceiverFull = false
        body?.holdsAll = false
        deadlines.released(reactor.elapsed)
        goOnReading()
    }

    /// The receiver can take more, but what follows does not wait long for it (B4.33).
    func resumeReadingBriefly() {
        limitRest()
        resumeReading()
    }

    /// Nothing more of the response is wanted: the end is told now, and what is left of the body is read for the
    /// connection's sake only, within a budget of bytes and time (B4.33).
    func discardRest() {
        guard discardBudget == nil, !isReported else { return }
        switch state {
        case .idle, .waiting, .offline, .turnedAway, .finished: return
        case .draining: return finish(nil)
        case .exchanging: break
        }
        discardBudget = RedirectRules.discardedBodyLimit
        body = nil
        // A body that is still being sent is of no use either, and would be all that keeps the connection busy.
        guard timeline.isRequestSent else { return failed(.cancelled) }
        isReceiverFull = false
        suspensions = 0
        deadlines = DeadlineMachine(idle: nil, resource: reactor.elapsed + Self.longestDiscard)
        // Order: what has come already may be all of it, and the connection is then free before the end is told.
        goOnReading()
        if case .exchanging = state { report(nil) }
    }

    /// What was to be read on briefly takes longer: the end is told, and the connection is given up (B4.33).
    func restIsLate() {
        receiver.restIsLate()
        discardBudget = 0
        failed(.cancelled)
    }

    // MARK: Steps

    /// What is left of the response is read for as long as what is not wanted would be.
    private func limitRest() {
        guard discardBudget == nil, case .exchanging = state else { return }
        let limit = reactor.elapsed + Self.longestDiscard
        // All time is over before that.
        if let deadline = handle.request.resourceDeadline, deadline <= limit { return }
        let limited = body ?? ResponseBody()
        limited.isBrief = true
        body = limited
        deadlines = DeadlineMachine(idle: nil, resource: limit)
        rearm()
    }

    /// Reads on, with what waits in memory first.
    func goOnReading() {
        rearm()
        guard !isReadPaused else { return }
        if let body, body.hasHeld {
            deliver { sink throws(WireError) in try body.takeHeld(buffers: core.buffers.decoded, to: sink) }
        }
        guard !isReadPaused else { return }
        switch state {
        case .exchanging(let exchange): exchange.readOn()
        case .draining: endIfDrained()
        case .idle, .waiting, .offline, .turnedAway, .finished: break
        }
    }

    /// Runs a delivery and ends the transaction if the content cannot be decoded.
    private func deliver(
        _ work: ((UnsafeRawBufferPointer) -> ReceiverDemand) throws(WireError) -> Void
    ) {
        do throws(WireError) {
            try work { bytes in
                timeline.responseBodyBytesDecoded += Int64(bytes.count)
                heed(receiver.received(body: BodyPiece(bytes, in: core.buffers.decoded)))
                return isReadPaused ? .pause : .more
            }
        } catch {
            return failed(.wire(error))
        }
        if body?.hasHeld == true, !isReadPaused { yield() }
    }

    /// Goes on at the end of the turn: a few kilobytes can decode to gigabytes, and the loop has other transfers.
    private func yield() {
        isYielding = true
        reactor.later { [self] in
            isYielding = false
            if case .finished = state { return }
            goOnReading()
        }
    }

    /// Does what the receiver wants done with what follows.
    private func heed(_ demand: ReceiverDemand) {
        switch demand {
        case .more: break
        case .detach: detach()
        case .briefly: limitRest()
        case .discard:
            // At the end of the turn, since the rest may be in the bytes that are being read.
            reactor.later { [self] in discardRest() }
        case .hold:
            let holding = body ?? ResponseBody()
            holding.holdsAll = true
            body = holding
            deadlines.held(reactor.elapsed)
            rearm()
        case .pause:
            guard !isReceiverFull else { return }
            isReceiverFull = true
            // B6.9: a receiver that takes its time is not the network's silence.
            deadlines.held(reactor.elapsed)
            rearm()
        }
    }

    private func discard(_ count: Int) {
        guard let budget = discardBudget else { return }
        discardBudget = budget - count
        if count > budget { failed(.cancelled) }
    }

    private func endIfDrained() {
        guard case .draining = state else { return }
        guard let body else { return finish(nil) }
        guard !body.hasHeld, !body.holdsAll else { return }
        if let loss = body.loss { return finish(loss) }
        do throws(WireError) {
            try body.finish()
            finish(nil)
        } catch {
            finish(.wire(error))
        }
    }

    /// Picked by feel: a connection is worth about as long a wait as opening another would take at worst.
    private static let longestDiscard = Duration.seconds(1)
}
