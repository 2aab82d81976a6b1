// One request from submission to its last byte: asks the pool, follows the exchange, undoes the content coding,
// keeps the deadlines, decides with `ReplayRules` whether a lost exchange is sent again.
//
// A transaction is on a connection only between `assigned` and the end of the exchange; everything else it does
// needs none. The receiver hears of the end exactly once.
//
// Must not know: URLSession, delegates, how connections are opened, where bytes come from.

import HTTPWire
import LoadingPolicy
import Sockets

/// Carries one request out on its loop.
final class Transaction {
    // `@exclusivity(unchecked)`: measured, the checks cost a small request 91 calls into the runtime. The compiler keeps
    // this object on its loop, and no other object is called while a property is being changed.
    let id: RequestID
    /// Holds the request; its parts are read through it, since a copy would count a dozen references.
    let handle: TransactionHandle
    let key: PoolKey
    @exclusivity(unchecked) private(set) var priority: Float
    private let receiver: any TransactionReceiver
    // Owner: the core; it lets go of every transaction that ends.
    let core: LoopCore

    @exclusivity(unchecked) private var state = State.idle
    @exclusivity(unchecked) private var deadlines: DeadlineMachine
    private let timer: DeadlineTimer
    @exclusivity(unchecked) private var timeline: Timeline
    @exclusivity(unchecked) private var pastTimelines: [Timeline] = []
    @exclusivity(unchecked) private var attempt = 0
    /// When the idle deadline was last moved.
    @exclusivity(unchecked) private var movedAt: Int64 = -1

    // What keeps the transfer from going on; each is a reason of its own.
    @exclusivity(unchecked) private var suspensions = 0
    @exclusivity(unchecked) private var isReceiverFull = false
    @exclusivity(unchecked) private var isYielding = false

    @exclusivity(unchecked) private var body: ResponseBody?
    @exclusivity(unchecked) private var responseBegun = false
    @exclusivity(unchecked) private var bodySentInAttempt: Int64 = 0
    @exclusivity(unchecked) private var feed: BodyFeed?
    @exclusivity(unchecked) private var feedNumber = 0
    /// A server has refused to say 100 (B5.40): the request goes without asking for it.
    @exclusivity(unchecked) private(set) var isExpectationDropped = false
    /// So much of a body that nobody wants is still read; `nil` while it is wanted.
    @exclusivity(unchecked) private var discardBudget: Int?
    @exclusivity(unchecked) private var isReported = false

    // Waiting for the network (+Connectivity)
    /// The change of the network that the last attempt to connect knew of.
    private(set) var knownChange = 0
    var hearsOfNetwork = false

    private enum State {
        /// Not asked for a connection: not started, or suspended before it had one.
        case idle
        /// In the pool's queue; the idle timer runs only while a connection is being opened (B6.10).
        case waiting(isTimed: Bool)
        /// There is no way to the host; tried again when the machine's network changes.
        case offline
        case exchanging(HTTP1Connection)
        /// The exchange is over, decoded bytes still wait for the receiver.
        case draining
        case finished
    }

    init(_ handle: TransactionHandle, receiver: any TransactionReceiver, core: LoopCore) {
        self.id = handle.id
        self.handle = handle
        self.priority = handle.request.priority
        self.receiver = receiver
        self.core = core
        let reactor = core.reactor
        self.timer = core.lendTimer()
        self.key = core.pool.key(of: handle.request)
        self.deadlines = DeadlineMachine(
            idle: handle.request.idleTimeout,
            resource: handle.request.resourceDeadline)
        self.timeline = Timeline(start: reactor.nanoseconds)
        timer.lend(to: self)
    }

    // MARK: Questions

    /// Whether reading would only fill memory.
    var isReadPaused: Bool { isReceiverFull || isYielding || suspensions > 0 }

    /// Whether bytes of the request may go out.
    var mayWrite: Bool { suspensions == 0 }

    /// Whether the body waits for the server's permission (RFC 9110 §10.1.1).
    var expectsContinue: Bool {
        !isExpectationDropped && handle.request.head.fields.hasToken(.expect, "100-continue")
    }

    /// How far it has come, for errors.
    var phase: EngineError.Phase {
        switch state {
        case .idle, .finished:
            return .waitingForConnection
        case .waiting:
            return core.pool.phase(of: key)
        case .offline:
            return .waitingForConnectivity
        case .exchanging:
            if responseBegun { return .receivingBody }
            if timeline.isRequestSent { return .waitingForResponse }
            return feed?.isWaiting == true ? .waitingForBody : .sendingRequest
        case .draining:
            return .receivingBody
        }
    }

    // MARK: Steered from outside

    /// Asks for a connection.
    func start() {
        askForConnection()
    }

