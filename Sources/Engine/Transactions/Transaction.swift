// One request from submission to its last byte: asks the pool, follows the exchange, undoes the content coding,
// keeps the deadlines, decides with `ReplayRules` whether a lost exchange is sent again.
//
// What goes out is in `Transaction+Sending`, what comes in in `Transaction+Receiving`; the stored
// properties are theirs too.
//
// A transaction is on a connection only between `assigned` and the end of the exchange; everything else it does
// needs none. The receiver hears of the end exactly once.
//
// Must not know: URLSession, delegates, how connections are opened, where bytes come from.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

/// Carries one request out on its loop.
final class Transaction: SteeredLoad, ExchangeOwner {
    // `@exclusivity(unchecked)`: measured, the checks cost a small request 91 calls into the runtime. The compiler
    // keeps this object on its loop, and no other object is called while a property is being changed.
    let id: LoadID
    /// Holds the request; its parts are read through it, since a copy would count a dozen references.
    let handle: TransactionHandle
    /// Whose connections serve it. Another judge's once its own has turned out to have no say, and HTTP/1.1's once the
    /// server has asked for it.
    @exclusivity(unchecked) var key: PoolKey
    @exclusivity(unchecked) private(set) var priority: Float
    let receiver: any TransactionReceiver
    // Owner: the core; it lets go of every transaction that ends.
    let core: LoopCore
    // Its own, and so is the pool: measured, what is reached by way of the core is counted at each
    // use, two atomic operations.
    let reactor: Reactor
    let pool: PoolDriver

    @exclusivity(unchecked) var state = State.idle
    @exclusivity(unchecked) var deadlines: DeadlineMachine
    private let timer: DeadlineTimer
    @exclusivity(unchecked) var timeline: Timeline
    @exclusivity(unchecked) var pastTimelines: [Timeline] = []
    @exclusivity(unchecked) var attempt = 0
    /// What it wants of its next connection. It holds until it has one, also through a suspension
    /// or a time without network.
    @exclusivity(unchecked) var wish = Wish()
    /// How often a server has turned it away.
    @exclusivity(unchecked) var refusals = 0
    /// When the idle deadline was last moved.
    @exclusivity(unchecked) var movedAt: Int64 = -1

    // What keeps the transfer from going on: each is a reason of its own, and several may hold at once.
    @exclusivity(unchecked) var suspensions = 0
    /// The receiver takes no more before it says so, or as much is held for it as may be.
    @exclusivity(unchecked) var isReceiverFull = false
    /// What is held goes on at the end of the turn.
    @exclusivity(unchecked) var isYielding = false
    /// The connection is given away at the end of the turn (+Detaching).
    @exclusivity(unchecked) var isDetaching = false

    /// The receiver is asked about the connection that is being opened, and the idle time stands still (B6.9).
    @exclusivity(unchecked) private var isAsked = false

    /// What holds or decodes the response's body; nil where bytes reach the receiver as they come.
    @exclusivity(unchecked) var body: ResponseBody?
    /// The final response's head has come.
    @exclusivity(unchecked) var hasResponse = false
    @exclusivity(unchecked) var bodySentInAttempt: Int64 = 0
    @exclusivity(unchecked) var feed: BodyFeed?
    /// Which feed it is: what arrives for an earlier one is dropped.
    @exclusivity(unchecked) var feedNumber = 0
    /// A server has refused to say 100 (B5.40): the request goes without asking for it.
    @exclusivity(unchecked) var isExpectationDropped = false
    /// How much more of a body that is not wanted is read; `nil` while it is wanted.
    @exclusivity(unchecked) var discardBudget: Int?
    /// The receiver has been told of the end, or is about to be.
    @exclusivity(unchecked) var isReported = false
    /// The connection is kept for the request that continues this one.
    @exclusivity(unchecked) var keepsConnection = false

    /// What it knows of the network (+Connectivity).
    @exclusivity(unchecked) var patience: ConnectivityPatience

    enum State {
        /// Not asked for a connection: not started, or suspended before it had one.
        case idle
        /// In the pool's queue; the idle timer runs only while a connection is being opened (B6.10). Suspended only
        /// where it was asked about that connection.
        case waiting(isTimed: Bool)
        /// There is no way to the host; tried again when the machine's network changes, and from time to time.
        case offline
        /// The server did not look at it, and is asked again a little later (H7.3).
        case turnedAway(LoopTimer)
        case exchanging(Exchange)
        /// The exchange is over, decoded bytes still wait for the receiver.
        case draining
        case finished
    }

