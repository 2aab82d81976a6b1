// A transaction's way out: its content for each attempt, what is known of the sending, and whether a lost exchange is
// sent again.
//
// Must not know: how connections are opened, what becomes of the response.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

extension Transaction {
    // MARK: What the connection sends

    /// The content for this attempt: from its beginning, or what is left of a source.
    func makeFeed(inChunks: Bool) -> BodyFeed? {
        let framing = handle.request.framing
        if case .stream = handle.request.body, let feed {
            feed.isChunked = framing == .chunked && inChunks
            return feed
        }
        feedNumber += 1
        feed = BodyFeed(
            handle.request.body, framing: framing == .chunked && !inChunks ? .untilClose : framing,
            deliver: handle.bodyDelivery(to: feedNumber))
        return feed
    }

    /// The next piece of the body has been supplied.
    func bodyArrived(_ piece: SourcePiece, for number: Int) {
        guard number == feedNumber, let feed else { return }
        feed.arrived(piece)
        if case .exchanging(let exchange) = state { exchange.writeOn() }
    }

    /// The head is on its way.
    func requestStarted(headBytes: Int) {
        // B11.12: counting begins anew.
        if bodySentInAttempt > 0 { receiver.sent(bodyBytes: 0) }
        timeline.requestHeadBytes = Int64(headBytes)
        bodySentInAttempt = 0
    }

    /// The socket took bytes of the request.
    func requestBytesMoved(body: SentBody) {
        byteMoved()
        guard body.wire > 0 else { return }
        timeline.requestBodyBytes += Int64(body.wire)
        guard body.content > 0 else { return }
        bodySentInAttempt += Int64(body.content)
        timeline.requestBodyBytesBeforeEncoding = bodySentInAttempt
        receiver.sent(bodyBytes: bodySentInAttempt)
    }

    /// The last byte of the request is out.
    func requestSent() {
        timeline.requestEnded(reactor.nanoseconds)
        handle.request.trace?.tell(.sent)
    }

    // MARK: Sending again

    /// The exchange failed: it is sent again where that is safe (B6.26 to B6.31), otherwise it ends.
    func exchangeFailed(_ error: EngineError, facts: ExchangeFacts) {
        guard case .exchanging = state else { return }
        guard discardBudget == nil else { return finish(nil) }
        if let body, body.holdsAll {
            // What the receiver says may be that nothing more is wanted, and then nothing was lost.
            body.loss = error
            state = .draining
            return
        }
        if let refusal = facts.refusal { return refused(error, refusal) }
        attempt += 1
        let verdict =
            error.isLossOfConnection
            ? ReplayRules.verdict(
                method: handle.request.head.method, reusedConnection: facts.reusedConnection,
                bytesWritten: facts.bytesWritten, responseBytes: facts.responseBytes,
                bodyReplayable: isBodyReplayable, attempt: attempt)
            : .fail
        switch verdict {
        // B6.26: on a new one, since other idle connections to this server may have died just as unnoticed.
        case .replay where !needsKept: sendAgain(onNewConnection: facts.doubtsOthers)
        case .replay, .replayWithNewBody:
            let again = SecondSending(
                attempt: attempt, refusals: refusals, needsNewConnection: facts.doubtsOthers, needsKept: needsKept)
            finish(error, again: again)
        case .fail: finish(error)
        }
    }

    /// Whether it is worth nothing on another connection.
    var needsKept: Bool { handle.request.again?.needsKept ?? false }

    /// The connection has gone that alone could serve it. Nothing was sent, so nothing is told of this attempt.
    func keptHasGone() {
        let error = EngineError.connectionLost(nil, phase: .waitingForConnection, received: 0, expected: nil)
        leave(error)
        isReported = true
        receiver.finished(TransactionOutcome(error: error, again: SecondSending(needsKept: true), last: nil))
        core.ended(id)
    }

    /// The server answers an Expect field with 417; nothing of the body is out.
    func expectationRefused(by head: ResponseHead, needsNewConnection: Bool) {
        guard case .exchanging = state else { return }
        noteHead(head)
        isExpectationDropped = true
        sendAgain(onNewConnection: needsNewConnection)
    }

    /// The server has not looked at it: it is sent again, whatever it is, a few times and not at once each time (H7.3).
    private func refused(_ error: EngineError, _ refusal: ExchangeFacts.Refusal) {
        if case .needsHTTP1 = refusal { pool.noteNeedForHTTP1(of: key) }
        guard var pause = pause(after: refusal) else { return finish(error) }
        if case .needsHTTP1 = refusal {
            key = key.speakingHTTP1
            pause = .zero
        }
        guard isBodyReplayable else {
            return finish(error, again: SecondSending(attempt: attempt, refusals: refusals, pause: pause))
        }
        noteReplay()
        wish = Wish(atFront: true)
        if pause > .zero { wait(pause) } else { askForConnection() }
    }

    /// How long it waits when a server has not looked at it; nil where that was once too often.
    private func pause(after refusal: ExchangeFacts.Refusal) -> Duration? {
        // It does not count: such a connection has brought another request to its end, or has cost that one one of its
        // own tries, so that their number is bounded by that of requests.
        if case .outlasted = refusal { return .zero }
        refusals += 1
        let asksForCalm = if case .unprocessed(asksForCalm: true) = refusal { true } else { false }
        var chance = Chance()
        return ReplayRules.delayAfterRefusal(
            refusals, asksForCalm: asksForCalm, jitter: Double.random(in: 0...1, using: &chance))
    }

    /// Asks for a connection after a pause, in which no time-out runs but the resource's.
    func wait(_ pause: Duration) {
        let timer = reactor.makeTimer { [weak self] in
            guard let self, case .turnedAway = state else { return }
            askForConnection()
        }
        timer.set(elapsed: reactor.elapsed + pause)
        state = .turnedAway(timer)
        deadlines.stopped()
        rearm()
    }

    private func sendAgain(onNewConnection: Bool) {
        noteReplay()
        wish = Wish(atFront: true, onNewConnection: onNewConnection)
        askForConnection()
    }

    /// What has been done belongs to an earlier attempt.
    private func noteReplay() {
        core.totals.replays.add(1)
        countBytes()
        handle.request.trace?.tell(.replayed)
        pastTimelines.append(timeline)
        timeline = Timeline(start: reactor.nanoseconds)
    }

    private var isBodyReplayable: Bool { feed?.canStartAgain ?? true }

    /// Whether a 408 is the end of an idle connection rather than the answer (B6.31).
    func mayReplayAfterTimeout(_ head: ResponseHead, reused: Bool) -> Bool {
        guard head.status == 408 else { return false }
        return ReplayRules.verdictAboutTimeout(
            status: head.status, closesConnection: head.fields.hasToken(.connection, "close"),
            method: handle.request.head.method, reusedConnection: reused, bodyReplayable: isBodyReplayable,
            attempt: attempt + 1)
            == .replay
    }
}
