// Decides which connection serves which request, when to open one and when to close one: for one session, over all
// its hosts. Behaviour B16.1 to B16.7, RFC 9112 §9.3 and §9.4; H2.1 to H2.6. It must not know what a connection is,
// what it speaks, what a request is, nor what time it is; ids and times are arguments, and an id it does not know is
// ignored. What an event leads to is pulled by `nextAction`, in the order in which it is to be done.
//
// A connection is unused while it is idle, and while it is being opened and no request waits for it.
//
// The rules:
// 1. Requests and connections of one `PoolKey` are interchangeable. Whichever connection of the key becomes ready
//    first serves the first waiting request, whichever request caused its dial (late binding). A connection serves as
//    many at the same time as its capacity says; over HTTP/1.1 that is one.
// 2. A dial is made for each waiting request beyond the dials already under way, within the limit per host. The limit
//    counts every connection to the host's name in any state, over all keys that share it (B16.1). Each waiting request
//    is paired with at most one dial, so that a failed dial has one request to fail with it.
// 3. At the limit, unused connections make room for waiting requests: a dial beyond need is cancelled, or the idle
//    connection that would expire first is closed. So while a request waits without a dial, every connection of that
//    host is in use or is being dialled for a waiting request.
// 4. A request that is asked about the peer of its dial is bound to the dial from then on: no other connection
//    serves the request, the dial serves no other request before it is open, and if it fails the request fails. When
//    the request goes away, the next one that the dial is for, or that has no dial, takes its place; where there is
//    none the dial is given up.
// 5. The idle connection used last is used first, so that surplus ones grow old and expire.
// 6. A connection that is kept after a request serves the request that continues that one, and no other.
// 7. Of more idle connections than the pool may have, over all hosts, those go that have been idle for the longest
//    time, and so do some when the machine has no descriptor left for a dial.
// 8. A dial whose request was served sooner by another connection is surplus. It goes on for the next
//    request, but no longer than an idle connection stays: the peer may never answer. It is given up with the
//    idle ones when the session ends.
// 9. Where a server's connections are shared, one dial at a time is under way for all that wait for it, and fails all
//    that asked before it was begun, unless only one was asked about the peer. Nothing is known of a server at first:
//    it is dialled as rule 2 says, and when a connection turns out to be shared the other dials end. One that is idle
//    and takes no request for the moment keeps the requests of its key waiting, but for some seconds only.
// 10. A connection that drains takes no new requests and does not count any more; it is closed
//     when its last request ends.
// 11. Where connections have a greatest age, one that has reached it is closed if it is idle, and drains where a new
//     request would use it. It serves the request that it was opened for, however low the limit is, and one that has
//     reached it before that request could use it serves the next. Where later requests are to have new connections,
//     those in use have reached it; those that are dialled reach it as they open, and serve only requests that had
//     asked before.
// 12. A connection that is to be ready before there is a request for it is dialled for a request that is bound to it
//     and gives it back at once. It is opened where the host has room, and closes no other connection for that.

