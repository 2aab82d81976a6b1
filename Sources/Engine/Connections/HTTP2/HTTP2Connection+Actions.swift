// What an HTTP/2 connection's machine wants done, carried out one by one. A receiver that is told may ask for something
// new: a stream begins or ends while others hear of theirs. Such calls find this under way and leave the rest to it.

import URLLoadingPolicy
import URLLoadingWire

extension HTTP2Connection {
    /// Does everything that the machine wants done.
    func carryOut() {
        guard !isCarryingOut else { return }
        isCarryingOut = true
        defer { isCarryingOut = false }
        while let action = machine.nextAction() { carryOut(action) }
    }

    private func carryOut(_ action: HTTP2ConnectionMachine.Action) {
        if action.concernsStreams { giveRun() }
        switch action {
        case .send: planFlush()
        case .blockBegins(let block): blockBegins(block)
        case .block(let range): blockContinues(range)
        case .blockEnds(let byteCount): blockEnds(byteCount: byteCount)
        case .head(let id, let kind): received(kind, on: id)
        case .data(let id, let range): gather(range, of: id)
        case .messageEnds(let id): stream(id)?.messageEnded()
        case .closed(let id, let end): closed(id, end)
        case .encoderTableChanged(let smallest, let size):
            encoder.peerTableSizeChanged(to: Int(smallest))
            if size != smallest { encoder.peerTableSizeChanged(to: Int(size)) }
        case .decoderTableChanged(let size): decoder.tableSizeAcknowledged(Int(size))
        case .capacityChanged(let capacity): pool.capacityChanged(id, capacity)
        case .draining: pool.draining(id)
        case .setTimer(let deadline): setTimer(deadline)
        case .failed, .finished: planEnd()
        }
    }

    private func received(_ kind: HTTP2HeadKind, on id: HTTP2StreamID) {
        guard case .decoded(let head) = block else { return }
        block = .none
        guard let stream = stream(id) else { return }
        switch head {
        case .response(let head, _) where kind == .informational: stream.received(informational: head)
        case .response(let head, let framing): stream.received(head, framing)
        case .trailers(let fields): stream.received(trailers: fields)
        }
    }

    /// A stream is over. Order: the pool first, the user second.
    private func closed(_ id: HTTP2StreamID, _ end: HTTP2StreamEnd) {
        let stream = remove(id)
        if machine.openStreams == 0 { idle = IdleTime(reactor) }
        pool.released(self.id, idleLimit: nil)
        stream?.closed(end)
    }

    /// The machine is done: what it has to say is written, and then the connection is closed.
    private func planEnd() {
        closesWhenWritten = true
        planFlush()
    }
}
