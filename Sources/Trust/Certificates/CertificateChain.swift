// What a peer sent. Does not know whether any of it is true.

/// Certificates in the order the peer sent them: the leaf first, the rest in any order (B3.14).
package struct CertificateChain: Sendable, Hashable {
    /// The peer's own certificate.
    package let leaf: Certificate
    /// All certificates as sent, the leaf first.
    package let certificates: [Certificate]

    /// A chain of at least one certificate; nil for none.
    package init?(_ certificates: [Certificate]) {
        guard let leaf = certificates.first else { return nil }
        self.leaf = leaf
        self.certificates = certificates
    }
}
