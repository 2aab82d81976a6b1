// What a peer sent. Does not know whether any of it is true.

/// Certificates in the order the peer sent them: the leaf first, the rest in any order (B3.14).
package struct CertificateChain: Sendable, Hashable {
    /// What the peer said about the leaf's revocation.
    package enum Stapling: Sendable, Hashable {
        /// It was not asked, or its answer is not known here.
        case unknown
        /// It was asked and sent nothing.
        case absent
        /// It sent this OCSP response, encoded.
        case response([UInt8])
    }

    /// The peer's own certificate.
    package let leaf: Certificate
    /// All certificates as sent, the leaf first.
    package let certificates: [Certificate]
    /// What the peer said about the leaf's revocation.
    package let stapling: Stapling

    /// A chain of at least one certificate; nil for none.
    package init?(_ certificates: [Certificate], stapling: Stapling = .unknown) {
        guard let leaf = certificates.first else { return nil }
        self.leaf = leaf
        self.certificates = certificates
        self.stapling = stapling
    }
}
