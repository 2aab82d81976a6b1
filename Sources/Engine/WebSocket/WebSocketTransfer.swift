// Runs `WebSocketMachine` on a connection that a handshake has opened: hands calls to it, carries its actions out,
// keeps its deadlines. What moves the bytes is in `WebSocketTransfer+Bytes`.
//
// An idle web socket owns no buffer: it reads into the loop's, and what it writes is gone when the kernel has it.
//
// Must not know: handshakes, tasks, which caller waits for an answer.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

/// One web socket under way.
final class WebSocketTransfer: SteeredLoad {
    // `@exclusivity(unchecked)`: as in `Transaction`.
    private let handle: WebSocketHandle
    private let host: String
    let receiver: any WebSocketReceiver
    // Owner: the core; it lets go of every web socket that ends.
    let core: LoopCore
    private let resourceDeadline: Duration?
    private let start: Duration
    private var timer: LoopTimer?

    @exclusivity(unchecked) var machine = WebSocketMachine()
    private(set) var stream: (any ByteStream)?
    /// The stream, where TLS is on.
    private(set) var secureStream: TLSStream?
    @exclusivity(unchecked) var isOver = false

    // Receiving (+Bytes)
    @exclusivity(unchecked) var reader: WebSocketReader
    /// What was read and not looked at, because no more messages are wanted.
    @exclusivity(unchecked) var unread: ArraySlice<UInt8>
    /// The reader was left in the middle, with or without unread bytes.
    @exclusivity(unchecked) var isUnfinished = false
    @exclusivity(unchecked) var isReading = false
    @exclusivity(unchecked) var receivedBytes: Int64

    // Sending (+Bytes)
    @exclusivity(unchecked) var output = FrameOutput()
    @exclusivity(unchecked) var deflater: MessageDeflater?
    /// The frame that the machine has to hear of when the kernel has it.
    @exclusivity(unchecked) var owesWritten = false
    @exclusivity(unchecked) var isFlushAsked = false
    /// Why nothing can be sent any more; the peer may have said why.
    @exclusivity(unchecked) var loss: SystemError?
    @exclusivity(unchecked) var hasFailedWriting = false

    // Calls
    @exclusivity(unchecked) private var nextCall = 1
    @exclusivity(unchecked) private var sends: [Int: @Sendable (WebSocketFailure?) -> Void] = [:]
    @exclusivity(unchecked) private var pings: [Int: @Sendable (WebSocketFailure?) -> Void] = [:]
    @exclusivity(unchecked) private var receives:
        [Int: @Sendable (Result<WebSocketMessage, WebSocketFailure>) -> Void] = [:]
    /// Messages that are encoded and that the kernel does not have, with the place of their last byte.
    @exclusivity(unchecked) private var unconfirmed: [(end: Int64, handler: @Sendable (WebSocketFailure?) -> Void)] = []
    @exclusivity(unchecked) private var isCarryingOut = false
    private var hasToldClosing = false
    /// What ended it in place of what the machine knows of.
    private var verdict: EngineError?

    init(
        _ handle: WebSocketHandle, on stream: any ByteStream, unread: [UInt8], settings: WebSocketSettings,
        receiver: any WebSocketReceiver, core: LoopCore
    ) {
        self.handle = handle
        self.stream = stream
        secureStream = stream as? TLSStream
        self.unread = unread[...]
        receivedBytes = Int64(unread.count)
        self.receiver = receiver
        self.core = core
        host = settings.host
        resourceDeadline = settings.resourceDeadline
        start = core.reactor.elapsed
        reader = WebSocketReader(
            .client, maximumMessageSize: settings.maximumMessageSize, compression: settings.compression)
        deflater = settings.compression.map { MessageDeflater($0.sent(by: .client)) }
    }

    var now: Duration { core.reactor.elapsed }

    /// Begins to read; the machine knows that the handshake is over.
    func begin() {
        stream?.observer = self
        machine.opened()
        rearm()
        // Order: calls may have waited for the opening, and come first.
        core.reactor.later { [weak self] in self?.read() }
    }

    // MARK: Steered from outside

    func perform(_ order: WebSocketOrder) {
        let call = WebSocketCall(nextCall)
        nextCall += 1
        switch order {
        case .send(let message, let handler):
            sends[call.number] = handler
            machine.send(message, call)
        case .receive(let handler):
            receives[call.number] = handler
            machine.receive(call)
        case .ping(let handler):
            pings[call.number] = handler
            machine.ping(call)
        case .close(let close):
            machine.close(close, now: now)
        case .limit(let size):
            reader.maximumMessageSize = size
        }
        carryOut()
        read()
    }

    func cancel() {
        machine.cancel()
        carryOut()
    }

    func suspend() {
        machine.suspend()
    }

