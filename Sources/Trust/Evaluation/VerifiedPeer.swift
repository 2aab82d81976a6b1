// The proof that a chain was judged and believed. A TLS session asks for one before it touches application data.

/// A peer whose chain an evaluator has believed, or the application has vouched for.
package struct VerifiedPeer: Sendable, Hashable {
    /// The certificates as sent.
    package let presented: CertificateChain
    /// The verified path from the leaf to its anchor, which can differ from what was sent (B3.42); empty when the
    /// application vouched without a path.
    package let path: [Certificate]

    init(presented: CertificateChain, path: [Certificate]) {
        self.presented = presented
        self.path = path
    }

    /// The peer that the application itself has accepted, in place of every evaluation (B3.3).
    package static func vouchedForByApplication(_ chain: CertificateChain) -> VerifiedPeer {
        VerifiedPeer(presented: chain, path: [])
    }
}
