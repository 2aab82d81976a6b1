// A pool with a virtual clock, and actions as values that a test can compare.

import Testing
import URLLoadingPolicy

/// `PoolActions` without its empty parts, in words.
enum Action: Equatable, CustomStringConvertible {
    case use(RequestID, ConnectionID)
    case dial(ConnectionID, PoolKey)
    case close([ConnectionID])
    case cancelDial(ConnectionID)
    case fail(RequestID)
    case ask(ConnectionID)
    case refuse([RequestID])
    case timer(Duration)
    case clearTimer

    var description: String {
        switch self {
        case .use(let request, let connection): "use(\(request), \(connection))"
        case .dial(let connection, let key): "dial(\(connection), \(key.origin))"
        case .close(let connections): "close(\(connections))"
        case .cancelDial(let connection): "cancelDial(\(connection))"
        case .fail(let request): "fail(\(request))"
        case .ask(let connection): "ask(\(connection))"
        case .refuse(let requests): "refuse(\(requests))"
        case .timer(let after): "timer(\(after))"
        case .clearTimer: "clearTimer"
        }
    }
}

/// A `PoolMachine` whose time a test moves.
final class VirtualPool {
    private var machine: PoolMachine
    /// Begins anywhere.
    private(set) var elapsed = Duration.seconds(1000)
    /// The connection of the last dial.
    private(set) var dialled: ConnectionID = -1

    init(perHost: Int = 6, idleTimeout: Duration = .seconds(60)) {
        machine = PoolMachine(limits: PoolLimits(perHost: perHost, idleTimeout: idleTimeout))
    }

    var counts: PoolCounts { machine.counts }
    var isDrained: Bool { machine.isDrained }

    func advance(_ duration: Duration) { elapsed += duration }

    func request(
        _ request: RequestID, _ key: PoolKey, priority: Float = 0.5, atFront: Bool = false, new: Bool = false,
        continuing: RequestID? = nil
    ) -> [Action] {
        listed(
            machine.requested(
                request, key: key, priority: priority, now: elapsed, atFront: atFront, onNewConnection: new,
                continuing: continuing))
    }

    func cancel(_ request: RequestID) -> [Action] { listed(machine.cancelled(request, now: elapsed)) }
    func setPriority(_ request: RequestID, _ priority: Float) { machine.priorityChanged(request, to: priority) }
    func establish(_ connection: ConnectionID) -> [Action] { listed(machine.established(connection, now: elapsed)) }
    func failDial(_ connection: ConnectionID) -> [Action] { listed(machine.dialFailed(connection, now: elapsed)) }
    func release(_ connection: ConnectionID, idleLimit: Duration? = nil) -> [Action] {
        listed(machine.released(connection, idleLimit: idleLimit, now: elapsed))
    }
    func keep(_ connection: ConnectionID, after request: RequestID) { machine.kept(connection, after: request) }
    func abandonKept(after request: RequestID) -> [Action] { listed(machine.abandonedKept(after: request)) }
    func close(_ connection: ConnectionID) -> [Action] { listed(machine.closed(connection, now: elapsed)) }
    func detach(_ connection: ConnectionID) -> [Action] { listed(machine.detached(connection)) }
    func fireTimer() -> [Action] { listed(machine.timerFired(now: elapsed)) }
    func closeIdle() -> [Action] { listed(machine.closeIdle()) }
    func shutDown(immediately: Bool) -> [Action] { listed(machine.shutDown(immediately: immediately, now: elapsed)) }

    func requestBehind(_ connection: ConnectionID) -> RequestID? { machine.request(behind: connection) }
    func ask(_ connection: ConnectionID) { machine.asked(by: connection) }
    func answer(_ connection: ConnectionID) { machine.answered(connection, now: elapsed) }
    func leaveToSession(_ connection: ConnectionID) -> [RequestID] { machine.leftToSession(connection) }
    func key(of connection: ConnectionID) -> PoolKey? { machine.key(of: connection) }
    /// How long ago the requests of a key last waited for nothing but answers.
    func sinceStandstill(of key: PoolKey) -> Duration? {
        machine.lastStandstill(of: key, now: elapsed).map { elapsed - $0 }
    }

    // MARK: Steps that most tests begin with

    /// Requests, dials and establishes, so that `request` has a connection of its own.
    func lease(_ request: RequestID, _ key: PoolKey) -> ConnectionID {
        _ = self.request(request, key)
        let connection = dialled
        #expect(establish(connection) == [.use(request, connection)])
        return connection
    }

    /// As many idle connections of a key, the last one released last.
    func idle(_ count: Int, _ key: PoolKey) -> [ConnectionID] {
        let connections = (0..<count).map { lease(-1 - $0, key) }
        for connection in connections { _ = release(connection) }
        return connections
    }

    private func listed(_ actions: PoolActions) -> [Action] {
        var list: [Action] = []
        if !actions.close.isEmpty { list.append(.close(actions.close)) }
        if let connection = actions.cancelDial { list.append(.cancelDial(connection)) }
        if let request = actions.fail { list.append(.fail(request)) }
        if let connection = actions.ask { list.append(.ask(connection)) }
        if !actions.refused.isEmpty { list.append(.refuse(actions.refused)) }
        if let use = actions.use { list.append(.use(use.request, use.connection)) }
        if let dial = actions.dial, let key = machine.key(of: dial) {
            dialled = dial
            list.append(.dial(dial, key))
        }
        switch actions.timer {
        case .none: break
        case .set(let deadline): list.append(.timer(deadline - elapsed))
        case .clear: list.append(.clearTimer)
        }
        return list
    }
}

/// A key that must be possible.
func poolKey(
    _ host: String = "example.com", _ port: Int? = nil, scheme: Scheme = .http, judge: ConnectionJudge = .session
) throws -> PoolKey {
    PoolKey(origin: try #require(Origin(scheme: scheme, host: host, port: port)), judge: judge)
}
