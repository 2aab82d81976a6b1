// What waits for the network (B6.15 to B6.20), transactions and what is opened outside the pool: they found no way to
// their host, and try again whenever the machine's network changes. The kernel does not tell of all that may help, as a
// resolver or a neighbour that answers again, so there is a try from time to time, too (B6.41).
//
// Monitor and timer run only while loads wait. A change between a failed attempt and the beginning of the watch, or
// while an attempt is under way, must not be missed: each attempt carries the number of the change it knew of, and one
// that is behind is made again at once.

import URLLoadingPolicy
import URLLoadingSystem

/// Something that may wait for the network.
protocol ConnectivityWaiter: AnyObject {
    var id: LoadID { get }
    var core: LoopCore { get }
    var patience: ConnectivityPatience { get set }
    /// Where it wants to get.
    var destination: Destination { get }
    /// Whether it waits now.
    var isOffline: Bool { get }

    /// There may be a way now: where it waits, it tries again.
    func networkChanged()
}

/// A server and the first way to it. Loads that wait for the same one are tried one for all.
struct Destination: Hashable {
    let origin: Origin
    let route: Route
}

/// What one of them knows of the network.
struct ConnectivityPatience {
    /// Whether it waits at all instead of failing.
    let isWanted: Bool
    /// The change that the last attempt to connect knew of.
    fileprivate var knownChange = 0
    /// Whether it hears of changes.
    fileprivate var isListening = false

    init(isWanted: Bool) {
        self.isWanted = isWanted
    }

    /// What follows when no connection could be opened.
    enum Verdict {
        case fail
        case tryAgain
        case wait
    }
}

extension ConnectivityWaiter {
    /// An attempt to connect begins.
    @inline(__always)
    func noteAttempt() {
        if patience.isWanted { patience.knownChange = core.connectivity.changeForAttempt }
    }

    /// What follows when an attempt has failed: it waits if it is the network that is missing, and is made again at
    /// once where it is behind.
    ///
    /// Order: watched first, then tried again, so that no change in between is missed.
    func verdict(onFailedAttempt error: EngineError) -> ConnectivityPatience.Verdict {
        guard patience.isWanted, core.connectivity.isReasonToWait(error, alsoShort: patience.isListening) else {
            return .fail
        }
        guard patience.isListening else {
            patience.isListening = true
            core.connectivity.join(self)
            return .tryAgain
        }
        guard !core.connectivity.isBehind(patience.knownChange) else { return .tryAgain }
        core.connectivity.waits(id, after: error)
        return .wait
    }

    /// Where it waits, what its last attempt has failed of.
    var lastFailure: EngineError? { isOffline ? core.connectivity.failure(of: id) : nil }

    /// Hears of no changes any more.
    @inline(__always)
    func stopWaitingForNetwork() {
        guard patience.isListening else { return }
        patience.isListening = false
        core.connectivity.leave(self)
    }
}

/// Wakes whatever waits when the network has changed, and from time to time.
final class ConnectivityWaiters {
    private let monitor: any ConnectivityMonitor
    private let reactor: Reactor
    private lazy var timer = reactor.makeTimer { [unowned self] in lookAgain() }
    private var members: [LoadID: any ConnectivityWaiter] = [:]
    /// Those that wait, and perhaps some that do not any more, by where they wanted to get.
    private var waiting: [Destination: Set<LoadID>] = [:]
    /// What the last attempts of members have failed of.
    private var failures: [LoadID: EngineError] = [:]
    private var changes = 1
    /// How often the timer has fired since something was new.
    private var looks = 0

    init(monitor: any ConnectivityMonitor, reactor: Reactor) {
        self.monitor = monitor
        self.reactor = reactor
    }

    deinit {
        monitor.stop()
    }

    /// What an attempt that begins knows of.
    fileprivate var changeForAttempt: Int { members.isEmpty ? 0 : changes }

    /// Whether the network has changed since.
    fileprivate func isBehind(_ knownChange: Int) -> Bool { knownChange != changes }

