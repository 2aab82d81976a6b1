// No judgement at all. For experiments on one's own machine: an attacker in between can read and change everything.

/// Trusts every chain, from wherever it comes.
package struct DangerouslyAcceptAnyEvaluator: TrustEvaluator {
    /// An evaluator without any protection.
    package init() {}

    /// Accepts.
    package func evaluate(_ chain: CertificateChain, policy: TrustPolicy) -> TrustVerdict {
        .trusted(VerifiedPeer(presented: chain, path: []))
    }
}
