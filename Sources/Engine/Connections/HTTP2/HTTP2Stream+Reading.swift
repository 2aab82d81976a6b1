// The receiving half of a stream. While the owner can take no more, what comes is held here, and the stream's window is
// not given back: so the server stops sending on this stream, and on no other (H5.4).

import URLLoadingWire

extension HTTP2Stream {
    func received(informational head: ResponseHead) {
        guard let owner else { return }
        isInformed = true
        if head.status == 104 { isTakenUp = true }
        owner.byteMoved()
        owner.received(informational: head)
        if head.status == 100 { continueSending() }
    }

    /// The final head.
    func received(_ head: ResponseHead, _ framing: BodyFraming) {
        guard let owner else { return }
        owner.byteMoved()
        if case .permission = sending, head.status == 417 {
            // Order: before the exchange is given up, which closes the body that it would have sent.
            // The next attempt sends it.
            sending = .nothing
            abandon(isTimedOut: false)
            return owner.expectationRefused(by: head, needsNewConnection: false)
        }
        let expected: Int64? = if case .length(let length) = framing { length } else { nil }
        progress = .receiving(expected: expected)
        stopSendingIfUnwanted(by: head)
        owner.received(head: head, framing: framing, from: connection.channel.acceptance)
    }

    /// Trailers end the message; they wait for what is held of the body (B16.46).
    func received(trailers: Fields) {
        guard let owner else { return }
        owner.byteMoved()
        guard !trailers.isEmpty else { return }
        if owner.isReadPaused || !held.isEmpty {
            connection.heldTrailers[id] = trailers
        } else {
            owner.received(trailers: trailers)
        }
    }

    /// Bytes of the body.
    func received(_ bytes: UnsafeRawBufferPointer) {
        guard let owner else { return connection.machine.taken(bytes.count, of: id, now: connection.now) }
        owner.byteMoved()
        bodyBytes += Int64(bytes.count)
        let piece = BodyPiece(bytes, in: connection.buffers.received)
        if owner.isReadPaused || !held.isEmpty { return held.append(piece) }
        owner.received(body: piece)
        connection.machine.taken(bytes.count, of: id, now: connection.now)
    }

    /// The server's message is whole.
    func messageEnded() { progress = .ended }

    /// Goes on after a pause.
    func readOn() {
        guard let owner, !owner.isReadPaused else { return }
        if !held.isEmpty { give(to: owner) }
        guard self.owner === owner, held.isEmpty, !owner.isReadPaused else { return }
        // Hardly ever are there any, and this comes with each answer about which a delegate was asked.
        if !connection.heldTrailers.isEmpty, let trailers = connection.heldTrailers.removeValue(forKey: id) {
            owner.received(trailers: trailers)
        }
        tellEnd()
    }

    /// Gives the owner what was held, as long as it takes more.
    private func give(to owner: any ExchangeOwner) {
        var taken = 0
        // Order: a piece is out before it is given, since the owner may end all this meanwhile.
        while self.owner === owner, !owner.isReadPaused, let chunk = held.takeFirst() {
            taken += chunk.count
            chunk.withPiece { owner.received(body: $0) }
        }
        connection.machine.taken(taken, of: id, now: connection.now)
        connection.carryOut()
    }
}
