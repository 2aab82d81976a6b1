// Runs `PoolMachine`: hands connections to transactions, starts connectors, closes what is surplus.
//
// All decisions are the machine's; this file only knows the objects behind its numbers. Everything here is
// called on the loop.

import URLLoadingPolicy
import URLLoadingSystem

/// The pool of one engine.
final class PoolDriver {
    // `@exclusivity(unchecked)`: as in `Transaction`; the machine calls nothing.

    private unowned let core: LoopCore
    // Its own: by way of the core each look at the time would cost a check of an unowned reference.
    private let reactor: Reactor
    @exclusivity(unchecked) private var machine: PoolMachine
    @exclusivity(unchecked) private var table = ConnectionTable()
    /// What new connections may speak.
    private let protocols: ProtocolOffer
    /// Servers that have answered a request over HTTP/2 by asking for HTTP/1.1.
    private var wantsHTTP1: Set<Origin> = []
    // Owner: set just before the machine's `dialFailed`, and read by the `fail` actions that follow from it.
    private var lastDial: (error: EngineError, connector: Connector?) = (.cancelled, nil)
    private lazy var timer = reactor.makeTimer { [unowned self] in
        machine.timerFired(now: reactor.elapsed)
        carryOut()
    }

    init(core: LoopCore) {
        self.core = core
        reactor = core.reactor
        let configuration = core.configuration
        protocols = configuration.protocols
        let perHost = configuration.maximumConnectionsPerHost
        self.machine = PoolMachine(
            limits: PoolLimits(
                perHost: perHost, idleTimeout: configuration.idleConnectionTimeout,
                idle: configuration.maximumIdleConnections
                    ?? DescriptorLimit.idleConnections(perHost: perHost, pools: configuration.shards),
                lifetime: configuration.maximumConnectionLifetime))
    }

    // MARK: What transactions ask

    /// Asks for a connection; the answer is `Transaction.assigned` or `Transaction.failed`.
    func request(_ transaction: Transaction, atFront: Bool = false, onNewConnection: Bool = false) {
        if let wanted = transaction.handle.request.warms { return warmUp(transaction, wanted: wanted) }
        machine.requested(
            transaction.id, key: transaction.key, priority: transaction.priority, now: reactor.elapsed,
            atFront: atFront,
            onNewConnection: onNewConnection, continuing: transaction.handle.request.continues)
        carryOut(asking: transaction)
    }

    /// Sees to it that so many connections are ready.
    private func warmUp(_ transaction: Transaction, wanted: Int) {
        let warmth = machine.warmedUp(transaction.id, key: transaction.key, wanted: wanted, now: reactor.elapsed)
        carryOut(asking: transaction)
        if warmth != .opening { transaction.warmed(warmth) }
    }

    /// A waiting request needs nothing any more.
    func cancel(_ transaction: Transaction) {
        machine.cancelled(transaction.id, now: reactor.elapsed)
        carryOut()
    }

    /// A waiting request's place in the queue changes.
    func priorityChanged(_ transaction: Transaction) {
        machine.priorityChanged(transaction.id, to: transaction.priority)
    }

    /// What is being done for a request that waits.
    func phase(of key: PoolKey) -> EngineError.Phase {
        machine.firstDial(of: key).flatMap { table.connector($0) }?.phase ?? .waitingForConnection
    }

    /// What is being opened for a request that waits.
    func connector(for transaction: Transaction) -> Connector? {
        machine.dial(of: transaction.id).flatMap { table.connector($0) }
    }

    // MARK: What connections report

    /// An exchange is over and the connection can carry another.
    func released(_ connection: ConnectionID, idleLimit: Duration?) {
        machine.released(connection, idleLimit: idleLimit, now: reactor.elapsed)
        carryOut()
    }

    /// The request that a connection was opened for cannot use it yet.
    func handedBack(_ connection: ConnectionID) {
        machine.handedBack(connection, now: reactor.elapsed)
        carryOut()
    }

    /// An exchange is over, and what follows the request goes on upon this connection.
    func kept(_ connection: ConnectionID, after request: RequestID) {
        machine.kept(connection, after: request)
    }

