// Drives `FTPMachine`: opens its connections, says what it says, lends what comes to a receiver, keeps the deadlines.
// What concerns TLS is in `FTPTransfer+Protection`.
//
// Every transfer has a control connection of its own, which ends with it: which user is logged in, where, and in which
// form is a state of the connection that no other transfer may find.
//
// Must not know: URLSession, delegates, what replies mean.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTrust
import URLLoadingWire

/// Carries one FTP transfer out on its loop.
final class FTPTransfer: SteeredLoad {
    let handle: FTPHandle
    let receiver: any FTPReceiver
    // Owner: the core; it lets go of every transfer that ends.
    let core: LoopCore
    private var machine: FTPMachine
    /// The server as certificates name it.
    let place: Origin

    /// What the control connection has brought, for the data connection (+Protection).
    let tickets = TLSTickets()
    /// What opens the control connection and protects it.
    private(set) lazy var opening = Opening(
        id: handle.id, to: place, by: handle.request.usableRoutes, tickets: tickets,
        waitsForConnectivity: handle.request.waitsForConnectivity, owner: self, core: core)
    var control: FTPControl?
    /// What opens a data connection, and what protects it.
    private var dataConnector: Connector?
    var dataHandshake: TLSHandshake?
    private var data: FTPData?
    /// The data connection before data may flow on it.
    private var dataStream: (any ByteStream)?
    private var phase = EngineError.Phase.connecting

    /// The certificates that the server of the control connection has shown (+Protection).
    var peer: CertificateChain?
    /// What that server was shown (+Protection).
    var identity: Identity?

    private var deadlines: DeadlineMachine
    private var timer: LoopTimer?
    private let start: Duration
    private var suspensions = 0
    private var isReceiverFull = false
    private var hasBegun = false
    private var sentBytes: Int64 = 0
    private(set) var isOver = false

    init(_ handle: FTPHandle, receiver: any FTPReceiver, core: LoopCore) {
        self.handle = handle
        self.receiver = receiver
        self.core = core
        machine = FTPMachine(handle.request.job)
        place = handle.request.server.secured
        deadlines = DeadlineMachine(
            idle: handle.request.idleTimeout, resource: handle.request.resourceDeadline)
        start = core.reactor.elapsed
    }

    // MARK: Steered from outside

    /// Connects.
    func begin() {
        timer = core.reactor.makeTimer { [unowned self] in deadlinePassed() }
        guard suspensions == 0 else { return rearm() }
        hasBegun = true
        deadlines.started(core.reactor.elapsed)
        rearm()
        connect()
    }

    /// Ends with `.cancelled`.
    func cancel() {
        finish(.cancelled)
    }

    /// The receiver can take more.
    func resumeReading() {
        guard isReceiverFull else { return }
        isReceiverFull = false
        unhold()
        data?.move()
    }

    /// Stops the data and the idle time.
    func suspend() {
        suspensions += 1
        hold()
    }

    /// Undoes one suspension.
    func resume() {
        guard suspensions > 0 else { return }
        suspensions -= 1
        unhold()
        guard suspensions == 0 else { return }
        if hasBegun { data?.move() } else { begin() }
    }

    /// The question for a name and a password is answered; nil for no answer.
    func credentialAnswered(_ credential: PasswordCredential?) {
        carryOut(machine.credentialAnswered(credential)) { unhold() }
    }

    /// The next piece of the body has been supplied.
    func bodyArrived(_ piece: SourcePiece) {
        data?.arrived(piece)
    }

    // MARK: The machine

    /// Carries an action out; `first` runs before it where there is one.
    private func carryOut(_ action: FTPAction?, first: () -> Void = {}) {
        guard let action, !isOver else { return }
        first()
        switch action {
        case .send(let command):
            phase = .waitingForResponse
            control?.send(command)
        case .secure:
            secureControl()
        case .askForCredential(let refusals):
            hold()
            receiver.askedForCredential(refusals: refusals)
        case .connectAgain:
            control?.close()
            control = nil
            connect()
        case .openData(let port):
            openData(port)
        case .transfer(let head):
            note(receiver.received(head: head))
            transfer()
        case .finish:
            control?.quit()
            finish(nil)
        case .fail(let failure):
            finish(.ftp(failure))
        }
    }