    /// How a request asks for a connection.
    struct Wish {
        /// Before the others of its priority: it had a connection, and is sent again.
        var atFront = false
        /// Not for one that has served before (B6.26).
        var onNewConnection = false
    }

    init(_ handle: TransactionHandle, receiver: any TransactionReceiver, core: LoopCore) {
        self.id = handle.id
        self.handle = handle
        self.priority = handle.request.priority
        self.receiver = receiver
        self.core = core
        reactor = core.reactor
        pool = core.pool
        self.timer = core.lendTimer()
        self.key = pool.key(of: handle.request, for: receiver)
        self.deadlines = DeadlineMachine(
            idle: handle.request.idleTimeout,
            resource: handle.request.resourceDeadline)
        self.patience = ConnectivityPatience(isWanted: handle.request.waitsForConnectivity)
        self.timeline = Timeline(start: reactor.nanoseconds)
        timer.lend(to: self)
    }

    // MARK: Questions

    /// Whether reading would only fill memory.
    var isReadPaused: Bool { isReceiverFull || isYielding || isDetaching || suspensions > 0 }

    /// Whether bytes of the request may go out.
    var mayWrite: Bool { suspensions == 0 }

    /// Whether the body waits for the server's permission (RFC 9110 §10.1.1).
    var expectsContinue: Bool {
        !isExpectationDropped && handle.request.head.fields.hasToken(.expect, "100-continue")
    }

    /// How far it has come, for errors.
    var phase: EngineError.Phase {
        switch state {
        case .idle, .turnedAway, .finished:
            return .waitingForConnection
        case .waiting:
            return isAsked ? .waitingForProgram : pool.phase(of: key)
        case .offline:
            return .waitingForConnectivity
        case .exchanging:
            if hasResponse { return isProgramsTurn ? .waitingForProgram : .receivingBody }
            if timeline.isRequestSent { return .waitingForResponse }
            return feed?.isWaiting == true ? .waitingForBody : .sendingRequest
        case .draining:
            return isProgramsTurn ? .waitingForProgram : .receivingBody
        }
    }

    /// Whether what has come waits until it is decided what becomes of it, or until there is room for it.
    private var isProgramsTurn: Bool { isReceiverFull || body?.holdsAll == true }

    // MARK: Steered from outside

    /// Asks for a connection.
    func start() {
        guard let again = handle.request.again else { return askForConnection() }
        if again.needsKept, !pool.hasKept(for: handle.request) { return keptHasGone() }
        attempt = again.attempt
        refusals = again.refusals
        wish = Wish(atFront: true, onNewConnection: again.needsNewConnection)
        if again.pause > .zero { wait(again.pause) } else { askForConnection() }
    }

    /// Ends with `.cancelled`.
    func cancel() {
        failed(.cancelled)
    }

    /// Stops both directions and the idle timer (B1.39, B1.40).
    func suspend() {
        suspensions += 1
        deadlines.held(reactor.elapsed)
        rearm()
        switch state {
        case .waiting where isAsked || suspensions > 1:
            // A question stays open, and its answer counts (B1.31).
            break
        case .waiting:
            noteProgress(of: pool.connector(for: self))
            state = .idle
            pool.cancel(self)
        case .offline, .turnedAway:
            state = .idle
        case .idle, .exchanging, .draining, .finished:
            break
        }
    }

    /// Undoes one suspension.
    func resume() {
        guard suspensions > 0 else { return }
        suspensions -= 1
        deadlines.released(reactor.elapsed)
        guard suspensions == 0 else { return rearm() }
        switch state {
        case .idle:
            forgetConnector()
            if needsKept, !pool.hasKept(for: handle.request) { return keptHasGone() }
            askForConnection()
        case .exchanging(let exchange):
            exchange.writeOn()
            goOnReading()
        case .draining:
            goOnReading()
        case .waiting:
            rearm()
        case .offline, .turnedAway, .finished:
            break
        }
    }

    /// The idle timer stands still while a question is open (B6.9).
    func hold() {
        deadlines.held(reactor.elapsed)
        rearm()
    }

    /// Undoes one `hold()`.
    func unhold() {
        deadlines.released(reactor.elapsed)
        rearm()
    }

