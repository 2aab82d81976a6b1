// What can be shown of a chain that is not believed: the leaf and those above it that have really signed one another.
// Proves nothing but that; a verified path ends in an anchor.

extension CertificateChain {
    /// The leaf, and of what was sent the issuers in turn, as far as their signatures fit and are not broken ones.
    ///
    /// An authority that was merely sent along is not among them (B3.68).
    package var linked: [Certificate] {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        var path = [leaf]
        var budget = WorkBudget(signatures: 32, steps: 500)
        while let last = path.last, path.count < Self.mostLinked, let next = issuer(of: last, besides: path, &budget) {
            path.append(next)
        }
        return path
    }

    private func issuer(
        of certificate: Certificate, besides path: [Certificate], _ budget: inout WorkBudget
    ) -> Certificate? {
        guard SignatureRules.weakness(certificate, policy: TrustPolicy(host: nil)) == nil else { return nil }
        let fields = certificate.fields
        for candidate in certificates.dropFirst() where !path.contains(candidate) {
            guard budget.takeStep() else { return nil }
            guard fields.equal(fields.issuer, candidate.fields, candidate.fields.subject),
                let weight = SignatureRules.weight(of: candidate), budget.takeSignature(weight: weight),
                SignatureRules.isSigned(certificate, by: candidate)
            else { continue }
            return candidate
        }
        return nil
    }

    // As many as a path may have by default, with leaf and root.
    private static let mostLinked = 16
}
