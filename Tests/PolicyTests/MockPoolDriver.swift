// A driver that carries nothing out but keeps its own books of what the pool told it, with plain arrays and searches,
// and reports every action that makes no sense. After each event it checks what must hold in any moment.

import Testing

@testable import URLLoadingPolicy

final class MockPoolDriver {
    struct Connection {
        enum State { case dialling, open, draining }
        /// Index of the key.
        var key: Int
        var state: State
        /// How many requests it serves now, and how many it can serve at once.
        var used = 0
        var capacity = 1
        var isShared = false
        var hasServed = false
        var idleSince = 0
        var expiry: Duration?
        /// When it is too old for new requests.
        var retirement: Duration?
        var isAsking = false
        /// Whether it was dialled before the last renewal.
        var isOutdated = false

        var isIdle: Bool { state == .open && used == 0 }
        var hasRoom: Bool { state == .open && used < capacity }
    }

    struct Waiting {
        let request: RequestID
        var key: Int
        var priority: Float
        let order: Int
        let needsNew: Bool
        /// The dial about whose peer it is asked.
        var boundTo: ConnectionID?
        /// Whether a dial is under way for it, as the pool has said.
        var isTimed = false
        /// Whether it had asked before the last renewal.
        var isEarly = false
    }

    private var pool: PoolMachine
    private let keys: [PoolKey]
    /// For each key the index of the first key of its host.
    private let hosts: [Int]
    private let perHost: Int
    private let idleTimeout: Duration
    private let lifetime: Duration?
    private(set) var now = Duration.seconds(1000)
    private(set) var connections: [ConnectionID: Connection] = [:]
    private(set) var waiting: [Waiting] = []
    private(set) var timer: Duration?
    private var everDialled: Set<ConnectionID> = []
    /// For each key, whether the last connection that its server opened was shared.
    private var expectsShared: [Bool]
    private var step = 0
    /// The warm-up that wants a connection to be ready, and is bound to its dial at once.
    private var warming: RequestID?
    private var isFinishing = false

    private(set) var asked = 0
    private(set) var used = 0
    private(set) var failed = 0
    private(set) var cancelled = 0
    private(set) var refused = 0
    /// From which state to which connections have gone, by the pool's own records.
    private(set) var transitions: Set<[PooledConnection.State]> = []
    private var states: [ConnectionID: PooledConnection.State] = [:]
    /// What went wrong, with the number of the step.
    private(set) var complaints: [String] = []

    init(keys: [PoolKey], perHost: Int, idleTimeout: Duration = .seconds(60), lifetime: Duration? = nil) {
        self.keys = keys
        let names = keys.map(\.origin.matchingHost)
        hosts = names.map { name in names.firstIndex(of: name) ?? 0 }
        expectsShared = keys.map { _ in false }
        self.perHost = perHost
        self.idleTimeout = idleTimeout
        self.lifetime = lifetime
        pool = PoolMachine(limits: PoolLimits(perHost: perHost, idleTimeout: idleTimeout, lifetime: lifetime))
    }

    // MARK: Events

    func ask(_ key: Int, priority: Float, atFront: Bool, needsNew: Bool) {
        asked += 1
        let usable = connections.filter {
            $0.value.key == key && $0.value.hasRoom && !($0.value.isIdle && isExpired($0.value))
                && !isRetired($0.value)
        }
        let newcomer = Waiting(
            request: asked, key: key, priority: priority, order: atFront ? -asked : asked, needsNew: needsNew)
        waiting.append(newcomer)
        pool.requested(
            asked, key: keys[key], priority: priority, now: now, atFront: atFront, onNewConnection: needsNew)
        let request = asked
        let sharing = usable.contains { $0.value.used > 0 }
        apply(ready: nil) { used in
            guard !needsNew, !sharing, let latest = usable.max(by: { $0.value.idleSince < $1.value.idleSince }) else {
                return
            }
            self.check(used[request] == latest.key, "the latest idle is used")
        }
    }

