// Threads for calls that block: name look-ups, and file access for the layers above. Each goes away when it has been
// idle for a while. What may hang is of several kinds, and each has a pool of its own: names that no server answers, or
// a disk that does not, hold up their own kind only. Must not know what it runs.
//
// Idle threads wait on a counting eventfd. `idle` counts the waiting threads that were not signalled yet, so waiting
// threads and unread signals always add up, and a thread whose time is over knows whether a signal is meant for it.

import Synchronization

/// Runs blocking work on a few helper threads.
package final class BlockingPool: Sendable {
    /// For the look-up of names.
    package static let names = BlockingPool(limit: 8, idleTime: .seconds(10), name: "url-names")
    /// For names that this machine knows by itself: no server holds them up.
    package static let localNames = BlockingPool(limit: 1, idleTime: .seconds(10), name: "url-local")
    /// For names that the machine's table of hosts has, where those of servers have all threads.
    package static let knownNames = BlockingPool(limit: 1, idleTime: .seconds(10), name: "url-hosts")
    /// For files that programs name: bodies, downloads, cookies.
    package static let files = BlockingPool(limit: 4, idleTime: .seconds(10), name: "url-files")
    /// For the caches on disk.
    package static let cache = BlockingPool(limit: 4, idleTime: .seconds(10), name: "url-cache")
    /// For credentials: storages and proofs.
    package static let authentication = BlockingPool(limit: 4, idleTime: .seconds(10), name: "url-auth")
    /// For the ticket servers and ticket caches of Negotiate.
    package static let tickets = BlockingPool(limit: 8, idleTime: .seconds(10), name: "url-tickets")
    /// For the rest.
    package static let shared = BlockingPool(limit: 4, idleTime: .seconds(10), name: "url-blocking")

    private struct State: Sendable {
        var line = WorkLine()
        var threads = 0
        var idle = 0
        /// Lives while there are threads, so that an unused pool holds no descriptor.
        var signal: WakeSignal?
    }

    private let state = Mutex(State())
    private let limit: Int
    private let idleMilliseconds: Int32
    private let name: String

    /// A pool of at most `limit` threads (at least one) that end after `idleTime` without work, at most an hour.
    package init(limit: Int, idleTime: Duration, name: String) {
        self.limit = max(1, limit)
        idleMilliseconds = idleTime.wholeMilliseconds
        self.name = name
    }

    /// Threads that exist now.
    package var threadCount: Int { state.withLock { $0.threads } }

    /// Threads that wait for work now.
    package var idleCount: Int { state.withLock { $0.idle } }

    /// Whether all its threads are at work, so that what comes next may have to wait.
    package var isFull: Bool { state.withLock { $0.idle == 0 && $0.threads >= limit } }

    /// Runs `work` on a helper thread as soon as one is free, in the order of the calls.
    ///
    /// False when there is no thread and the system gives none: `work` is not run then.
    @discardableResult
    package func run(_ work: @escaping @Sendable () -> Void) -> Bool {
        if let machine = Machine.simulated {
            machine.runAside(work)
            return true
        }
        enum Step: Sendable {
            case taken, refused
            case wake(WakeSignal)
        }
        let step = state.withLock { state -> Step in
            state.line.append(work)
            if state.idle > 0, let signal = state.signal {
                // Order: counted out here, so that the next caller does not count on the same thread.
                state.idle -= 1
                return .wake(signal)
            }
            if state.threads < limit && startThread() {
                state.threads += 1
            } else if state.threads == 0 {
                state.line.removeLast()
                return .refused
            }
            return .taken
        }
        switch step {
        case .taken: return true
        case .refused: return false
        case .wake(let signal):
            signal.signal()
            return true
        }
    }

    // MARK: Threads

    private func startThread() -> Bool {
        let argument = Unmanaged.passRetained(self)
        let outcome = Platform.startThread(detached: true, body: runHelper, argument: argument.toOpaque())
        if outcome.failed {
            argument.release()
        }
        return !outcome.failed
    }

    /// The life of one thread.
    fileprivate func serve() {
        Platform.nameCurrentThread(name)
        while true {
            switch nextStep() {
            case .work(let work):
                work()
            case .wait(let signal):
                if !signal.wait(milliseconds: idleMilliseconds) && mayLeave(signal) {
                    return
                }
            case .leave:
                return
            }
        }
    }

    private enum NextStep: Sendable {
        case work(@Sendable () -> Void)
        case wait(WakeSignal)
        case leave
    }

    private func nextStep() -> NextStep {
        state.withLock { state in
            if let work = state.line.next() { return .work(work) }
            if state.signal == nil {
                state.signal = try? WakeSignal(counting: true)
            }
            guard let signal = state.signal else {
                // Descriptors have run out: without one to wait on the thread ends at once.
                leave(&state)
                return .leave
            }
            state.idle += 1
            return .wait(signal)
        }
    }

    /// The time is over.
    ///
    /// False when a signal is on its way to this thread, which it then must take.
    private func mayLeave(_ signal: WakeSignal) -> Bool {
        let isFree = state.withLock { state in
            guard state.idle > 0 else { return false }
            state.idle -= 1
            leave(&state)
            return true
        }
        if !isFree {
            _ = signal.wait(milliseconds: -1)
        }
        return isFree
    }

    private func leave(_ state: inout State) {
        state.threads -= 1
        if state.threads == 0 {
            state.signal = nil
        }
    }
}

/// The body of every helper thread.
private nonisolated func runHelper(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    Unmanaged<BlockingPool>.fromOpaque(argument).takeRetainedValue().serve()
    return nil
}
