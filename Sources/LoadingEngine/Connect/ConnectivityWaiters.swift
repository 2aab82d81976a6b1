// The transactions that wait for the network (B6.15 to B6.20): they found no way to their host, and try again whenever
// the machine's network changes.
//
// The monitor runs only while somebody waits. A change between a failed attempt and the beginning of the watch, or
// while an attempt is under way, must not be missed: each attempt carries the number of the change it knew of, and one
// that is behind is made again at once.

import LoadingPolicy
import Sockets

/// Wakes transactions when the network has changed.
final class ConnectivityWaiters {
    private unowned let core: LoopCore
    private let monitor: any ConnectivityMonitor
    private var members: Set<RequestID> = []
    private var changes = 1

    init(core: LoopCore, monitor: any ConnectivityMonitor) {
        self.core = core
        self.monitor = monitor
    }

    deinit {
        monitor.stop()
    }

    /// The number of the last change; 0 while nobody watches.
    var lastChange: Int { members.isEmpty ? 0 : changes }

    /// Counts a transaction among those that hear of changes.
    func join(_ id: RequestID) {
        if members.isEmpty {
            changes += 1
            monitor.start { [unowned self] in networkChanged() }
        }
        members.insert(id)
    }

    /// The transaction has ended.
    func leave(_ id: RequestID) {
        members.remove(id)
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
        case .cancelled, .idleTimeout, .resourceTimeout, .tls, .connectionLost, .wire, .body, .invalidRequest,
            .ftp, .localResource:
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
        for id in members.sorted() { core.transactions[id]?.networkChanged() }
    }
}
