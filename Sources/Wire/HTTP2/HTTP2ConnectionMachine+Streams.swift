// Streams begin and end: which numbers they get, which of the peer's numbers mean which, and that each ends once.
// RFC 9113 §5.1, §5.1.1, §5.1.2, §6.4.

extension HTTP2ConnectionMachine {
    /// What a number on the wire means.
    enum Place {
        /// A stream that both ends know, in this row.
        case open(Int32)
        /// One that the peer opens by this frame.
        case new
        /// One that is over.
        case gone
        /// One that our GOAWAY has turned away: whatever comes for it is nothing.
        case ignored
    }

    /// What a number on the wire means; a number that was never opened is the connection's end (H8.2).
    mutating func place(of number: UInt32, mayOpen: Bool = false) throws(HTTP2Fault) -> Place {
        if let slot = streams.slot(of: number), role == .server || streams[slot].isOnTheWire { return .open(slot) }
        let isOdd = number & 1 == 1
        switch role {
        case .client: if isOdd, number < nextNumber, number != unwritten?.number { return .gone }
        case .server:
            if isOdd, number > ourLast { return .ignored }
            if isOdd, number <= highestPeerNumber { return .gone }
            if isOdd, mayOpen { return .new }
        }
        throw .connection(.idleStream, stream: number)
    }

    // MARK: Opening

    /// How many streams may be open at once: those that we open, as the peer's settings and its
    /// last words allow (H2.4).
    package var capacity: Int {
        guard role == .client, phase != .ended, !isDraining, !heartbeat.isSuspect else { return 0 }
        guard hasPeerSettings else { return capacityBeforeSettings }
        return Int(clamping: peerSettings.maximumConcurrentStreams ?? HTTP2FlowWindow.largest)
    }

    /// How many streams are open.
    package var openStreams: Int { streams.count }

    /// Opens a stream for a request, whose head is to be encoded and given to `sendBlock` at once; nil if there can be
    /// no further one now.
    package mutating func open(now: Duration) -> HTTP2StreamID? {
        guard phase == .running, unwritten == nil, streams.count < capacity, nextNumber <= HTTP2FlowWindow.largest
        else {
            return nil
        }
        if streams.isEmpty, heartbeat.wantsPing(now: now) { pingsWithNextHead = true }
        let id = add(nextNumber)
        unwritten = id
        nextNumber += 2
        if nextNumber > HTTP2FlowWindow.largest { drain(.noError) }
        return id
    }

    /// The peer opens a stream; nil if there are enough of them.
    mutating func opened(by number: UInt32, _ now: Duration) -> HTTP2StreamID? {
        highestPeerNumber = number
        if let most = ourSettings.maximumConcurrentStreams, streams.count >= Int(clamping: most) {
            handle(.stream(number, .tooManyStreams), now)
            return nil
        }
        let id = add(number)
        streams[id.slot].isOnTheWire = true
        return id
    }

    private mutating func add(_ number: UInt32) -> HTTP2StreamID {
        var record = HTTP2StreamRecord()
        record.number = number
        record.sendWindow = HTTP2FlowWindow(peerSettings.initialWindowSize)
        // H5.7: until it has acknowledged our settings the peer may send by those that hold without.
        record.receiveWindow = HTTP2ReceiveWindow(
            size: ourSettings.initialWindowSize, lawful: areOurSettingsAcknowledged ? 0 : Self.initialWindow)
        record.bytesBefore = heartbeat.bytesReceived
        let slot = streams.add(record)
        return HTTP2StreamID(number: number, slot: slot)
    }

    // MARK: Ending

    /// The driver wants no more of a stream (H6.1). One whose HEADERS were not written leaves no trace.
    package mutating func cancel(_ id: HTTP2StreamID, _ code: HTTP2ErrorCode = .cancel) {
        end(id, .cancelled, code)
    }

    /// A stream's time is over. If nothing has come on the whole connection since it was opened, that is suspect until
    /// a PING is answered (H6.3, H6.4).
    package mutating func timedOut(_ id: HTTP2StreamID, now: Duration) {
        guard isOpen(id) else { return }
        let isSilent = streams[id.slot].isOnTheWire && streams[id.slot].bytesBefore == heartbeat.bytesReceived
        end(id, .timedOut, .cancel)
        guard isSilent else { return }
        heartbeat.suspect()
        writePing(now)
    }

    /// Ends a stream by our own will.
    mutating func end(_ id: HTTP2StreamID, _ end: HTTP2StreamEnd, _ code: HTTP2ErrorCode) {
        guard isOpen(id) else { return }
        if streams[id.slot].isOnTheWire {
            writeReset(id.number, code)
        } else if unwritten == id, id.number + 2 == nextNumber {
            // The number was never used: the next stream has it.
            nextNumber = id.number
        }
        close(id.slot, end)
    }

    /// A stream is over, and its row free.
    mutating func close(_ slot: Int32, _ end: HTTP2StreamEnd) {
        let id = streams.id(of: slot)
        turns.remove(slot, in: &streams)
        streams.remove(slot)
        if unwritten == id {
            unwritten = nil
            pingsWithNextHead = false
        }
        if incomingBody == id { incomingBody = nil }
        actions.add(.closed(id, end))
    }

    /// Our message is complete, or there will be no more of it.
    mutating func sendingEnded(_ slot: Int32) {
        turns.remove(slot, in: &streams)
        streams[slot].wantsToSend = false
        streams[slot].machine.endSending()
        if streams[slot].machine.isOver { close(slot, .finished) }
    }

    /// The peer's message is complete. A client has what it wanted, and stops its own body (H7.5).
    mutating func messageEnds(_ id: HTTP2StreamID, _ now: Duration) {
        guard streams[id.slot].toReceive.mayEnd else { return handle(.stream(id.number, .bodyLength), now) }
        streams[id.slot].machine.endReceiving()
        actions.add(.messageEnds(id))
        if streams[id.slot].machine.isOver {
            close(id.slot, .finished)
        } else if role == .client {
            end(id, .finished, .cancel)
        }
    }

    // MARK: Resets

    /// RST_STREAM came. One that ends a request of ours has its use; one for a stream that is over has none (H6.2,
    /// H7.6), nor does one that a server gets, whose work was for nothing (H9.1).
    mutating func resetCame(_ number: UInt32, _ code: HTTP2ErrorCode, _ now: Duration) throws(HTTP2Fault) {
        switch try place(of: number) {
        case .open(let slot):
            if role == .server { try budget.spend(1, now: now) }
            if code == .refusedStream { hasRefused = true }
            close(slot, .reset(code))
        case .gone, .new, .ignored: try budget.spend(1, now: now)
        }
    }

    mutating func writeReset(_ number: UInt32, _ code: HTTP2ErrorCode) {
        HTTP2FrameEncoder.encodeReset(stream: number, code, into: &output)
        resets.add(number)
    }

    /// Something came for a stream that is over: that is nothing if we have reset it, else the peer is told (H8.9).
    mutating func answerGone(_ number: UInt32) throws(HTTP2Fault) {
        guard !resets.contains(number) else { return }
        try budget.answer()
        writeReset(number, .streamClosed)
    }
}
