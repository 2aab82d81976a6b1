// The pool's records: which request has which connection, and what waits. Connections, keys, hosts and waiting
// requests are rows of four arrays, linked by row numbers, so that a step is a few writes in place and nothing is
// searched for. Decides nothing: `PoolMachine` does. Every change keeps the counts of key and host in step, which makes
// the questions of the common path comparisons of integers.

/// All rows, and the links between them.
struct PoolRecords {
    static let none = -1

    private(set) var connections: [PooledConnection] = []
    private(set) var keys: [PooledKey] = []
    private(set) var hosts: [PooledHost] = []
    private(set) var waiters: [Waiter] = []
    private(set) var counts = PoolCounts()
    /// Connections that are kept for the request that continues another one, by that other one.
    var kept: [RequestID: ConnectionID] = [:]
    private var memory = ProtocolMemory()
    /// How many requests had asked at the last renewal, itself counted: what asks later is not to have what was dialled
    /// before.
    private(set) var renewedAt = 0

    private var keyRows: [PoolKey: Int] = [:]
    /// The key asked for last: most sessions talk to one server at a time.
    ///
    /// It stays when nothing uses it any more, until another is asked for: where each connection carries one request,
    /// its key would be made anew for all of them.
    private var latestKey = PoolRecords.none
    private var hostRows: [String: Int] = [:]
    private var waiterRows: [RequestID: Int] = [:]

    /// The ends of the list of all idle connections, whatever their keys.
    private var newestIdle = PoolRecords.none
    private var oldestIdle = PoolRecords.none

    private var freeConnections: [Int] = []
    private var freeKeys: [Int] = []
    private var freeHosts: [Int] = []
    private var freeWaiters: [Int] = []

    var isEmpty: Bool { counts.connections == 0 && counts.waiting == 0 }

    // MARK: Connections

    /// The row of a connection, nil when the id was never given out or the connection is gone.
    func row(of connection: ConnectionID) -> Int? {
        let row = Self.row(named: connection)
        guard row < connections.count, connections[row].state != .free, id(of: row) == connection else { return nil }
        return row
    }

    /// The row that a deadline speaks of; nil when its connection is gone or has another deadline.
    func row(ofDeadline entry: IdleDeadlines.Entry) -> Int? {
        guard let row = row(of: entry.connection), connections[row].queuedDeadline == entry.deadline else { return nil }
        return row
    }

    func id(of row: Int) -> ConnectionID {
        connections[row].generation << Self.rowBits | row
    }

    mutating func addDial(for waiter: Int, at dialledAt: Int) -> ConnectionID {
        let row: Int
        if let free = freeConnections.popLast() {
            row = free
        } else {
            row = connections.count
            connections.append(PooledConnection())
        }
        connections[row].key = waiters[waiter].key
        connections[row].dialledAt = dialledAt
        connections[row].queuedDeadline = nil
        connections[row].used = 0
        connections[row].isShared = false
        move(row, to: .dialling)
        pair(row, with: waiter)
        return id(of: row)
    }