    /// Whether a connection waits for this request.
    func hasKept(for request: TransactionRequest) -> Bool {
        request.continues.map { machine.hasKept(after: $0) } ?? false
    }

    /// Nothing follows a request on the connection that was kept for it, if one was.
    func abandonKept(after request: RequestID) {
        machine.abandonedKept(after: request)
        carryOut()
    }

    /// A connection can carry more or fewer exchanges at the same time than before.
    func capacityChanged(_ connection: ConnectionID, _ capacity: Int) {
        machine.capacityChanged(connection, to: capacity, now: reactor.elapsed)
        carryOut()
    }

    /// A connection takes no new requests.
    func draining(_ connection: ConnectionID) {
        machine.draining(connection)
        carryOut()
    }

    /// A request on a connection that was there before has timed out, and nothing has come.
    func fellSilent(_ connection: ConnectionID) {
        machine.fellSilent(connection)
        carryOut()
    }

    /// A server wants to be asked over HTTP/1.1, from now on (H7.7).
    func noteNeedForHTTP1(of key: PoolKey) {
        // Forgetting costs a refused request.
        if wantsHTTP1.count >= Self.mostRemembered { wantsHTTP1.removeAll() }
        wantsHTTP1.insert(key.origin)
    }

    /// A connection has gone, for whatever reason.
    func closed(_ connection: Connection) {
        guard table.remove(connection) else { return }
        core.trace?.tell(.closed(.pooled(connection.id)))
        machine.closed(connection.id, now: reactor.elapsed)
        carryOut()
        core.leaveIfDone()
    }

    /// A connection has left the pool, and lives on outside it.
    func detached(_ connection: Connection) {
        guard table.remove(connection) else { return }
        core.trace?.tell(.detached(.pooled(connection.id)))
        machine.detached(connection.id)
        carryOut()
        core.leaveIfDone()
    }

    // MARK: What handshakes ask

    /// A handshake cannot go on without an answer; `false` if there is no receiver to ask.
    func asked(_ connector: Connector) -> Bool {
        guard case .pooled(let id) = connector.name else { return false }
        guard let transaction = machine.request(behind: id).flatMap({ core.transaction($0) }) else {
            // The request that it was dialled for has gone to another connection. A request that answers questions must
            // not get this connection without having been asked.
            guard connector.isForAsking || connector.isAskedByProxy else { return false }
            core.reactor.later { [self] in settle(id) }
            return true
        }
        return put(connector, id, to: transaction)
    }

    /// An answer has come, perhaps too late.
    func answered(_ id: ConnectionID, _ number: Int, _ answer: QuestionAnswer) {
        guard let connector = table.connector(id), connector.awaits(number) else { return }
        machine.answered(id, now: reactor.elapsed)
        if let request = machine.request(behind: id) { core.transaction(request)?.answered() }
        connector.answer(answer)
    }

    /// The judge of a handshake has no say: the connection and the requests that wait for it are the session's.
    func leftToSession(_ id: ConnectionID, _ number: Int) {
        if let connector = table.connector(id), connector.awaits(number) { leaveToSession(connector, id) }
    }

    private func leaveToSession(_ connector: Connector, _ id: ConnectionID) {
        guard connector.mayBeLeft else { return }
        connector.leaveToSession()
        let moved = machine.leftToSession(id, now: reactor.elapsed)
        for request in moved { core.transaction(request)?.key = connector.key }
        carryOut()
    }

    /// When the requests of a key last waited for nothing but answers; `nil` if they never had to.
    func lastStandstill(of key: PoolKey) -> Duration? {
        machine.lastStandstill(of: key, now: reactor.elapsed)
    }

    private func put(_ connector: Connector, _ id: ConnectionID, to transaction: Transaction) -> Bool {
        let receiver = transaction.receiver
        // Its judge may have turned out to have no say while it was being dialled; then it is not asked.
        let judge = connector.key.judge
        if judge != .session, receiver.confirms(judge) == .session { leaveToSession(connector, id) }
        guard connector.isAskedByProxy ? receiver.answersProxies : receiver.answersQuestions,
            let question = connector.nextQuestion()
        else { return false }
        machine.asked(by: id)
        transaction.asked(question)
        return true
    }

