// What is wrong with the form of one certificate, wherever it stands in a path: the rules that a strict profile adds to
// those that every profile has. RFC 5280 sections 4.1 and 4.2; CA/Browser forum, baseline requirements, section 7.1.

extension Certificate {
    /// What is minded about its form where the machine's store has it as an anchor, in words; nil for nothing.
    package var formProblem: String? {
        FormRules.problem(fields, isAnchor: true, isIssuer: true, profile: .standard)
    }
}

/// Rules of form.
enum FormRules {
    /// What is wrong, in words; nil when nothing is.
    static func problem(
        _ fields: CertificateFields, isAnchor: Bool, isIssuer: Bool, profile: TrustPolicy.Profile
    ) -> String? {
        if let malformed = fields.malformed { return malformed }
        guard profile == .strict else { return nil }
        if let pedantic = fields.extensions.pedantic { return pedantic }
        if !fields.hasIssuer { return "its issuer is empty" }
        if isIssuer, !fields.hasSubject { return "its subject is empty" }
        if !isAnchor {
            if fields.version != 3, !isIssuer { return "it is of version \(fields.version)" }
            if let problem = serialProblem(fields) { return problem }
        }
        return keyIdentifierProblem(fields, isAnchor: isAnchor, isIssuer: isIssuer) ?? authorityProblem(fields)
    }

    /// Section 4.1.2.2: positive, and at most 20 octets.
    private static func serialProblem(_ fields: CertificateFields) -> String? {
        fields.with(fields.serial) { serial in
            guard let first = serial.first else { return "its serial number is empty" }
            if first >= 0x80 { return "its serial number is negative" }
            if serial.allSatisfy({ $0 == 0 }) { return "its serial number is zero" }
            return serial.count > 20 ? "its serial number is longer than 20 octets" : nil
        }
    }

    /// Sections 4.2.1.1 and 4.2.1.2.
    private static func keyIdentifierProblem(
        _ fields: CertificateFields, isAnchor: Bool, isIssuer: Bool
    ) -> String? {
        let extensions = fields.extensions
        let isSelfIssued = fields.equal(fields.issuer, fields, fields.subject)
        if isIssuer, extensions.subjectKey == nil, fields.version == 3 { return "it has no subject key identifier" }
        guard let above = extensions.authorityKey, let identifier = above.identifier else {
            // A self-signed certificate may leave it away, but not name its issuer in another way.
            if isSelfIssued, extensions.authorityKey == nil { return nil }
            return isAnchor && !isIssuer || fields.version != 3 ? nil : "it has no authority key identifier"
        }
        guard isSelfIssued, isAnchor else { return nil }
        if above.hasIssuerOrSerial { return "its authority key identifier names more than a key" }
        if let own = extensions.subjectKey, !fields.equal(own, fields, identifier) {
            return "its two key identifiers differ"
        }
        return nil
    }

    /// What says that a certificate may issue others must say so everywhere, and the other way round.
    private static func authorityProblem(_ fields: CertificateFields) -> String? {
        let extensions = fields.extensions
        let isAuthority = extensions.isAuthority == true
        let mayDoSo = extensions.keyUsage.map { $0 & KeyUsage.keyCertSign.rawValue != 0 }
        if isAuthority, !extensions.basicConstraintsIsCritical { return "its basic constraints are not critical" }
        if isAuthority, mayDoSo == false { return "its basic constraints and key usage contradict each other" }
        if !isAuthority, mayDoSo == true { return "its key usage is an authority's, which it is not" }
        if !isAuthority, extensions.nameConstraints != nil { return "it has name constraints and is no authority" }
        return nil
    }
}
