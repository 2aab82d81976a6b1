// Decides which connection serves which request, when to open one and when to close one: for one session, over all
// its hosts. Behaviour B16.1 to B16.7, RFC 9112 §9.3 and §9.4. It must not know what a connection is, who waits, nor
// what time it is; ids and times are arguments, and an id it does not know is ignored.
//
// The rules:
// 1. Requests and connections of one `PoolKey` are interchangeable. Whichever connection of the key becomes ready
//    first serves the first waiting request, whoever caused its dial (late binding).
// 2. A dial is made for each waiting request beyond the dials already under way, within the limit per host. The limit
//    counts every connection to the host's name in any state, over all keys that share it (B16.1). Each waiting request
//    is paired with at most one dial, so that a failed dial has one request to fail with it.
// 3. At the limit, what serves nobody makes room for who waits: a dial beyond need is cancelled, or the idle
//    connection that would expire first is closed. So while somebody waits undialled, every connection of that host
//    is in use or is being dialled for a waiting request; and one event makes room for at most one dial.
// 4. A request that is asked about the peer of its dial is bound to it from then on: no other connection serves it, that
//    one serves nobody else, and if the dial fails the request does. When the request goes away, the next that has no
//    dial takes its place; where there is none the dial is given up.
// 5. The idle connection used last is used first, so that surplus ones grow old and expire.
// 6. A connection that is kept after a request serves the request that continues that one, and nobody else.
// 7. Of more idle connections than the pool may have, over all hosts, those go that have been idle for the longest time, and so
//    do some when the machine has no descriptor left for a dial.
// 8. A dial whose request was served sooner by another connection is surplus. It goes on for whoever asks next, but no longer
//    than an idle connection stays: the peer may never answer. It is given up with the idle ones when the session ends.

