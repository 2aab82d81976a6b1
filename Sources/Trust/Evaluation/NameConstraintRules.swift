// Whether names lie within what an issuer may certify. Where a name stands for many, a wildcard, it must not stand for
// a single one that is forbidden. RFC 5280 section 4.2.1.10 (B3.25).

/// Name constraints against a certificate's names.
struct NameConstraintRules {
    private let subtrees: NameSubtrees
    private let permittedDirectories: [[[UInt8]]]
    private let excludedDirectories: [[[UInt8]]]

    init(_ subtrees: NameSubtrees) {
        self.subtrees = subtrees
        permittedDirectories = Self.directories(subtrees.permitted)
        excludedDirectories = Self.directories(subtrees.excluded)
    }

    /// Whether every name of the certificate may be certified; false also when a name cannot be understood, or when
    /// the budget does not last.
    func allow(_ fields: CertificateFields, budget: inout WorkBudget) -> Bool {
        var isAllowed = true
        var hasMailbox = false
        let isWellFormed = fields.forEachAlternativeName { name in
            if name.kind == .email { hasMailbox = true }
            isAllowed = allows(name, budget: &budget)
            return isAllowed
        }
        guard isWellFormed, isAllowed else { return false }
        return fields.with(fields.subject) { subject in
            // The subject is a directory name itself, and old mailboxes are attributes of it.
            if fields.hasSubject, !allowsDirectory(subject, budget: &budget) { return false }
            if !hasMailbox {
                isAllowed = budget.takeComparisons(subject.count / WorkBudget.bytesAtATime)
                DistinguishedName.forEachValue(of: ObjectIdentifiers.emailAddress, in: subject) { value in
                    isAllowed = isAllowed && allows(GeneralName(kind: .email, value: value), budget: &budget)
                }
            }
            return isAllowed
        }
    }

    private func allows(_ name: GeneralName, budget: inout WorkBudget) -> Bool {
        if name.kind == .directory { return allowsDirectory(name.value, budget: &budget) }
        let weight = max(1, subtrees.permitted.count + subtrees.excluded.count)
        guard budget.takeComparisons(weight * (1 + name.value.count / WorkBudget.bytesAtATime)) else { return false }
        let isWellFormed = Self.isWellFormed(name)
        var isConstrained = false
        var isPermitted = false
        for base in subtrees.permitted where base.kind == name.kind {
            isConstrained = true
            isPermitted = isPermitted || isWellFormed && Self.contains(base, name)
        }
        if isConstrained, !isPermitted { return false }
        for base in subtrees.excluded where base.kind == name.kind {
            if !isWellFormed || Self.touches(base, name) { return false }
        }
        return true
    }

    private func allowsDirectory(_ name: UnsafeRawBufferPointer, budget: inout WorkBudget) -> Bool {
        let weight = permittedDirectories.count + excludedDirectories.count
        if weight == 0 { return budget.takeComparisons(1) }
        guard budget.takeNames(bytes: name.count),
            budget.takeComparisons(weight * (1 + name.count / WorkBudget.bytesAtATime))
        else { return false }
        guard let parts = DistinguishedName.canonical(whole: name) else { return false }
        if !permittedDirectories.isEmpty, !permittedDirectories.contains(where: { parts.starts(with: $0) }) {
            return false
        }
        return !excludedDirectories.contains { parts.starts(with: $0) }
    }

    private static func directories(_ list: [GeneralName]) -> [[[UInt8]]] {
        list.filter { $0.kind == .directory }.compactMap { DistinguishedName.canonical(whole: $0.value) }
    }

    private static func isWellFormed(_ name: GeneralName) -> Bool {
        switch name.kind {
        case .dns: NameSyntax.isDNSName(name.value, wildcard: true)
        case .email: NameSyntax.isMailbox(name.value)
        case .uri: NameSyntax.host(ofURI: name.value) != nil
        case .ipAddress: name.value.count == 4 || name.value.count == 16
        case .directory, .other, .x400, .ediParty, .registered: true
        }
    }

    /// Whether all that a well-formed name stands for lies within the subtree.
    private static func contains(_ base: GeneralName, _ name: GeneralName) -> Bool {
        switch name.kind {
        case .dns:
            let isWildcard = name.value[0] == NameSyntax.star
            return isWithin(isWildcard ? name.value[part: 2..<name.value.count] : name.value, domain(base.value))
        case .email: return mailbox(name.value, isWithin: base.value)
        case .uri:
            guard let host = NameSyntax.host(ofURI: name.value), NameSyntax.isDNSName(host) else { return false }
            return hostOrDomain(host, isWithin: base.value)
        case .ipAddress: return address(name.value, isWithin: base.value)
        // What is not understood is not permitted.
        case .directory, .other, .x400, .ediParty, .registered: return false
        }
    }

    /// Whether anything that a well-formed name stands for lies within the subtree.
    private static func touches(_ base: GeneralName, _ name: GeneralName) -> Bool {
        switch name.kind {
        case .dns:
            if contains(base, name) { return true }
            guard name.value[0] == NameSyntax.star else { return false }
            // The wildcard stands for one label more: what is forbidden may be one of those names.
            let forbidden = domain(base.value)
            guard let dot = forbidden.firstIndex(of: NameSyntax.dot) else { return false }
            return NameSyntax.equalIgnoringCase(forbidden[dot...], name.value[1...])
        case .uri:
            guard let host = NameSyntax.host(ofURI: name.value), NameSyntax.isDNSName(host) else { return true }
            return contains(base, name)
        case .email, .ipAddress: return contains(base, name)
        case .directory, .other, .x400, .ediParty, .registered: return true
        }
    }

    private static func domain(_ base: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        base.first == NameSyntax.dot ? base[part: 1..<base.count] : base
    }

    /// Whether a name is the domain or below it; everything is below the empty domain.
    private static func isWithin(_ name: UnsafeRawBufferPointer, _ domain: UnsafeRawBufferPointer) -> Bool {
        guard !domain.isEmpty else { return true }
        guard name.count >= domain.count,
            NameSyntax.equalIgnoringCase(name[(name.count - domain.count)...], domain[...])
        else { return false }
        return name.count == domain.count || name[name.count - domain.count - 1] == NameSyntax.dot
    }

    /// A host alone means that host; behind a dot, everything below it.
    private static func hostOrDomain(_ host: UnsafeRawBufferPointer, isWithin base: UnsafeRawBufferPointer) -> Bool {
        if base.isEmpty { return true }
        if base[0] == NameSyntax.dot {
            return host.count > base.count
                && NameSyntax.equalIgnoringCase(host[(host.count - base.count)...], base[...])
        }
        return NameSyntax.equalIgnoringCase(host[...], base[...])
    }

    private static func mailbox(_ name: UnsafeRawBufferPointer, isWithin base: UnsafeRawBufferPointer) -> Bool {
        guard let at = name.firstIndex(of: UInt8(ascii: "@")) else { return false }
        guard let baseAt = base.firstIndex(of: UInt8(ascii: "@")) else {
            return hostOrDomain(name[part: at + 1..<name.count], isWithin: base)
        }
        // Section 7.5: the local part is compared exactly.
        return name[..<at].elementsEqual(base[..<baseAt])
            && NameSyntax.equalIgnoringCase(name[at...], base[baseAt...])
    }

    private static func address(_ name: UnsafeRawBufferPointer, isWithin base: UnsafeRawBufferPointer) -> Bool {
        guard base.count == name.count * 2 else { return false }
        return name.indices.allSatisfy { (name[$0] ^ base[$0]) & base[name.count + $0] == 0 }
    }
}