    /// Changes the place in the queue.
    func setPriority(_ priority: Float) {
        self.priority = priority
        if case .waiting = state { pool.priorityChanged(self) }
    }

    // MARK: From the pool

    /// The connection that is being opened for this request cannot go on without an answer.
    func asked(_ question: ConnectionQuestion) {
        if !isAsked {
            isAsked = true
            hold()
        }
        receiver.asked(question)
    }

    /// The answer has come, or is of no interest any more.
    func answered() {
        guard isAsked else { return }
        isAsked = false
        unhold()
    }

    /// A connection begins to be opened for this request: waiting is now the network's doing.
    func dialBegan() {
        guard case .waiting(isTimed: false) = state else { return }
        state = .waiting(isTimed: true)
        // B12.17: also where the proxy is what stands in the way.
        timeline.usesProxy = key.route.proxy != nil
        deadlines.started(reactor.elapsed)
        rearm()
    }

    /// The connection that was being opened for this request serves another: waiting is for a free one again (B6.10).
    func dialWasLost() {
        guard case .waiting(isTimed: true) = state else { return }
        state = .waiting(isTimed: false)
        deadlines.stopped()
        rearm()
    }

    /// Here is the connection.
    func assigned(_ connection: Connection) {
        guard suspensions == 0 else { return put(inPool: connection) }
        if case .waiting(isTimed: false) = state { deadlines.started(reactor.elapsed) }
        let exchange = connection.makeExchange()
        state = .exchanging(exchange)
        core.totals.requests.add(1)
        if connection.hasServed { core.totals.reuses.add(1) }
        timeline.reused = connection.hasServed
        timeline.usesProxy = connection.isProxied
        if receiver.wantsTimelines {
            noteEnds(of: connection.stream)
        }
        timeline.tls = connection.negotiated
        timeline.spoken = connection.isHTTP2 ? .http2 : .http11
        handle.request.trace?.tell(.assigned(assignment(of: connection)))
        if !connection.hasServed { timeline.record(connection.setup) }
        timeline.requestStarted(reactor.nanoseconds)
        // Also when this is a replay within the turn in which the first attempt was lost.
        movedAt = -1
        byteMoved()
        exchange.begin(for: self)
    }

    /// It was suspended while it was asked, and nothing may be sent: the connection waits in the pool.
    private func put(inPool connection: Connection) {
        state = .idle
        if receiver.wantsTimelines {
            timeline.record(connection.setup)
            noteEnds(of: connection.stream)
        }
        connection.waitsForRequests()
        pool.handedBack(connection.id)
    }

    private func assignment(of connection: Connection) -> RequestStep.Assignment {
        RequestStep.Assignment(
            shard: core.port.shard, connection: .pooled(connection.id), isReused: connection.hasServed,
            spoken: timeline.spoken, remoteAddress: connection.stream.remoteAddress)
    }

    /// Ends with an error, wherever it stands.
    func failed(_ error: EngineError) {
        switch state {
        case .idle, .offline, .turnedAway, .draining: break
        case .waiting:
            noteProgress(of: pool.connector(for: self))
            pool.cancel(self)
        case .exchanging(let exchange): exchange.abandon(isTimedOut: error.isSilence)
        case .finished: return
        }
        finish(error)
    }

    /// How far a connection has come that this request does not get (B12.7, B12.20).
    func noteProgress(of connector: Connector?) {
        guard let connector, receiver.wantsTimelines else { return }
        timeline.record(connector.setup)
        noteEnds(of: connector.stream)
    }

    /// It asks for a connection once more, and that may be one that was opened before (B12.12).
    func forgetConnector() {
        timeline.record(ConnectionSetup())
        noteEnds(of: nil)
    }

    /// The addresses of both ends of a connection.
    @inline(__always)
    private func noteEnds(of stream: (any ByteStream)?) {
        timeline.localAddress = stream?.localAddress
        timeline.remoteAddress = stream?.remoteAddress
    }

    // MARK: From the connection

    /// Something came, whatever it was.
    func byteMoved() {
        // What moves within one turn of the loop moves at the same time.
        guard movedAt != reactor.nanoseconds else { return }
        movedAt = reactor.nanoseconds
        deadlines.moved(reactor.elapsed)
        rearm()
    }

    // MARK: Waiting for a connection