    // MARK: Connections

    private func connect() {
        phase = .connecting
        if let proxy = handle.request.routes.first?.proxy, handle.request.usableRoutes.isEmpty {
            let failure = EngineError.proxy(ProxyFailure(proxy, .unreachable([])))
            return core.reactor.later { [weak self] in self?.finish(failure) }
        }
        opening.begin { [unowned self] result in
            switch result {
            case .success(let stream): listen(on: stream)
            case .failure(let error): finish(error)
            }
        }
    }

    /// Takes the server's replies from this stream.
    func listen(on stream: any ByteStream) {
        phase = .waitingForResponse
        moved()
        let control = FTPControl(stream, core: core, owner: self)
        self.control = control
        control.read()
    }

    /// TLS stands on the control connection.
    func secured(_ stream: any ByteStream) {
        listen(on: stream)
        carryOut(machine.secured())
    }

    private func openData(_ port: Int) {
        guard let place = Origin(scheme: place.scheme, host: place.host, port: port) else {
            return finish(.ftp(.malformedAddress))
        }
        // B14.22: the host is the one that is spoken to, at the address where it was found, by this machine or
        // the proxy: what is set for the host may be for the control connection's port only, and a name's next
        // look-up may lead elsewhere.
        let address = control?.stream.remoteAddress?.with(port: port)
        closeData()
        let connector = Connector(
            name: .load(handle.id), key: PoolKey(origin: place, route: opening.route), core: core,
            aside: Connector.Aside(address: address, target: opening.target, asker: { _ in false })
        ) { [unowned self] result in
            dataConnector = nil
            switch result {
            case .success(let opened):
                dataStream = opened.channel.stream
                moved()
                carryOut(machine.dataOpened())
            case .failure(let error):
                guard let next = machine.dataUnreachable() else { return finish(error) }
                carryOut(next)
            }
        }
        // The proxy has taken these, which need not be its settings'.
        connector.passage?.credentials = opening.credentials
        dataConnector = connector
        connector.start()
    }

    private func transfer() {
        guard !isOver, let stream = dataStream else { return }
        dataStream = nil
        if handle.request.job.isProtected { return secureData(stream) }
        carry(on: stream, tls: nil)
    }

    /// Data flows on this stream from now on.
    func carry(on stream: any ByteStream, tls: TLSSession?) {
        phase = isStoring ? .sendingRequest : .receivingBody
        var feed: BodyFeed?
        if isStoring {
            let framing: BodyFraming = handle.request.bodyLength.map { .length($0) } ?? .untilClose
            feed = BodyFeed(handle.request.body, framing: framing, deliver: handle.bodyDelivery)
            // Nothing to send is an empty file.
            if feed == nil { feed = BodyFeed(.bytes([UInt8]()), framing: .untilClose, deliver: handle.bodyDelivery) }
        }
        let data = FTPData(stream, tls: tls, feed: feed, core: core, owner: self)
        self.data = data
        data.move()
    }

    private var isStoring: Bool { handle.request.job.purpose == .store }

    private func closeData() {
        dataStream?.close()
        dataStream = nil
        data?.close()
        data?.letGo()
        data = nil
    }

    // MARK: The end

    /// Ends, once.
    func finish(_ error: EngineError?) {
        guard !isOver else { return }
        isOver = true
        timer = nil
        opening.cancel()
        dataConnector?.cancel()
        dataConnector = nil
        dataHandshake?.cancel()
        dataHandshake = nil
        closeData()
        control?.close()
        control = nil
        receiver.finished(error)
        core.ended(handle.id, keeping: self)
    }

    // MARK: Time

    private func moved() {
        receiver.moved()
        deadlines.moved(core.reactor.elapsed)
        rearm()
    }

