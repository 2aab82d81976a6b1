// Runs `PoolMachine`: hands connections to transactions, starts connectors, closes what is surplus.
//
// All decisions are the machine's; this file only knows the objects behind its numbers. Nothing here is called
// by anybody but the loop.

import LoadingPolicy
import Sockets

/// The pool of one engine.
final class PoolDriver {
    private unowned let core: LoopCore
    private var machine: PoolMachine
    private var connections: [ConnectionID: HTTP1Connection] = [:]
    private var connectors: [ConnectionID: Connector] = [:]
    private lazy var timer = core.reactor.makeTimer { [unowned self] in
        perform(machine.timerFired(now: core.reactor.now))
    }

    init(core: LoopCore) {
        self.core = core
        self.machine = PoolMachine(
            limits: PoolLimits(
                perHost: core.configuration.maximumConnectionsPerHost,
                idleTimeout: core.configuration.idleConnectionTimeout))
    }

    // MARK: What transactions ask

    /// Asks for a connection; the answer is `Transaction.assigned` or `Transaction.failed`.
    func request(_ transaction: Transaction, atFront: Bool = false, onNewConnection: Bool = false) {
        perform(
            machine.requested(
                transaction.id, key: transaction.key, priority: transaction.priority,
                now: core.reactor.now, atFront: atFront, onNewConnection: onNewConnection))
    }

    /// A waiting request needs nothing any more.
    func cancel(_ transaction: Transaction) {
        perform(machine.cancelled(transaction.id, now: core.reactor.now))
    }

    /// A waiting request's place in the queue changes.
    func priorityChanged(_ transaction: Transaction) {
        machine.priorityChanged(transaction.id, to: transaction.priority)
    }

    /// What is being done for a request that waits.
    func phase(of key: PoolKey) -> EngineError.Phase {
        connectors.values.first { $0.key == key }?.phase ?? .waitingForConnection
    }

    // MARK: What connections report

    /// An exchange is over and the connection can carry another.
    func released(_ connection: HTTP1Connection, idleLimit: Duration?) {
        perform(machine.released(connection.id, idleLimit: idleLimit, now: core.reactor.now))
    }

    /// A connection has gone, for whatever reason.
    func closed(_ connection: HTTP1Connection) {
        guard connections.removeValue(forKey: connection.id) != nil else { return }
        core.trace?.hooks.connectionClosed?(connection.id)
        perform(machine.closed(connection.id, now: core.reactor.now))
        core.leaveIfDone()
    }

    // MARK: What the engine asks

    /// Closes every connection that carries no request.
    func closeIdle() {
        perform(machine.closeIdle())
    }

    /// Takes no more requests and closes what carries none.
    func shutDown(immediately: Bool) {
        perform(machine.shutDown(immediately: immediately, now: core.reactor.now))
    }

    /// Nothing is open and nothing is being opened.
    var isDrained: Bool { connections.isEmpty && connectors.isEmpty }

    /// Counters for tests and gauges.
    var counts: PoolCounts { machine.counts }

    // MARK: Carrying out

    private func perform(_ actions: PoolActions) {
        switch actions.timer {
        case .none: break
        case .set(let deadline): timer.set(deadline)
        case .clear: timer.clear()
        }
        for id in actions.close {
            connectors.removeValue(forKey: id)?.cancel()
            connections[id]?.close()
        }
        if let id = actions.cancelDial { connectors.removeValue(forKey: id)?.cancel() }
        if let (id, key) = actions.dial { dial(id, key) }
        if let id = actions.fail { fail(id) }
        for id in actions.refused { core.transactions[id]?.failed(.cancelled) }
        if let (request, connection) = actions.use { use(request, connection) }
    }

    private func dial(_ id: ConnectionID, _ key: PoolKey) {
        let connector = Connector(id: id, key: key, core: core) { [unowned self] result in
            connectors[id] = nil
            switch result {
            case .success(let connection):
                connections[id] = connection
                connection.becomeReady()
                perform(machine.established(id, now: core.reactor.now))
                connection.watchWhileIdle()
            case .failure(let error):
                lastDialError = error
                perform(machine.dialFailed(id, now: core.reactor.now))
                core.leaveIfDone()
            }
        }
        connectors[id] = connector
        core.dialBegan(for: key)
        connector.start()
    }

    // Owner: set just before `dialFailed` and read by the `fail` action that follows from it.
    private var lastDialError: EngineError = .cancelled

    private func fail(_ id: RequestID) {
        core.transactions[id]?.failed(lastDialError)
    }

    private func use(_ request: RequestID, _ id: ConnectionID) {
        guard let transaction = core.transactions[request], let connection = connections[id] else { return }
        guard connection.isUsable(for: transaction.handle.request.head.method) else {
            // It died while it was idle (B16.6): nothing of the request was written, so any method may go on.
            connection.close()
            self.request(transaction, atFront: true)
            return
        }
        transaction.assigned(connection)
    }

    /// Which connections may serve a request.
    func key(of request: TransactionRequest) -> PoolKey {
        PoolKey(origin: request.origin, route: request.route, tlsSettings: 0)
    }
}
