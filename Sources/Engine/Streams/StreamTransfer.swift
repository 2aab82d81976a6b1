// Runs `StreamMachine` on a connection of its own: has it opened outside the pool (B16.3, B15.54) by an `Opening`, or
// takes over one that has left HTTP (B1.70); has TLS set up when its turn has come.
//
// All decisions are the machine's; this file keeps the bytes and the handlers. What moves the bytes is in
// `StreamTransfer+Bytes`.
//
// Must not know: which caller waits for an answer, what the bytes mean.

import URLLoadingPolicy
import URLLoadingSystem

/// One stream under way.
final class StreamTransfer: SteeredLoad {
    private let handle: StreamHandle
    private let receiver: any StreamReceiver
    // Owner: the core; it lets go of every stream that ends.
    let core: LoopCore
    private lazy var timer = core.reactor.makeTimer { [unowned self] in deadlinePassed() }

    var machine: StreamMachine
    private lazy var opening = Opening(
        id: handle.id, to: handle.request.origin, by: handle.request.routes, judge: handle.request.judge,
        waitsForConnectivity: handle.request.waitsForConnectivity, owner: self, core: core)
    private(set) var stream: (any ByteStream)?
    /// The stream, where TLS is on.
    private(set) var secureStream: TLSStream?
    private var isOver = false
    /// Why the connection is of no use, once it is.
    private var loss: EngineError?
    /// What has failed while bytes waited for their readers.
    private var broken: (stream: any ByteStream, error: SystemError)?

    /// What has come and was not read yet.
    var inbox: ArraySlice<UInt8> = []
    /// What is being sent, and how much of it waits inside TLS for the system to take it.
    var outgoing: ArraySlice<UInt8> = []
    var unreported = 0

    private var nextCall: StreamCall = 1
    private var readHandlers: [StreamCall: @Sendable (Result<StreamPiece, StreamFailure>) -> Void] = [:]
    private var writeHandlers: [StreamCall: @Sendable (StreamFailure?) -> Void] = [:]
    private var contents: [StreamCall: [UInt8]] = [:]
    /// Actions still to be carried out; what an action leads to comes behind them.
    private var actions: ArraySlice<StreamAction> = []
    private var isCarryingOut = false

    init(_ handle: StreamHandle, receiver: any StreamReceiver, core: LoopCore) {
        self.handle = handle
        self.receiver = receiver
        self.core = core
        machine = StreamMachine(resourceDeadline: handle.request.resourceDeadline)
    }

    private var now: Duration { core.reactor.elapsed }

    // MARK: Steered from outside

    /// Begins to open the connection.
    func start() {
        opening.begin { [unowned self] result in
            switch result {
            case .success(let stream):
                take(stream)
                carryOut(machine.connected(now: now))
                read()
            case .failure(let error):
                lose(error)
            }
        }
        rearm()
    }

    /// Goes on with a connection that has left HTTP (B1.70).
    func start(on connection: consuming DetachedConnection) {
        inbox = connection.unread[...]
        let unread = inbox.count
        // Not what the stream is: TLS with a proxy is none with the server (B15.45).
        let isSecure = connection.facts.tls != nil
        let stream = connection.takeStream()
        secureStream = stream as? TLSStream
        take(stream)
        if unread > 0 { moved(received: unread) }
        carryOut(machine.connected(isSecure: isSecure, unread: unread, now: now))
        read()
    }

    func cancel() { carryOut(machine.cancel()) }

    func suspend() { hold() }

    func resume() {
        unhold()
        send()
        read()
    }

    func perform(_ order: StreamOrder) {
        let call = nextCall
        nextCall += 1
        switch order {
        case .read(let least, let most, let timeout, let handler):
            readHandlers[call] = handler
            carryOut(machine.read(call, least: least, most: most, timeout: timeout, now: now))
        case .write(let bytes, let timeout, let handler):
            writeHandlers[call] = handler
            contents[call] = bytes
            carryOut(machine.write(call, count: bytes.count, timeout: timeout, now: now))
        case .closeRead: carryOut(machine.closeRead(now: now))
        case .closeWrite: carryOut(machine.closeWrite(now: now))
        case .startSecure: carryOut(machine.startSecure(now: now))
        case .capture: carryOut(machine.capture(now: now))
        }
        read()
    }

    // MARK: The connection

    private func take(_ stream: any ByteStream) {
        self.stream = stream
        stream.observer = self
    }

    /// B15.46: what came before TLS was asked for is read first, and none of it gets into TLS.
    private func startTLS() {
        guard let stream else { return }
        switch stream.hasPendingInput ? stream.read(into: core.reactor.receiveBuffer) : .wouldBlock {
        case .bytes(let count): return carryOut(machine.arrived(count, now: now))
        case .endOfStream: return lose(.tls(.closedDuringHandshake, host: handle.request.origin.host))
        case .failed(let error):
            return lose(.connectionLost(error, phase: .receivingBody, received: 0, expected: nil))
        case .wouldBlock: break
        }
        stream.observer = nil
        // The opening's until it has succeeded: it closes the stream otherwise.
        self.stream = nil
        opening.secure(stream) { [unowned self] result in
            switch result {
            case .success(let channel):
                let secure = TLSStream(channel)
                secureStream = secure
                take(secure)
                secure.flushOutput()
                carryOut(machine.secured(now: now))
                read()
            case .failure(let error):
                lose(error)
            }
        }
    }