    private func rearm() {
        if let next = deadlines.next { timer?.set(elapsed: next) } else { timer?.clear() }
    }

    private func deadlinePassed() {
        let host = opening.route.timedOut(handle.request.server.host)
        switch deadlines.expired(core.reactor.elapsed) {
        case .idle where isArriving(): rearm()
        case .idle:
            let silence = EngineError.idleTimeout(
                host: host, phase: currentPhase, after: handle.request.idleTimeout ?? .zero)
            opening.timeIsOver()
            guard opening.goesRound(after: silence) else { return finish(silence) }
            // Each way has its own time.
            deadlines.started(core.reactor.elapsed)
            rearm()
        case .resource:
            opening.timeIsOver()
            finish(
                .resourceTimeout(
                    host: host, phase: currentPhase, after: core.reactor.elapsed - start,
                    lastAttempt: opening.lastFailure))
        case nil: rearm()
        }
    }

    /// Whether what the system has taken of a file before has gone on its way to the server (B6.42).
    private func isArriving() -> Bool {
        guard let arrival = data?.arrival() else { return false }
        return deadlines.arrived(arrival, core.reactor.elapsed)
    }

    private var currentPhase: EngineError.Phase {
        if dataHandshake != nil { return .shakingHands }
        return opening.phase ?? dataConnector?.phase ?? phase
    }

    private func note(_ demand: ReceiverDemand) {
        switch demand {
        case .more, .briefly: break
        case .pause, .hold:
            guard !isReceiverFull else { return }
            isReceiverFull = true
            hold()
        // There is no HTTP to take a connection out of.
        case .discard, .detach: finish(.cancelled)
        }
    }
}

extension FTPTransfer: FTPControlObserver {
    func replied(_ reply: FTPReply) {
        carryOut(machine.replied(reply))
    }

    func controlMoved() { moved() }

    func controlFailed(_ failure: FTPFailure) {
        if !machine.isSettled { finish(.ftp(failure)) }
    }

    func controlEnded(_ error: SystemError?) {
        guard machine.isTransferring else { return controlIsOver() }
        // Order: what has come on the data connection by now still counts, and may not have been told in this turn.
        data?.move()
        core.reactor.later { [weak self] in self?.controlIsOver() }
    }

    private func controlIsOver() {
        let action = machine.controlEnded()
        // TLS says more than that the connection has ended.
        if case .fail(.controlClosed) = action, let error = control?.stream.brokenTLS {
            return finish(.tls(error, host: place.host))
        }
        carryOut(action)
    }
}

extension FTPTransfer: FTPDataObserver {
    var mayMove: Bool { !isReceiverFull && suspensions == 0 && !isOver }

    func received(_ piece: BodyPiece) {
        note(receiver.received(body: piece))
    }

    func dataMoved(sent count: Int) {
        moved()
        guard count > 0 else { return }
        sentBytes += Int64(count)
        receiver.sent(bodyBytes: sentBytes)
    }

    func dataEnded(count: Int64, isBroken: Bool) {
        phase = .waitingForResponse
        carryOut(isBroken ? machine.dataLost(count: count) : machine.dataEnded(count: count))
    }

    func bodyFailed(_ failure: BodyFailure) {
        finish(.body(failure))
    }
}

extension FTPTransfer: OpeningOwner {
    var answersQuestions: Bool { receiver.answersQuestions }

    var answersProxies: Bool { receiver.answersProxies }

    func asked(_ question: ConnectionQuestion) { receiver.asked(question) }

    func hold() {
        deadlines.held(core.reactor.elapsed)
        rearm()
    }

    func unhold() {
        deadlines.released(core.reactor.elapsed)
        rearm()
    }

    func networkIsMissing() {
        deadlines.stopped()
        rearm()
        receiver.waitsForConnectivity()
    }

    func networkMayBeBack() {
        deadlines.started(core.reactor.elapsed)
        rearm()
    }
}