    /// Ends with `.cancelled`.
    func cancel() {
        failed(.cancelled)
    }

    /// The receiver can take more.
    func resumeReading() {
        guard isReceiverFull else { return }
        isReceiverFull = false
        deadlines.released(core.reactor.elapsed)
        goOnReading()
    }

    /// Nothing more of the response is wanted: the end is told now, and what is left of the body is read for the
    /// connection's sake only, within a budget of bytes and time (B4.33).
    func discardRest() {
        guard discardBudget == nil, !isReported else { return }
        switch state {
        case .idle, .waiting, .offline, .finished: return
        case .draining: return finish(nil)
        case .exchanging: break
        }
        discardBudget = RedirectRules.discardedBodyLimit
        body = nil
        // A body that is still being sent is of no use either, and would be all that keeps the connection busy.
        guard timeline.isRequestSent else { return failed(.cancelled) }
        isReceiverFull = false
        suspensions = 0
        deadlines = DeadlineMachine(idle: nil, resource: core.reactor.elapsed + Self.longestDiscard)
        // Order: what has come already may be all of it, and the connection is then free before the end is told.
        goOnReading()
        if case .exchanging = state { report(nil) }
    }

    /// Stops both directions and the idle timer (B1.39, B1.40).
    func suspend() {
        suspensions += 1
        deadlines.held(core.reactor.elapsed)
        rearm()
        switch state {
        case .waiting:
            state = .idle
            core.pool.cancel(self)
        case .offline:
            state = .idle
        case .idle, .exchanging, .draining, .finished:
            break
        }
    }

    /// Undoes one suspension.
    func resume() {
        guard suspensions > 0 else { return }
        suspensions -= 1
        deadlines.released(core.reactor.elapsed)
        guard suspensions == 0 else { return rearm() }
        switch state {
        case .idle:
            askForConnection()
        case .exchanging(let connection):
            connection.flush()
            goOnReading()
        case .draining:
            goOnReading()
        case .waiting, .offline, .finished:
            break
        }
    }

    /// The idle timer stands still while somebody is asked (B6.9).
    func hold() {
        deadlines.held(core.reactor.elapsed)
        rearm()
    }

    /// Undoes one `hold()`.
    func unhold() {
        deadlines.released(core.reactor.elapsed)
        rearm()
    }

    /// Changes the place in the queue.
    func setPriority(_ priority: Float) {
        self.priority = priority
        if case .waiting = state { core.pool.priorityChanged(self) }
    }

    // MARK: From the pool

    /// A connection to this request's host begins to be opened: waiting is now the network's doing.
    func dialBegan() {
        guard case .waiting(isTimed: false) = state else { return }
        state = .waiting(isTimed: true)
        deadlines.started(core.reactor.elapsed)
        rearm()
    }

    /// Here is the connection.
    func assigned(_ connection: HTTP1Connection) {
        if case .waiting(isTimed: false) = state { deadlines.started(core.reactor.elapsed) }
        state = .exchanging(connection)
        core.trace?.hooks.connectionAssigned?(id, connection.id, connection.hasServed)
        timeline.reused = connection.hasServed
        if receiver.wantsAddresses {
            timeline.localAddress = connection.stream.localAddress
            timeline.remoteAddress = connection.stream.remoteAddress
        }
        timeline.tls = connection.setup.negotiated
        if !connection.hasServed { timeline.record(connection.setup) }
        timeline.requestStarted(core.reactor.nanoseconds)
        // Also when this is a replay within the turn in which the first attempt was lost.
        movedAt = -1
        byteMoved()
        connection.begin(self)
    }

    /// Ends with an error, wherever it stands.
    func failed(_ error: EngineError) {
        switch state {
        case .idle, .offline, .draining: break
        case .waiting: core.pool.cancel(self)
        case .exchanging(let connection): connection.abandon()
        case .finished: return
        }
        finish(error)
    }

    // MARK: From the connection

    /// The content for this attempt: from its beginning, or what nobody has been given of a source.
    func makeFeed() -> BodyFeed? {
        if case .stream = handle.request.body, let feed { return feed }
        feedNumber += 1
        feed = BodyFeed(
            handle.request.body, framing: handle.request.framing, deliver: handle.bodyDelivery(to: feedNumber))
        return feed
    }

    /// The next piece of the body has been supplied.
    func bodyArrived(_ piece: SourcePiece, for number: Int) {
        guard number == feedNumber, let feed else { return }
        feed.arrived(piece)
        if case .exchanging(let connection) = state { connection.flush() }
    }