    /// Takes a connection out of the lists and counts of its state and into those of another.
    mutating func move(_ row: Int, to state: PooledConnection.State) {
        let before = connections[row].state
        // Measured: one that is used by one request after the other stays full, and has nothing to be changed.
        if before == state { return }
        let key = connections[row].key
        let host = keys[key].host
        switch before {
        case .free:
            keys[key].connections += 1
            hosts[host].connections += 1
        case .dialling:
            unpairAll(from: row)
            setAsking(false, of: row)
            Self.unlink(row, from: &keys[key].dialling, in: &connections)
            counts.dialling -= 1
        case .idle:
            Self.unlink(row, from: &keys[key].idle, in: &connections)
            leaveIdle(row)
            counts.idle -= 1
        case .available:
            Self.unlink(row, from: &keys[key].available, in: &connections)
            counts.inUse -= 1
        case .full:
            counts.inUse -= 1
        case .draining:
            hosts[host].connections += 1
            if connections[row].isShared { keys[key].shared += 1 }
            counts.draining -= 1
        }
        connections[row].state = state
        switch state {
        case .free:
            keys[key].connections -= 1
            hosts[host].connections -= 1
            if connections[row].isShared {
                keys[key].shared -= 1
                connections[row].isShared = false
            }
            connections[row].generation = (connections[row].generation + 1) & Self.rowMask
            freeConnections.append(row)
        case .dialling:
            Self.push(row, onto: &keys[key].dialling, in: &connections)
            counts.dialling += 1
        case .idle:
            Self.push(row, onto: &keys[key].idle, in: &connections)
            joinIdle(row)
            counts.idle += 1
        case .available:
            Self.push(row, onto: &keys[key].available, in: &connections)
            counts.inUse += 1
        case .full:
            counts.inUse += 1
        case .draining:
            hosts[host].connections -= 1
            if connections[row].isShared { keys[key].shared -= 1 }
            counts.draining += 1
        }
    }

    /// Notes what a dial has led to, before its row leaves the state of a dial.
    mutating func setCapacity(_ capacity: Int, of row: Int) {
        connections[row].capacity = max(0, capacity)
    }

    /// Notes that a connection is shared; it is no dial any more.
    mutating func setShared(_ row: Int) {
        connections[row].isShared = true
        keys[connections[row].key].shared += 1
    }

    mutating func setUsed(_ count: Int, of row: Int) {
        connections[row].used = count
    }

    mutating func setExpiry(_ expiry: Duration, of row: Int) {
        connections[row].expiry = expiry
    }

    mutating func setRetirement(_ retirement: Duration, of row: Int) {
        connections[row].retirement = retirement
    }

    /// The connection that has been idle for the longest time.
    var longestIdle: Int? { oldestIdle == Self.none ? nil : oldestIdle }

    private mutating func joinIdle(_ row: Int) {
        connections[row].idleOlder = newestIdle
        connections[row].idleNewer = Self.none
        if newestIdle == Self.none { oldestIdle = row } else { connections[newestIdle].idleNewer = row }
        newestIdle = row
    }

    private mutating func leaveIdle(_ row: Int) {
        let (older, newer) = (connections[row].idleOlder, connections[row].idleNewer)
        if newer == Self.none { newestIdle = older } else { connections[newer].idleOlder = older }
        if older == Self.none { oldestIdle = newer } else { connections[older].idleNewer = newer }
    }

    mutating func setQueuedDeadline(_ deadline: Duration?, of row: Int) {
        connections[row].queuedDeadline = deadline
    }

    // MARK: Waiting requests

    func waiterRow(of request: RequestID) -> Int? { waiterRows[request] }

    /// All that wait, in the order they would be served.
    var waitingRequests: [RequestID] {
        waiterRows.values.map { waiters[$0] }.sorted { $0.precedes($1) }.map(\.request)
    }

    mutating func addWaiter(_ waiter: Waiter) {
        let row: Int
        if let free = freeWaiters.popLast() {
            row = free
            waiters[row] = waiter
        } else {
            row = waiters.count
            waiters.append(waiter)
        }
        waiterRows[waiter.request] = row
        changeWaiting(of: waiter.key, by: 1, forNew: waiter.needsNewConnection)
        keys[waiter.key].line.insert(row, in: &waiters)
        keys[waiter.key].undialled.insert(row, in: &waiters)
    }

    mutating func removeWaiter(_ row: Int) {
        let key = waiters[row].key
        unpair(row)
        if !waiters[row].isBound { keys[key].line.remove(row, from: &waiters) }
        keys[key].undialled.remove(row, from: &waiters)
        waiterRows[waiters[row].request] = nil
        changeWaiting(of: key, by: -1, forNew: waiters[row].needsNewConnection)
        if counts.waiting == 0, waiters.count > Self.mostRememberedWaiters {
            (waiters, waiterRows, freeWaiters) = ([], [:], [])
        } else {
            freeWaiters.append(row)
        }
    }

