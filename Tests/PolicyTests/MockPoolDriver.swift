// A driver that carries nothing out but keeps its own books of what the pool told it, with plain arrays and searches,
// and reports every action that makes no sense. After each event it checks what must hold in any moment.

import Testing
import URLLoadingPolicy

final class MockPoolDriver {
    struct Connection {
        enum State { case dialling, idle, leased }
        /// Index of the key.
        var key: Int
        var state: State
        var hasServed = false
        var idleSince = 0
        var expiry: Duration?
        var isAsking = false
    }

    struct Waiting {
        let request: RequestID
        var key: Int
        var priority: Float
        let order: Int
        let needsNew: Bool
        /// The dial about whose peer it is asked.
        var boundTo: ConnectionID?
        /// Whether the pool has said that a dial is under way for it.
        var isTimed = false
    }

    private var pool: PoolMachine
    private let keys: [PoolKey]
    /// For each key the index of the first key of its host.
    private let hosts: [Int]
    private let perHost: Int
    private let idleTimeout: Duration
    private(set) var now = Duration.seconds(1000)
    private(set) var connections: [ConnectionID: Connection] = [:]
    private(set) var waiting: [Waiting] = []
    private(set) var timer: Duration?
    private var everDialled: Set<ConnectionID> = []
    private var step = 0
    private var isFinishing = false

    private(set) var asked = 0
    private(set) var used = 0
    private(set) var failed = 0
    private(set) var cancelled = 0
    private(set) var refused = 0
    /// What went wrong, with the number of the step.
    private(set) var complaints: [String] = []

    init(keys: [PoolKey], perHost: Int, idleTimeout: Duration = .seconds(60)) {
        self.keys = keys
        let names = keys.map(\.origin.matchingHost)
        hosts = names.map { name in names.firstIndex(of: name) ?? 0 }
        self.perHost = perHost
        self.idleTimeout = idleTimeout
        pool = PoolMachine(limits: PoolLimits(perHost: perHost, idleTimeout: idleTimeout))
    }

    // MARK: Events

    func ask(_ key: Int, priority: Float, atFront: Bool, needsNew: Bool) {
        asked += 1
        let idleBefore = idle(of: key).filter { !isExpired($0.value) }
        let newcomer = Waiting(
            request: asked, key: key, priority: priority, order: atFront ? -asked : asked, needsNew: needsNew)
        waiting.append(newcomer)
        let actions = pool.requested(
            asked, key: keys[key], priority: priority, now: now, atFront: atFront, onNewConnection: needsNew)
        if !needsNew, let latest = idleBefore.max(by: { $0.value.idleSince < $1.value.idleSince }) {
            check(actions.use?.request == asked && actions.use?.connection == latest.key, "the latest idle is used")
        }
        apply(actions, ready: nil)
    }

    func cancel(_ request: RequestID) {
        if waiting.contains(where: { $0.request == request }) { cancelled += 1 }
        waiting.removeAll { $0.request == request }
        apply(pool.cancelled(request, now: now), ready: nil)
    }

    func setPriority(_ request: RequestID, _ priority: Float) {
        if let index = waiting.firstIndex(where: { $0.request == request }) { waiting[index].priority = priority }
        pool.priorityChanged(request, to: priority)
        checkInvariants()
    }

    func establish(_ connection: ConnectionID) {
        becomeReady(connection, from: .dialling, idleLimit: nil)
        apply(pool.established(connection, now: now), ready: connection)
    }

    func release(_ connection: ConnectionID, idleLimit: Duration?) {
        becomeReady(connection, from: .leased, idleLimit: idleLimit)
        apply(pool.released(connection, idleLimit: idleLimit, now: now), ready: connection)
    }

    func failDial(_ connection: ConnectionID) {
        let bound = waiting.first { $0.boundTo == connection }?.request
        if connections[connection]?.state == .dialling { connections[connection] = nil }
        let actions = pool.dialFailed(connection, now: now)
        if let bound { check(actions.fail == bound, "spares the request that is bound to a failed dial") }
        apply(actions, ready: nil)
    }

