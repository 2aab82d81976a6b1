// Apple's name for a chain that is to be judged: what was presented, under which conditions, and by whom.

import Trust

/// A server's certificates and the conditions under which they are judged.
public final class SecTrust: Hashable, Sendable {
    /// What the peer sent.
    let presented: CertificateChain
    /// The conditions of its making: for a challenge those of the connection (B3.35).
    let policy: TrustPolicy
    /// Who judges as long as nobody sets other anchors.
    let evaluator: any TrustEvaluator

    init(presented: CertificateChain, policy: TrustPolicy, evaluator: any TrustEvaluator) {
        self.presented = presented
        self.policy = policy
        self.evaluator = evaluator
    }

    /// Whether both are the same object.
    public static func == (one: SecTrust, other: SecTrust) -> Bool { one === other }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