    func resume() {
        machine.resume()
        carryOut()
        read()
    }

    // MARK: The connection's end

    /// Nothing more will come, or nothing that was lost can be made up for.
    func connectionEnded(_ error: SystemError?) {
        if loss == nil { loss = error }
        machine.connectionEnded()
        carryOut()
    }

    // MARK: Carrying out

    /// Does what the machine says until it says no more. Bytes leave at the end of the turn,
    /// those of all frames together.
    func carryOut() {
        guard !isCarryingOut else { return }
        isCarryingOut = true
        while let action = machine.nextAction() {
            if !hasToldClosing, let close = machine.close {
                hasToldClosing = true
                receiver.closing(close)
            }
            carryOut(action)
        }
        isCarryingOut = false
        if !isOver { rearm() }
    }

    private func carryOut(_ action: WebSocketMachine.Action) {
        switch action {
        case .write(let frame):
            write(frame)
        case .deliver(let message, let call):
            receiver.moved(received: message.bytes.count, sent: 0)
            receives.removeValue(forKey: call.number)?(.success(message))
        case .complete(let call):
            if let handler = pings.removeValue(forKey: call.number) { handler(nil) }
            if let handler = sends.removeValue(forKey: call.number) { confirm(handler) }
        case .fail(let call, let end):
            fail(call, failure(end))
        case .end(let end):
            self.end(end)
        }
    }

    /// B15.13: a send is done when the kernel has its last byte.
    private func confirm(_ handler: @escaping @Sendable (WebSocketFailure?) -> Void) {
        if output.isEmpty { handler(nil) } else { unconfirmed.append((output.encoded, handler)) }
    }

    /// Tells the sends whose bytes the kernel has.
    func confirmSends() {
        guard let first = unconfirmed.first, first.end <= output.written else { return }
        let done = unconfirmed.prefix { $0.end <= output.written }
        unconfirmed.removeFirst(done.count)
        for send in done { send.handler(nil) }
    }

    private func fail(_ call: WebSocketCall, _ failure: WebSocketFailure) {
        sends.removeValue(forKey: call.number)?(failure)
        pings.removeValue(forKey: call.number)?(failure)
        receives.removeValue(forKey: call.number)?(.failure(failure))
    }

    private func failure(_ end: WebSocketEnd) -> WebSocketFailure {
        if let verdict { return .engine(verdict) }
        switch end {
        case .lost:
            // TLS says more than the system.
            if let error = stream?.brokenTLS { return .engine(.tls(error, host: host)) }
            return .engine(.connectionLost(loss, phase: .conversing, received: receivedBytes, expected: nil))
        case .closed, .cancelled, .fault: return .end(end)
        }
    }

    // MARK: Time

    private func deadlinePassed() {
        if let resourceDeadline, resourceDeadline <= now {
            verdict = .resourceTimeout(host: host, phase: .conversing, after: now - start)
            return cancel()
        }
        machine.deadlinePassed(now: now)
        carryOut()
    }

    private func rearm() {
        guard let deadline = [resourceDeadline, machine.nextDeadline].compactMap(\.self).min() else {
            timer?.clear()
            return
        }
        let timer = timer ?? core.reactor.makeTimer { [unowned self] in deadlinePassed() }
        self.timer = timer
        timer.set(elapsed: deadline)
    }

    // MARK: The end

    private func end(_ end: WebSocketEnd) {
        guard !isOver else { return }
        // A last frame is tried once and not waited for.
        flush()
        isOver = true
        timer?.clear()
        // Order: the stream knows more of it.
        let failure = failure(end)
        letGo(end)
        for send in unconfirmed { send.handler(failure) }
        unconfirmed = []
        receiver.finished(failure, unclaimed: unclaimed())
        core.ended(handle.id, keeping: self)
    }

    /// Closes the connection so that what was said last is not lost: a reset would take it back (RFC 6455 §7.1.1).
    ///
    /// Only now our direction ends: there are servers and proxies that end the connection as soon as it does, and with
    /// it what they still had to say.
    private func letGo(_ end: WebSocketEnd) {
        guard let stream else { return }
        self.stream = nil
        secureStream = nil
        stream.observer = nil
        switch end {
        case .closed, .cancelled, .fault:
            guard !hasFailedWriting, output.isEmpty else { return stream.close() }
            stream.shutdownWrite()
            LingeringClose.begin(stream, core.reactor)
        case .lost:
            stream.close()
        }
    }

    /// The messages that the machine still holds.
    private func unclaimed() -> [WebSocketMessage] {
        var messages: [WebSocketMessage] = []
        while true {
            machine.receive(WebSocketCall(0))
            guard case .deliver(let message, _)? = machine.nextAction() else { return messages }
            messages.append(message)
        }
    }
}