    fileprivate func join(_ waiter: any ConnectivityWaiter) {
        if members.isEmpty {
            changes += 1
            monitor.start { [unowned self] in networkChanged() }
        }
        members[waiter.id] = waiter
        looks = 0
    }

    /// It ends. Where it was not waiting itself, others may have waited for what it would find.
    fileprivate func leave(_ waiter: some ConnectivityWaiter) {
        let (destination, wasOffline) = (waiter.destination, waiter.isOffline)
        members[waiter.id] = nil
        failures[waiter.id] = nil
        strike(waiter.id, from: destination)
        if members.isEmpty {
            waiting = [:]
            monitor.stop()
            timer.clear()
        } else if !wasOffline {
            // Later: others may be about to leave, too, and would connect for nothing.
            reactor.later { [weak self] in self?.reached(destination) }
        }
    }

    /// Whether it may be better later. What waits, and is tried while the machine is short of something (`alsoShort`),
    /// goes on waiting: it was not to be tried just then.
    fileprivate func isReasonToWait(_ error: EngineError, alsoShort: Bool) -> Bool {
        if case .localResource = error { alsoShort } else { isLackOfNetwork(error) }
    }

    /// Whether an attempt failed because this machine has no way to the host (B6.20), not because of the host (B6.19).
    private func isLackOfNetwork(_ error: EngineError) -> Bool {
        switch error.obstacle {
        case .connect(let failures)?:
            failures.contains(where: \.error.isNoRoute)
                && failures.allSatisfy { $0.error.isNoRoute || $0.isWrongFamily }
        case .lookup(let failure)?:
            switch failure.reason {
            case .temporary: true
            case .noSuchHost, .failed: !monitor.hasInterface
            case .notAName, .cancelled: false
            }
        case nil: false
        }
    }

    private func networkChanged() {
        changes += 1
        looks = 0
        // In the order of submission; a copy, since those that end leave.
        for id in members.keys.sorted() {
            if let waiter = members[id] { goOn(waiter) }
        }
    }

    private func goOn(_ waiter: any ConnectivityWaiter) {
        strike(waiter.id, from: waiter.destination)
        waiter.networkChanged()
    }

    private func strike(_ id: LoadID, from destination: Destination) {
        if waiting[destination]?.remove(id) != nil, waiting[destination]?.isEmpty == true { waiting[destination] = nil }
    }

    // MARK: What no message tells of

    /// There is a way to this place: all that wait for one go on.
    func reached(_ destination: Destination) {
        guard let loads = waiting[destination] else { return }
        let still = loads.filter { members[$0].map { $0.isOffline && $0.destination == destination } ?? false }
        waiting[destination] = still.isEmpty ? nil : still
        for id in still.sorted() {
            if let waiter = members[id] { goOn(waiter) }
        }
    }

    /// A member waits, and is tried again before long.
    fileprivate func waits(_ id: LoadID, after failure: EngineError) {
        failures[id] = failure
        if let waiter = members[id] { waiting[waiter.destination, default: []].insert(id) }
        lookAgainLater()
    }

    fileprivate func failure(of id: LoadID) -> EngineError? { failures[id] }

    private func lookAgainLater() {
        let pause = BackOff.wait(afterFailure: looks + 1, first: Self.firstPause, longest: Self.longestPause)
        let next = reactor.now + pause
        if let deadline = timer.deadline, deadline <= next { return }
        timer.set(next)
    }

    /// One for each destination tries again; the others learn of it what has become of that.
    private func lookAgain() {
        looks += 1
        var tried: Set<Destination> = []
        for id in members.keys.sorted() {
            if let waiter = members[id], waiter.isOffline, tried.insert(waiter.destination).inserted {
                goOn(waiter)
            }
        }
        // One that is suspended on its way does not tell.
        if members.values.contains(where: \.isOffline) { lookAgainLater() }
    }

    // Picked by feel: a resolver that is about to be there is found at once, and a look a minute costs nothing.
    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(60)
}