/// The connection pool's decisions.
package struct PoolMachine: ~Copyable {
    private enum Phase { case running, finishing, shutDown }

    private let limits: PoolLimits
    private var phase = Phase.running
    var books = PoolBooks()
    private var deadlines = IdleDeadlines()
    /// What the driver's timer is set to, as far as this machine said.
    private var timer: Duration?
    /// How many had to wait, ever.
    private var requestsSoFar = 0
    /// How many connections had become idle, ever.
    private var parkings = 0

    /// Makes an empty pool.
    package init(limits: PoolLimits = PoolLimits()) {
        self.limits = limits
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
    ) -> PoolActions {
        var actions = PoolActions()
        guard phase != .shutDown else {
            actions.fail = request
            return actions
        }
        if let continuing, let row = takeKept(after: continuing) {
            if books.keys[books.connections[row].key].key == key {
                actions.use = (request, books.id(of: row))
                return actions
            }
            actions.close.append(books.id(of: row))
            books.move(row, to: .free)
            books.dropKeyIfUnused(books.connections[row].key)
        }
        let row = books.keyRow(for: key)
        if !onNewConnection, let connection = freshestIdle(of: row, now: now, &actions) {
            books.move(connection, to: .leased)
            actions.use = (request, books.id(of: connection))
            return actions
        }
        guard books.waiterRow(of: request) == nil else {
            books.dropKeyIfUnused(row)
            return actions
        }
        books.addWaiter(
            Waiter(
                request: request, key: row, priority: Self.usable(priority),
                order: Waiter.order(askedAt: requestsSoFar, atFront: atFront), needsNewConnection: onNewConnection))
        requestsSoFar += 1
        matchUp(row, &actions)
        dialIfNeeded(books.keys[row].host, &actions)
        return actions
    }

    /// A waiting request's priority changed; among its new equals it keeps its place in the order of asking.
    package mutating func priorityChanged(_ request: RequestID, to priority: Float) {
        guard let waiter = books.waiterRow(of: request) else { return }
        books.setPriority(Self.usable(priority), of: waiter)
    }

    /// A request that waits is no longer wanted; one that has its connection is not known here any more.
    package mutating func cancelled(_ request: RequestID, now: Duration) -> PoolActions {
        var actions = PoolActions()
        guard let waiter = books.waiterRow(of: request) else { return actions }
        let (key, dial) = (books.waiters[waiter].key, books.waiters[waiter].dial)
        let wasBound = books.waiters[waiter].isBound
        if dial != PoolBooks.none { endQuestion(of: dial, now) }
        books.removeWaiter(waiter)
        matchUp(key, &actions)
        if dial != PoolBooks.none {
            if books.connections[dial].waiter == PoolBooks.none {
                cancel(dial, &actions)
            } else if wasBound {
                actions.ask = books.id(of: dial)
            }
        }
        finish(key, &actions)
        return actions
    }

    // MARK: Events about connections

    /// A dial succeeded.
    package mutating func established(_ connection: ConnectionID, now: Duration) -> PoolActions {
        var actions = PoolActions()
        guard let row = books.row(of: connection), books.connections[row].state == .dialling else { return actions }
        let own = books.connections[row].waiter
        let dialled = requestPaired(with: row)
        if own != PoolBooks.none, books.waiters[own].isBound {
            serve(own, with: row, now: now, &actions)
        } else if let waiter = books.keys[books.connections[row].key].line.first {
            serve(waiter, with: row, now: now, &actions)
        } else {
            park(row, idleLimit: nil, now: now, &actions)
        }
        noteStranded(dialled, &actions)
        return actions
    }

    /// A dial failed, and with it the waiting request it was under way for.
    ///
    /// Spared are a request that another dial can serve, and one that asked after this dial was begun: for that a new
    /// dial is made. One that is bound to the dial is never spared.
    package mutating func dialFailed(_ connection: ConnectionID, now: Duration) -> PoolActions {
        var actions = PoolActions()
        guard let row = books.row(of: connection), books.connections[row].state == .dialling else { return actions }
        let (key, waiter) = (books.connections[row].key, books.connections[row].waiter)
        let isBound = waiter != PoolBooks.none && books.waiters[waiter].isBound
        let dialled = requestPaired(with: row)
        books.move(row, to: .free)
        if isBound {
            actions.fail = books.waiters[waiter].request
            books.removeWaiter(waiter)
        }
        books.matchUp(key)
        if !isBound, waiter != PoolBooks.none, books.waiters[waiter].dial == PoolBooks.none,
            books.waiters[waiter].askedAt < books.connections[row].dialledAt
        {
            actions.fail = books.waiters[waiter].request
            books.removeWaiter(waiter)
        }
        finish(key, &actions)
        noteStranded(dialled, &actions)
        return actions
    }

    /// A connection in use is free again and may serve another request, the peer allowing it to be idle for
    /// `idleLimit` (`Keep-Alive: timeout`, B16.6).
    package mutating func released(
        _ connection: ConnectionID, idleLimit: Duration? = nil, now: Duration
    ) -> PoolActions {
        var actions = PoolActions()
        guard let row = books.row(of: connection), books.connections[row].state == .leased else { return actions }
        let key = books.connections[row].key
        if let idleLimit, idleLimit <= .zero {
            close(row, &actions)
        } else if let waiter = firstServable(by: key), !shouldGiveWay(waiter, of: key) {
            serve(waiter, with: row, now: now, &actions)
        } else if books.hosts[books.keys[key].host].unmet > 0 {
            close(row, &actions)
        } else {
            park(row, idleLimit: idleLimit, now: now, &actions)
        }
        return actions
    }

    /// A connection ended, whatever it was doing.
    ///
    /// A request that was bound to it is free again, and takes an idle connection that has come about meanwhile.
    package mutating func closed(_ connection: ConnectionID, now: Duration) -> PoolActions {
        var actions = PoolActions()
        forgetKept(connection)
        guard let row = books.row(of: connection) else { return actions }
        let (key, waiter) = (books.connections[row].key, books.connections[row].waiter)
        let isBound = waiter != PoolBooks.none && books.waiters[waiter].isBound
        let dialled = requestPaired(with: row)
        books.move(row, to: .free)
        if isBound {
            books.unbind(waiter)
            if !books.waiters[waiter].needsNewConnection, let idle = freshestIdle(of: key, now: now, &actions) {
                serve(waiter, with: idle, now: now, &actions)
            }
        }
        finish(key, &actions)
        noteStranded(dialled, &actions)
        return actions
    }

    /// A connection in use was handed to a stream or web socket task for good, and counts no longer (B16.3).
    package mutating func detached(_ connection: ConnectionID) -> PoolActions {
        var actions = PoolActions()
        forgetKept(connection)
        guard let row = books.row(of: connection), books.connections[row].state == .leased else { return actions }
        books.move(row, to: .free)
        finish(books.connections[row].key, &actions)
        return actions
    }

    // MARK: Other events

    /// The timer fired: what has served nobody for too long is closed.
    package mutating func timerFired(now: Duration) -> PoolActions {
        var actions = PoolActions()
        timer = nil
        while let entry = deadlines.earliest {
            let row = books.row(of: entry)
            let expiry = row.flatMap { books.connections[$0].servesNobody ? books.connections[$0].expiry : nil }
            if let expiry, expiry > now, expiry == entry.deadline { break }
            deadlines.removeEarliest()
            guard let row else { continue }
            books.setQueuedDeadline(nil, of: row)
            guard let expiry else { continue }
            if expiry <= now { close(row, &actions) } else { queue(expiry, for: row) }
        }
        if let deadline = deadlines.earliest?.deadline { setTimer(deadline, &actions) }
        return actions
    }

    /// The machine has no descriptor left for a dial: some of the connections that nobody uses are closed, of those that
    /// have been idle for the longest time. Where none is closed there is none.
    package mutating func ranOutOfDescriptors() -> PoolActions {
        var actions = PoolActions()
        for _ in 0..<max(Self.closedAtOnce, books.counts.idle / 4) { closeLongestIdle(&actions) }
        clearTimerIfEmpty(&actions)
        return actions
    }

    /// Closes every connection that nobody uses, and gives up those that are being opened for nobody.
    package mutating func closeIdle() -> PoolActions {
        var actions = PoolActions()
        closeIdle(&actions)
        return actions
    }

    /// Ends the pool (B16.7).
    ///
    /// Gently: what serves nobody goes, requests that wait or are still to come (redirects, replays) are served, and each
    /// connection is closed when nobody needs it. Immediately: everything goes.
    package mutating func shutDown(immediately: Bool, now: Duration) -> PoolActions {
        var actions = PoolActions()
        if !immediately {
            if phase == .running { phase = .finishing }
            closeIdle(&actions)
            return actions
        }
        phase = .shutDown
        for row in books.connections.indices where books.connections[row].state != .free {
            actions.close.append(books.id(of: row))
        }
        actions.refused = books.waitingRequests
        books = PoolBooks()
        clearTimerIfEmpty(&actions)
        return actions
    }

    // MARK: Questions

    /// A number for each open connection that no other has at the same time, below the most there were at once.
    package static func place(of connection: ConnectionID) -> Int { PoolBooks.row(named: connection) }

    /// What a connection that is open or being opened serves.
    package func key(of connection: ConnectionID) -> PoolKey? {
        books.row(of: connection).map { books.keys[books.connections[$0].key].key }
    }

    /// Whether a request waits without a dial under way for it: for a connection that becomes free.
    package func lacksDial(_ request: RequestID) -> Bool {
        books.waiterRow(of: request).map { books.waiters[$0].dial == PoolBooks.none } ?? false
    }

    /// Whether the pool was shut down and nothing is left of it.
    package var isDrained: Bool { phase != .running && books.isEmpty }

    /// How many of each there are.
    package var counts: PoolCounts { books.counts }

    // MARK: Serving

    /// The idle connection used last, those that are too old closed on the way.
    private mutating func freshestIdle(
        of key: Int, now: Duration, _ actions: inout PoolActions
    ) -> Int? {
        while books.keys[key].idle.count > 0 {
            let row = books.keys[key].idle.newest
            if let expiry = books.connections[row].expiry, expiry > now { return row }
            actions.close.append(books.id(of: row))
            books.move(row, to: .free)
        }
        return nil
    }

    /// The first waiting request of a key that accepts a connection which has served before.
    private func firstServable(by key: Int) -> Int? {
        guard books.keys[key].waiting > books.keys[key].waitingForNew else { return nil }
        return books.keys[key].line.first(in: books.waiters) { !$0.needsNewConnection }
    }

    private mutating func serve(_ waiter: Int, with row: Int, now: Duration, _ actions: inout PoolActions) {
        let dial = books.waiters[waiter].dial
        actions.use = (books.waiters[waiter].request, books.id(of: row))
        books.removeWaiter(waiter)
        books.move(row, to: .leased)
        // The dial under way for this request serves the next; beyond need, it may make room for another key.
        matchUp(books.connections[row].key, &actions)
        dialIfNeeded(books.keys[books.connections[row].key].host, &actions)
        if dial != PoolBooks.none, books.connections[dial].servesNobody { becameSurplus(dial, now: now, &actions) }
    }

    /// Whether a released connection should be closed so that a request of another key of the host, earlier in line
    /// than `waiter`, can have a connection dialled.
    ///
    /// Strict order would cost a handshake a request where two keys keep a host busy, plain late binding would let a
    /// busy key starve the others. So a key without any connection gets its turn in strict order, and one that has
    /// some is overtaken a few times first; the peer's own connections serve it meanwhile.
    private mutating func shouldGiveWay(_ waiter: Int, of key: Int) -> Bool {
        let host = books.keys[key].host
        guard books.hosts[host].unmet > books.keys[key].unmet, let rival = nextToDial(at: host, except: key),
            books.waiters[rival].precedes(books.waiters[waiter])
        else {
            books.setOvertakings(0, of: host)
            return false
        }
        let overtakings = books.hosts[host].overtakings
        let givesWay =
            books.keys[books.waiters[rival].key].connections == 0 || overtakings >= Self.overtakingsAllowed
        books.setOvertakings(givesWay ? 0 : overtakings + 1, of: host)
        return givesWay
    }

    private mutating func park(
        _ row: Int, idleLimit: Duration?, now: Duration, _ actions: inout PoolActions
    ) {
        guard phase == .running else { return close(row, &actions) }
        books.move(row, to: .idle)
        expire(row, at: now + min(limits.idleTimeout, idleLimit ?? limits.idleTimeout), &actions)
        parkings &+= 1
        books.setParking(parkings, of: row)
        if books.counts.idle > limits.idle { closeLongestIdle(&actions) }
    }

    private mutating func closeLongestIdle(_ actions: inout PoolActions) {
        guard let row = books.longestIdle else { return }
        actions.close.append(books.id(of: row))
        books.move(row, to: .free)
        books.dropKeyIfUnused(books.connections[row].key)
    }

    /// The request of a dial was served by another connection, and no other waits.
    private mutating func becameSurplus(_ dial: Int, now: Duration, _ actions: inout PoolActions) {
        guard phase == .running else { return cancel(dial, &actions) }
        expire(dial, at: now + limits.idleTimeout, &actions)
    }

    // MARK: Dialling

    /// Gives a dial that has lost its request, or a request that is new, what it lacks: there is one at most.
    private mutating func matchUp(_ key: Int, _ actions: inout PoolActions) {
        let waiter = books.matchUp(key)
        if waiter != PoolBooks.none { actions.joined = books.waiters[waiter].request }
    }

    /// The waiting request that a row's dial is paired with.
    func requestPaired(with row: Int) -> RequestID? {
        let waiter = books.connections[row].waiter
        return waiter == PoolBooks.none ? nil : books.waiters[waiter].request
    }

    /// Tells of a request whose dial has gone if it goes on waiting without one.
    private func noteStranded(_ request: RequestID?, _ actions: inout PoolActions) {
        guard let request, actions.use?.request != request, lacksDial(request) else { return }
        actions.stranded = request
    }

    /// Dials for the first request in line at this host that has no dial under way, if it may.
    private mutating func dialIfNeeded(_ host: Int, _ actions: inout PoolActions) {
        guard books.hosts[host].unmet > 0, let waiter = nextToDial(at: host) else { return }
        if books.hosts[host].connections >= limits.perHost, !makeRoom(at: host, &actions) { return }
        actions.dial = books.addDial(for: waiter, at: requestsSoFar)
    }

    /// The first waiting request at a host for which no dial is under way.
    private func nextToDial(at host: Int, except excluded: Int = PoolBooks.none) -> Int? {
        var best: Int?
        var key = books.hosts[host].firstKey
        while key != PoolBooks.none {
            if key != excluded, books.keys[key].unmet > 0, let waiter = books.firstWithoutDial(of: key),
                best.map({ books.waiters[waiter].precedes(books.waiters[$0]) }) ?? true
            {
                best = waiter
            }
            key = books.keys[key].next
        }
        return best
    }

    /// Ends one dial or connection of a host that serves nobody, so that another may be dialled.
    private mutating func makeRoom(at host: Int, _ actions: inout PoolActions) -> Bool {
        var oldest: (row: Int, expiry: Duration)?
        var key = books.hosts[host].firstKey
        while key != PoolBooks.none {
            // The newest dial is the one that has got least far.
            if let dial = books.newestSurplusDial(of: key) {
                cancel(dial, &actions)
                books.dropKeyIfUnused(key)
                return true
            }
            let row = books.keys[key].idle.oldest
            if row != PoolBooks.none, let expiry = books.connections[row].expiry,
                oldest.map({ expiry < $0.expiry }) ?? true
            {
                oldest = (row, expiry)
            }
            key = books.keys[key].next
        }
        guard let row = oldest?.row else { return false }
        actions.close.append(books.id(of: row))
        books.move(row, to: .free)
        books.dropKeyIfUnused(books.connections[row].key)
        return true
    }

    private mutating func cancel(_ dial: Int, _ actions: inout PoolActions) {
        actions.cancelDial = books.id(of: dial)
        books.move(dial, to: .free)
    }

    // MARK: Ending

    mutating func close(_ row: Int, _ actions: inout PoolActions) {
        actions.close.append(books.id(of: row))
        books.move(row, to: .free)
        finish(books.connections[row].key, &actions)
    }

    private mutating func closeIdle(_ actions: inout PoolActions) {
        for row in books.connections.indices where books.connections[row].servesNobody { close(row, &actions) }
    }

    /// What follows when a connection or request of a key has gone.
    private mutating func finish(_ key: Int, _ actions: inout PoolActions) {
        books.matchUp(key)
        dialIfNeeded(books.keys[key].host, &actions)
        books.dropKeyIfUnused(key)
        clearTimerIfEmpty(&actions)
    }

    // MARK: Time

    // Measured: every connection that is kept comes by here, and a call takes thirty instructions.
    @inline(__always)
    private mutating func expire(_ row: Int, at expiry: Duration, _ actions: inout PoolActions) {
        books.setExpiry(expiry, of: row)
        if let queued = books.connections[row].queuedDeadline, queued <= expiry { return }
        queue(expiry, for: row)
        if let timer, timer <= expiry { return }
        setTimer(expiry, &actions)
    }

    private mutating func setTimer(_ deadline: Duration, _ actions: inout PoolActions) {
        timer = deadline
        actions.timer = .set(deadline)
    }

    private mutating func queue(_ expiry: Duration, for row: Int) {
        deadlines.add(expiry, for: books.id(of: row))
        books.setQueuedDeadline(expiry, of: row)
        // Entries of closed connections stay until their time; many short-lived connections must not pile them up.
        if deadlines.count > 2 * books.counts.connections + 64 {
            let books = books
            deadlines.keep { books.row(of: $0) != nil }
        }
    }

    private mutating func clearTimerIfEmpty(_ actions: inout PoolActions) {
        guard books.counts.connections == 0 else { return }
        deadlines.removeAll()
        guard timer != nil else { return }
        timer = nil
        actions.timer = .clear
    }

    // MARK: Small change

    /// A priority that can be compared: not-a-number counts as the default.
    private static func usable(_ priority: Float) -> Float {
        priority.isNaN ? 0.5 : priority
    }

    /// Picked by feel: what a dial and a look-up take.
    private static let closedAtOnce = 4
    /// Picked by feel: one handshake for nine requests where two keys compete.
    private static let overtakingsAllowed = 8
}
