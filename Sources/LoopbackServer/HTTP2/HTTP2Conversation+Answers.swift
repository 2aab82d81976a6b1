// Answers as they are written on streams: heads at once, bodies piece by piece as the windows allow it and as their
// pauses let them, then trailers or whatever else ends them. RFC 9113 §8.1.

import URLLoadingSystem
import URLLoadingWire

extension HTTP2Conversation {
    // MARK: Heads

    func answer(_ response: ServerResponse, on exchange: HTTP2Exchange) {
        guard isAnswering, machine.isOpen(exchange.id), !exchange.isAnswered else { return }
        exchange.isAnswered = true
        switch HTTP2Answer(response, to: exchange.head, body: exchange.body) {
        case .http11Required: machine.cancel(exchange.id, .http11Required)
        case .steps(let steps): play(steps)
        case .message(let message):
            guard !message.pauses.isEmpty else { return begin(message, on: exchange) }
            exchange.outgoing = HTTP2Body(.pieces(message.pauses))
            exchange.postponed = message
            goOn(exchange)
        }
    }

    private func begin(_ message: HTTP2Message, on exchange: HTTP2Exchange) {
        do throws(WireError) {
            try send(message, on: exchange)
        } catch {
            answerUnsendable(error, on: exchange)
        }
    }

    /// Sends an informational answer while the request still comes.
    func tell(_ head: ResponseHead, on exchange: HTTP2Exchange) {
        guard machine.isOpen(exchange.id), !exchange.isAnswered else { return }
        // One that may not be sent is left out.
        try? send(informational: head, on: exchange)
    }

    private func send(_ message: HTTP2Message, on exchange: HTTP2Exchange) throws(WireError) {
        for head in message.informational { try send(informational: head, on: exchange) }
        if let breakOff = message.breakOff, breakOff.place == .beforeHead {
            return machine.cancel(exchange.id, breakOff.code)
        }
        encoded.removeAll(keepingCapacity: true)
        try encoder.encode(message.head, framing: message.framing, into: &encoded)
        writeBlock(on: exchange, .final, body: message.declared)
        exchange.outgoing = message.body
        exchange.declared = message.declared
        exchange.trailers = message.trailers
        exchange.breakOff = message.breakOff
        if message.closesConnection { machine.goodbye() }
        if message.declared.isReached { answerIsWhole(exchange) } else { goOn(exchange) }
    }

    private func answerUnsendable(_ error: WireError, on exchange: HTTP2Exchange) {
        guard case .message(let message) = HTTP2Answer(.unsendable(error), to: exchange.head, body: []) else { return }
        do throws(WireError) {
            try send(message, on: exchange)
        } catch {
            machine.cancel(exchange.id, .internalError)
        }
    }

    private func send(informational head: ResponseHead, on exchange: HTTP2Exchange) throws(WireError) {
        encoded.removeAll(keepingCapacity: true)
        try encoder.encode(head, framing: .none, into: &encoded)
        writeBlock(on: exchange, .informational)
    }

    /// Writes the block that was encoded last.
    private func writeBlock(on exchange: HTTP2Exchange, _ kind: HTTP2HeadKind, body: HTTP2DeclaredLength = .none) {
        encoded.withUnsafeBytes { bytes in
            _ = machine.sendBlock(bytes.bytes, on: exchange.id, kind, body: body, now: now)
        }
    }

    // MARK: Bodies

    /// Writes what may be sent now of the stream whose turn it is.
    func write(_ piece: HTTP2Piece) {
        guard let exchange = exchange(piece.stream), case .bytes(let available) = exchange.outgoing.next
        else { return machine.bodyPaused(piece.stream) }
        let count = min(available, piece.limit)
        let isLast = exchange.outgoing.ends(behind: count) && !exchange.goesOnBehindBody
        guard machine.writePiece(of: piece.stream, count: count, isLast: isLast, into: &output) else {
            return machine.bodyPaused(piece.stream)
        }
        exchange.outgoing.take(count, into: &output)
        exchange.sentBytes += Int64(count)
        let isWhole = isLast || Int(exchange.sentBytes) == exchange.declared.limit
        if isWhole { answerIsWhole(exchange) } else { goOn(exchange) }
    }

    /// Does what comes next in the body of an answer, bytes apart, which wait for their turn.
    private func goOn(_ exchange: HTTP2Exchange) {
        switch exchange.outgoing.next {
        case .bytes: return machine.bodyReady(exchange.id)
        case .end: return bodyIsOver(exchange)
        case .delay(let duration):
            exchange.pause = nextPause()
            exchange.timer.set(connection.core.reactor.now + duration)
        case .gate(let gate):
            let pause = nextPause()
            exchange.pause = pause
            connection.wait(for: gate, pause: pause)
        }
        machine.bodyPaused(exchange.id)
    }

    /// What the body has waited for has happened.
    func pauseEnded(of exchange: HTTP2Exchange) {
        guard exchange.pause != nil else { return }
        exchange.pause = nil
        exchange.outgoing.passPause()
        goOn(exchange)
    }

    // MARK: Ends

    private func bodyIsOver(_ exchange: HTTP2Exchange) {
        guard machine.isOpen(exchange.id) else { return }
        if let message = exchange.postponed {
            exchange.postponed = nil
            return begin(message, on: exchange)
        }
        if let breakOff = exchange.breakOff, breakOff.place != .behindEnd {
            return machine.cancel(exchange.id, breakOff.code)
        }
        encoded.removeAll(keepingCapacity: true)
        if exchange.trailers.isEmpty {
            guard machine.writePiece(of: exchange.id, count: 0, isLast: true, into: &output) else { return }
        } else if (try? encoder.encode(trailers: exchange.trailers, into: &encoded)) != nil {
            writeBlock(on: exchange, .trailers)
        } else {
            return machine.cancel(exchange.id, .internalError)
        }
        answerIsWhole(exchange)
    }

    private func answerIsWhole(_ exchange: HTTP2Exchange) {
        counts.answers += 1
        unsentAnswers += 1
        guard let breakOff = exchange.breakOff, breakOff.place == .behindEnd else { return }
        machine.cancel(exchange.id, breakOff.code)
    }
}

extension HTTP2Exchange {
    /// Whether the stream does not end with the body.
    fileprivate var goesOnBehindBody: Bool {
        !trailers.isEmpty || breakOff.map { $0.place != .behindEnd } ?? false
    }
}
