// One web socket of the server: frames in, what the route wants out. It reads with URLLoadingWire, keeps no rule but
// the closing handshake, and breaks any that a script tells it to. Confined to the server's loop. RFC 6455 §5, §7.

import URLLoadingSystem
import URLLoadingWire

/// Carries out a route on a connection that has been switched over.
final class WebSocketConversation: ServerConversation {
    private enum Ending {
        case end, drop, reset
    }

    private unowned let connection: ServerConnection
    private let route: WebSocketRoute
    private var reader: WebSocketReader
    private var deflater: MessageDeflater?
    private var output = OutgoingBytes()
    /// How it ends once everything has been handed to the kernel.
    private var ending: Ending?

    // The script.
    private var steps: [WebSocketStep] = []
    private var index = 0
    private var isPaused = false
    /// Counts pauses, so that a late gate is recognised.
    private var pauseNumber = 0
    /// What came and no step has looked at yet.
    private var arrived: [WebSocketReader.Event] = []

    private var isReading = true
    private var isStepping = false
    private var hasSentClose = false
    private var hasReceivedClose = false
    private var hasFailed = false
    private var isOver = false

    init(
        _ route: WebSocketRoute, _ agreement: WebSocketHandshake.Agreement, on connection: ServerConnection
    ) {
        self.route = route
        self.connection = connection
        reader = WebSocketReader(
            .server, maximumMessageSize: route.maximumMessageSize, compression: agreement.compression)
        deflater = agreement.compression.map { MessageDeflater($0.sent(by: .server)) }
        if case .script(let steps) = route.behaviour { self.steps = steps }
    }

    /// Sends the answer to the handshake and, in the same segment if they are short, the first frames.
    func begin(answer: [UInt8]) {
        output.append(answer)
        step()
    }

    var wantsInput: Bool {
        isReading && ending == nil && output.count < Self.unsentAtMost && arrived.count < Self.arrivedAtMost
    }

    /// A web socket that goes away without a closing handshake was cut off.
    var hasWork: Bool { true }

    // MARK: Events

    func received(_ bytes: UnsafeRawBufferPointer) {
        var offset = 0
        while connection.isServing, ending == nil {
            do {
                let event = try reader.next(bytes.bytes, offset: &offset)
                if event == .needMore { break }
                arrived(event)
            } catch {
                broken(error)
            }
        }
        if connection.isServing { flush() }
    }

    /// The client has ended its side.
    func inputEnded() {
        guard ending == nil else { return }
        let isExpected = steps[index...].contains { step in
            if case .expectEnd = step { true } else { false }
        }
        if isExpected { step() } else { connection.lost() }
    }

    func timerFired() {
        resume()
    }

    func gateOpened(pause: Int) {
        if pause == pauseNumber { resume() }
    }

    /// The connection has gone.
    func ended() {
        guard !isOver else { return }
        isOver = true
        let isClosed = hasSentClose && hasReceivedClose
        let (played, all) = (index, steps.count)
        connection.core.figures.update { statistics in
            statistics.webSocketsOpen -= 1
            if isClosed { statistics.webSocketsClosed += 1 }
        }
        route.record?.write { contents in
            contents.ended += 1
            if played < all, !hasFailed { contents.problems.append("it ended before step \(played + 1) of \(all)") }
        }
    }

    // MARK: What comes

    private func arrived(_ event: WebSocketReader.Event) {
        route.record?.write { $0.events.append(event) }
        switch event {
        case .needMore, .unfinished:
            return
        case .ping(let payload) where route.answersPings:
            return sendFrame(.pong, payload)
        case .message(let message):
            connection.core.figures.update { $0.webSocketMessages += 1 }
            if case .echo = route.behaviour { return send(message) }
        case .close:
            hasReceivedClose = true
        case .ping, .pong:
            break
        }
        if case .react(let react) = route.behaviour { steps += react(event) }
        arrived.append(event)
        step()
    }

    /// The client has broken a rule: it is told so.
    private func broken(_ fault: WebSocketFault) {
        route.record?.write { $0.faults.append(fault) }
        fail(WebSocketClose(code: Int(fault.closeCode)))
    }

    private func fail(_ close: WebSocketClose) {
        hasFailed = true
        connection.core.figures.update { $0.webSocketsFailed += 1 }
        sayGoodbye(close)
        ending = .end
        flush()
    }

