// The one question of this target and its answer. Does not know how a verdict is reached.
//
// A verdict changes nothing: what is asked may be refused in the end for another reason, by another one, or because the
// peer cannot prove that it has the key. An evaluator that remembers peers learns of them when their connection stands.
//
// Both may need files: roots that were not looked up yet, a host that is to be written down. Code that must not
// wait for a disk or a lock does not read them: it asks for a verdict at once, and where there is none asks again on a
// thread that may wait.

/// Judges the certificates a peer has sent.
package protocol TrustEvaluator: Sendable {
    /// Whether the chain is believed under the policy; may wait for files and locks.
    func evaluate(_ chain: CertificateChain, policy: TrustPolicy) -> TrustVerdict

    /// What `evaluate` says, without waiting for a file or a lock; throws where it would have to. An evaluator that
    /// needs no files leaves this to `evaluate`.
    func evaluateAtOnce(_ chain: CertificateChain, policy: TrustPolicy) throws(FilesNeeded) -> TrustVerdict

    /// The policy under the conditions of this evaluator, and of those that it would ask about the policy's host. Those
    /// of several count together, as far as they ask for more.
    func conditions(on policy: TrustPolicy) -> TrustPolicy

    /// Whether it has to be told of peers whose connection stands.
    var learns: Bool { get }

    /// Remembers a chain that it believes under this policy, now that the peer is accepted and has proven to have the
    /// key. Answers why the peer is refused all the same; throws where it would have to wait for a file or a lock,
    /// unless that `mayWait`.
    func learn(_ chain: CertificateChain, policy: TrustPolicy, mayWait: Bool) throws(FilesNeeded) -> TrustFailure?
}

/// The verdict needs files.
package struct FilesNeeded: Error, Sendable {}

/// The answer of an evaluator.
package enum TrustVerdict: Sendable {
    /// The peer is proven; the value is the key to the connection's application data.
    case trusted(VerifiedPeer)
    /// It is not, for this reason.
    case refused(TrustFailure)
}

extension TrustEvaluator {
    package func evaluateAtOnce(_ chain: CertificateChain, policy: TrustPolicy) throws(FilesNeeded) -> TrustVerdict {
        evaluate(chain, policy: policy)
    }

    package func conditions(on policy: TrustPolicy) -> TrustPolicy { policy }

    package var learns: Bool { false }

    package func learn(
        _ chain: CertificateChain, policy: TrustPolicy, mayWait: Bool
    ) throws(FilesNeeded) -> TrustFailure? { nil }

    /// Learns of a peer whose connection stands. Of one that the application has vouched for only where it would have
    /// been believed without that, and what the application has said stays.
    package func learn(
        of peer: VerifiedPeer, policy: TrustPolicy, mayWait: Bool
    ) throws(FilesNeeded) -> TrustFailure? {
        guard peer.isVouchedFor else { return try learn(peer.presented, policy: policy, mayWait: mayWait) }
        if case .trusted = try verdict(on: peer.presented, policy: policy, mayWait: mayWait) {
            _ = try learn(peer.presented, policy: policy, mayWait: mayWait)
        }
        return nil
    }

    /// The verdict; only `mayWait` lets it read files, and without that it throws where it would have to.
    package func verdict(
        on chain: CertificateChain, policy: TrustPolicy, mayWait: Bool
    ) throws(FilesNeeded) -> TrustVerdict {
        mayWait ? evaluate(chain, policy: policy) : try evaluateAtOnce(chain, policy: policy)
    }

    /// This evaluator under another policy than the one it is asked with: a strict profile, revocation lists. What is
    /// fixed in the policy stays.
    package func adjusting(_ change: @escaping @Sendable (inout TrustPolicy) -> Void) -> some TrustEvaluator {
        AdjustedEvaluator(base: self, change: change)
    }
}

/// An evaluator that needs files, or asks evaluators that may.
package protocol FileEvaluator: TrustEvaluator {
    /// The verdict; only `mayWait` lets it read files, and only without that it throws.
    func judge(_ chain: CertificateChain, policy: TrustPolicy, mayWait: Bool) throws(FilesNeeded) -> TrustVerdict
}

extension FileEvaluator {
    /// The verdict, whatever has to be waited for.
    package func evaluate(_ chain: CertificateChain, policy: TrustPolicy) -> TrustVerdict {
        do throws(FilesNeeded) {
            return try judge(chain, policy: policy, mayWait: true)
        } catch {
            return .refused(TrustFailure(.other("the files that it is judged by were not read"), chain.leaf))
        }
    }

    /// The verdict where nothing has to be waited for.
    package func evaluateAtOnce(_ chain: CertificateChain, policy: TrustPolicy) throws(FilesNeeded) -> TrustVerdict {
        try judge(chain, policy: policy, mayWait: false)
    }
}

private struct AdjustedEvaluator<Base: TrustEvaluator>: FileEvaluator {
    let base: Base
    let change: @Sendable (inout TrustPolicy) -> Void

    func judge(_ chain: CertificateChain, policy: TrustPolicy, mayWait: Bool) throws(FilesNeeded) -> TrustVerdict {
        try base.verdict(on: chain, policy: policy.under(change), mayWait: mayWait)
    }

    func conditions(on policy: TrustPolicy) -> TrustPolicy { base.conditions(on: policy.under(change)) }

    var learns: Bool { base.learns }

    func learn(_ chain: CertificateChain, policy: TrustPolicy, mayWait: Bool) throws(FilesNeeded) -> TrustFailure? {
        try base.learn(chain, policy: policy.under(change), mayWait: mayWait)
    }
}
