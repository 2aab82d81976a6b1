// How a connection ends: by the peer's GOAWAY, by ours, by a fault, or because there is nothing below it any more. In
// each case every stream is told, once, and whether the peer can have done anything about it.
// RFC 9113 §5.4.1, §6.8, §9.1.

extension HTTP2ConnectionMachine {
    /// What the peer's last GOAWAY said in words, cut to what is kept of it (H9.8).
    package var goodbyeText: [UInt8] { decoder.debugData }

    /// Whether the peer's GOAWAY has left streams to their ends, and the peer had refused none before.
    package var hasTakenSome: Bool { peerLast > 0 && !hasRefused }

    // MARK: Events

    /// We want no more streams: a GOAWAY goes out, and those that are open go on (H7.11).
    ///
    /// A server may say up to which stream it goes on; above, it gives up what it has, and what comes is discarded.
    /// With the largest number it gives a warning, and takes streams as before.
    package mutating func goodbye(_ code: HTTP2ErrorCode = .noError, last: UInt32? = nil) {
        guard phase == .running else { return }
        // H7.11: the server opens none.
        let last = role == .client ? 0 : min(last ?? highestPeerNumber, ourLast)
        HTTP2FrameEncoder.encodeGoAway(last: last, code, into: &output)
        guard role == .server else { return drain(code) }
        ourLast = last
        guard last < HTTP2FlowWindow.largest else { return }
        closeAll(above: last, .cancelled)
        drain(code)
    }

    /// The transport has ended; an answer that is not whole by now never will be (H7.9).
    package mutating func connectionEnded() {
        guard phase != .ended else { return }
        closeAll(above: 0, .connectionLost)
        stop(.finished)
    }

    // MARK: Steps

    /// GOAWAY came: streams above its number were not looked at (H7.1).
    mutating func goAwayCame(last: UInt32, _ code: HTTP2ErrorCode) throws(HTTP2Fault) {
        guard last <= peerLast else { throw .connection(.goAwayRises) }
        peerLast = last
        // A client that says so means pushes; it may still ask.
        guard role == .client else { return }
        closeAll(above: last, .turnedAway(code))
        drain(code)
    }

    /// No new streams. The connection is finished as soon as there are none.
    mutating func drain(_ code: HTTP2ErrorCode) {
        guard !isDraining else { return }
        isDraining = true
        actions.add(.draining(code))
    }

    /// The peer has broken the rules: it is told which, and everything ends (H8).
    mutating func fail(_ fault: HTTP2Fault) {
        guard phase == .running else { return }
        // A peer that does not answer would not read it.
        if fault.reason != .silence {
            let last = role == .client ? 0 : min(highestPeerNumber, ourLast)
            HTTP2FrameEncoder.encodeGoAway(last: last, fault.code, into: &output)
        }
        if let slot = streams.slot(of: fault.stream) { close(slot, .faulted(fault)) }
        closeAll(above: 0, fault.reason == .silence ? .connectionLost : .connectionFailed(fault))
        stop(.failed(fault))
    }

    /// The last action of all.
    mutating func stop(_ action: Action) {
        phase = .ended
        if timer != nil { actions.add(.setTimer(nil)) }
        timer = nil
        actions.add(action)
    }

    private mutating func closeAll(above last: UInt32, _ end: HTTP2StreamEnd) {
        while !streams.isEmpty {
            let id = streams.id(at: streams.count - 1)
            guard id.number > last else { return }
            close(id.slot, end)
        }
    }
}
