// A pool with a virtual clock, and actions as values that a test can compare.

import Testing
import URLLoadingPolicy

/// What an event leads to, in words; `joined` and `stranded`, which only tell whose time runs, are left out.
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
    /// The time of the virtual clock; where it begins does not matter.
    private(set) var elapsed = Duration.seconds(1000)
    /// The connection of the last dial.
    private(set) var dialled: ConnectionID = -1

    init(perHost: Int = 6, idleTimeout: Duration = .seconds(60), lifetime: Duration? = nil) {
        machine = PoolMachine(limits: PoolLimits(perHost: perHost, idleTimeout: idleTimeout, lifetime: lifetime))
    }

    var counts: PoolCounts { machine.counts }
    var isDrained: Bool { machine.isDrained }

    func advance(_ duration: Duration) { elapsed += duration }

    func request(
        _ request: RequestID, _ key: PoolKey, priority: Float = 0.5, atFront: Bool = false, new: Bool = false,
        continuing: RequestID? = nil
    ) -> [Action] {
        machine.requested(
            request, key: key, priority: priority, now: elapsed, atFront: atFront, onNewConnection: new,
            continuing: continuing)
        return listed()
    }

    func warmUp(_ request: RequestID, _ key: PoolKey, _ wanted: Int) -> (warmth: PoolMachine.Warmth, actions: [Action])
    {
        let warmth = machine.warmedUp(request, key: key, wanted: wanted, now: elapsed)
        return (warmth, listed())
    }

    func cancel(_ request: RequestID) -> [Action] {
        machine.cancelled(request, now: elapsed)
        return listed()
    }
    func setPriority(_ request: RequestID, _ priority: Float) { machine.priorityChanged(request, to: priority) }
    /// One with room for several is shared; so may one be that has room for one.
    func establish(_ connection: ConnectionID, capacity: Int = 1, isShared: Bool = false) -> [Action] {
        machine.established(connection, capacity: capacity, isShared: isShared || capacity > 1, now: elapsed)
        return listed()
    }
    func failDial(_ connection: ConnectionID) -> [Action] {
        machine.dialFailed(connection)
        return listed()
    }
    func release(_ connection: ConnectionID, idleLimit: Duration? = nil) -> [Action] {
        machine.released(connection, idleLimit: idleLimit, now: elapsed)
        return listed()
    }
    func handBack(_ connection: ConnectionID) -> [Action] {
        machine.handedBack(connection, now: elapsed)
        return listed()
    }
    func setCapacity(_ connection: ConnectionID, _ capacity: Int) -> [Action] {
        machine.capacityChanged(connection, to: capacity, now: elapsed)
        return listed()
    }
    func drain(_ connection: ConnectionID) -> [Action] {
        machine.draining(connection)
        return listed()
    }
    func keep(_ connection: ConnectionID, after request: RequestID) { machine.kept(connection, after: request) }
    func abandonKept(after request: RequestID) -> [Action] {
        machine.abandonedKept(after: request)
        return listed()
    }
    func close(_ connection: ConnectionID) -> [Action] {
        machine.closed(connection, now: elapsed)
        return listed()
    }
    func detach(_ connection: ConnectionID) -> [Action] {
        machine.detached(connection)
        return listed()
    }
    func fireTimer() -> [Action] {
        machine.timerFired(now: elapsed)
        return listed()
    }
    func renew() -> [Action] {
        machine.renew(now: elapsed)
        return listed()
    }
    func shutDown(immediately: Bool) -> [Action] {
        machine.shutDown(immediately: immediately)
        return listed()
    }

    func lacksDial(_ request: RequestID) -> Bool { machine.lacksDial(request) }
    func requestBehind(_ connection: ConnectionID) -> RequestID? { machine.request(behind: connection) }
    func ask(_ connection: ConnectionID) { machine.asked(by: connection) }
    func answer(_ connection: ConnectionID) { machine.answered(connection, now: elapsed) }
    func leaveToSession(_ connection: ConnectionID) -> [RequestID] {
        let moved = machine.leftToSession(connection, now: elapsed)
        #expect(listed() == [])
        return moved
    }
    func lastCapacity(of key: PoolKey) -> Int? { machine.lastCapacity(of: key) }
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

    /// What is to be done, sorted by kind: tests do not depend on the order in which the pool names different kinds.
    private func listed() -> [Action] {
        var (closed, refused): ([ConnectionID], [RequestID]) = ([], [])
        var (cancelled, failed, asked, used, dialled, timers):
            ([Action], [Action], [Action], [Action], [Action], [Action]) =
                ([], [], [], [], [], [])
        var open: Set<ConnectionID> = []
        while let action = machine.nextAction() {
            switch action {
            case .close(let connection): closed.append(connection)
            case .cancelDial(let connection):
                #expect(!open.contains(connection), "dials and gives up in one event")
                cancelled.append(.cancelDial(connection))
            case .dial(let connection):
                guard let key = machine.key(of: connection) else {
                    Issue.record("dials for nothing")
                    break
                }
                open.insert(connection)
                self.dialled = connection
                dialled.append(.dial(connection, key))
            case .fail(let request): failed.append(.fail(request))
            case .refuse(let request): refused.append(request)
            case .ask(let connection): asked.append(.ask(connection))
            case .use(let request, let connection): used.append(.use(request, connection))
            case .setTimer(let deadline): timers = [.timer(deadline - elapsed)]
            case .clearTimer: timers = [.clearTimer]
            case .joined, .stranded: break
            }
        }
        let closes: [Action] = closed.isEmpty ? [] : [.close(closed)]
        let refuses: [Action] = refused.isEmpty ? [] : [.refuse(refused)]
        return closes + cancelled + failed + asked + refuses + used + dialled + timers
    }
}

/// A key that must be possible.
func poolKey(
    _ host: String = "example.com", _ port: Int? = nil, scheme: Scheme = .http, judge: ConnectionJudge = .session,
    protocols: ProtocolOffer = .http1
) throws -> PoolKey {
    PoolKey(
        origin: try #require(Origin(scheme: scheme, host: host, port: port)), judge: judge, protocols: protocols)
}
