// What the process knows about names: look-ups under way, which others join, and answers of the last moments. Successes
// only: a name that was missing may exist a second later. Knows no thread and no system call.

import Synchronization

/// Look-ups of the whole process, keyed by host.
final class LookupTable: Sendable {
    /// What the caller of `find` has to do.
    enum Found: Sendable {
        /// Use this answer.
        case answer([SocketAddress])
        /// Wait: somebody asks already, and the waiter was added.
        case joined
        /// Ask, and report to `finish`. The waiter was added.
        case ask
    }

    private struct Answer: Sendable {
        let addresses: [SocketAddress]
        let time: ContinuousClock.Instant
    }

    private struct State: Sendable {
        var answers: [String: Answer] = [:]
        var waiters: [String: [LookupWaiter]] = [:]
    }

    /// Picked by feel: more hosts than a program talks to at a time, and small.
    static let capacity = 256

    private let state = Mutex(State())

    /// An answer not older than `lifetime`.
    func answer(_ host: String, lifetime: Duration, now: ContinuousClock.Instant) -> [SocketAddress]? {
        state.withLock { state in
            state.answers[host].flatMap { $0.time + lifetime > now ? $0.addresses : nil }
        }
    }

    /// An answer not older than `lifetime`, or a place among those who wait for one.
    func find(
        _ host: String, lifetime: Duration, now: ContinuousClock.Instant, waiter: LookupWaiter
    ) -> Found {
        state.withLock { state in
            if let answer = state.answers[host] {
                if answer.time + lifetime > now {
                    return .answer(answer.addresses)
                }
                state.answers[host] = nil
            }
            let isFirst = state.waiters[host] == nil
            state.waiters[host, default: []].append(waiter)
            return isFirst ? .ask : .joined
        }
    }

    /// Stores an answer and gives it to everybody who waits.
    func finish(_ host: String, _ result: Result<[SocketAddress], ResolverFailure>, now: ContinuousClock.Instant) {
        let waiters = state.withLock { state in
            if case .success(let addresses) = result {
                store(host, Answer(addresses: addresses, time: now), in: &state)
            }
            return state.waiters.removeValue(forKey: host) ?? []
        }
        for waiter in waiters {
            waiter.deliver(result)
        }
    }

    /// Forgets the answer for a host, for instance because none of its addresses works.
    func forget(_ host: String) {
        state.withLock { $0.answers[host] = nil }
    }

    /// Answers held now.
    var count: Int { state.withLock { $0.answers.count } }

    private func store(_ host: String, _ answer: Answer, in state: inout State) {
        if state.answers.count >= Self.capacity && state.answers[host] == nil {
            // Rare, and the table is small: a search for the oldest is cheaper than keeping an order.
            if let oldest = state.answers.min(by: { $0.value.time < $1.value.time }) {
                state.answers[oldest.key] = nil
            }
        }
        state.answers[host] = answer
    }
}