    /// A connection is wanted before there is a request for it. The warm-up that gets it gives
    /// it back as a request does.
    func warmUp(_ key: Int, wanted: Int) {
        asked += 1
        let ready = connections.values.filter { $0.key == key && $0.isIdle && !isExpired($0) && $0.capacity > 0 }
        waiting.append(Waiting(request: asked, key: key, priority: 0.5, order: asked, needsNew: true))
        let warmth = pool.warmedUp(asked, key: keys[key], wanted: wanted, now: now)
        let request = asked
        if warmth != .opening {
            waiting.removeAll { $0.request == request }
            cancelled += 1
            if warmth == .ready(isShared: false) { check(ready.count >= wanted, "\(ready.count) are not \(wanted)") }
        }
        warming = request
        apply(ready: nil)
        warming = nil
    }

    func cancel(_ request: RequestID) {
        if waiting.contains(where: { $0.request == request }) { cancelled += 1 }
        waiting.removeAll { $0.request == request }
        pool.cancelled(request, now: now)
        apply(ready: nil)
    }

    func setPriority(_ request: RequestID, _ priority: Float) {
        if let index = waiting.firstIndex(where: { $0.request == request }) { waiting[index].priority = priority }
        pool.priorityChanged(request, to: priority)
        checkInvariants()
    }

    func establish(_ connection: ConnectionID, capacity: Int = 1) {
        if var known = connections[connection], known.state == .dialling {
            known.state = .open
            known.capacity = capacity
            known.isShared = capacity > 1
            known.isAsking = false
            known.retirement = lifetime.map { now + $0 }
            connections[connection] = known
            let origin = keys[known.key].origin
            for key in keys.indices where keys[key].origin == origin { expectsShared[key] = known.isShared }
            becomeReady(connection, idleLimit: nil)
            // It was opened for those that use it now.
            if known.isOutdated { connections[connection]?.retirement = now }
        }
        pool.established(connection, capacity: capacity, isShared: capacity > 1, now: now)
        apply(ready: capacity > 1 ? nil : connection)
    }

    func release(_ connection: ConnectionID, idleLimit: Duration?) {
        if let known = connections[connection], known.used > 0 {
            connections[connection]?.used -= 1
            if known.used == 1 { becomeReady(connection, idleLimit: idleLimit) }
        }
        pool.released(connection, idleLimit: idleLimit, now: now)
        apply(ready: connection)
    }

    func setCapacity(_ connection: ConnectionID, _ capacity: Int) {
        if connections[connection]?.isShared == true { connections[connection]?.capacity = capacity }
        pool.capacityChanged(connection, to: capacity, now: now)
        apply(ready: nil)
    }

    func drain(_ connection: ConnectionID) {
        let wasOpen = connections[connection]?.state == .open
        if wasOpen { connections[connection]?.state = .draining }
        let isUnused = connections[connection]?.used == 0
        pool.draining(connection)
        apply(ready: nil)
        check(
            !wasOpen || !isUnused || connections[connection] == nil, "a connection drains though it serves no request")
    }

    func failDial(_ connection: ConnectionID) {
        let bound = waiting.first { $0.boundTo == connection }?.request
        let before = failed
        if connections[connection]?.state == .dialling { connections[connection] = nil }
        pool.dialFailed(connection)
        apply(ready: nil)
        guard let bound else { return }
        check(!waiting.contains { $0.request == bound }, "spares the request that is bound to a failed dial")
        check(failed == before + 1, "fails others beside the request that is bound to a failed dial")
    }

