// The course of one web socket: what is sent in which order, which call gets which message, which pong ends which ping,
// and how the conversation ends. Behaviour B15.9, B15.12 to B15.14, B15.19, B15.21 to B15.37. RFC 6455 §5.5, §7.
//
// Events come in by the functions, actions are taken out with `nextAction`. One frame is written at a time: the machine
// says which, the driver encodes it (mask and all), and says when the kernel has the last byte. Whether to read is a
// question, `wantsToRead`, to be asked after every event: messages that no call has asked for are held up to a budget,
// and then TCP slows the peer down (B15.14).
//
// It must not know bytes on the wire, streams, tasks or the clock. It serves both ends of a web socket.

import URLLoadingWire

/// The decisions of one web socket.
package struct WebSocketMachine: Sendable {
    /// What is to be done, in order.
    package enum Action: Sendable, Equatable {
        /// Write the frame; `written` when the kernel has all of it.
        ///
        /// One that comes right before `end` is tried once and not waited for.
        case write(WebSocketFrame)
        /// Give the message to a call of `receive`.
        case deliver(WebSocketMessage, to: WebSocketCall)
        /// The message of a call of `send` was written, or the pong of a call of `ping` has come.
        case complete(WebSocketCall)
        /// The call is told why it gets nothing.
        case fail(WebSocketCall, WebSocketEnd)
        /// The connection is of no more use; the last action but for answers to later calls.
        case end(WebSocketEnd)
    }

    private enum Phase {
        /// The handshake is under way.
        case opening
        case open
        /// We have said, or are about to say goodbye; the peer has not.
        case closing(WebSocketClose, until: Duration)
        /// How it ends is known, and our close frame is being written.
        case finishing(WebSocketEnd, WebSocketClose?, until: Duration)
        case ended(WebSocketEnd)
    }

    private enum Outgoing {
        case message(WebSocketCall, WebSocketMessage)
        case ping(WebSocketCall)
    }

    private enum Writing {
        case nothing
        case message(WebSocketCall)
        case control
        case close
    }

    private enum Goodbye {
        case notAsked
        case asked(WebSocketClose)
        case written
    }

    private var phase = Phase.opening
    private var actions = CallLine<Action>()

    // Sending.
    private var outgoing = CallLine<Outgoing>()
    private var writing = Writing.nothing
    private var goodbye = Goodbye.notAsked
    /// What the peer wants back; of several pings the last is answered (RFC 6455 §5.5.3).
    private var pong: [UInt8]?

    // Receiving.
    private var receives = CallLine<WebSocketCall>()
    private var messages = CallLine<WebSocketMessage>()
    private var heldBytes = 0
    private var isSuspended = false
    /// Whether the connection is about to end, and takes with it what is not read now.
    private var isLeaving = false

    // Pings.
    private var pings = CallLine<(number: UInt64, call: WebSocketCall)>()
    private var pingCount: UInt64 = 0

    /// What ended the conversation; nil until it has ended, and where it did not end properly (B15.27, B15.31). With a
    /// value the application is told of it before the end (B15.24, B15.26).
    package private(set) var close: WebSocketClose?

    /// Makes the machine of a web socket whose handshake has not been answered.
    package init() {}

    /// The next thing to do, nil when all is done.
    package mutating func nextAction() -> Action? { actions.popFirst() }

    // MARK: Questions

    /// Whether the connection is to be read.
    package var wantsToRead: Bool {
        switch phase {
        case .opening, .finishing, .ended: false
        case .open where isLeaving: heldBytes < Self.heldAtTheEnd
        case .open: !isSuspended && heldBytes < Self.heldAtMost
        // Messages that no call waits for are dropped now, since the peer's goodbye may be behind them.
        case .closing: !isSuspended || isLeaving
        }
    }

    /// When to call `deadlinePassed`; nil while nothing is waited for but the peer (B15.35).
    package var nextDeadline: Duration? {
        switch phase {
        case .opening, .open, .ended: nil
        case .closing(_, let until), .finishing(_, _, let until): until
        }
    }

    // MARK: The application's calls

    /// A message is to be sent, behind what was asked for before it (B15.9, B15.12).
    package mutating func send(_ message: WebSocketMessage, _ call: WebSocketCall) {
        ask(.message(call, message), call)
    }

    /// A ping is to be sent, and its pong awaited (B15.21).
    package mutating func ping(_ call: WebSocketCall) {
        ask(.ping(call), call)
    }

    /// A message is wanted: the first that no call has got, or the next (B15.14).
    ///
    /// What came before the end is still given out after it.
    package mutating func receive(_ call: WebSocketCall) {
        switch phase {
        case .opening, .open:
            receives.append(call)
            deliver()
        // Messages are dropped by then, so that one that comes later would be out of order.
        case .closing:
            if receives.isEmpty { giveHeld(to: call, or: .closed) } else { actions.append(.fail(call, .closed)) }
        case .finishing(let end, _, _), .ended(let end): giveHeld(to: call, or: end)
        }
    }

    /// The application says goodbye (B15.24): behind what it has sent before, and with no more behind it.
    ///
    /// Calls of `receive` that wait already go on waiting for what the peer still has to say.
    package mutating func close(_ close: WebSocketClose, now: Duration) {
        switch phase {
        case .opening: finish(.cancelled)
        case .open:
            phase = .closing(close, until: now + Self.patience)
            goodbye = .asked(close)
            writeNext()
        case .closing, .finishing, .ended: break
        }
    }

    /// The application wants no more of it (B15.25).
    package mutating func cancel() {
        switch phase {
        case .ended: return
        case .opening: break
        case .open, .closing, .finishing:
            // Not into the middle of another frame, and not twice.
            switch (writing, goodbye) {
            case (.nothing, .notAsked), (.nothing, .asked): actions.append(.write(.close(.withoutCode)))
            case (.nothing, .written), (.message, _), (.control, _), (.close, _): break
            }
        }
        messages.removeAll()
        heldBytes = 0
        finish(.cancelled)
    }

    /// Nothing is to be read or delivered until `resume` (B15.37).
    package mutating func suspend() {
        isSuspended = true
    }

    /// Ends `suspend`.
    package mutating func resume() {
        isSuspended = false
        deliver()
    }

    // MARK: The connection's events

    /// The handshake is complete: what was asked for meanwhile is sent (B15.9).
    package mutating func opened() {
        guard case .opening = phase else { return }
        phase = .open
        writeNext()
    }

    /// The kernel has the whole frame that was to be written last (B15.13).
    package mutating func written() {
        let last = writing
        writing = .nothing
        switch last {
        case .nothing, .control: break
        case .message(let call):
            if !hasEnded { actions.append(.complete(call)) }
        case .close:
            goodbye = .written
            if case .finishing(let end, let close, _) = phase { finish(end, close) }
        }
        writeNext()
    }

    /// A message came.
    package mutating func received(_ message: WebSocketMessage) {
        switch phase {
        case .open: break
        case .closing:
            if receives.isEmpty { return }
        case .opening, .finishing, .ended: return
        }
        messages.append(message)
        heldBytes += Self.cost(message)
        deliver()
    }

    /// A ping came; it is answered before anything else is sent (B15.22).
    package mutating func receivedPing(_ payload: [UInt8]) {
        pong = payload
        writeNext()
    }

    /// A pong came: it ends its ping and those before it, and one that answers none means nothing (B15.22, B15.23).
    package mutating func receivedPong(_ payload: [UInt8]) {
        guard payload.count == 8, !hasEnded else { return }
        let number = payload.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        // No ping of a later number was sent.
        guard number <= pingCount else { return }
        while let first = pings.first, first.number <= number {
            _ = pings.popFirst()
            actions.append(.complete(first.call))
        }
    }

    /// The peer's close frame came: it is answered with the same, unless it is the answer to ours (B15.24, B15.26).
    package mutating func receivedClose(_ theirs: WebSocketClose, now: Duration) {
        switch phase {
        case .open:
            goodbye = .asked(theirs)
            phase = .finishing(.closed, theirs, until: now + Self.patience)
            writeNext()
        case .closing(_, let until):
            if case .written = goodbye { return finish(.closed, theirs) }
            phase = .finishing(.closed, theirs, until: until)
            writeNext()
        case .opening, .finishing, .ended: break
        }
    }

    /// The peer broke a rule: it is told which kind, and nothing else is said (RFC 6455 §7.1.7).
    package mutating func failed(_ fault: WebSocketFault, now: Duration) {
        switch phase {
        case .opening: finish(.fault(fault))
        case .open:
            goodbye = .asked(WebSocketClose(code: Int(fault.closeCode)))
            phase = .finishing(.fault(fault), nil, until: now + Self.patience)
            failWaiting(.fault(fault))
            writeNext()
        case .closing(let ours, _):
            // We have said goodbye for another reason; what the peer did after that does not matter any more.
            finish(.closed, ours)
        case .finishing, .ended: break
        }
    }

    /// Nothing can be sent any more. What has come before is read now, also while suspended, since nothing reads it
    /// later; `connectionEnded` follows.
    package mutating func sendingFailed() {
        isLeaving = true
    }

    /// The connection has ended, or could not be written or read (B15.31).
    package mutating func connectionEnded() {
        switch phase {
        case .opening, .open: finish(.lost)
        case .closing(let ours, _):
            if case .written = goodbye { finish(.closed, ours) } else { finish(.lost) }
        case .finishing(let end, let close, _): finish(end, close)
        case .ended: break
        }
    }

    /// The peer has had its time to answer our close frame, or to read it (B15.24).
    package mutating func deadlinePassed(now: Duration) {
        switch phase {
        case .closing(let ours, let until):
            if now >= until { finish(.closed, ours) }
        case .finishing(let end, let close, let until):
            if now >= until { finish(end, close) }
        case .opening, .open, .ended: break
        }
    }

    // MARK: Sending

    private mutating func ask(_ frame: Outgoing, _ call: WebSocketCall) {
        switch phase {
        case .opening, .open:
            outgoing.append(frame)
            writeNext()
        case .closing: actions.append(.fail(call, .closed))
        case .finishing(let end, _, _), .ended(let end): actions.append(.fail(call, end))
        }
    }

    /// Pongs first, then what was asked for in order, then goodbye; after that nothing (RFC 6455 §5.5.1).
    private mutating func writeNext() {
        guard case .nothing = writing else { return }
        switch phase {
        case .opening, .ended: return
        case .open, .closing:
            if case .written = goodbye { return }
            if writePong() || writeAsked() { return }
        case .finishing: break
        }
        guard case .asked(let close) = goodbye else { return }
        writing = .close
        actions.append(.write(.close(close)))
    }

    private mutating func writePong() -> Bool {
        guard let payload = pong else { return false }
        pong = nil
        writing = .control
        actions.append(.write(.pong(payload)))
        return true
    }

    private mutating func writeAsked() -> Bool {
        switch outgoing.popFirst() {
        case .message(let call, let message):
            writing = .message(call)
            actions.append(.write(.message(message)))
        case .ping(let call):
            pingCount += 1
            pings.append((pingCount, call))
            writing = .control
            let number = pingCount
            actions.append(.write(.ping((0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })))
        case nil: return false
        }
        return true
    }

    // MARK: Receiving

    private mutating func deliver() {
        guard !isSuspended, !hasEnded else { return }
        while !receives.isEmpty, let message = takeHeld(), let call = receives.popFirst() {
            actions.append(.deliver(message, to: call))
        }
    }

    private mutating func giveHeld(to call: WebSocketCall, or end: WebSocketEnd) {
        if let message = takeHeld() {
            actions.append(.deliver(message, to: call))
        } else {
            actions.append(.fail(call, end))
        }
    }

    private mutating func takeHeld() -> WebSocketMessage? {
        guard let message = messages.popFirst() else { return nil }
        heldBytes -= Self.cost(message)
        return message
    }

    private static func cost(_ message: WebSocketMessage) -> Int { message.bytes.count + heldOverhead }

    // MARK: Ending

    private var hasEnded: Bool {
        if case .ended = phase { return true }
        return false
    }

    private mutating func finish(_ end: WebSocketEnd, _ close: WebSocketClose? = nil) {
        self.close = close
        phase = .ended(end)
        failWaiting(end)
        actions.append(.end(end))
    }

    /// B15.34: none is left waiting.
    private mutating func failWaiting(_ end: WebSocketEnd) {
        if case .message(let call) = writing {
            actions.append(.fail(call, end))
            // The frame goes on being written where something follows it; its call has been answered.
            writing = .control
        }
        while let asked = outgoing.popFirst() {
            switch asked {
            case .message(let call, _), .ping(let call): actions.append(.fail(call, end))
            }
        }
        while let ping = pings.popFirst() { actions.append(.fail(ping.call, end)) }
        while let call = receives.popFirst() { actions.append(.fail(call, end)) }
        pong = nil
    }

    /// B15.24: how long the peer may take to say goodbye, or to read ours.
    private static var patience: Duration { .seconds(5) }
    /// So many bytes of messages are read before a call wants them, and the rest of the last one. Picked by feel: pings
    /// behind a few messages are still seen.
    private static var heldAtMost: Int { 64 * 1024 }
    /// So many bytes of messages are read where the connection is about to end, and nothing can wait in it. Picked by
    /// feel: more than a kernel holds.
    private static var heldAtTheEnd: Int { 16 << 20 }
    /// What an empty message costs us.
    private static var heldOverhead: Int { 64 }
}
