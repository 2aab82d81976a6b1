// What is known about names: look-ups under way, which others join, and answers of the last moments. Successes
// only: a name that was missing may exist a second later. Knows no thread and no system call.

import Synchronization

/// The look-ups of one name service, keyed by host: the process's of the system's, a session's of the program's own.
package final class LookupTable: Sendable {
    /// What comes of a question.
    enum Found: Sendable {
        /// Use this answer.
        case answer([SocketAddress])
        /// Wait: it is asked for, and the waiter was added.
        case awaited
    }

    private struct Answer: Sendable {
        let addresses: [SocketAddress]
        let time: ContinuousClock.Instant
        /// For how long it is good, where the service has said so.
        let lifetime: Duration?
        /// Tells it from others of the same host.
        let number: Int

        func end(otherwise: Duration) -> ContinuousClock.Instant { time + (lifetime ?? otherwise) }

        func isGood(_ now: ContinuousClock.Instant, otherwise: Duration) -> Bool { end(otherwise: otherwise) > now }
    }

    /// A question that is not answered.
    private struct Pending: Sendable {
        /// Tells it from an earlier one about the same host, which was called off.
        let number: Int
        let addressee: Addressee
        /// Empty only where it cannot be called off: then it serves the next question.
        var waiters: [LookupWaiter]
        var question: (any NameQuestion)?

        /// It was forgotten, and its answer is not wanted any more.
        func callOff() {
            _ = addressee.take()
            question?.cancel()
        }
    }

    /// Where the answer of a question goes. It keeps the table until then and no longer: a service may keep what it
    /// answers with, and a table keeps its service.
    private final class Addressee: Sendable {
        private let table: Mutex<LookupTable?>

        init(_ table: LookupTable) {
            self.table = Mutex(table)
        }

        /// The table, the first time.
        func take() -> LookupTable? {
            table.withLock { table in
                defer { table = nil }
                return table
            }
        }
    }

    private struct State: Sendable {
        var answers: [String: Answer] = [:]
        var pending: [String: Pending] = [:]
        var lastNumber = 0
        /// The answers as they came, by host and number; some of them have gone, or were replaced.
        var line: [(host: String, number: Int)] = []
    }

    /// Picked by feel: more hosts than a program talks to at a time, and small.
    static let capacity = 256

    /// The service that is asked.
    let service: any NameService
    private let state = Mutex(State())
    /// How many answers were let go of. A loop that remembers one looks whether any was since.
    let timesForgotten = Atomic<Int>(0)

    /// A table that knows nothing.
    package init(_ service: any NameService) {
        self.service = service
    }

    /// An answer that is good, and no older than `lifetime` where the service has not said for how long
    /// it is; and when it ends.
    func answer(
        _ host: String, lifetime: Duration, now: ContinuousClock.Instant
    ) -> (addresses: [SocketAddress], end: ContinuousClock.Instant)? {
        state.withLock { state in
            guard let answer = state.answers[host], answer.isGood(now, otherwise: lifetime) else { return nil }
            return (answer.addresses, answer.end(otherwise: lifetime))
        }
    }

    /// An answer for a host that is still good; where there is none, the waiter gets the next one. The first waiter of
    /// a host has the name service asked.
    func find(
        _ host: String, lifetime: Duration, now: ContinuousClock.Instant, waiter: LookupWaiter
    ) -> Found {
        let (found, asked) = state.withLock { state -> (Found, Pending?) in
            if let answer = state.answers[host] {
                if answer.isGood(now, otherwise: lifetime) { return (.answer(answer.addresses), nil) }
                remove(host, from: &state)
            }
            guard state.pending[host] == nil else {
                state.pending[host]?.waiters.append(waiter)
                return (.awaited, nil)
            }
            state.lastNumber += 1
            let pending = Pending(number: state.lastNumber, addressee: Addressee(self), waiters: [waiter])
            state.pending[host] = pending
            return (.awaited, pending)
        }
        if let asked { ask(host, asked.number, asked.addressee) }
        return found
    }

    /// A waiter does not want the answer any more. Where it was the last one for the host, the question is called off
    /// if it still can be.
    func leave(_ host: String, _ waiter: LookupWaiter) {
        let unwanted = state.withLock { state -> Pending? in
            guard let index = state.pending[host]?.waiters.firstIndex(where: { $0.isSame(as: waiter) }) else {
                return nil
            }
            state.pending[host]?.waiters.remove(at: index)
            return Self.takeUnwanted(host, in: &state)
        }
        unwanted?.callOff()
    }

    /// Forgets the answer for a host, for instance because none of its addresses works.
    func forget(_ host: String) {
        state.withLock { remove(host, from: &$0) }
    }

    /// Answers held now.
    var count: Int { state.withLock { $0.answers.count } }

    // MARK: Steps

    private func ask(_ host: String, _ number: Int, _ addressee: Addressee) {
        let question = service.ask(host) { addressee.take()?.finish(host, number, $0) }
        guard let question else { return }
        let unwanted = state.withLock { state -> Pending? in
            guard state.pending[host]?.number == number else { return nil }
            state.pending[host]?.question = question
            return Self.takeUnwanted(host, in: &state)
        }
        unwanted?.callOff()
    }

    /// The question about a host, which is forgotten, where it can be called off and no look-up waits for it.
    private static func takeUnwanted(_ host: String, in state: inout State) -> Pending? {
        guard let pending = state.pending[host], pending.waiters.isEmpty, pending.question?.withdraw() == true else {
            return nil
        }
        state.pending[host] = nil
        return pending
    }

    /// Stores an answer and gives it to all look-ups that wait.
    private func finish(_ host: String, _ number: Int, _ answer: NameAnswer) {
        let now = ContinuousClock.now
        let waiters = state.withLock { state -> [LookupWaiter] in
            guard let pending = state.pending[host], pending.number == number else { return [] }
            state.pending[host] = nil
            // One that is good for no time would only take another's place.
            if case .success(let addresses) = answer.result, answer.lifetime != .zero {
                store(
                    host, Answer(addresses: addresses, time: now, lifetime: answer.lifetime, number: number),
                    in: &state)
            }
            return pending.waiters
        }
        for waiter in waiters {
            waiter.deliver(answer.result)
        }
    }

    private func remove(_ host: String, from state: inout State) {
        state.answers[host] = nil
        timesForgotten.add(1, ordering: .releasing)
    }

    private func store(_ host: String, _ answer: Answer, in state: inout State) {
        if state.answers.count >= Self.capacity && state.answers[host] == nil { removeOldest(from: &state) }
        state.answers[host] = answer
        state.line.append((host, answer.number))
        if state.line.count >= 4 * Self.capacity {
            let answers = state.answers
            state.line.removeAll { answers[$0.host]?.number != $0.number }
        }
    }

    private func removeOldest(from state: inout State) {
        guard let place = state.line.firstIndex(where: { state.answers[$0.host]?.number == $0.number }) else { return }
        let host = state.line[place].host
        state.line.removeFirst(place + 1)
        remove(host, from: &state)
    }
}