    /// An answer to a question has come, perhaps too late.
    func answered(_ number: Int, _ answer: QuestionAnswer) { opening.answered(number, answer) }

    /// The delegate that was asked has no method for the question, and the session decides.
    func leftToSession(_ number: Int) { opening.leftToSession(number) }

    // MARK: Failures and time

    /// The connection has failed.
    private func lose(_ error: EngineError) {
        if loss == nil { loss = error }
        carryOut(machine.lost())
    }

    /// Reading has failed; what has come before may say why, and waits for its readers.
    func readFailed(_ error: SystemError) {
        note(error, .receivingBody)
        stream?.close()
        broken = stream.map { ($0, error) }
        stream = nil
        secureStream = nil
        carryOut(machine.readFailed(now: now))
    }

    /// Our direction has failed; what comes may still say why.
    func writeFailed(_ error: SystemError) {
        outgoing = []
        note(error, .sendingRequest)
        carryOut(machine.writeFailed(now: now))
    }

    /// Remembers why the connection is of no use; TLS says more than the system.
    private func note(_ error: SystemError, _ phase: EngineError.Phase) {
        guard loss == nil else { return }
        loss =
            stream?.brokenTLS.map { .tls($0, host: handle.request.origin.host) }
            ?? .connectionLost(error, phase: phase, received: 0, expected: nil)
    }

    private func failure(_ fault: StreamFault) -> StreamFailure {
        if case .lost = fault, let loss { return .engine(loss) }
        return .fault(fault)
    }

    private func deadlinePassed() {
        opening.timeIsOver()
        carryOut(machine.expired(now: now))
    }

    private func rearm() {
        if let deadline = machine.deadline { timer.set(elapsed: deadline) } else { timer.clear() }
    }

    // MARK: Carrying out

    /// Carries actions out, behind those that are under way.
    func carryOut(_ more: [StreamAction]) {
        actions += more
        defer { if !isOver { rearm() } }
        guard !isCarryingOut else { return }
        isCarryingOut = true
        while let action = actions.popFirst() { doNext(action) }
        isCarryingOut = false
    }

    private func doNext(_ action: StreamAction) {
        switch action {
        case .deliver(let call, let count, let isAtEnd):
            let piece = StreamPiece(bytes: Array(inbox.prefix(count)), isAtEnd: isAtEnd)
            inbox = count == inbox.count ? [] : inbox.dropFirst(count)
            readHandlers.removeValue(forKey: call)?(.success(piece))
        case .send(let call):
            outgoing = contents.removeValue(forKey: call).map { $0[...] } ?? []
            unreported = 0
            send()
        case .written(let call):
            contents[call] = nil
            writeHandlers.removeValue(forKey: call)?(nil)
        case .failed(let call, let fault):
            if contents.removeValue(forKey: call) == nil, writeHandlers[call] != nil { outgoing = [] }
            readHandlers.removeValue(forKey: call)?(.failure(failure(fault)))
            writeHandlers.removeValue(forKey: call)?(failure(fault))
        case .discardInput:
            inbox = []
        case .finishWriting:
            stream?.shutdownWrite()
        case .readClosed:
            receiver.readClosed()
        case .writeClosed:
            receiver.writeClosed()
        case .startTLS:
            startTLS()
        case .handOver(let isReadClosed, let isWriteClosed, let hasEnded):
            handOver(isReadClosed: isReadClosed, isWriteClosed: isWriteClosed, hasEnded: hasEnded)
        case .ended(let fault):
            if machine.hasFinishedWriting, !machine.hasEnded, let stream {
                self.stream = nil
                LingeringClose.begin(stream, core.reactor)
            }
            end { receiver.finished(fault.map(failure)) }
        }
    }

    private func handOver(isReadClosed: Bool, isWriteClosed: Bool, hasEnded: Bool) {
        guard let stream = stream ?? broken?.stream else { return }
        let connection = CapturedConnection(
            stream, unread: inbox, isReadClosed: isReadClosed, isWriteClosed: isWriteClosed, hasEnded: hasEnded,
            error: broken?.error, reactor: core.reactor)
        self.stream = nil
        end { receiver.captured(connection) }
    }

    /// Counts what has moved.
    func moved(received: Int = 0, sent: Int = 0) { receiver.moved(received: received, sent: sent) }

    private func end(_ tell: () -> Void) {
        guard !isOver else { return }
        isOver = true
        timer.clear()
        opening.cancel()
        stream?.close()
        stream = nil
        secureStream = nil
        tell()
        core.ended(handle.id, keeping: self)
    }
}

extension StreamTransfer: OpeningOwner {
    var answersQuestions: Bool { receiver.answersQuestions }

    /// A proxy that wants a name and a password may find them in the settings.
    var answersProxies: Bool { true }

    func asked(_ question: ConnectionQuestion) { receiver.asked(question) }

    func hold() {
        machine.hold(now: now)
        rearm()
    }

    func unhold() { carryOut(machine.release(now: now)) }

    func networkIsMissing() { receiver.waitsForConnectivity() }

    /// The calls' own time runs on meanwhile.
    func networkMayBeBack() {}
}