    /// The handshake of a dial asks something.
    func question(_ connection: ConnectionID) {
        guard connections[connection]?.state == .dialling else { return }
        guard let request = pool.request(behind: connection) else {
            let dials = connections.values.count { $0.key == connections[connection]?.key && $0.state == .dialling }
            let waiters = waiting.count { $0.key == connections[connection]?.key }
            return check(dials > waiters, "a dial is for nobody though somebody waits")
        }
        guard let index = waiting.firstIndex(where: { $0.request == request }) else {
            return complain("asks \(request), which does not wait")
        }
        check(waiting[index].key == connections[connection]?.key, "asks about a connection of another key")
        let bound = waiting.first { $0.boundTo == connection }?.request
        check(bound == nil || bound == request, "asks another request than the one that is bound")
        waiting[index].boundTo = connection
        connections[connection]?.isAsking = true
        pool.asked(by: connection)
        checkInvariants()
    }

    /// What the handshake has asked is answered.
    func answer(_ connection: ConnectionID) {
        connections[connection]?.isAsking = false
        pool.answered(connection, now: now)
        checkInvariants()
    }

    /// Who was asked about the peer of a dial has no say.
    func leaveToSession(_ connection: ConnectionID) {
        let moved = pool.leftToSession(connection)
        guard let known = connections[connection], known.state == .dialling,
            let target = keys.firstIndex(of: keys[known.key].judgedBySession), target != known.key
        else { return check(moved.isEmpty, "moves requests with nothing that is left to the session") }
        check(pool.key(of: connection) == keys[target], "a dial that is left to the session keeps its key")
        connections[connection]?.key = target
        let bound = waiting.first { $0.boundTo == connection }?.request
        check(bound == nil || moved.contains(bound ?? 0), "the request that was asked stays behind")
        for request in moved {
            let index = waiting.firstIndex { $0.request == request && $0.key == known.key }
            check(index != nil, "moves \(request), which does not wait there")
            if let index { waiting[index].key = target }
        }
        let dials = connections.values.count { $0.key == known.key && $0.state == .dialling }
        check(waiting.count { $0.key == known.key } <= dials, "a request without a dial stays behind")
        checkInvariants()
    }

    func close(_ connection: ConnectionID) {
        connections[connection] = nil
        for index in waiting.indices where waiting[index].boundTo == connection { waiting[index].boundTo = nil }
        apply(pool.closed(connection, now: now), ready: nil)
    }

    func detach(_ connection: ConnectionID) {
        connections[connection] = nil
        apply(pool.detached(connection), ready: nil)
    }

    func advance(_ duration: Duration) {
        now += duration
        while let timer, timer <= now {
            self.timer = nil
            apply(pool.timerFired(now: now), ready: nil)
        }
        for (id, connection) in connections where connection.state == .idle && isExpired(connection) {
            complain("connection \(id) outlived its time")
        }
    }

    func closeIdle() {
        apply(pool.closeIdle(), ready: nil)
        check(
            !connections.contains { $0.value.state == .idle || isSurplusDial($0.key) },
            "nothing that serves nobody is left")
    }

    func shutDown(immediately: Bool) {
        isFinishing = true
        let expected = waiting.sorted(by: precedes).map(\.request)
        let actions = pool.shutDown(immediately: immediately, now: now)
        if immediately {
            check(Set(actions.close) == Set(connections.keys), "every connection is closed")
            check(actions.refused == expected, "every waiting request is refused, in order")
            refused += actions.refused.count
            (connections, waiting) = ([:], [])
            if actions.timer == .clear { timer = nil }
            checkInvariants()
        } else {
            apply(actions, ready: nil)
            check(!connections.values.contains { $0.state == .idle }, "no idle connection is left")
        }
    }

    var isDrained: Bool { pool.isDrained }