    /// Whether a dial is for a request whose receiver answers questions, if there may be any.
    private func mayAsk(for id: ConnectionID, _ key: PoolKey) -> Bool {
        guard key.origin.scheme == .https || key.route.proxy != nil, let request = machine.request(behind: id) else {
            return false
        }
        return core.transaction(request)?.receiver.answersQuestions ?? false
    }

    /// Asks the request that waits for the connection now, or gives the connection up.
    private func settle(_ id: ConnectionID) {
        guard let connector = table.connector(id), connector.isAsking else { return }
        if let transaction = machine.request(behind: id).flatMap({ core.transaction($0) }) {
            if !put(connector, id, to: transaction) { connector.answer(nil) }
        } else {
            table.removeConnector(id)?.cancel()
            machine.dialFailed(id)
            carryOut()
            core.leaveIfDone()
        }
    }

    // MARK: What dials ask

    /// Closes some idle connections where a system call found no descriptor; whether it is worth another try.
    func makeRoom(after error: SystemError) -> Bool {
        guard error.isOutOfDescriptors else { return false }
        defer { carryOut() }
        return machine.ranOutOfDescriptors()
    }

    // MARK: What the engine asks

    /// Closes every connection that carries no request, and the others after their last one.
    func renew() {
        machine.renew(now: reactor.elapsed)
        carryOut()
    }

    /// Takes no more requests and closes what carries none.
    func shutDown(immediately: Bool) {
        machine.shutDown(immediately: immediately)
        carryOut()
    }

    /// Nothing is open and nothing is being opened.
    var isDrained: Bool { table.isEmpty }

    /// How many of its open connections speak HTTP/2.
    var http2Connections: Int { table.connections.count { $0.isHTTP2 } }

    /// Counters for tests and gauges.
    var counts: PoolCounts { machine.counts }

    // MARK: Carrying out

    /// Does what the machine wants done. What that leads to may call this again, and then does the rest, too.
    ///
    /// `asking` is the request that has just come: nearly always the one that is served, and so
    /// it need not be looked up.
    private func carryOut(asking: Transaction? = nil) {
        while let action = machine.nextAction() {
            switch action {
            case .use(let request, let connection):
                use(asking?.id == request ? asking : core.transaction(request), connection)
            case .close(let id):
                table.removeConnector(id)?.cancel()
                table.connection(id)?.close()
            case .cancelDial(let id): table.removeConnector(id)?.cancel()
            case .dial(let id):
                if let key = machine.key(of: id) { dial(id, key, asking) }
            case .fail(let request): core.transaction(request)?.dialFailed(lastDial.error, lastDial.connector)
            case .refuse(let request): core.transaction(request)?.failed(.cancelled)
            // What was done meanwhile may have led to a dial for the one or taken the other's.
            case .joined(let request):
                if !machine.lacksDial(request) { core.transaction(request)?.dialBegan() }
            case .stranded(let request):
                if machine.lacksDial(request) { core.transaction(request)?.dialWasLost() }
            case .ask(let id): settle(id)
            case .setTimer(let deadline): timer.set(elapsed: deadline)
            case .clearTimer: timer.clear()
            }
        }
    }

    /// `asking` is the request that has just come: nearly always the one behind the dial.
    private func dial(_ id: ConnectionID, _ key: PoolKey, _ asking: Transaction?) {
        let connector = Connector(name: .pooled(id), key: key, isForAsking: mayAsk(for: id, key), core: core) {
            [unowned self] result in
            switch result {
            case .success(let opened): dialSucceeded(id, key, opened)
            case .failure(let error): dialFailed(id, error)
            }
        }
        table.add(connector, id)
        // B6.10: only this request waits for the network. Requests that wait for the end of another one
        // have all the time there is.
        if let request = machine.request(behind: id) {
            let transaction = asking?.id == request ? asking : core.transaction(request)
            transaction?.dialBegan()
        }
        connector.start()
    }

