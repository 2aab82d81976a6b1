// Apple's name for a certificate with its private key: a thin face of Trust's.

import Trust

/// A certificate chain and the private key that belongs to it, to prove who we are.
public final class SecIdentity: Hashable, Sendable {
    let identity: Identity

    init(_ identity: Identity) {
        self.identity = identity
    }

    /// Whether both are for the same certificate.
    public static func == (one: SecIdentity, other: SecIdentity) -> Bool {
        one.identity.chain.leaf == other.identity.chain.leaf
    }

    /// Hashes the certificate's bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity.chain.leaf) }
}
