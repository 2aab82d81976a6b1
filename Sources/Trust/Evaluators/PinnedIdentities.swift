// Demands on a peer that has been believed already, by whomever: its strength, and pins that tell the leaf from the
// authorities above it. Does not judge the path.

/// Pinned keys of leaves and of authorities (B3.83).
package struct PinnedIdentities: Sendable, Hashable {
    private let leaves: [[UInt8]]?
    private let authorities: [[UInt8]]?

    /// Pins in base64 as in `PinnedKeysEvaluator`; nil pins nothing. An empty list would refuse
    /// every server and throws.
    package init(leaves: [String]?, authorities: [String]?) throws(CertificateError) {
        self.leaves = try leaves.map { pins throws(CertificateError) in try PinnedKeysEvaluator.decode(pins) }
        self.authorities = try authorities.map { pins throws(CertificateError) in try PinnedKeysEvaluator.decode(pins) }
    }

    /// The pins in words that no others have.
    package var words: String { "\(leaves.map { "\($0)" } ?? "") \(authorities.map { "\($0)" } ?? "")" }

    /// Whether the leaf, and some authority of its verified path, are among the pinned ones where such are pinned.
    package func match(leaf: Certificate, path: [Certificate]) -> Bool {
        Self.has(leaves, [leaf]) && Self.has(authorities, path.dropFirst())
    }

    private static func has(_ pins: [[UInt8]]?, _ certificates: some Sequence<Certificate>) -> Bool {
        guard let pins else { return true }
        return certificates.contains { certificate in
            let own = certificate.spkiSHA256
            return pins.contains { ConstantTime.equal($0, own) }
        }
    }
}

extension Certificate {
    /// What is weak about the key or the signature, however the certificate is trusted (B3.29); nil when nothing is.
    package var weakness: String? {
        let policy = TrustPolicy(host: nil)
        if let key = KeyRules.weakness(self, policy: policy) { return "its key is too weak (\(key))" }
        return SignatureRules.weakness(self, policy: policy).map { "it is signed with a broken hash (\($0))" }
    }
}
