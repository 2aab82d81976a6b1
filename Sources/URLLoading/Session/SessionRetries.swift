// What a session says about attempts after the first: its policy, and what is left of the budget that its loads share.
//
// Must not know: tasks.

import Synchronization
import URLLoadingPolicy

/// The session's part in repetitions.
final class SessionRetries: Sendable {
    /// The session's own rules, where it has a policy.
    let rules: RetryRules?
    private let account: Mutex<RetryAccount>

    init(_ values: ConfigurationValues) {
        rules = values.retryPolicy.map { RetryRules($0) }
        account = Mutex(RetryAccount(reserve: values.retryBudget.reserve, share: values.retryBudget.share))
    }

    /// A load begins that a policy holds for.
    func payIn() { account.withLock { $0.payIn() } }

    /// Takes a repetition out of the budget; false where none is left.
    func take() -> Bool { account.withLock { $0.take() } }
}
