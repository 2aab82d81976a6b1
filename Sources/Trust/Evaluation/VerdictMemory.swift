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

    /// Two generations: what is asked for while it is in the old one moves to the young one, and the
    /// rest goes with the old one.
    private struct Entries {
        private var young: [Question: Entry] = [:]
        private var old: [Question: Entry] = [:]

        mutating func find(_ question: Question, now: Int64) -> VerifiedPeer? {
            if let known = young[question] { return known.valid.contains(now) ? known.peer : nil }
            guard let known = old[question], known.valid.contains(now) else { return nil }
            keep(known, for: question)
            return known.peer
        }

        mutating func keep(_ entry: Entry, for question: Question) {
            // The old generation goes as a whole: to find out which entry is oldest is not worth its cost.
            if young.count >= VerdictMemory.mostEntries, young[question] == nil { (old, young) = (young, [:]) }
            young[question] = entry
        }
    }

    private let entries = Mutex(Entries())

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
        if let peer = entries.withLock({ $0.find(question, now: now) }) { return .trusted(peer) }
        let verdict = try judge()
        if case .trusted(let peer) = verdict, let valid = peer.validity {
            entries.withLock { $0.keep(Entry(peer: peer, valid: valid), for: question) }
        }
        return verdict
    }

    // Of a generation. By feel: the hosts that one program talks to.
    private static let mostEntries = 256
}
