// What waits for the network (B6.15 to B6.20), transactions, streams and FTP transfers: they found no way to their host,
// and try again whenever the machine's network changes.
//
// The monitor runs only while somebody waits. A change between a failed attempt and the beginning of the watch, or
// while an attempt is under way, must not be missed: each attempt carries the number of the change it knew of, and one
// that is behind is made again at once.

import URLLoadingPolicy
import URLLoadingSystem

/// Something that may wait for the network.
protocol ConnectivityWaiter: AnyObject {
    /// The machine's network is another than before.
    func networkChanged()
}

/// What one of them knows of the network; it says which attempt is under way, and leaves when it ends.
struct ConnectivityPatience {
    /// The change that the last attempt to connect knew of.
    fileprivate var knownChange = 0
    /// Whether it hears of changes.
    fileprivate(set) var isListening = false
}

/// Wakes whatever waits when the network has changed.
final class ConnectivityWaiters {
    private let monitor: any ConnectivityMonitor
    /// By number: those of transactions and FTP transfers are positive, those of streams negative.
    private var members: [Int: any ConnectivityWaiter] = [:]
    private var changes = 1

    init(monitor: any ConnectivityMonitor) {
        self.monitor = monitor
    }

    deinit {
        monitor.stop()
    }

    /// An attempt to connect begins.
    func noteAttempt(_ patience: inout ConnectivityPatience) {
        patience.knownChange = members.isEmpty ? 0 : changes
    }

    /// An attempt has failed for lack of a network; whether it is behind, and to be made again at once.
    ///
    /// Order: watched first, then tried again, so that no change in between is missed.
    func isBehind(_ patience: inout ConnectivityPatience, _ waiter: any ConnectivityWaiter, _ number: Int) -> Bool {
        guard patience.isListening else {
            patience.isListening = true
            join(waiter, number)
            return true
        }
        return patience.knownChange != changes
    }

    private func join(_ waiter: any ConnectivityWaiter, _ number: Int) {
        if members.isEmpty {
            changes += 1
            monitor.start { [unowned self] in networkChanged() }
        }
        members[number] = waiter
    }

    /// It has ended.
    func leave(_ number: Int) {
        members[number] = nil
        if members.isEmpty { monitor.stop() }
    }

    /// Whether an attempt failed because this machine has no way to the host (B6.20), not because of the host (B6.19).
    func isLackOfNetwork(_ error: EngineError) -> Bool {
        switch error {
        case .connect(_, let failures): isLackOfNetwork(failures)
        case .nameLookup(let failure): isLackOfNetwork(failure)
        case .proxy(let failure):
            switch failure.reason {
            case .unreachable(let failures): isLackOfNetwork(failures)
            case .lookup(let failure): isLackOfNetwork(failure)
            case .tls, .refused, .authentication, .garbage, .closed, .socks, .unsendable: false
            }
        case .cancelled, .idleTimeout, .resourceTimeout, .tls, .connectionLost, .wire, .http2, .body, .invalidRequest,
            .undetachable, .ftp, .localResource:
            false
        }
    }

    private func isLackOfNetwork(_ failures: [EngineError.ConnectFailure]) -> Bool {
        !failures.isEmpty && failures.allSatisfy(\.error.isNoRoute)
    }

    private func isLackOfNetwork(_ failure: ResolverFailure) -> Bool {
        switch failure.reason {
        case .temporary: true
        case .noSuchHost, .failed: !monitor.hasInterface
        case .cancelled: false
        }
    }

    private func networkChanged() {
        changes += 1
        // In the order of submission; a copy, since those that end leave.
        for number in members.keys.sorted(by: { abs($0) < abs($1) }) { members[number]?.networkChanged() }
    }
}