    mutating func setPriority(_ priority: Float, of row: Int) {
        // A bound one is in no line; it may come back to one.
        guard !waiters[row].isBound else { return waiters[row].priority = priority }
        let key = waiters[row].key
        let isUndialled = waiters[row].dial == Self.none
        keys[key].line.remove(row, from: &waiters)
        if isUndialled { keys[key].undialled.remove(row, from: &waiters) }
        waiters[row].priority = priority
        keys[key].line.insert(row, in: &waiters)
        if isUndialled { keys[key].undialled.insert(row, in: &waiters) }
    }

    private mutating func changeWaiting(of key: Int, by difference: Int, forNew: Bool) {
        keys[key].waiting += difference
        hosts[keys[key].host].unmet += difference
        counts.waiting += difference
        if forNew { keys[key].waitingForNew += difference }
    }

    // MARK: Pairs of waiting requests and dials

    /// Pairs the first waiting request of a key that has no dial with the oldest dial that has no request, or with the
    /// oldest of all where requests will share the connection. Returns the request.
    mutating func matchOne(_ key: Int) -> Int? {
        guard keys[key].unmet > 0 else { return nil }
        guard let waiter = firstWithoutDial(of: key), let dial = dial(of: key, forAskedAt: waiters[waiter].askedAt)
        else { return nil }
        pair(dial, with: waiter)
        return waiter
    }

    /// The oldest dial under way that one more request may wait for, by when it asked.
    func dial(of key: Int, forAskedAt askedAt: Int) -> Int? {
        guard keys[key].surplusDials > 0 || keys[key].expectsShared && keys[key].dialling.count > 0 else { return nil }
        var dial = keys[key].dialling.oldest
        while dial != Self.none {
            let isFree = keys[key].expectsShared || connections[dial].waiter == Self.none
            if isFree, !isOutdated(dial) || askedAt < renewedAt { return dial }
            dial = connections[dial].newer
        }
        return nil
    }

    /// What is dialled by now is for those that have asked by now.
    mutating func noteRenewal(at renewedAt: Int) { self.renewedAt = renewedAt }

    /// Whether a connection was dialled before the last renewal.
    @inline(__always)
    func isOutdated(_ row: Int) -> Bool { connections[row].dialledAt < renewedAt }

    /// The first in line of a key that a new connection may serve: one that was dialled before the last renewal serves
    /// those that had asked before it.
    func firstServable(byNew row: Int) -> Int? {
        let key = connections[row].key
        guard isOutdated(row) else { return keys[key].line.first }
        return keys[key].line.first(in: waiters) { $0.askedAt < renewedAt }
    }

    /// Takes a waiting request that has a dial out of its line: no other connection than that dial's serves it.
    mutating func bind(_ row: Int) {
        guard !waiters[row].isBound else { return }
        keys[waiters[row].key].line.remove(row, from: &waiters)
        waiters[row].isBound = true
    }

    /// Puts a bound request back in its line.
    mutating func unbind(_ row: Int) {
        guard waiters[row].isBound else { return }
        waiters[row].isBound = false
        keys[waiters[row].key].line.insert(row, in: &waiters)
    }

    /// Notes whether a dial waits for an answer about its peer.
    mutating func setAsking(_ isAsking: Bool, of row: Int) {
        guard connections[row].isAsking != isAsking else { return }
        connections[row].isAsking = isAsking
        keys[connections[row].key].asking += isAsking ? 1 : -1
    }

    /// Makes a dial another key's, and with it the requests that wait for it; both keys are the same host's.
    mutating func move(dial row: Int, to key: Int) {
        let (before, isAsking) = (connections[row].key, connections[row].isAsking)
        let attendants = attendants(of: row)
        unpairAll(from: row)
        setAsking(false, of: row)
        Self.unlink(row, from: &keys[before].dialling, in: &connections)
        keys[before].connections -= 1
        connections[row].key = key
        keys[key].connections += 1
        Self.push(row, onto: &keys[key].dialling, in: &connections)
        setAsking(isAsking, of: row)
        for waiter in attendants {
            move(waiter: waiter, to: key)
            pair(row, with: waiter)
        }
    }

