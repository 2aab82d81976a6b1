// Remembers which chains were found good a moment ago, so that reconnecting and resuming do not check the same
// signatures again. A refusal is never remembered. Does not judge.

import Synchronization

/// Good verdicts by chain and policy, each for as long as the certificates of its path are valid.
package final class VerdictMemory: Sendable {
    private struct Question: Hashable {
        let chain: CertificateChain
        let policy: TrustPolicy
    }

    private struct Entry {
        let peer: VerifiedPeer
        let valid: ClosedRange<Int64>
    }

    private let entries = Mutex<[Question: Entry]>([:])

    /// An empty memory.
    package init() {}

    /// The earlier verdict, or that of `judge`, which is called outside of the lock.
    package func recall<Failure: Error>(
        _ chain: CertificateChain, policy: TrustPolicy, now: Int64? = nil, judge: () throws(Failure) -> TrustVerdict
    ) throws(Failure) -> TrustVerdict {
        // A chosen time is a rare case that is judged each time.
        guard policy.time == nil else { return try judge() }
        let question = Question(chain: chain, policy: policy)
        let now = now ?? Platform.now()
        if let known = entries.withLock({ $0[question] }), known.valid.contains(now) { return .trusted(known.peer) }
        let verdict = try judge()
        if case .trusted(let peer) = verdict, let valid = peer.validity {
            entries.withLock { entries in
                // Order: emptied when full, as finding out which entry is oldest is not worth its cost.
                if entries.count >= Self.mostEntries { entries.removeAll(keepingCapacity: true) }
                entries[question] = Entry(peer: peer, valid: valid)
            }
        }
        return verdict
    }

    // By feel: the hosts that one program talks to.
    private static let mostEntries = 256
}
