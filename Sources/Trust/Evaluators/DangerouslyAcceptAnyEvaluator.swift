// No judgement at all. For experiments on one's own machine: whoever sits in between can read and change everything.

/// Believes every chain, whoever sent it.
package struct DangerouslyAcceptAnyEvaluator: TrustEvaluator {
    /// An evaluator without any protection.
    package init() {}

    /// Accepts.
    package func evaluate(_ chain: CertificateChain, policy: TrustPolicy) -> TrustVerdict {
        .trusted(VerifiedPeer(presented: chain, path: []))
    }
}