    // MARK: Steps

    private func resume() {
        guard isPaused else { return }
        isPaused = false
        index += 1
        step()
    }

    /// Plays steps until one has to wait; behind the last the closing handshake is all there is.
    private func step() {
        guard !isStepping else { return }
        isStepping = true
        while ending == nil, !isPaused, index < steps.count, play(steps[index]) { index += 1 }
        if index == steps.count, !isPaused, ending == nil { takeWhatIsLeft() }
        isStepping = false
        flush()
    }

    /// Plays a step; false where it waits.
    private func play(_ step: WebSocketStep) -> Bool {
        switch step {
        case .send(let message): send(message)
        case .frame(let opcode, let payload, let isFinal): sendFrame(opcode, payload, isFinal: isFinal)
        case .raw(let bytes): output.append(bytes)
        case .close(let code, let reason): sayGoodbye(WebSocketClose(code: code, reason: Array(reason.utf8)))
        case .expect(let wanted):
            guard let event = takeArrived() else { return false }
            guard event == wanted else {
                expected(wanted, got: event)
                return false
            }
        case .expectAnything:
            return takeArrived() != nil
        case .expectEnd:
            guard connection.inputHasEnded else { return false }
        case .wait(let gate):
            pause()
            connection.wait(for: gate, pause: pauseNumber)
            return false
        case .delay(let duration):
            pause()
            connection.timer.set(connection.core.reactor.now + duration)
            return false
        case .stopReading: isReading = false
        case .startReading: isReading = true
        case .end: ending = .end
        case .drop: ending = .drop
        case .reset: ending = .reset
        }
        return true
    }

    private func takeArrived() -> WebSocketReader.Event? {
        arrived.isEmpty ? nil : arrived.removeFirst()
    }

    private func expected(_ wanted: WebSocketReader.Event, got event: WebSocketReader.Event) {
        route.record?.write { $0.problems.append("expected \(wanted), got \(event)") }
        fail(WebSocketClose(code: 1008, reason: Array("not what the script expected".utf8)))
    }

    /// No step wants what has come: of that only a close frame matters.
    private func takeWhatIsLeft() {
        let left = arrived
        arrived = []
        // A script that is over is not kept, and one that reacts does not grow.
        (steps, index) = ([], 0)
        for case .close(let close) in left where route.answersClose && !hasSentClose { sayGoodbye(close) }
        if hasReceivedClose && hasSentClose || connection.inputHasEnded { ending = .end }
    }

    private func pause() {
        isPaused = true
        pauseNumber += 1
    }

    // MARK: Sending

    private func send(_ message: WebSocketMessage) {
        if let compressed = deflater?.compress(message.bytes) {
            sendFrame(message.opcode, compressed, isCompressed: true)
        } else {
            sendFrame(message.opcode, message.bytes)
        }
    }

    private func sayGoodbye(_ close: WebSocketClose) {
        guard !hasSentClose else { return }
        hasSentClose = true
        sendFrame(.close, close.payload)
    }

    private func sendFrame(
        _ opcode: WebSocketOpcode, _ payload: [UInt8], isFinal: Bool = true, isCompressed: Bool = false
    ) {
        var header: [UInt8] = []
        WebSocketFrameHeader(
            opcode, isFinal: isFinal, isCompressed: isCompressed, mask: nil, payloadLength: payload.count
        ).encode(into: &header)
        if opcode == .close { hasSentClose = true }
        output.append(header)
        output.append(payload)
    }

    /// Hands over what the kernel takes, and ends the connection behind it if it is to end.
    func flush() {
        guard connection.isServing, !isStepping else { return }
        let written = output.send { connection.channel.send($0) }
        connection.record(written: Int64(written), isBlocked: !output.isEmpty)
        if connection.channel.hasFailed { return connection.lost() }
        guard let ending else { return connection.readOn() }
        guard output.isEmpty, connection.channel.flush() else { return }
        switch ending {
        case .end: connection.linger()
        case .drop: connection.close()
        case .reset:
            connection.channel.stream.reset()
            connection.close()
        }
    }

    /// A client that does not read what it gets is not read either.
    private static let unsentAtMost = 4 << 20
    private static let arrivedAtMost = 1024
}
