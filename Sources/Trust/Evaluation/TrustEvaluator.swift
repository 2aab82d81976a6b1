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
