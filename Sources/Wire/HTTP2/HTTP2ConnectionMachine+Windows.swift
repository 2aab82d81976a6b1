// Flow control: bodies that come are held against our windows, and ours against the peer's. The connection's window is
// given back for what has arrived, a stream's for what its receiver has taken: so a slow receiver stops its own stream
// and no other (H5.4). RFC 9113 §5.2, §6.9.

extension HTTP2ConnectionMachine {
    // MARK: Receiving

    /// A DATA frame begins. All of it counts from now on, as it is certain to come.
    mutating func bodyBegins(
        on number: UInt32, _ byteCount: Int, padding: Int, endsStream: Bool, _ now: Duration
    ) throws(HTTP2Fault) {
        incomingBody = nil
        guard receiveWindow.receive(byteCount) else { throw .connection(.windowOverrun, stream: number) }
        // H5.5: whatever becomes of the stream.
        writeUpdate(0, receiveWindow.take(byteCount))
        let bodyBytes = byteCount - padding
        if bodyBytes == 0, !endsStream { try budget.spend(1, now: now) }
        switch try place(of: number) {
        case .open(let slot): try bodyBegins(slot, byteCount, bodyBytes, endsStream)
        case .gone, .new:
            guard !resets.contains(number) else { return }
            try budget.spend(1, now: now)
            try answerGone(number)
        case .ignored: break
        }
    }

    private mutating func bodyBegins(
        _ slot: Int32, _ byteCount: Int, _ bodyBytes: Int, _ endsStream: Bool
    ) throws(HTTP2Fault) {
        let id = streams.id(of: slot)
        do throws(HTTP2Fault.Reason) {
            try streams[slot].machine.receiveBody()
            guard streams[slot].receiveWindow.receive(byteCount) else { throw .windowOverrun }
            guard streams[slot].toReceive.take(bodyBytes) else { throw .bodyLength }
        } catch {
            throw .stream(id.number, error)
        }
        incomingBody = id
        incomingBodyEndsStream = endsStream
        if bodyBytes > 0 { budget.bodyMoved(bodyBytes) }
        growth.received(byteCount, of: id)
        // Padding has no receiver that takes it.
        if !endsStream { writeUpdate(id.number, streams[slot].receiveWindow.take(byteCount - bodyBytes)) }
    }

    mutating func bodyFrameEnds(_ now: Duration) {
        guard let id = incomingBody else { return }
        incomingBody = nil
        if incomingBodyEndsStream { messageEnds(id, now) }
    }

    /// The receiver of a stream's body has taken bytes of it, and has room for as many again.
    package mutating func taken(_ count: Int, of id: HTTP2StreamID, now: Duration) {
        guard isReceiving(id) else { return }
        let increment = streams[id.slot].receiveWindow.take(count)
        guard increment > 0 else { return }
        writeUpdate(id.number, increment + streams[id.slot].receiveWindow.grow(to: growth.learned))
        let window = streams[id.slot].receiveWindow
        guard role == .client, window.isTakenSoon, growth.updateGoes(size: window.size) else { return }
        if writePing(now) { growth.pingGoes(with: id) }
    }

    /// A PING was answered: if it has measured that a stream is limited by its window, that becomes larger (H10.1).
    mutating func growAsMeasured() {
        guard let id = growth.measuredStream else { return }
        let isLimited = isReceiving(id) && streams[id.slot].receiveWindow.isTakenSoon
        let size = isLimited ? streams[id.slot].receiveWindow.size : nil
        guard let size = growth.pingAnswered(size: size) else { return }
        writeUpdate(id.number, streams[id.slot].receiveWindow.grow(to: size))
    }

    /// Whether a stream may get an update: not before its HEADERS, nor after its END_STREAM, be it in a frame of which
    /// the rest is still to come (H5.6).
    private func isReceiving(_ id: HTTP2StreamID) -> Bool {
        guard isOpen(id), streams[id.slot].isOnTheWire, streams[id.slot].machine.receiving != .ended else {
            return false
        }
        if incomingBody == id, incomingBodyEndsStream { return false }
        if let incomingBlock, incomingBlock.stream == id, incomingBlock.endsStream { return false }
        return true
    }

    mutating func writeUpdate(_ number: UInt32, _ increment: UInt32) {
        guard increment > 0 else { return }
        HTTP2FrameEncoder.encodeWindowUpdate(stream: number, increment: increment, into: &output)
    }

    // MARK: Sending

    /// WINDOW_UPDATE came (H8.7).
    mutating func windowUpdateCame(_ number: UInt32, _ increment: UInt32) throws(HTTP2Fault) {
        guard number != 0 else {
            guard increment > 0 else { throw .connection(.emptyUpdate) }
            guard sendWindow.move(by: Int(increment)) else { throw .connection(.windowOverflow) }
            return
        }
        guard case .open(let slot) = try place(of: number) else { return }
        guard increment > 0 else { throw .stream(number, .emptyUpdate) }
        guard streams[slot].sendWindow.move(by: Int(increment)) else { throw .stream(number, .windowOverflow) }
        queueIfAble(slot)
    }

    /// The peer's initial window is another one: those of all streams move along, also below zero (H5.2, H8.6).
    mutating func moveSendWindows(by difference: Int) throws(HTTP2Fault) {
        for place in 0..<streams.count {
            let id = streams.id(at: place)
            guard streams[id.slot].sendWindow.move(by: difference) else {
                throw .connection(.windowOverflow, stream: id.number)
            }
            if streams[id.slot].sendWindow.available > 0 {
                queueIfAble(id.slot)
            } else {
                turns.remove(id.slot, in: &streams)
            }
        }
    }
}