    /// The head is on its way.
    func requestStarted(headBytes: Int) {
        // B11.12: counting begins anew.
        if bodySentInAttempt > 0 { receiver.sent(bodyBytes: 0) }
        timeline.requestHeadBytes = Int64(headBytes)
        bodySentInAttempt = 0
    }

    /// The socket took bytes of the request.
    func requestBytesMoved(bodyBytes: Int) {
        byteMoved()
        guard bodyBytes > 0 else { return }
        bodySentInAttempt += Int64(bodyBytes)
        timeline.requestBodyBytes = bodySentInAttempt
        receiver.sent(bodyBytes: bodySentInAttempt)
    }

    /// The last byte of the request is out.
    func requestSent() {
        timeline.requestEnded(core.reactor.nanoseconds)
        core.trace?.hooks.requestSent?(id)
    }

    /// Something came, whatever it was.
    func byteMoved() {
        // What moves within one turn of the loop moves at the same time.
        guard movedAt != core.reactor.nanoseconds else { return }
        movedAt = core.reactor.nanoseconds
        deadlines.moved(core.reactor.elapsed)
        rearm()
    }

    /// A 1xx response came; 100 is the engine's own affair (B11.19).
    func received(informational head: ResponseHead) {
        if head.status != 100 { receiver.received(informational: head) }
    }

    /// The final response's head came.
    func received(head: ResponseHead, framing: BodyFraming) {
        responseBegun = true
        timeline.responseStarted(core.reactor.nanoseconds)
        timeline.responseHeadBytes = Int64(head.byteCount)
        timeline.status = head.status
        timeline.isOldProtocol = head.version.minor == 0
        core.trace?.hooks.responseReceived?(id, head.status)
        body = ResponseBody(head: head, framing: framing, decodes: handle.request.decodesContent)
        note(receiver.received(head: head, framing: framing, decoding: body != nil))
    }

    /// Bytes of the body came, still coded.
    func received(body bytes: UnsafeRawBufferPointer) {
        guard let body else {
            if discardBudget != nil { return discard(bytes.count) }
            timeline.responseBodyBytesDecoded += Int64(bytes.count)
            return note(receiver.received(body: BodyPiece(bytes, in: core.buffers.received)))
        }
        deliver { sink throws(WireError) in try body.take(bytes, buffers: core.buffers.decoded, to: sink) }
    }

    /// The body's length on the wire, framing included.
    func noteWireBodyBytes(_ count: Int64) {
        timeline.responseBodyBytes = count
    }

    /// The exchange is over; the connection is no longer this transaction's.
    func responseEnded() {
        guard case .exchanging = state else { return }
        timeline.responseEnded(core.reactor.nanoseconds)
        state = .draining
        endIfDrained()
    }

    /// The exchange failed: it is sent again where that is safe (B6.26 to B6.31), otherwise it ends.
    func exchangeFailed(_ error: EngineError, facts: ExchangeFacts) {
        guard case .exchanging = state else { return }
        guard discardBudget == nil else { return finish(nil) }
        attempt += 1
        let verdict =
            error.isLossOfConnection
            ? ReplayRules.verdict(
                method: handle.request.head.method, reusedConnection: facts.reusedConnection,
                bytesWritten: facts.bytesWritten, responseBytes: facts.responseBytes,
                bodyReplayable: isBodyReplayable, attempt: attempt)
            : .fail
        switch verdict {
        case .replay: sendAgain()
        case .fail: finish(error)
        }
    }

    /// The server answers an Expect field with 417; nothing of the body is out.
    func expectationRefused() {
        guard case .exchanging = state else { return }
        isExpectationDropped = true
        sendAgain()
    }

    private func sendAgain() {
        core.trace?.hooks.replayed?(id)
        pastTimelines.append(timeline)
        timeline = Timeline(start: core.reactor.nanoseconds)
        // B6.26: a new one, since other idle connections to this server may have died just as unnoticed.
        askForConnection(isReplay: true)
    }

    private var isBodyReplayable: Bool { feed?.canStartAgain ?? true }

    /// Whether a 408 is the end of an idle connection rather than the answer (B6.31).
    func mayReplayAfterTimeout(_ head: ResponseHead, reused: Bool) -> Bool {
        guard head.status == 408 else { return false }
        return ReplayRules.verdictAboutTimeout(
            status: head.status, closesConnection: head.fields.hasToken(.connection, "close"),
            method: handle.request.head.method, reusedConnection: reused, bodyReplayable: isBodyReplayable,
            attempt: attempt + 1)
            == .replay
    }

    // MARK: Private steps

    /// Whether it waits for the network.
    var isOffline: Bool { if case .offline = state { true } else { false } }

    /// Stays without a connection until the network changes; tells the receiver.
    func waitForNetwork() {
        state = .offline
        deadlines.stopped()
        rearm()
        receiver.waitsForConnectivity()
    }

