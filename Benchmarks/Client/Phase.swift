// One phase of requests, the warm-up or the measured one: which worker may start another request, and what became of
// them. Workers on any thread share it.

import Foundation
import Synchronization

/// A moment of the monotonic clock in nanoseconds; all clients of the comparison read it this plainly.
struct Moment: Sendable {
    let nanoseconds: Int64

    /// The present.
    static var now: Moment {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Moment(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

/// Counts requests out and in.
final class Phase: Sendable {
    /// What has become of the requests.
    struct Totals: Sendable {
        var requests = 0
        var bytes = 0
        var errors = 0
        /// Nanoseconds of each request that succeeded.
        var latencies: [Int64] = []
    }

    private struct State {
        var started = 0
        var totals = Totals()
    }

    /// How many requests there are; 0 for no limit.
    let quota: Int
    private let deadline: Moment?
    private let state = Mutex(State())

    /// A phase of so many requests (0: no limit), over as soon as the time is.
    init(quota: Int, seconds: Double) {
        self.quota = quota
        deadline = seconds > 0 ? Moment(nanoseconds: Moment.now.nanoseconds + Int64(seconds * 1e9)) : nil
    }

    /// The number of the next request, counted from 0; nil when there are no more.
    func take(at now: Moment) -> Int? {
        if let deadline, now.nanoseconds >= deadline.nanoseconds { return nil }
        return state.withLock { state in
            if quota > 0 && state.started >= quota { return nil }
            state.started += 1
            return state.started - 1
        }
    }

    /// One request has succeeded.
    func finished(since start: Moment, bytes: Int) {
        let nanoseconds = Moment.now.nanoseconds - start.nanoseconds
        state.withLock { state in
            state.totals.requests += 1
            state.totals.bytes += bytes
            state.totals.latencies.append(nanoseconds)
        }
    }

    /// One request has failed; the first failure of a phase is told on standard error.
    func failed(_ reason: String) {
        let isFirst = state.withLock { state in
            state.totals.errors += 1
            return state.totals.errors == 1
        }
        if isFirst { Console.complain(reason) }
    }

    /// What has become of the requests until now.
    var totals: Totals { state.withLock { $0.totals } }
}
