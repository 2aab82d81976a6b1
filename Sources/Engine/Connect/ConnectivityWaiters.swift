// What waits for the network (B6.15 to B6.20), transactions and what is opened outside the pool: they found no way to their
// host, and try again whenever the machine's network changes.
//
// The monitor runs only while loads wait. A change between a failed attempt and the beginning of the watch, or
// while an attempt is under way, must not be missed: each attempt carries the number of the change it knew of, and one
// that is behind is made again at once.

import URLLoadingPolicy
import URLLoadingSystem

/// Something that may wait for the network.
protocol ConnectivityWaiter: AnyObject {
    var id: LoadID { get }
    var core: LoopCore { get }
    var patience: ConnectivityPatience { get set }

    /// The machine's network is another than before.
    func networkChanged()
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

    /// What follows when an attempt has failed: it waits if it is the network that is missing, and is made again at once where it
    /// is behind.
    ///
    /// Order: watched first, then tried again, so that no change in between is missed.
    func verdict(onFailedAttempt error: EngineError) -> ConnectivityPatience.Verdict {
        guard patience.isWanted, core.connectivity.isLackOfNetwork(error) else { return .fail }
        guard patience.isListening else {
            patience.isListening = true
            core.connectivity.join(self)
            return .tryAgain
        }
        return core.connectivity.isBehind(patience.knownChange) ? .tryAgain : .wait
    }

    /// Hears of no changes any more.
    @inline(__always)
    func stopWaitingForNetwork() {
        guard patience.isListening else { return }
        patience.isListening = false
        core.connectivity.leave(id)
    }
}

/// Wakes whatever waits when the network has changed.
final class ConnectivityWaiters {
    private let monitor: any ConnectivityMonitor
    private var members: [LoadID: any ConnectivityWaiter] = [:]
    private var changes = 1

    init(monitor: any ConnectivityMonitor) {
        self.monitor = monitor
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
    }

    /// It has ended.
    fileprivate func leave(_ id: LoadID) {
        members[id] = nil
        if members.isEmpty { monitor.stop() }
    }

    /// Whether an attempt failed because this machine has no way to the host (B6.20), not because of the host (B6.19).
    fileprivate func isLackOfNetwork(_ error: EngineError) -> Bool {
        switch error.obstacle {
        case .connect(let failures)?: !failures.isEmpty && failures.allSatisfy(\.error.isNoRoute)
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
        // In the order of submission; a copy, since those that end leave.
        for id in members.keys.sorted() { members[id]?.networkChanged() }
    }
}