    /// Whether it waits for a connection.
    var isWaiting: Bool { if case .waiting = state { true } else { false } }

    /// Whether it waits for the network.
    var isOffline: Bool { if case .offline = state { true } else { false } }

    /// Stays without a connection until there may be a way; tells the receiver.
    func waitForNetwork() {
        state = .offline
        deadlines.stopped()
        rearm()
        receiver.waitsForConnectivity()
    }

    /// Gets in the pool's line, as it wishes.
    func askForConnection() {
        guard suspensions == 0 else {
            state = .idle
            return
        }
        noteAttempt()
        state = .waiting(isTimed: false)
        deadlines.stopped()
        rearm()
        pool.request(self, atFront: wish.atFront, onNewConnection: wish.onNewConnection)
    }

    func finish(_ error: EngineError?, again: SecondSending? = nil) {
        leave(error)
        report(error, again: again)
        core.ended(id)
    }

    /// Lets go of what it has on the loop; the caller tells the receiver, and then the core.
    func leave(_ error: EngineError?) {
        // Order: whether it waits is looked at.
        stopWaitingForNetwork()
        state = .finished
        feed?.close()
        core.takeBack(timer)
        countBytes()
        handle.request.trace?.tell(.ended(discardBudget == nil ? error : nil))
        if let before = handle.request.continues { pool.abandonKept(after: before) }
    }

    /// An attempt is over: what moved in it counts. Measured: to hand the timeline over would copy it.
    func countBytes() {
        core.totals.bytesSent.add(timeline.requestHeadBytes &+ timeline.requestBodyBytes)
        core.totals.bytesReceived.add(timeline.responseHeadBytes &+ timeline.responseBodyBytes)
    }

    /// Tells the receiver of the end, once; nothing that happens to a response that is not wanted is an error.
    func report(_ error: EngineError?, again: SecondSending? = nil) {
        guard !isReported else { return }
        isReported = true
        receiver.finished(outcome(discardBudget == nil ? error : nil, again: again))
    }

    func outcome(_ error: EngineError?, again: SecondSending? = nil) -> TransactionOutcome {
        guard receiver.wantsTimelines else { return TransactionOutcome(error: error, again: again, last: nil) }
        return TransactionOutcome(error: error, again: again, earlier: pastTimelines, last: timeline)
    }

    // MARK: Deadlines

    func rearm() {
        timer.set(deadlines.next)
    }

    /// One of the deadlines may have passed.
    func deadlinePassed() {
        switch deadlines.expired(reactor.elapsed) {
        case .idle where endEarlyAnswered() || waitedForOthers() || isArriving(): break
        case .idle:
            let host = key.route.timedOut(handle.request.origin.host)
            if isWaiting { pool.connector(for: self)?.timeIsOver() }
            failed(.idleTimeout(host: host, phase: phase, after: handle.request.idleTimeout ?? .zero))
        case .resource where body?.isBrief == true: restIsLate()
        case .resource:
            let start = (pastTimelines.first ?? timeline).fetchStart
            let host = key.route.timedOut(handle.request.origin.host)
            if isWaiting { pool.connector(for: self)?.timeIsOver() }
            failed(
                .resourceTimeout(
                    host: host, phase: phase, after: start.duration(to: reactor.now), lastAttempt: lastFailure))
        case nil: rearm()
        }
    }

    /// Whether it was not the network that kept this request waiting but an answer to a question about another's
    /// connection (B1.32): the idle time then starts anew with the answer.
    private func waitedForOthers() -> Bool {
        guard case .waiting = state, let end = pool.lastStandstill(of: key) else { return false }
        deadlines.started(end)
        guard deadlines.expired(reactor.elapsed) == nil else { return false }
        rearm()
        return true
    }

    /// Whether the request has gone on its way to the peer though no byte of it was taken: what the system has taken
    /// before it sends by and by (B6.42).
    private func isArriving() -> Bool {
        guard case .exchanging(let exchange) = state, let arrival = exchange.arrival(),
            deadlines.arrived(arrival, reactor.elapsed)
        else { return false }
        rearm()
        return true
    }

    /// A server that has answered whole and then does not take the rest of the body has said what there is to say.
    private func endEarlyAnswered() -> Bool {
        if case .exchanging(let exchange) = state { exchange.endIfAnswered() } else { false }
    }
}
