// The one question of this target and its answer. Does not know how a verdict is reached.

/// Judges the certificates a peer has sent; called on a loop's thread, so it must not block for long.
package protocol TrustEvaluator: Sendable {
    /// Whether the chain is believed under the policy.
    func evaluate(_ chain: CertificateChain, policy: TrustPolicy) -> TrustVerdict
}

/// The answer of an evaluator.
package enum TrustVerdict: Sendable {
    /// The peer is who it says; the value is the key to the connection's application data.
    case trusted(VerifiedPeer)
    /// It is not, for this reason.
    case refused(TrustFailure)
}

extension TrustEvaluator {
    /// The same evaluator under another policy than the one it is asked with: a strict profile, revocation lists.
    package func adjusting(_ change: @escaping @Sendable (inout TrustPolicy) -> Void) -> some TrustEvaluator {
        AdjustedEvaluator(base: self, change: change)
    }
}

private struct AdjustedEvaluator<Base: TrustEvaluator>: TrustEvaluator {
    let base: Base
    let change: @Sendable (inout TrustPolicy) -> Void

    func evaluate(_ chain: CertificateChain, policy: TrustPolicy) -> TrustVerdict {
        var changed = policy
        change(&changed)
        return base.evaluate(chain, policy: changed)
    }
}