    /// Gets in the pool's line.
    func askForConnection(isReplay: Bool = false) {
        guard suspensions == 0 else {
            state = .idle
            return
        }
        if handle.request.waitsForConnectivity { knownChange = core.connectivity.lastChange }
        state = .waiting(isTimed: false)
        deadlines.stopped()
        rearm()
        core.pool.request(self, atFront: isReplay, onNewConnection: isReplay)
    }

    private func goOnReading() {
        rearm()
        guard !isReadPaused else { return }
        if let body, body.hasHeld {
            deliver { sink throws(WireError) in try body.takeHeld(buffers: core.buffers.decoded, to: sink) }
        }
        guard !isReadPaused else { return }
        switch state {
        case .exchanging(let connection): connection.pump()
        case .draining: endIfDrained()
        case .idle, .waiting, .offline, .finished: break
        }
    }

    /// Runs a delivery and ends the transaction if the content cannot be decoded.
    private func deliver(
        _ work: ((UnsafeRawBufferPointer) -> ReceiverDemand) throws(WireError) -> Void
    ) {
        do throws(WireError) {
            try work { bytes in
                timeline.responseBodyBytesDecoded += Int64(bytes.count)
                note(receiver.received(body: BodyPiece(bytes, in: core.buffers.decoded)))
                return isReadPaused ? .pause : .more
            }
        } catch {
            return failed(.wire(error))
        }
        if body?.hasHeld == true, !isReadPaused { yield() }
    }

    /// Goes on at the end of the turn: a few kilobytes can decode to gigabytes, and the loop has other transfers.
    private func yield() {
        isYielding = true
        core.reactor.later { [self] in
            isYielding = false
            if case .finished = state { return }
            goOnReading()
        }
    }

    private func note(_ demand: ReceiverDemand) {
        switch demand {
        case .more: break
        case .discard:
            // At the end of the turn, since the rest may be in the bytes that are being read.
            core.reactor.later { [self] in discardRest() }
        case .pause:
            guard !isReceiverFull else { return }
            isReceiverFull = true
            // B6.9: a receiver that takes its time is not the network's silence.
            deadlines.held(core.reactor.elapsed)
            rearm()
        }
    }

    private func discard(_ count: Int) {
        guard let budget = discardBudget else { return }
        discardBudget = budget - count
        if count > budget { failed(.cancelled) }
    }

    private func endIfDrained() {
        guard case .draining = state, body?.hasHeld != true else { return }
        do throws(WireError) {
            try body?.finish()
            finish(nil)
        } catch {
            finish(.wire(error))
        }
    }

    private func finish(_ error: EngineError?) {
        state = .finished
        feed?.close()
        core.takeBack(timer)
        core.trace?.hooks.finished?(id, error)
        if hearsOfNetwork { core.connectivity.leave(id) }
        report(error)
        core.ended(id)
    }

    /// Tells the receiver of the end, once; nothing that befalls a response which nobody wants is an error.
    private func report(_ error: EngineError?) {
        guard !isReported else { return }
        isReported = true
        receiver.finished(
            TransactionOutcome(
                error: discardBudget == nil ? error : nil, earlier: pastTimelines, last: timeline))
    }

    /// Picked by feel: a connection is worth about as long a wait as opening another would take at worst.
    private static let longestDiscard = Duration.seconds(1)

    // MARK: Deadlines

    private func rearm() {
        timer.set(deadlines.next)
    }

    /// One of the deadlines may have passed.
    func deadlinePassed() {
        switch deadlines.expired(core.reactor.elapsed) {
        case .idle where endEarlyAnswered(): break
        case .idle:
            failed(.idleTimeout(host: key.origin.host, phase: phase, after: handle.request.idleTimeout ?? .zero))
        case .resource:
            let start = (pastTimelines.first ?? timeline).fetchStart
            failed(
                .resourceTimeout(host: key.origin.host, phase: phase, after: start.duration(to: core.reactor.now)))
        case nil: rearm()
        }
    }

    /// A server that has answered whole and then does not take the rest of the body has said what there is to say.
    private func endEarlyAnswered() -> Bool {
        guard case .exchanging(let connection) = state, connection.isOnlySending else { return false }
        connection.responseEnded(leftover: true)
        return true
    }
}

extension EngineError {
    /// Whether the connection was lost, as opposed to having said something wrong.
    fileprivate var isLossOfConnection: Bool {
        switch self {
        case .connectionLost: return true
        case .wire(let error): return error.kind == .truncated
        case .cancelled, .idleTimeout, .resourceTimeout, .nameLookup, .connect, .tls, .body, .invalidRequest,
            .localResource:
            return false
        }
    }
}