    // MARK: Actions

    private func becomeReady(_ id: ConnectionID, from state: Connection.State, idleLimit: Duration?) {
        guard var connection = connections[id], connection.state == state else { return }
        connection.state = .idle
        connection.idleSince = step
        connection.expiry = now + min(idleTimeout, idleLimit ?? idleTimeout)
        connections[id] = connection
    }

    private func apply(_ actions: PoolActions, ready: ConnectionID?) {
        for id in actions.close {
            check(connections[id]?.state == .idle || isSurplusDial(id), "closes \(id), which serves somebody")
            connections[id] = nil
        }
        if let id = actions.cancelDial {
            check(connections[id]?.state == .dialling, "cancels \(id), which is not a dial")
            connections[id] = nil
        }
        if let request = actions.fail {
            check(waiting.contains { $0.request == request }, "fails \(request), which does not wait")
            waiting.removeAll { $0.request == request }
            failed += 1
        }
        if let request = actions.joined {
            let index = waiting.firstIndex { $0.request == request }
            check(index != nil, "a dial is for \(request), which does not wait")
            if let index { waiting[index].isTimed = true }
        }
        if let id = actions.ask {
            check(connections[id] != nil, "asks about a connection that has gone")
            check(!waiting.contains { $0.boundTo == id }, "asks anew though the request that was asked is there")
            question(id)
        }
        check(actions.refused.isEmpty, "refuses only when shut down")
        if let use = actions.use { apply(use: use.request, use.connection, ready: ready) }
        if let dial = actions.dial {
            check(everDialled.insert(dial).inserted, "gives the id \(dial) twice")
            let key = pool.key(of: dial).flatMap { keys.firstIndex(of: $0) } ?? 0
            let dials = connections.values.count { $0.key == key && $0.state == .dialling }
            let needed = waiting.count { $0.key == key }
            check(dials < needed, "dials \(keys[key].origin) beyond need")
            connections[dial] = Connection(key: key, state: .dialling)
            for index in waiting.indices where waiting[index].key == key { waiting[index].isTimed = true }
        }
        switch actions.timer {
        case .none: break
        case .set(let deadline): timer = deadline
        case .clear: timer = nil
        }
        checkInvariants()
    }

    private func apply(use request: RequestID, _ id: ConnectionID, ready: ConnectionID?) {
        guard let index = waiting.firstIndex(where: { $0.request == request }) else {
            return complain("uses \(id) for \(request), which does not wait")
        }
        guard var connection = connections[id], connection.state == .idle else {
            return complain("uses \(id), which is not free")
        }
        let bound = waiting.first { $0.boundTo == id }?.request
        check(bound == nil || bound == request, "serves another request than the one that is bound")
        let waiter = waiting.remove(at: index)
        check(waiter.boundTo == nil || waiter.boundTo == id, "serves a bound request with another connection")
        check(waiter.key == connection.key, "uses a connection of another key")
        check(!isExpired(connection), "uses an expired connection")
        check(!(waiter.needsNew && connection.hasServed), "uses an old connection for a request that needs a new one")
        if ready != nil, waiter.boundTo == nil {
            check(ready == id, "serves with another connection than the one that became ready")
            let earlier = waiting.contains {
                $0.key == waiter.key && $0.boundTo == nil && !($0.needsNew && connection.hasServed)
                    && precedes($0, waiter)
            }
            check(!earlier, "serves \(request) before its turn")
        }
        connection.state = .leased
        connection.isAsking = false
        connection.hasServed = true
        connections[id] = connection
        used += 1
    }

    // MARK: What must hold

