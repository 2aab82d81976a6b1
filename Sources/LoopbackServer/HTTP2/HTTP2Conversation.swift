// One connection of HTTP/2: it drives HTTP2ConnectionMachine and HPACK's tables, and has many requests answered at
// once. What it writes gathers in one buffer, frames of bodies behind all else, and goes to the kernel as that takes
// it. The parts: +Requests hears what comes on streams, +Answers writes what the routes say. Scripts are played by
// HTTP2ScriptPlayer, beside all this or in its place. Confined to the server's loop. RFC 9113.

import URLLoadingSystem
import URLLoadingWire

/// HTTP/2 on a connection of the server.
final class HTTP2Conversation: ServerConversation {
    enum Ending {
        case close, drop, reset
    }

    unowned let connection: ServerConnection
    /// Whether requests are answered; else the script is all there is.
    let isServing: Bool
    var machine: HTTP2ConnectionMachine

    // Requests.
    var decoder: HPACKDecoder
    var block = HTTP2IncomingBlock()
    /// By the place of their stream.
    var exchanges: [HTTP2Exchange?] = []
    var requestNumber = 0

    // Answers.
    var encoder = HPACKEncoder()
    var encoded: [UInt8] = []
    /// What is on its way to the kernel, and how much of it is there.
    var output: [UInt8] = []
    private var position = 0
    /// Answers whose last byte is in `output`.
    var unsentAnswers = 0
    private var ending: Ending?
    private var isFlushing = false
    private var isPulling = false

    // Scripts.
    var counts = HTTP2Counts()
    private var players: [HTTP2ScriptPlayer] = []
    private var splitter: HTTP2FrameSplitter?
    var isReading = true
    private var pauseNumber = 0

    init(on connection: ServerConnection) {
        self.connection = connection
        let options = connection.core.options.http2
        let script = options.script?(connection.number)
        isServing = script?.isBesideServer ?? true
        machine = HTTP2ConnectionMachine(
            role: .server, settings: options.settings, connectionWindow: options.connectionWindow,
            limits: options.limits)
        let standard = HPACKLimits.standard
        let listBytes = options.settings.maximumHeaderListSize.map { Int($0) } ?? standard.listBytes
        decoder = HPACKDecoder(
            limits: HPACKLimits(listBytes: listBytes, hardListBytes: max(listBytes, standard.hardListBytes)))
        if script != nil || options.record != nil { splitter = HTTP2FrameSplitter(connection: connection.number) }
        if let script { play(script.steps) }
    }

    func begin() {
        connection.core.figures.update { $0.http2Connections += 1 }
        if isServing { machine.start(now: now) }
        flush()
    }

    // MARK: Questions

    var wantsInput: Bool { isReading && ending == nil && output.count - position < Self.unsentAtMost }

    /// Whether answers are still written: behind an end that a script has asked for there are none.
    var isAnswering: Bool { ending == nil }

    var hasWork: Bool { machine.openStreams > 0 }

    var record: HTTP2Record? { connection.core.options.http2.record }

    var now: Duration { connection.core.reactor.elapsed }

    // MARK: Events

    func received(_ bytes: UnsafeRawBufferPointer) {
        guard ending == nil else { return }
        if isServing {
            var offset = 0
            var hasMore = true
            while hasMore, connection.isServing {
                hasMore = machine.received(bytes.bytes, offset: &offset, now: now)
                pull(bytes)
            }
        }
        splitter?.take(bytes) { frame in
            record?.write { $0.frames.append(frame) }
            counts.add(frame, isCountedByServer: isServing)
        }
        flush()
    }

    func inputEnded() {
        counts.hasEnded = true
        stepPlayers()
        if isLeft { leave() } else { flush() }
    }

    /// Whether the client has ended, and no script has anything left to do about it.
    private var isLeft: Bool { counts.hasEnded && ending == nil && players.isEmpty }

    private func leave() {
        guard !hasWork else { return connection.lost() }
        connection.channel.sendCloseNotify()
        connection.close()
    }

    func timerFired() {
        machine.timerFired(now: now)
        flush()
    }

    func gateOpened(pause: Int) {
        for exchange in exchanges.lazy.compactMap({ $0 }) {
            if exchange.pause == pause { pauseEnded(of: exchange) }
            if exchange.holdPause == pause { readBody(of: exchange) }
        }
        for player in players where player.pause == pause { player.pauseEnded() }
        flush()
    }

    func ended() {
        machine.connectionEnded()
        // Nothing is left to be done but to say how the streams have ended.
        while let action = machine.nextAction() {
            if case .closed(let id, let end) = action { streamEnded(id, end) }
        }
        exchanges = []
        players = []
    }

    // MARK: The machine's wishes