    /// Makes a waiting request without a dial another key's; both keys are the same host's.
    mutating func move(waiter row: Int, to key: Int) {
        let (before, isNew) = (waiters[row].key, waiters[row].needsNewConnection)
        if !waiters[row].isBound { keys[before].line.remove(row, from: &waiters) }
        keys[before].undialled.remove(row, from: &waiters)
        changeWaiting(of: before, by: -1, forNew: isNew)
        waiters[row].key = key
        changeWaiting(of: key, by: 1, forNew: isNew)
        if !waiters[row].isBound { keys[key].line.insert(row, in: &waiters) }
        keys[key].undialled.insert(row, in: &waiters)
    }

    mutating func noteStandstill(_ now: Duration, of key: Int) {
        keys[key].lastStandstill = now
    }

    /// The first in line of a key for which no dial is under way.
    func firstWithoutDial(of key: Int) -> Int? {
        keys[key].undialled.first
    }

    /// The newest dial of a key for which no request waits.
    func newestSurplusDial(of key: Int) -> Int? {
        guard keys[key].surplusDials > 0 else { return nil }
        var dial = keys[key].dialling.newest
        while connections[dial].waiter != Self.none { dial = connections[dial].older }
        return dial
    }

    /// The requests that a dial is under way for, the one that would be asked about its peer first.
    func attendants(of dial: Int) -> [Int] {
        let first = connections[dial].waiter
        guard first != Self.none else { return [] }
        guard connections[dial].attendants > 1 else { return [first] }
        let request = waiters[first].request
        return [first]
            + keys[connections[dial].key].line.all(in: waiters) { $0.dial == dial && $0.request != request }
    }

    private mutating func pair(_ dial: Int, with waiter: Int) {
        let key = connections[dial].key
        connections[dial].attendants += 1
        if connections[dial].waiter == Self.none {
            connections[dial].waiter = waiter
            keys[key].attended += 1
        }
        waiters[waiter].dial = dial
        keys[key].undialled.remove(waiter, from: &waiters)
        keys[key].paired += 1
        hosts[keys[key].host].unmet -= 1
    }

    private mutating func unpair(_ waiter: Int) {
        let dial = waiters[waiter].dial
        guard dial != Self.none else { return }
        let key = connections[dial].key
        waiters[waiter].dial = Self.none
        keys[key].undialled.insert(waiter, in: &waiters)
        keys[key].paired -= 1
        hosts[keys[key].host].unmet += 1
        connections[dial].attendants -= 1
        guard connections[dial].waiter == waiter else { return }
        if connections[dial].attendants > 0, let next = keys[key].line.first(in: waiters, where: { $0.dial == dial }) {
            connections[dial].waiter = next
        } else {
            connections[dial].waiter = Self.none
            keys[key].attended -= 1
        }
    }

    /// Leaves the requests of a dial without one.
    mutating func unpairAll(from dial: Int) {
        // Order: from the last to the first, so that each is found and put in line without a search.
        for waiter in attendants(of: dial).reversed() { unpair(waiter) }
    }

    // MARK: Keys and hosts

    mutating func keyRow(for key: PoolKey) -> Int {
        let before = latestKey
        if before != Self.none, keys.span[before].key == key { return before }
        let row = keyRows[key] ?? addKey(key)
        latestKey = row
        if before != Self.none { dropKeyIfUnused(before) }
        return row
    }

    /// The row of a key that has connections or waiting requests.
    func keyRow(of key: PoolKey) -> Int? { keyRows[key] }