    private func checkInvariants() {
        step += 1
        var counts = PoolCounts(waiting: waiting.count)
        for connection in connections.values {
            switch connection.state {
            case .dialling: counts.dialling += 1
            case .idle: counts.idle += 1
            case .leased: counts.leased += 1
            }
        }
        check(pool.counts == counts, "counts \(pool.counts) instead of \(counts)")
        check(asked == used + failed + cancelled + refused + waiting.count, "a request got lost")
        checkHosts()
        checkStandstill()
        checkSurplusDials()
        for (id, connection) in connections where connection.state == .dialling {
            guard let request = pool.request(behind: id) else { continue }
            check(waiting.contains { $0.request == request && $0.isTimed }, "\(request) is not told of its dial")
        }
        if let earliest = connections.values.filter({ $0.state == .idle }).compactMap(\.expiry).min() {
            if let timer { check(timer <= earliest, "the timer is later than an idle connection's end") }
            check(timer != nil, "no timer for idle connections")
            check(!isFinishing, "an idle connection after shut-down")
        }
        if connections.isEmpty { check(timer == nil, "a timer for nothing") }
        check(pool.isDrained == (isFinishing && connections.isEmpty && waiting.isEmpty), "isDrained is wrong")
    }

    private func checkHosts() {
        let none = [Int](repeating: 0, count: keys.count)
        var (dials, idle, waiters, old, connected) = (none, none, none, none, none)
        for connection in connections.values {
            if connection.state == .dialling { dials[connection.key] += 1 }
            if connection.state == .idle { idle[connection.key] += 1 }
            connected[hosts[connection.key]] += 1
        }
        for waiter in waiting {
            waiters[waiter.key] += 1
            if !waiter.needsNew, waiter.boundTo == nil { old[waiter.key] += 1 }
        }
        for key in keys.indices {
            let host = hosts[key]
            check(connected[host] <= perHost, "\(connected[host]) connections to one host")
            check(idle[key] == 0 || old[key] == 0, "a request waits beside an idle connection")
            guard waiters[key] > dials[key] else { continue }
            check(connected[host] == perHost, "a request waits without dial though there is room")
            for other in keys.indices where hosts[other] == host {
                check(idle[other] == 0, "a request waits without dial beside an idle connection")
                check(dials[other] <= waiters[other], "a request waits without dial beside a surplus dial")
            }
        }
    }

    private func checkSurplusDials() {
        for key in keys.indices {
            let dials = connections.values.count { $0.key == key && $0.state == .dialling }
            guard dials > waiting.count(where: { $0.key == key }) else { continue }
            check(!isFinishing, "a dial for nobody after shut-down")
            check(timer.map { $0 <= now + idleTimeout } ?? false, "a dial for nobody has no time limit")
        }
    }

    /// Whether more dials of its key are under way than requests wait.
    private func isSurplusDial(_ id: ConnectionID) -> Bool {
        guard let connection = connections[id], connection.state == .dialling else { return false }
        let dials = connections.values.count { $0.key == connection.key && $0.state == .dialling }
        return dials > waiting.count { $0.key == connection.key }
    }

    private func checkStandstill() {
        for (index, key) in keys.enumerated() {
            let dials = connections.values.filter { $0.key == index && $0.state == .dialling }
            let standsStill = !dials.isEmpty && dials.allSatisfy(\.isAsking)
            let last = pool.lastStandstill(of: key, now: now)
            if standsStill { check(last == now, "a standstill is not noticed") }
            if let last { check(last <= now, "a standstill in the future") }
        }
    }

    private func precedes(_ left: Waiting, _ right: Waiting) -> Bool {
        left.priority == right.priority ? left.order < right.order : left.priority > right.priority
    }

    private func idle(of key: Int) -> [ConnectionID: Connection] {
        connections.filter { $0.value.key == key && $0.value.state == .idle }
    }

    private func isExpired(_ connection: Connection) -> Bool {
        connection.expiry.map { $0 <= now } ?? false
    }

    private func check(_ holds: Bool, _ complaint: @autoclosure () -> String) {
        if !holds { complain(complaint()) }
    }

    private func complain(_ complaint: String) {
        if complaints.count < 20 { complaints.append("step \(step): \(complaint)") }
    }
}
