// What the peer says, frame by frame: each goes to the part that it concerns, and those about the connection itself are
// answered here. RFC 9113 §5.1, §6.3 to §6.9.

extension HTTP2ConnectionMachine {
    /// Bytes have come. Reads on in them at `offset`, and answers whether it is to be called again with the same bytes,
    /// after actions were pulled.
    package mutating func received(_ bytes: RawSpan, offset: inout Int, now: Duration) -> Bool {
        guard phase == .running else {
            offset = bytes.byteCount
            return false
        }
        let start = offset
        defer { heartbeat.received(offset - start, now: now) }
        if let incomingBlock, incomingBlock.isComplete { fail(.connection(.misuse)) }
        do throws(HTTP2Fault) {
            while actions.isEmpty, phase == .running {
                let step = try decoder.next(bytes, offset: &offset)
                if step == .needMore {
                    if heartbeat.areSettingsOverdue { fail(.connection(.settingsUnacknowledged)) }
                    return false
                }
                try hear(step, now)
            }
        } catch {
            handle(error, now)
        }
        if phase != .running { offset = bytes.byteCount }
        return phase == .running
    }

    private mutating func hear(_ step: HTTP2FrameDecoder.Step, _ now: Duration) throws(HTTP2Fault) {
        switch step {
        case .needMore: break
        case .dataBegins(let stream, let byteCount, let padding, let endsStream):
            try bodyBegins(on: stream, byteCount, padding: padding, endsStream: endsStream, now)
        case .data(let range): if let incomingBody { actions.add(.data(incomingBody, range)) }
        case .dataEnds: bodyFrameEnds(now)
        case .blockBegins(let stream, let frameBytes, let endsStream):
            try blockBegins(on: stream, frameBytes: frameBytes, endsStream: endsStream, now)
        case .blockContinues(let frameBytes): try incomingBlock?.budget.goOn(frameBytes: frameBytes, limits)
        case .block(let range): actions.add(.block(range))
        case .blockEnds: blockEnds()
        case .control(let frame): try hear(control: frame, now)
        }
    }

    /// H9.1: none of these brings anything by itself.
    private mutating func hear(control frame: HTTP2ControlFrame, _ now: Duration) throws(HTTP2Fault) {
        switch frame {
        case .settings(let change):
            try budget.spend(1 + change.entryCount, now: now)
            try settingsCame(change)
        case .settingsAcknowledged:
            try budget.spend(1, now: now)
            settingsAcknowledged()
        case .ping(let bytes):
            try budget.spend(1, now: now)
            try budget.answer()
            HTTP2FrameEncoder.encodePing(bytes, isAnswer: true, into: &output)
        case .pingAcknowledged(let bytes):
            guard heartbeat.answered(bytes) else { return try budget.spend(1, now: now) }
            growAsMeasured()
        case .windowUpdate(let stream, let increment):
            try budget.spend(1, now: now)
            try windowUpdateCame(stream, increment)
        case .resetStream(let stream, let code): try resetCame(stream, code, now)
        case .goAway(let last, let code):
            try budget.spend(1, now: now)
            try goAwayCame(last: last, code)
        case .priority, .unknown: try budget.spend(1, now: now)
        }
    }

    // MARK: Settings

    /// Takes them over and acknowledges them: from then on they hold (H5.2, H8.11).
    private mutating func settingsCame(_ change: HTTP2SettingsChange) throws(HTTP2Fault) {
        let oldWindow = peerSettings.initialWindowSize
        peerSettings.apply(change)
        hasPeerSettings = true
        if peerSettings.initialWindowSize != oldWindow {
            try moveSendWindows(by: Int(peerSettings.initialWindowSize) - Int(oldWindow))
        }
        if let size = change.headerTableSize {
            actions.add(.encoderTableChanged(smallest: change.smallestHeaderTableSize ?? size, size: size))
        }
        try budget.answer()
        HTTP2FrameEncoder.encodeSettingsAcknowledgement(into: &output)
    }

    /// The peer keeps to our settings from now on (H5.7); one acknowledgement more is nothing.
    private mutating func settingsAcknowledged() {
        guard !areOurSettingsAcknowledged else { return }
        areOurSettingsAcknowledged = true
        heartbeat.settingsAcknowledged()
        let surplus = Int(Self.initialWindow) - Int(ourSettings.initialWindowSize)
        if surplus > 0 {
            for place in 0..<streams.count {
                streams[streams.id(at: place).slot].receiveWindow.shrinkAvailable(by: surplus)
            }
        }
        if ourSettings.headerTableSize != HTTP2Settings().headerTableSize {
            actions.add(.decoderTableChanged(size: ourSettings.headerTableSize))
        }
    }

    // MARK: Faults

    /// Answers what is wrong: RST_STREAM for a stream, and the end for a connection.
    mutating func handle(_ fault: HTTP2Fault, _ now: Duration) {
        switch fault.scope {
        case .connection: fail(fault)
        case .stream:
            do throws(HTTP2Fault) {
                try budget.reset(now: now)
            } catch {
                return fail(error)
            }
            writeReset(fault.stream, fault.code)
            if let slot = streams.slot(of: fault.stream) { close(slot, .faulted(fault)) }
        }
    }
}
