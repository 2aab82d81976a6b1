// What is wrong with a certificate as the issuer of those below it in a path. All but signatures, which cost more, and
// revocation. RFC 5280 section 6.1.4.

/// Rules for intermediates and anchors.
enum IssuerRules {
    /// What an issuer is to the path.
    enum Place {
        /// It was sent by the peer.
        case between
        /// The program trusts it.
        case anchor
        /// The machine's store has it: public roots are older than some rules, and trusted as they are.
        case storedAnchor

        var isAnchor: Bool { self != .between }
    }

    /// What is wrong with the issuer above a path, whose first certificate is the leaf.
    static func problems(
        _ issuer: Certificate, _ place: Place, above path: [Certificate], policy: TrustPolicy, now: Int64,
        budget: inout WorkBudget
    ) -> PathProblems {
        var problems = PathProblems()
        let isAnchor = place.isAnchor
        let profile = place == .storedAnchor ? .standard : policy.profile
        let fields = issuer.fields
        let extensions = fields.extensions
        if let malformed = fields.malformed {
            problems.add(.malformed(malformed), issuer)
        } else if !mayIssue(fields, isAnchor: isAnchor, profile: profile) {
            problems.add(.notACertificateAuthority, issuer)
        } else if let form = FormRules.problem(fields, isAnchor: isAnchor, isIssuer: true, profile: profile) {
            problems.add(.malformed(form), issuer)
        }
        if extensions.unknownCritical != nil { problems.add(.unknownCriticalExtension, issuer) }
        if let limit = extensions.pathLength, limit < intermediates(in: path) { problems.add(.pathLength, issuer) }
        if let needed = policy.purpose.needed, let purposes = extensions.purposes,
            purposes.isDisjoint(with: needed.union(.any))
        {
            problems.add(.wrongPurpose, issuer)
        }
        if isAnchor, !AnchorSettings.allow(issuer, policy.purpose) { problems.add(.wrongPurpose, issuer) }
        if !isAnchor {
            problems.addDates(of: issuer, now: now)
            if let weakness = SignatureRules.weakness(issuer, policy: policy) {
                problems.add(.weakSignature(weakness), issuer)
            }
        }
        if !isAnchor || profile == .strict, let weakness = KeyRules.weakness(issuer, policy: policy) {
            problems.add(.weakKey(weakness), issuer)
        }
        addNames(outsideOf: issuer, path, profile, &problems, &budget)
        return problems
    }

    /// Basic constraints and key usage (B3.27). An old anchor of a private authority, of a version that has no
    /// extensions, lacks both.
    ///
    /// One of version 3 could say that it is an authority. Where it does not it may be a server's own certificate,
    /// which would speak for every host if it issued.
    private static func mayIssue(
        _ fields: CertificateFields, isAnchor: Bool, profile: TrustPolicy.Profile
    ) -> Bool {
        if let usage = fields.extensions.keyUsage, usage & KeyUsage.keyCertSign.rawValue == 0 { return false }
        return fields.extensions.isAuthority ?? (isAnchor && profile == .standard && fields.version < 3)
    }

    /// Section 4.2.1.9: neither the leaf nor self-issued certificates count.
    private static func intermediates(in path: [Certificate]) -> Int {
        path.dropFirst().count { !$0.isSelfIssued }
    }

    /// Section 4.2.1.10: the names of everything below, except of self-issued intermediates (B3.25).
    private static func addNames(
        outsideOf issuer: Certificate, _ path: [Certificate], _ profile: TrustPolicy.Profile,
        _ problems: inout PathProblems, _ budget: inout WorkBudget
    ) {
        let fields = issuer.fields
        guard let list = fields.extensions.nameConstraints else { return }
        // What is refused for lack of work is refused: the caller knows it from the budget.
        guard budget.takeNames(bytes: list.count) else { return problems.add(.nameConstraint, issuer) }
        fields.bytes.withUnsafeBytes { bytes in
            guard let subtrees = NameSubtrees(bytes, list, profile: profile) else {
                return problems.add(.malformed("its name constraints cannot be read"), issuer)
            }
            let rules = NameConstraintRules(subtrees)
            for (index, certificate) in path.enumerated() where index == 0 || !certificate.isSelfIssued {
                if !rules.allow(certificate.fields, budget: &budget) { problems.add(.nameConstraint, certificate) }
            }
        }
    }
}
