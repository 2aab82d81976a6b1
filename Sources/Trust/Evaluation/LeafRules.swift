// What is wrong with the leaf whatever its path: its form, its uses, its names, its dates, its key.

/// Rules for the peer's own certificate.
enum LeafRules {
    /// What is wrong with it; `isAnchor` when it is itself among the trusted ones (B3.40), where its form is the choice
    /// of the program that trusts it.
    static func problems(_ leaf: Certificate, isAnchor: Bool, policy: TrustPolicy, now: Int64) -> PathProblems {
        var problems = PathProblems()
        let fields = leaf.fields
        let profile = isAnchor ? .standard : policy.profile
        let form =
            FormRules.problem(fields, isAnchor: isAnchor, isIssuer: false, profile: profile)
            ?? nameProblem(fields, profile: profile, policy: policy)
        if let form { problems.add(.malformed(form), leaf) }
        if fields.extensions.unknownCritical != nil { problems.add(.unknownCriticalExtension, leaf) }
        if !isFit(fields.extensions, policy) { problems.add(.wrongPurpose, leaf) }
        problems.addDates(of: leaf, now: now)
        if let weakness = KeyRules.weakness(leaf, policy: policy) { problems.add(.weakKey(weakness), leaf) }
        if !isAnchor, let weakness = SignatureRules.weakness(leaf, policy: policy) {
            problems.add(.weakSignature(weakness), leaf)
        }
        problems.addHost(of: leaf, policy: policy)
        return problems
    }

    /// Key usage and extended key usage (B3.26).
    private static func isFit(_ extensions: CertificateExtensions, _ policy: TrustPolicy) -> Bool {
        guard let needed = policy.purpose.needed else { return true }
        if let purposes = extensions.purposes, purposes.isDisjoint(with: needed) {
            // The forum's profile has no place for a leaf that is good for anything.
            guard policy.profile == .standard, purposes.contains(.any) else { return false }
        }
        // An authority in the place of a leaf is legal, and its key usage says so (RFC 5280 section 4.2.1.9).
        guard let usage = extensions.keyUsage, extensions.isAuthority != true else { return true }
        let forTLS: KeyUsage = [.digitalSignature, .keyEncipherment, .keyAgreement]
        return !KeyUsage(rawValue: usage).isDisjoint(with: forTLS)
    }

    /// Section 4.2.1.6: what is broken about the alternative names. Only a strict profile minds more than that they can
    /// be read: a name that is none matches no host.
    private static func nameProblem(
        _ fields: CertificateFields, profile: TrustPolicy.Profile, policy: TrustPolicy
    ) -> String? {
        var bad: String?
        var count = 0
        let isWellFormed = fields.forEachAlternativeName { name in
            count += 1
            if profile == .strict { bad = problem(name) }
            return bad == nil
        }
        guard isWellFormed else { return "its alternative names cannot be read" }
        if let bad { return bad }
        guard profile == .strict else { return nil }
        let extensions = fields.extensions
        if extensions.alternativeNames != nil {
            if count == 0 { return "its alternative names are empty" }
            if fields.hasSubject == extensions.alternativeNamesIsCritical {
                return fields.hasSubject
                    ? "its alternative names are critical beside a subject"
                    : "its alternative names are not critical although it has no subject"
            }
        } else if !fields.hasSubject {
            return "it has no name"
        }
        return policy.purpose == .serverAuthentication ? commonNameProblem(fields) : nil
    }

    private static func problem(_ name: GeneralName) -> String? {
        switch name.kind {
        case .dns:
            // A misplaced wildcard never matches (B3.19), which is said where hosts are compared.
            let isName = name.value.contains(NameSyntax.star) || NameSyntax.isDNSName(name.value)
            return isName ? nil : "one of its DNS names is none"
        case .ipAddress: return [4, 16].contains(name.value.count) ? nil : "one of its addresses is none"
        case .email: return NameSyntax.isMailbox(name.value) ? nil : "one of its mailboxes is none"
        case .directory:
            return DistinguishedName.canonical(whole: name.value) == nil ? "one of its directory names is none" : nil
        case .uri, .other, .x400, .ediParty, .registered: return nil
        }
    }

    /// Baseline requirements, section 7.1.4.3: a common name that is a host's repeats an alternative name, letter by
    /// letter. It never takes part in matching (B3.15).
    private static func commonNameProblem(_ fields: CertificateFields) -> String? {
        guard fields.extensions.alternativeNames != nil else { return nil }
        var isRepeated = true
        var hosts = 0
        fields.with(fields.subject) { subject in
            DistinguishedName.forEachValue(of: ObjectIdentifiers.commonName, in: subject) { value in
                guard isRepeated, looksLikeHost(value) else { return }
                hosts += 1
                isRepeated = hosts <= mostCommonNames && repeats(value, fields)
            }
        }
        if isRepeated { return nil }
        return hosts > mostCommonNames
            ? "it has more than \(mostCommonNames) common names that are hosts"
            : "its common name is a host that its alternative names do not have"
    }

    // The forum allows one; each is looked for among all alternative names.
    private static let mostCommonNames = 16

    private static func looksLikeHost(_ text: UnsafeRawBufferPointer) -> Bool {
        if text.contains(UInt8(ascii: " ")) || text.contains(UInt8(ascii: "@")) { return false }
        let isHexadecimal = text.starts(with: Array("0x".utf8)) && text.count <= 10
        return text.contains(NameSyntax.dot) || text.contains(UInt8(ascii: ":")) || isHexadecimal
    }

    private static func repeats(_ text: UnsafeRawBufferPointer, _ fields: CertificateFields) -> Bool {
        var found = false
        fields.forEachAlternativeName { name in
            switch name.kind {
            case .ipAddress:
                found = Platform.addressText(Array(name.value)).map { text.elementsEqual($0.utf8) } ?? false
            case .dns, .email, .uri: found = text.elementsEqual(name.value)
            case .directory, .other, .x400, .ediParty, .registered: break
            }
            return !found
        }
        return found
    }
}

extension TrustPolicy.Purpose {
    /// What extended key usage must name; nil for nothing.
    var needed: CertificateExtensions.Purposes? {
        switch self {
        case .serverAuthentication: .server
        case .clientAuthentication: .client
        case .anyPurpose: nil
        }
    }
}