/// The connection pool's decisions.
package struct PoolMachine: ~Copyable {
    enum Phase { case running, finishing, shutDown }

    let limits: PoolLimits
    var phase = Phase.running
    var records = PoolRecords()
    private var deadlines = IdleDeadlines()
    /// What is to be done first. Measured: nearly always there is no more, and an array costs forty instructions.
    private var first: PoolAction?
    /// What is to be done then, and how much of it has been pulled.
    private var rest: [PoolAction] = []
    private var pulled = 0
    /// What the driver's timer is set to, as far as this machine said.
    private var timer: Duration?
    /// How many had to wait, ever; a renewal counts as one, so that it has a place in the order of asking.
    var requestsSoFar = 0
    /// Whether a connection may grow too old; from then on each that opens has the time of that.
    private var mayRetire: Bool

    /// Makes an empty pool.
    package init(limits: PoolLimits = PoolLimits()) {
        self.limits = limits
        mayRetire = limits.lifetime != nil
    }

    /// The time at which a connection is too old that never is.
    private static var never: Duration { .seconds(Int64.max / 2) }

    /// What is to be done next, nil when nothing is: to be pulled after each event.
    package mutating func nextAction() -> PoolAction? {
        if let action = first {
            first = nil
            return action
        }
        guard pulled < rest.count else { return nil }
        let action = rest[pulled]
        pulled += 1
        if pulled == rest.count {
            rest.removeAll(keepingCapacity: true)
            pulled = 0
        }
        return action
    }

    // MARK: Events about requests

    /// A request needs a connection.
    ///
    /// `atFront` puts it before the others of its priority: for one that had a connection and lost it.
    /// `onNewConnection` refuses connections that have served before: for a request that is sent again (B6.26).
    /// `continuing` names the request after which a connection was kept for this one; it goes without where that has
    /// gone.
    package mutating func requested(
        _ request: RequestID,
        key: PoolKey,
        priority: Float = 0.5,
        now: Duration,
        atFront: Bool = false,
        onNewConnection: Bool = false,
        continuing: RequestID? = nil
    ) {
        guard phase != .shutDown else { return will(.refuse(request)) }
        if let continuing, let row = takeKept(after: continuing) {
            // Only what speaks HTTP/1.1 is kept, also where it could have been HTTP/2 when it was dialled.
            let speaksHTTP1 = records.keys[records.connections[row].key].key.speakingHTTP1
            if speaksHTTP1 == key.speakingHTTP1 { return will(.use(request, records.id(of: row))) }
            will(.close(records.id(of: row)))
            records.move(row, to: .free)
            records.dropKeyIfUnused(records.connections[row].key)
        }
        let row = records.keyRow(for: key)
        // Where others of the host wait for a connection, they may have their turn first.
        let hasRivals = records.keys[row].available.count > 0 && records.hosts[records.keys[row].host].unmet > 0
        if !onNewConnection, !hasRivals, let connection = usable(of: row, now: now) {
            take(connection, for: request)
            return
        }
        guard records.waiterRow(of: request) == nil else { return records.dropKeyIfUnused(row) }
        records.addWaiter(
            Waiter(
                request: request, key: row, priority: Self.usable(priority),
                order: Waiter.order(askedAt: requestsSoFar, atFront: atFront), needsNewConnection: onNewConnection))
        requestsSoFar += 1
        if hasRivals { serveWaiting(of: row, now: now) }
        matchUp(row)
        dialIfNeeded(records.keys[row].host)
        if records.keys[row].unmet > 0 { hastenBarred(of: row, now: now) }
    }

    /// A waiting request's priority changed; among its new equals it keeps its place in the order of asking.
    package mutating func priorityChanged(_ request: RequestID, to priority: Float) {
        guard let waiter = records.waiterRow(of: request) else { return }
        records.setPriority(Self.usable(priority), of: waiter)
    }

    /// A request that waits is no longer wanted; one that has its connection is not known here any more.
    package mutating func cancelled(_ request: RequestID, now: Duration) {
        guard let waiter = records.waiterRow(of: request) else { return }
        let (key, dial) = (records.waiters[waiter].key, records.waiters[waiter].dial)
        let wasBound = records.waiters[waiter].isBound
        if wasBound { endQuestion(of: dial, now) }
        records.removeWaiter(waiter)
        matchUp(key)
        if dial != PoolRecords.none {
            if records.connections[dial].waiter == PoolRecords.none {
                cancel(dial)
            } else if wasBound {
                will(.ask(records.id(of: dial)))
            }
        }
        finish(key)
    }

    // MARK: Events about connections

    /// A dial succeeded, and its connection serves so many requests at the same time: one, or where they share it as
    /// many as its server allows, and that may be one.
    package mutating func established(
        _ connection: ConnectionID, capacity: Int = 1, isShared: Bool = false, now: Duration
    ) {
        guard let row = records.row(of: connection), records.connections[row].state == .dialling else { return }
        let key = records.connections[row].key
        let dialled = requestsPaired(with: row)
        let lead = records.connections[row].waiter
        let isBound = lead != PoolRecords.none && records.waiters[lead].isBound
        records.setCapacity(capacity, of: row)
        if mayRetire {
            let retirement = limits.lifetime.map { now + $0 } ?? Self.never
            records.setRetirement(records.isOutdated(row) ? now : retirement, of: row)
        }
        for other in records.noteProtocol(isShared: isShared, of: key) where other != key { matchUp(other) }
        if isShared {
            share(row, with: isBound ? lead : nil, now: now)
        } else if let waiter = isBound ? lead : records.firstServable(byNew: row) {
            serve(waiter, with: row, now: now)
        } else {
            park(row, idleLimit: nil, now: now)
        }
        noteStranded(dialled)
    }

    /// A dial failed, and with it the waiting request it was under way for, or all where they would have shared it.
    ///
    /// Spared are a request that another dial can serve, and one that asked after this dial was begun: for that a new
    /// dial is made. One that is bound to the dial is never spared, and then it is the only one.
    package mutating func dialFailed(_ connection: ConnectionID) {
        guard let row = records.row(of: connection), records.connections[row].state == .dialling else { return }
        let (key, dialledAt) = (records.connections[row].key, records.connections[row].dialledAt)
        let dialled = requestsPaired(with: row)
        let lead = records.connections[row].waiter
        let isBound = lead != PoolRecords.none && records.waiters[lead].isBound
        records.move(row, to: .free)
        if isBound {
            fail(lead)
        } else {
            matchUp(key)
            for request in dialled {
                guard let waiter = records.waiterRow(of: request), records.waiters[waiter].dial == PoolRecords.none,
                    records.waiters[waiter].askedAt < dialledAt
                else { continue }
                fail(waiter)
            }
        }
        finish(key)
        noteStranded(dialled)
    }

    /// A request no longer needs its place on a connection, which may serve another request. The peer lets the
    /// connection be idle for `idleLimit` (`Keep-Alive: timeout`, B16.6).
    package mutating func released(_ connection: ConnectionID, idleLimit: Duration? = nil, now: Duration) {
        guard let row = records.row(of: connection), records.connections[row].used > 0 else { return }
        let key = records.connections[row].key
        let left = records.connections[row].used - 1
        records.setUsed(left, of: row)
        if records.connections[row].state == .draining {
            if left == 0 { close(row) }
        } else if let idleLimit, idleLimit <= .zero, left == 0 {
            close(row)
        } else if isRetired(row, now: now) {
            drain(row)
        } else if left < records.connections[row].capacity, let waiter = firstServable(by: key) {
            if shouldGiveWay(waiter, of: key) { drain(row) } else { serve(waiter, with: row, now: now) }
        } else if left > 0 {
            records.move(row, to: records.connections[row].stateInUse)
        } else if isBeyondNeed(row) {
            close(row)
        } else {
            park(
                row, idleLimit: left < records.connections[row].capacity ? idleLimit : barredLimit(row, idleLimit),
                now: now)
        }
    }

    /// The request that a connection was opened for cannot use it yet, for it was suspended while it was
    /// asked about it. Where no connection may grow old, this one waits all the same: else that request would
    /// be asked anew each time. One that was dialled before a renewal does not: later requests would have it.
    package mutating func handedBack(_ connection: ConnectionID, now: Duration) {
        guard let row = records.row(of: connection), isRetired(row, now: now), !records.isOutdated(row) else {
            return released(connection, now: now)
        }
        records.setRetirement(Self.never, of: row)
        released(connection, now: now)
        if records.row(of: connection) != nil { records.setRetirement(now, of: row) }
    }

    /// A shared connection can serve more or fewer requests at the same time than before. Those that it serves go on.
    package mutating func capacityChanged(_ connection: ConnectionID, to capacity: Int, now: Duration) {
        guard let row = records.row(of: connection), records.connections[row].isShared else { return }
        records.noteCapacity(capacity, of: row)
        records.setCapacity(capacity, of: row)
        let state = records.connections[row].state
        guard state != .draining else { return }
        if state != .idle { records.move(row, to: records.connections[row].stateInUse) }
        let key = records.connections[row].key
        serveWaiting(of: key, now: now)
        records.dropKeyIfUnused(key)
    }

    /// A connection serves its requests to their end and takes no new ones: its peer, or its own state, wants it so.
    package mutating func draining(_ connection: ConnectionID) {
        guard let row = records.row(of: connection) else { return }
        switch records.connections[row].state {
        case .idle, .available, .full: drain(row)
        case .free, .dialling, .draining: break
        }
    }

    /// A connection ended, whatever it was doing.
    ///
    /// A request that was bound to it is free again, and takes an idle connection that has come about meanwhile.
    package mutating func closed(_ connection: ConnectionID, now: Duration) {
        forgetKept(connection)
        guard let row = records.row(of: connection) else { return }
        let (key, waiter) = (records.connections[row].key, records.connections[row].waiter)
        let isBound =
            records.connections[row].state == .dialling && waiter != PoolRecords.none && records.waiters[waiter].isBound
        let dialled = requestsPaired(with: row)
        records.move(row, to: .free)
        if isBound {
            records.unbind(waiter)
            if !records.waiters[waiter].needsNewConnection, let idle = usable(of: key, now: now) {
                serve(waiter, with: idle, now: now)
            }
        }
        finish(key)
        noteStranded(dialled)
    }

    /// A connection in use was handed to a stream or web socket task for good, and counts no longer (B16.3).
    package mutating func detached(_ connection: ConnectionID) {
        forgetKept(connection)
        guard let row = records.row(of: connection), records.connections[row].used > 0,
            !records.connections[row].isShared
        else { return }
        records.move(row, to: .free)
        finish(records.connections[row].key)
    }

    // MARK: Other events

    /// The timer fired: connections that have been unused for too long are closed.
    package mutating func timerFired(now: Duration) {
        timer = nil
        while let entry = deadlines.earliest {
            let row = records.row(ofDeadline: entry)
            let expiry = row.flatMap { records.connections[$0].isUnused ? records.connections[$0].expiry : nil }
            if let expiry, expiry > now, expiry == entry.deadline { break }
            deadlines.removeEarliest()
            guard let row else { continue }
            records.setQueuedDeadline(nil, of: row)
            guard let expiry else { continue }
            if expiry <= now { close(row) } else { queue(expiry, for: row) }
        }
        if let deadline = deadlines.earliest?.deadline { setTimer(deadline) }
    }

    /// The machine has no descriptor left for a dial: some of the unused connections are closed, those that
    /// have been idle for the longest time. Returns whether one was.
    package mutating func ranOutOfDescriptors() -> Bool {
        let before = records.counts.idle
        for _ in 0..<max(Self.closedAtOnce, before / 4) { closeLongestIdle() }
        clearTimerIfEmpty()
        return records.counts.idle < before
    }

    /// No request that is still to come has a connection of before (B1.26): those that are unused are closed, also
    /// where they are still dialled, those in use are too old from now on, and those that are dialled for requests
    /// serve these and are then too old.
    package mutating func renew(now: Duration) {
        mayRetire = true
        requestsSoFar += 1
        records.noteRenewal(at: requestsSoFar)
        closeUnused()
        for row in records.connections.indices where records.connections[row].isInUse {
            records.setRetirement(now, of: row)
        }
    }

    private mutating func closeUnused() {
        for row in records.connections.indices where records.connections[row].isUnused { close(row) }
    }

    /// Ends the pool (B16.7).
    ///
    /// Gently: unused connections are closed, requests that wait or are still to come (redirects, replays) are served,
    /// and each connection is closed when it is idle. Immediately: all connections are closed.
    package mutating func shutDown(immediately: Bool) {
        if !immediately {
            if phase == .running { phase = .finishing }
            closeUnused()
            return
        }
        phase = .shutDown
        for row in records.connections.indices where records.connections[row].state != .free {
            will(.close(records.id(of: row)))
        }
        for request in records.waitingRequests { will(.refuse(request)) }
        records = PoolRecords()
        clearTimerIfEmpty()
    }

    // MARK: Questions

    /// A number for each open connection that no other has at the same time, below the most there were at once.
    package static func place(of connection: ConnectionID) -> Int { PoolRecords.row(named: connection) }

    /// What a connection that is open or being opened serves.
    package func key(of connection: ConnectionID) -> PoolKey? {
        records.row(of: connection).map { records.keys[records.connections[$0].key].key }
    }

    /// How many requests the server of a key let a shared connection serve at once, where it has said so and let it be
    /// fewer than was thought: as many as a new one had better begin with.
    package func lastCapacity(of key: PoolKey) -> Int? { records.lastCapacity(of: key) }

    /// Whether a connection serves its requests to their end and takes no new ones.
    package func isDraining(_ connection: ConnectionID) -> Bool {
        records.row(of: connection).map { records.connections[$0].state == .draining } ?? false
    }

    /// Whether a request waits without a dial under way for it: for a connection that becomes free.
    package func lacksDial(_ request: RequestID) -> Bool {
        records.waiterRow(of: request).map { records.waiters[$0].dial == PoolRecords.none } ?? false
    }

    /// The dial under way for a request that waits, its own or one that is for others too.
    package func dial(of request: RequestID) -> ConnectionID? {
        guard let waiter = records.waiterRow(of: request), records.waiters[waiter].dial != PoolRecords.none else {
            return nil
        }
        return records.id(of: records.waiters[waiter].dial)
    }

    /// The dial of a key that stands at the lowest place of the table.
    package func firstDial(of key: PoolKey) -> ConnectionID? {
        guard let key = records.keyRow(of: key) else { return nil }
        return records.rows(of: records.keys[key].dialling).first.map { records.id(of: $0) }
    }

    /// Whether the pool was shut down and nothing is left of it.
    package var isDrained: Bool { phase != .running && records.isEmpty }

    /// How many of each there are.
    package var counts: PoolCounts { records.counts }

    // MARK: Serving

    /// A connection that has room, those that are too old closed on the way: one in use before an idle one, so that
    /// surplus ones expire, and of the idle ones that which was used last.
    mutating func usable(of key: Int, now: Duration) -> Int? {
        while records.keys[key].available.count > 0 {
            let newest = records.keys[key].available.newest
            guard isRetired(newest, now: now) else { return newest }
            drain(newest)
        }
        var row = records.keys[key].idle.newest
        while row != PoolRecords.none {
            let older = records.connections[row].older
            if let expiry = records.connections[row].expiry, expiry > now {
                if records.connections[row].capacity > 0 { return row }
            } else {
                will(.close(records.id(of: row)))
                records.move(row, to: .free)
            }
            row = older
        }
        return nil
    }

    /// The first waiting request of a key that accepts a connection which has served before.
    private func firstServable(by key: Int) -> Int? {
        guard records.keys[key].waiting > records.keys[key].waitingForNew else { return nil }
        return records.keys[key].line.first(in: records.waiters) { !$0.needsNewConnection }
    }

    /// Gives a request a place on a connection.
    mutating func take(_ row: Int, for request: RequestID) {
        records.setUsed(records.connections[row].used + 1, of: row)
        records.move(row, to: records.connections[row].stateInUse)
        will(.use(request, records.id(of: row)))
    }

    mutating func serve(_ waiter: Int, with row: Int, now: Duration) {
        let dial = records.waiters[waiter].dial
        place(waiter, on: row)
        // The dial under way for this request serves the next; beyond need, it may make room for another key.
        matchUp(records.connections[row].key)
        dialIfNeeded(records.keys[records.connections[row].key].host)
        if dial != PoolRecords.none, records.connections[dial].isUnused { becameSurplus(dial, now: now) }
    }

    /// Serves as many of a key as its connections have room for.
    mutating func serveWaiting(of key: Int, now: Duration) {
        var dials: [Int] = []
        while let waiter = firstServable(by: key), let row = usable(of: key, now: now) {
            if shouldGiveWay(waiter, of: key) {
                drain(row)
            } else {
                if records.waiters[waiter].dial != PoolRecords.none { dials.append(records.waiters[waiter].dial) }
                place(waiter, on: row)
            }
        }
        matchUp(key)
        dialIfNeeded(records.keys[key].host)
        for dial in dials where records.connections[dial].isUnused { becameSurplus(dial, now: now) }
    }

    mutating func place(_ waiter: Int, on row: Int) {
        let request = records.waiters[waiter].request
        records.removeWaiter(waiter)
        take(row, for: request)
    }

    /// Whether a connection that has room should not serve `waiter`, so that a request of another key of the host,
    /// earlier in line, can have a connection dialled.
    ///
    /// Strict order would cost a handshake a request where two keys keep a host busy, plain late binding would let a
    /// busy key starve the others. So a key without any connection gets its turn in strict order, and one that has
    /// some is overtaken a few times first; the peer's own connections serve it meanwhile.
    private mutating func shouldGiveWay(_ waiter: Int, of key: Int) -> Bool {
        let host = records.keys[key].host
        guard records.hosts[host].unmet > records.keys[key].unmet, let rival = nextToDial(at: host, except: key),
            records.waiters[rival].precedes(records.waiters[waiter])
        else {
            records.setOvertakings(0, of: host)
            return false
        }
        let overtakings = records.hosts[host].overtakings
        let givesWay =
            records.keys[records.waiters[rival].key].connections == 0 || overtakings >= Self.overtakingsAllowed
        records.setOvertakings(givesWay ? 0 : overtakings + 1, of: host)
        return givesWay
    }

    /// Whether a connection is too old for a new request.
    @inline(__always)
    private func isRetired(_ row: Int, now: Duration) -> Bool {
        mayRetire && records.connections[row].retirement <= now
    }

    /// Lets a connection serve its requests to their end; its place at the host is free.
    mutating func drain(_ row: Int) {
        guard records.connections[row].used > 0 else { return close(row) }
        records.move(row, to: .draining)
        finish(records.connections[row].key)
    }

    mutating func park(_ row: Int, idleLimit: Duration?, now: Duration) {
        guard phase == .running, !isRetired(row, now: now) else { return close(row) }
        records.move(row, to: .idle)
        var expiry = now + min(limits.idleTimeout, idleLimit ?? limits.idleTimeout)
        if mayRetire { expiry = min(expiry, records.connections[row].retirement) }
        expire(row, at: expiry)
        if records.counts.idle > limits.idle { closeLongestIdle() }
    }

    private mutating func closeLongestIdle() {
        guard let row = records.longestIdle else { return }
        will(.close(records.id(of: row)))
        records.move(row, to: .free)
        records.dropKeyIfUnused(records.connections[row].key)
    }

    // MARK: Ending

    mutating func close(_ row: Int) {
        will(.close(records.id(of: row)))
        records.move(row, to: .free)
        finish(records.connections[row].key)
    }

    /// What follows when a connection or request of a key has gone.
    mutating func finish(_ key: Int) {
        matchUp(key)
        dialIfNeeded(records.keys[key].host)
        records.dropKeyIfUnused(key)
        clearTimerIfEmpty()
    }

    // MARK: Time

    // Measured: every connection that is kept comes by here, and a call takes thirty instructions.
    @inline(__always)
    mutating func expire(_ row: Int, at expiry: Duration) {
        records.setExpiry(expiry, of: row)
        if let queued = records.connections[row].queuedDeadline, queued <= expiry { return }
        queue(expiry, for: row)
        if let timer, timer <= expiry { return }
        setTimer(expiry)
    }

    private mutating func setTimer(_ deadline: Duration) {
        timer = deadline
        will(.setTimer(deadline))
    }

    private mutating func queue(_ expiry: Duration, for row: Int) {
        deadlines.add(expiry, for: records.id(of: row))
        records.setQueuedDeadline(expiry, of: row)
        // Entries of closed connections stay until their time; many short-lived connections must not pile them up.
        if deadlines.count > 2 * records.counts.connections + 64 {
            let records = records
            deadlines.keep { records.row(ofDeadline: $0) != nil }
        }
    }

    private mutating func clearTimerIfEmpty() {
        guard records.counts.connections == 0 else { return }
        deadlines.removeAll()
        guard timer != nil else { return }
        timer = nil
        will(.clearTimer)
    }

    // MARK: Small change

    /// Notes what is to be done.
    mutating func will(_ action: PoolAction) {
        if first == nil, rest.isEmpty { first = action } else { rest.append(action) }
    }

    /// A priority that can be compared: not-a-number counts as the default.
    private static func usable(_ priority: Float) -> Float {
        priority.isNaN ? 0.5 : priority
    }

    /// Picked by feel: what a dial and a look-up take.
    private static let closedAtOnce = 4
    /// Picked by feel: one handshake for nine requests where two keys compete.
    private static let overtakingsAllowed = 8
}
