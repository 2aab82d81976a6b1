// A transaction's way out: its content for each attempt, what is known of the sending, and whether a lost exchange is sent
// again.
//
// Must not know: how connections are opened, what becomes of the response.

import URLLoadingPolicy
import URLLoadingWire

extension Transaction {
    // MARK: What the connection sends

    /// The content for this attempt: from its beginning, or what nobody has been given of a source.
    func makeFeed() -> BodyFeed? {
        if case .stream = handle.request.body, let feed { return feed }
        feedNumber += 1
        feed = BodyFeed(
            handle.request.body, framing: handle.request.framing, deliver: handle.bodyDelivery(to: feedNumber))
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
        timeline.requestEnded(core.reactor.nanoseconds)
        core.trace?.hooks.requestSent?(id)
    }

    // MARK: Sending again

    /// The exchange failed: it is sent again where that is safe (B6.26 to B6.31), otherwise it ends.
    func exchangeFailed(_ error: EngineError, facts: ExchangeFacts) {
        guard case .exchanging = state else { return }
        guard discardBudget == nil else { return finish(nil) }
        attempt += 1
        let verdict =
            error.isLossOfConnection
            ? ReplayRules.verdict(
                method: handle.request.head.method, reusedConnection: facts.reusedConnection,
                bytesWritten: facts.bytesWritten, responseBytes: facts.responseBytes,
                bodyReplayable: isBodyReplayable, attempt: attempt)
            : .fail
        switch verdict {
        case .replay: sendAgain()
        case .replayWithNewBody: finish(error, needsNewBody: true)
        case .fail: finish(error)
        }
    }

    /// The server answers an Expect field with 417; nothing of the body is out.
    func expectationRefused() {
        guard case .exchanging = state else { return }
        isExpectationDropped = true
        sendAgain()
    }

    private func sendAgain() {
        core.trace?.hooks.replayed?(id)
        pastTimelines.append(timeline)
        timeline = Timeline(start: core.reactor.nanoseconds)
        // B6.26: a new one, since other idle connections to this server may have died just as unnoticed.
        askForConnection(isReplay: true)
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

extension EngineError {
    /// Whether the connection was lost, as opposed to having said something wrong.
    fileprivate var isLossOfConnection: Bool {
        switch self {
        case .connectionLost: return true
        case .wire(let error): return error.kind == .truncated
        case .cancelled, .idleTimeout, .resourceTimeout, .nameLookup, .connect, .proxy, .tls, .body,
            .invalidRequest, .undetachable, .ftp, .localResource:
            return false
        }
    }
}