    /// The handshake of a dial asks something.
    func question(_ connection: ConnectionID) {
        guard connections[connection]?.state == .dialling else { return }
        guard let request = pool.request(behind: connection) else {
            return check(isSurplusDial(connection), "a dial is for no request though one waits")
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

    /// The judge that was asked about the peer of a dial has no say, so the session decides.
    func leaveToSession(_ connection: ConnectionID) {
        let moved = pool.leftToSession(connection, now: now)
        guard let known = connections[connection], known.state == .dialling,
            let target = keys.firstIndex(of: keys[known.key].judgedBySession), target != known.key
        else {
            check(moved.isEmpty, "moves requests with nothing that is left to the session")
            return apply(ready: nil)
        }
        check(pool.key(of: connection) == keys[target], "a dial that is left to the session keeps its key")
        connections[connection]?.key = target
        let bound = waiting.first { $0.boundTo == connection }?.request
        check(bound == nil || moved.contains(bound ?? 0), "the request that was asked stays behind")
        for request in moved {
            let index = waiting.firstIndex { $0.request == request && $0.key == known.key }
            check(index != nil, "moves \(request), which does not wait there")
            if let index { waiting[index].key = target }
        }
        apply(ready: nil)
        let lacking = waiting.contains { $0.key == known.key && pool.lacksDial($0.request) }
        check(!lacking, "a request without a dial stays behind")
    }

    func close(_ connection: ConnectionID) {
        connections[connection] = nil
        for index in waiting.indices where waiting[index].boundTo == connection { waiting[index].boundTo = nil }
        pool.closed(connection, now: now)
        apply(ready: nil)
    }

    func detach(_ connection: ConnectionID) {
        guard connections[connection]?.isShared != true else { return }
        connections[connection] = nil
        pool.detached(connection)
        apply(ready: nil)
    }

    func advance(_ duration: Duration) {
        now += duration
        while let timer, timer <= now {
            self.timer = nil
            pool.timerFired(now: now)
            apply(ready: nil)
        }
        for (id, connection) in connections where connection.isIdle && isExpired(connection) {
            complain("connection \(id) outlived its time")
        }
    }

    func renew() {
        for (id, connection) in connections where connection.state == .open && connection.used > 0 {
            connections[id]?.retirement = now
        }
        for id in connections.keys { connections[id]?.isOutdated = true }
        for index in waiting.indices { waiting[index].isEarly = true }
        pool.renew(now: now)
        apply(ready: nil)
        check(!connections.contains { $0.value.isIdle || isSurplusDial($0.key) }, "nothing unused is left")
    }

    func shutDown(immediately: Bool) {
        isFinishing = true
        let expected = waiting.sorted(by: precedes).map(\.request)
        pool.shutDown(immediately: immediately)
        guard immediately else {
            apply(ready: nil)
            return check(!connections.values.contains { $0.isIdle }, "no idle connection is left")
        }
        var (closed, turnedAway): (Set<ConnectionID>, [RequestID]) = ([], [])
        while let action = pool.nextAction() {
            switch action {
            case .close(let id): closed.insert(id)
            case .refuse(let request): turnedAway.append(request)
            case .clearTimer: timer = nil
            default: complain("\(action) when everything ends")
            }
        }
        check(closed == Set(connections.keys), "every connection is closed")
        check(turnedAway == expected, "every waiting request is refused, in order")
        refused += turnedAway.count
        (connections, waiting) = ([:], [])
        checkInvariants()
    }

    var isDrained: Bool { pool.isDrained }

    // MARK: Actions

    /// A connection serves no request, as far as this driver knows.
    private func becomeReady(_ id: ConnectionID, idleLimit: Duration?) {
        connections[id]?.idleSince = step
        let expiry = now + min(idleTimeout, idleLimit ?? idleTimeout)
        let retirement = connections[id]?.retirement
        connections[id]?.expiry = min(expiry, retirement ?? expiry)
    }

    /// Takes what the pool wants done into the books. `ready` is the connection that has just got room, if one has;
    /// `finally` gets which request uses which connection.
    private func apply(ready: ConnectionID?, finally: ([RequestID: ConnectionID]) -> Void = { _ in }) {
        var uses: [RequestID: ConnectionID] = [:]
        while let action = pool.nextAction() {
            switch action {
            case .close(let id):
                check(
                    connections[id]?.used == 0 && connections[id]?.state != .dialling || isSurplusDial(id),
                    "closes \(id), which is in use")
                connections[id] = nil
            case .cancelDial(let id):
                check(connections[id]?.state == .dialling, "cancels \(id), which is not a dial")
                check(!waiting.contains { $0.boundTo == id }, "cancels \(id), about whose peer a question is open")
                connections[id] = nil
            case .fail(let request):
                check(waiting.contains { $0.request == request }, "fails \(request), which does not wait")
                waiting.removeAll { $0.request == request }
                failed += 1
            case .joined(let request): setTimed(request, !pool.lacksDial(request), when: !pool.lacksDial(request))
            case .stranded(let request): setTimed(request, false, when: pool.lacksDial(request))
            case .ask(let id):
                check(connections[id] != nil, "asks about a connection that has gone")
                check(!waiting.contains { $0.boundTo == id }, "asks anew though the request that was asked is there")
                question(id)
            case .refuse: complain("refuses only when shut down")
            case .use(let request, let connection):
                uses[request] = connection
                apply(use: request, connection, ready: ready)
            case .dial(let id): apply(dial: id)
            case .setTimer(let deadline): timer = deadline
            case .clearTimer: timer = nil
            }
        }
        finally(uses)
        noteDraining()
        checkInvariants()
    }

    /// The pool lets a connection drain of itself: it is too old, or a request of another key of its host has its turn.
    private func noteDraining() {
        for (id, connection) in connections where connection.state == .open && pool.isDraining(id) {
            let hasDial = connections.values.contains {
                hosts[$0.key] == hosts[connection.key] && $0.state == .dialling
            }
            check(connection.isShared && connection.used > 0, "\(id) drains though it is unused")
            check(hasDial || isRetired(connection), "\(id) drains for no request")
            connections[id]?.state = .draining
        }
    }

    private func setTimed(_ request: RequestID, _ isTimed: Bool, when applies: Bool) {
        guard applies, let index = waiting.firstIndex(where: { $0.request == request }) else { return }
        waiting[index].isTimed = isTimed
    }

    private func apply(dial id: ConnectionID) {
        check(everDialled.insert(id).inserted, "gives the id \(id) twice")
        let key = pool.key(of: id).flatMap { keys.firstIndex(of: $0) } ?? 0
        let dials = connections.values.count { $0.key == key && $0.state == .dialling && !$0.isOutdated }
        if expectsShared[key] {
            check(dials == 0, "dials \(keys[key].origin) though one dial is for all")
        } else {
            check(dials < waiting.count { $0.key == key }, "dials \(keys[key].origin) beyond need")
        }
        connections[id] = Connection(key: key, state: .dialling)
        let request = pool.request(behind: id)
        check(request != nil, "dials for no request")
        if let request { setTimed(request, true, when: true) }
        if let warming, warming == request, let index = waiting.firstIndex(where: { $0.request == warming }) {
            waiting[index].boundTo = id
        }
    }

    private func apply(use request: RequestID, _ id: ConnectionID, ready: ConnectionID?) {
        guard let index = waiting.firstIndex(where: { $0.request == request }) else {
            return complain("uses \(id) for \(request), which does not wait")
        }
        guard var connection = connections[id], connection.hasRoom else {
            return complain("uses \(id), which has no room")
        }
        let bound = waiting.first { $0.boundTo == id }?.request
        check(bound == nil || bound == request, "serves another request than the one that is bound")
        let waiter = waiting.remove(at: index)
        check(waiter.boundTo == nil || waiter.boundTo == id, "serves a bound request with another connection")
        check(waiter.key == connection.key, "uses a connection of another key")
        check(!connection.isIdle || !isExpired(connection), "uses an expired connection")
        // The requests that it was opened for it serves also where its greatest age is zero.
        check(
            !connection.hasServed || !isRetired(connection) || connection.isOutdated && connection.isShared,
            "uses a connection that is too old")
        check(waiter.isEarly || !connection.isOutdated, "serves a later request with a connection of before")
        // One that has just been opened serves several at once.
        check(
            !(waiter.needsNew && connection.hasServed && !connection.isShared),
            "uses an old connection for a request that needs a new one")
        if ready != nil, waiter.boundTo == nil {
            check(ready == id, "serves with another connection than the one that became ready")
            let earlier = waiting.contains {
                $0.key == waiter.key && $0.boundTo == nil && !($0.needsNew && connection.hasServed)
                    && ($0.isEarly || !connection.isOutdated) && precedes($0, waiter)
            }
            check(!earlier, "serves \(request) before its turn")
        }
        connection.used += 1
        connection.isAsking = false
        connection.hasServed = true
        connections[id] = connection
        used += 1
    }

    // MARK: What must hold

    private func checkInvariants() {
        noteStates()
        step += 1
        var counts = PoolCounts(waiting: waiting.count)
        for connection in connections.values {
            switch connection.state {
            case .dialling: counts.dialling += 1
            case .draining: counts.draining += 1
            case .open where connection.used == 0: counts.idle += 1
            case .open: counts.inUse += 1
            }
        }
        check(pool.counts == counts, "counts \(pool.counts) instead of \(counts)")
        check(asked == used + failed + cancelled + refused + waiting.count, "a request got lost")
        checkHosts()
        checkStandstill()
        checkSurplusDials()
        for waiter in waiting {
            check(waiter.isTimed != pool.lacksDial(waiter.request), "\(waiter.request) is not told of its dial")
        }
        if let earliest = connections.values.filter({ $0.isIdle }).compactMap(\.expiry).min() {
            if let timer { check(timer <= earliest, "the timer is later than an idle connection's end") }
            check(timer != nil, "no timer for idle connections")
            check(!isFinishing, "an idle connection after shut-down")
        }
        if connections.isEmpty { check(timer == nil, "a timer for nothing") }
        check(pool.isDrained == (isFinishing && connections.isEmpty && waiting.isEmpty), "isDrained is wrong")
    }

    private func noteStates() {
        var now: [ConnectionID: PooledConnection.State] = [:]
        for (row, connection) in pool.records.connections.enumerated() where connection.state != .free {
            now[pool.records.id(of: row)] = connection.state
        }
        for id in Set(states.keys).union(now.keys) {
            let (before, after) = (states[id] ?? .free, now[id] ?? .free)
            if before != after { transitions.insert([before, after]) }
        }
        states = now
    }

    private func checkHosts() {
        for host in Set(hosts) {
            let connected = connections.values.count { hosts[$0.key] == host && $0.state != .draining }
            check(connected <= perHost, "\(connected) connections to one host")
            for waiter in waiting where hosts[waiter.key] == host { check(waiter, connected) }
        }
    }

    /// What must hold while a request waits, at a host that has so many connections.
    private func check(_ waiter: Waiting, _ connected: Int) {
        let own = connections.values.filter { $0.key == waiter.key }
        if !waiter.needsNew, waiter.boundTo == nil {
            check(!own.contains { $0.hasRoom }, "a request waits beside a connection that has room")
        }
        guard pool.lacksDial(waiter.request) else { return }
        check(connected == perHost, "a request waits without dial though there is room")
        if expectsShared[waiter.key] {
            check(!own.contains { $0.state == .dialling && !$0.isOutdated }, "a dial that is for all is not for one")
        }
        for (id, connection) in connections where hosts[connection.key] == hosts[waiter.key] {
            check(!isSurplusDial(id), "a request waits without dial beside a surplus dial")
            let isOwnAndClosed = connection.key == waiter.key && connection.capacity == 0
            check(!connection.isIdle || isOwnAndClosed, "a request waits without dial beside an idle connection")
        }
    }

    private func checkSurplusDials() {
        for id in connections.keys where isSurplusDial(id) {
            check(!isFinishing, "a dial for no request after shut-down")
            check(connections[id]?.isOutdated == false, "a dial of before a renewal for no request")
            check(timer.map { $0 <= now + idleTimeout } ?? false, "a dial for no request has no time limit")
        }
    }

    /// Whether a dial is under way that no request waits for.
    private func isSurplusDial(_ id: ConnectionID) -> Bool {
        guard let connection = connections[id], connection.state == .dialling else { return false }
        return pool.request(behind: id) == nil
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

    private func isExpired(_ connection: Connection) -> Bool {
        connection.expiry.map { $0 <= now } ?? false
    }

    private func isRetired(_ connection: Connection) -> Bool {
        connection.retirement.map { $0 <= now } ?? false
    }

    private func check(_ holds: Bool, _ complaint: @autoclosure () -> String) {
        if !holds { complain(complaint()) }
    }

    private func complain(_ complaint: String) {
        if complaints.count < 20 { complaints.append("step \(step): \(complaint)") }
    }
}