    private func dialSucceeded(_ id: ConnectionID, _ key: PoolKey, _ opened: OpenedConnection) {
        let core = core
        // Its judge may have left it to the session since.
        let key = machine.key(of: id) ?? key
        let connection = makeConnection(id, key, opened)
        table.opened(connection)
        core.totals.connectionsOpened.add(1)
        core.trace?.tell(.opened(.pooled(id), connection.isHTTP2 ? .http2 : .http11))
        connection.becomeReady()
        machine.established(
            id, capacity: connection.capacity, isShared: connection.isHTTP2, now: reactor.elapsed)
        carryOut()
        connection.watchWhileIdle()
        core.reached(key.origin, by: key.route)
    }

    private func dialFailed(_ id: ConnectionID, _ error: EngineError) {
        lastDial = (error, table.removeConnector(id))
        machine.dialFailed(id)
        carryOut()
        lastDial.connector = nil
        core.leaveIfDone()
    }

    /// The connection that speaks what was agreed on.
    private func makeConnection(_ id: ConnectionID, _ key: PoolKey, _ opened: OpenedConnection) -> Connection {
        let isHTTP2 = opened.setup.negotiated.map { $0.alpn == "h2" } ?? (key.protocols == .http2)
        return isHTTP2
            ? .http2(
                HTTP2Connection(
                    id: id, key: key, setup: opened.setup, channel: opened.channel,
                    lastCapacity: machine.lastCapacity(of: key), core: core))
            : .http1(HTTP1Connection(id: id, key: key, setup: opened.setup, channel: opened.channel, core: core))
    }

    private func use(_ transaction: Transaction?, _ id: ConnectionID) {
        guard let transaction else {
            // The request went away after the machine had decided.
            machine.released(id, now: reactor.elapsed)
            return carryOut()
        }
        // The connection may have gone after the machine had decided.
        guard let connection = table.connection(id) else { return askAgain(transaction) }
        if transaction.isWarming { return keep(connection, openedBy: transaction) }
        guard connection.isUsable(for: transaction.handle.request.head.method) else {
            // Nothing of the request was written, so any method may go on.
            giveUp(connection)
            return askAgain(transaction)
        }
        transaction.assigned(connection)
    }

    /// The connection that the machine has given to a request is of no use to it: it asks for another, unless it is for
    /// that one alone.
    private func askAgain(_ transaction: Transaction) {
        if transaction.needsKept { return transaction.keptHasGone() }
        request(transaction, atFront: true)
    }

    /// A connection is open before there is a request for it. Order: it is back in the pool before
    /// the receiver hears of it.
    private func keep(_ connection: Connection, openedBy transaction: Transaction) {
        connection.waitsForRequests()
        machine.released(connection.id, now: reactor.elapsed)
        carryOut()
        transaction.opened(connection)
    }

    /// A connection cannot serve the request that the machine has given to it.
    private func giveUp(_ connection: Connection) {
        switch connection {
        // It died while it was idle (B16.6).
        case .http1: connection.close()
        // Others use it; what has changed is told in its turn, and the machine must know it now.
        case .http2:
            machine.capacityChanged(connection.id, to: connection.capacity, now: reactor.elapsed)
            machine.released(connection.id, now: reactor.elapsed)
            carryOut()
        }
    }

    /// Which connections may serve a request.
    func key(of request: TransactionRequest, for receiver: any TransactionReceiver) -> PoolKey {
        let judge = request.judge == .session ? .session : receiver.confirms(request.judge)
        // H1.6, H1.7: a request that becomes another protocol, or proves its user to the connection, needs
        // a connection of its own.
        let possible = request.isUpgrade || request.continues != nil ? .http1 : protocols
        let isUnwanted = !wantsHTTP1.isEmpty && wantsHTTP1.contains(request.origin)
        return PoolKey(
            toReach: request.origin, by: request.route, judge: judge, protocols: isUnwanted ? .http1 : possible)
    }

    /// Picked by feel: some hundred kilobytes.
    private static let mostRemembered = 1_024
}