    /// Does what the machine has to say; ranges in it are of `bytes`.
    private func pull(_ bytes: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)) {
        guard !isPulling else { return }
        isPulling = true
        defer { isPulling = false }
        while connection.isServing, let action = machine.nextAction() { perform(action, bytes) }
    }

    private func perform(_ action: HTTP2ConnectionMachine.Action, _ bytes: UnsafeRawBufferPointer) {
        switch action {
        // What there is to be sent is taken at the end of each turn.
        case .send, .capacityChanged, .draining: break
        case .blockBegins(let expected): blockBegins(expected)
        case .block(let range): blockGoesOn(UnsafeRawBufferPointer(rebasing: bytes[range]))
        case .blockEnds: blockEnds()
        case .head(let id, .trailers): exchange(id)?.requestTrailers = block.trailers
        case .head(let id, let kind): if kind == .final { requestBegins(id) }
        case .data(let id, let range): bodyArrived(UnsafeRawBufferPointer(rebasing: bytes[range]), on: id)
        case .messageEnds(let id): messageEnds(id)
        case .closed(let id, let end): streamEnded(id, end)
        case .encoderTableChanged(let smallest, let size):
            encoder.peerTableSizeChanged(to: Int(smallest))
            encoder.peerTableSizeChanged(to: Int(size))
        case .decoderTableChanged(let size): decoder.tableSizeAcknowledged(Int(size))
        case .setTimer(let time): if let time { connection.timer.set(elapsed: time) } else { connection.timer.clear() }
        case .failed(let fault):
            connection.core.figures.update { $0.malformedRequests += 1 }
            record?.write { $0.faults.append(fault) }
            end(by: .close)
        case .finished: end(by: .close)
        }
    }

    // MARK: Scripts

    /// Begins to play steps.
    func play(_ steps: [HTTP2Step]) {
        let player = HTTP2ScriptPlayer(steps, on: self)
        players.append(player)
    }

    /// Goes on with the scripts as far as what they wait for has happened.
    func stepPlayers() {
        guard !players.isEmpty else { return }
        for player in players { player.step() }
        players.removeAll { $0.isOver }
    }

    /// A number for a pause that begins.
    func nextPause() -> Int {
        pauseNumber += 1
        return pauseNumber
    }

    /// Puts raw bytes behind what is to be written; false where the kernel has to take some before.
    func write(raw bytes: [UInt8]) -> Bool {
        guard output.count < Self.gatheredAtMost else { return false }
        machine.takeOutput(into: &output)
        output += bytes
        return true
    }

    // MARK: Writing

    /// Whether everything that there was to be written is in the kernel.
    var isDrained: Bool {
        machine.takeOutput(into: &output)
        return output.isEmpty && connection.channel.flush()
    }

    /// The connection ends in this way, once all has been written.
    func end(by ending: Ending) {
        if self.ending == nil { self.ending = ending }
    }

    /// Writes what there is to be written, as far as the kernel takes it.
    func flush() {
        guard connection.isServing, !isFlushing else { return }
        isFlushing = true
        let (written, isBlocked) = send()
        isFlushing = false
        connection.record(written: written, isBlocked: isBlocked)
        if connection.channel.hasFailed { return connection.lost() }
        guard let ending else { return isLeft ? leave() : connection.readOn() }
        guard isDrained else { return }
        switch ending {
        case .close: connection.linger()
        case .drop: connection.close()
        case .reset: connection.cut()
        }
    }

    private func send() -> (written: Int64, isBlocked: Bool) {
        var written = 0
        while connection.isServing {
            if output.isEmpty { gather() }
            guard !output.isEmpty else { break }
            let sent = output.withUnsafeBytes {
                connection.channel.send(UnsafeRawBufferPointer(rebasing: $0[position...]))
            }
            guard sent > 0 else { return (Int64(written), true) }
            position += sent
            written += sent
            if position == output.count { outputEmptied() }
            if written >= Self.bytesPerTurn {
                connection.core.reactor.later { [weak self] in self?.flush() }
                break
            }
        }
        return (Int64(written), isHeldBack)
    }

    /// Whether the client's windows hold a body up.
    private var isHeldBack: Bool {
        guard output.isEmpty, isAnswering else { return false }
        return exchanges.contains { if case .bytes? = $0?.outgoing.next { true } else { false } }
    }

    private func outputEmptied() {
        output.removeAll(keepingCapacity: true)
        position = 0
        machine.outputEmptied()
        guard unsentAnswers > 0 else { return }
        connection.core.figures.update { $0.responses += unsentAnswers }
        unsentAnswers = 0
    }

    /// Gathers what can be sent now: what the machine has to say, what scripts send, then bodies as windows allow it.
    private func gather() {
        pull()
        stepPlayers()
        pull()
        machine.takeOutput(into: &output)
        while isAnswering, output.count < Self.gatheredAtMost, let piece = machine.nextPiece(room: Self.gatheredAtMost)
        {
            write(piece)
            pull()
            stepPlayers()
        }
        pull()
        machine.takeOutput(into: &output)
    }

    // Enough for a send, and for TLS's largest encryption at once.
    private static let gatheredAtMost = 64 << 10
    // A client that does not read what it gets is not read either.
    private static let unsentAtMost = 1 << 20
    // One client that reads quickly must not keep the others waiting.
    private static let bytesPerTurn = 1 << 20
}
