// One question for a Kerberos ticket, which ticket servers and ticket caches may never answer: the first of answer and
// time-out counts. What the library says after that is not heard.
//
// Must not know: what the ticket is for, what follows without one.

import Synchronization
import URLLoadingEngine
import URLLoadingSystem

/// Asks the system's library for a token, for a limited time.
final class TicketInquiry: Sendable {
    private struct State: Sendable {
        /// Until it was called.
        var then: (@Sendable (Result<String, NegotiateFailure>) -> Void)?
        var alarm: Alarm?
    }

    private let state: Mutex<State>

    /// A question whose answer, or its absence, is told once.
    init(then: @escaping @Sendable (Result<String, NegotiateFailure>) -> Void) {
        state = Mutex(State(then: then))
    }

    /// Asks for the token after a server's; nil is no limit.
    func begin(_ rounds: NegotiateRounds, _ challenge: String?, limit: Duration?) {
        if let limit {
            let alarm = Alarm(at: LoopClock.elapsed + limit) { [weak self] in self?.end(.failure(.noAnswer(limit))) }
            state.withLock { if $0.then != nil { $0.alarm = alarm } }
        }
        rounds.token(for: challenge) { [self] in
            state.withLock { $0.then != nil }
        } then: { [self] in
            end($0)
        }
    }

    private func end(_ result: Result<String, NegotiateFailure>) {
        let (then, alarm) = state.withLock { state in (state.then.take(), state.alarm.take()) }
        alarm?.cancel()
        then?(result)
    }
}