    private mutating func addKey(_ key: PoolKey) -> Int {
        let host = hostRow(for: key.origin.matchingHost)
        var new = PooledKey(key: key, host: host, expectsShared: memory.expectsShared(key))
        new.next = hosts[host].firstKey
        let row: Int
        if let free = freeKeys.popLast() {
            row = free
            keys[row] = new
        } else {
            row = keys.count
            keys.append(new)
        }
        if new.next != Self.none { keys[new.next].previous = row }
        hosts[host].firstKey = row
        keyRows[key] = row
        return row
    }

    /// Forgets a key that has neither connections nor waiting requests, and its host with its last key.
    mutating func dropKeyIfUnused(_ row: Int) {
        guard row != latestKey, keys[row].connections == 0, keys[row].waiting == 0 else { return }
        let (previous, next, host) = (keys[row].previous, keys[row].next, keys[row].host)
        if previous == Self.none { hosts[host].firstKey = next } else { keys[previous].next = next }
        if next != Self.none { keys[next].previous = previous }
        keyRows[keys[row].key] = nil
        freeKeys.append(row)
        if hosts[host].firstKey == Self.none {
            hostRows[hosts[host].name] = nil
            freeHosts.append(host)
        }
    }

    /// Remembers what the server of a key chose, for all keys that reach it. Returns those for which that is new.
    mutating func noteProtocol(isShared: Bool, of row: Int) -> [Int] {
        guard keys[row].expectsShared != isShared, memory.note(isShared: isShared, of: keys[row].key) else { return [] }
        var changed: [Int] = []
        var other = hosts[keys[row].host].firstKey
        while other != Self.none {
            let expects = memory.expectsShared(keys[other].key)
            if keys[other].expectsShared != expects {
                keys[other].expectsShared = expects
                changed.append(other)
            }
            other = keys[other].next
        }
        return changed
    }

    /// Remembers how many requests a server lets a shared connection serve, before the connection's row has it.
    mutating func noteCapacity(_ capacity: Int, of row: Int) {
        memory.note(capacity: capacity, after: connections[row].capacity, of: keys[connections[row].key].key)
    }

    func lastCapacity(of key: PoolKey) -> Int? { memory.capacity(of: key) }

    mutating func setOvertakings(_ count: Int, of host: Int) {
        hosts[host].overtakings = count
    }

    private mutating func hostRow(for name: String) -> Int {
        if let row = hostRows[name] { return row }
        let row: Int
        if let free = freeHosts.popLast() {
            row = free
            hosts[row] = PooledHost(name: name)
        } else {
            row = hosts.count
            hosts.append(PooledHost(name: name))
        }
        hostRows[name] = row
        return row
    }

    // MARK: Lists

    /// The connections of a list, by their places.
    func rows(of list: PooledKey.List) -> [Int] {
        var (rows, row) = ([Int](), list.newest)
        while row != Self.none {
            rows.append(row)
            row = connections[row].older
        }
        return rows.sorted()
    }

    private static func push(_ row: Int, onto list: inout PooledKey.List, in connections: inout [PooledConnection]) {
        connections[row].older = list.newest
        connections[row].newer = none
        if list.newest == none { list.oldest = row } else { connections[list.newest].newer = row }
        list.newest = row
        list.count += 1
    }

    private static func unlink(_ row: Int, from list: inout PooledKey.List, in connections: inout [PooledConnection]) {
        let (older, newer) = (connections[row].older, connections[row].newer)
        if newer == none { list.newest = older } else { connections[newer].older = older }
        if older == none { list.oldest = newer } else { connections[older].newer = newer }
        list.count -= 1
    }

    /// The row that an id names, whether or not its connection is still there; rows are small numbers.
    static func row(named connection: ConnectionID) -> Int { connection & rowMask }

    /// Picked by feel: a burst's rows are not kept for good.
    private static let mostRememberedWaiters = 1_024
    /// An id is its row with the row's generation above it.
    private static let rowBits = Int.bitWidth / 2 - 1
    private static let rowMask = 1 << rowBits - 1
}
