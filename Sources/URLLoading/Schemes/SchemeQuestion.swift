// A challenge that a carrier, or the owner of a background session's transfers, brings to the delegates of a task.
//
// Must not know: where it comes from, and what follows from its answer.

import Foundation
import Synchronization
import URLLoadingPolicy

/// A challenge from elsewhere, until it has been answered once or withdrawn.
final class SchemeQuestion: Sendable {
    let challenge: URLAuthenticationChallenge
    private let reply: @Sendable (SchemeQuestion, URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    private let state = Mutex(State())

    private struct State: Sendable {
        var isOpen = true
        var token: WaitNumber?
    }

    init(
        _ challenge: URLAuthenticationChallenge,
        reply: @escaping @Sendable (SchemeQuestion, URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        self.challenge = challenge
        self.reply = reply
    }

    /// Asks the task's delegates (B14.50); where there is none that answers, the answer is default handling.
    func ask(of core: TaskCore) {
        if core.trust.answersChallenges {
            core.delivery.post(.question(self))
        } else {
            answer(.performDefaultHandling, nil)
        }
    }

    /// It is not to be answered any more: the task goes on where it waits for that.
    func withdraw(from core: TaskCore) {
        if let token = withdraw() { core.delivery.endQuestion(token) }
    }

    /// Whether it is still to be asked; notes under which token.
    func isAsked(under token: WaitNumber) -> Bool {
        state.withLock { state in
            if state.isOpen { state.token = token }
            return state.isOpen
        }
    }

    /// Gives the answer to the closure that waits; the first counts.
    func answer(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?) {
        let isFirst = state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen
        }
        if isFirst { reply(self, disposition, credential) }
    }

    /// Stops the wait; gives the token under which the question is open.
    private func withdraw() -> WaitNumber? {
        state.withLock { state in
            guard state.isOpen else { return nil }
            state.isOpen = false
            return state.token
        }
    }
}
