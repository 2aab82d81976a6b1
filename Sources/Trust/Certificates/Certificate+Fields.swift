// What a certificate says, as values for code that shows or compares it. Broken parts read as absent; whether they make
// the certificate unusable is the evaluators' business.

/// Bits of key usage (RFC 5280 section 4.2.1.3).
package struct KeyUsage: OptionSet, Sendable, Hashable {
    /// Bit 0 of the extension is the lowest bit here.
    package let rawValue: UInt16
    /// A set from its bits.
    package init(rawValue: UInt16) { self.rawValue = rawValue }
    /// Signatures other than on certificates and revocation lists.
    package static let digitalSignature = KeyUsage(rawValue: 1 << 0)
    /// Signatures that cannot be denied later.
    package static let contentCommitment = KeyUsage(rawValue: 1 << 1)
    /// Encryption of keys.
    package static let keyEncipherment = KeyUsage(rawValue: 1 << 2)
    /// Encryption of data.
    package static let dataEncipherment = KeyUsage(rawValue: 1 << 3)
    /// Agreement on keys.
    package static let keyAgreement = KeyUsage(rawValue: 1 << 4)
    /// Signatures on certificates.
    package static let keyCertSign = KeyUsage(rawValue: 1 << 5)
    /// Signatures on revocation lists.
    package static let crlSign = KeyUsage(rawValue: 1 << 6)
}

extension Certificate {
    /// A name among the subject alternative names, or within name constraints.
    package enum Name: Sendable, Hashable {
        /// A DNS name as written.
        case dns(String)
        /// An address of 4 or 16 bytes; address and mask in constraints.
        case ip([UInt8])
        /// A mailbox.
        case email(String)
        /// A URI.
        case uri(String)
        /// An encoded directory name.
        case directory([UInt8])
        /// Another kind: its tag octet and content.
        case other(UInt8, [UInt8])
    }

    /// What basic constraints say.
    package struct BasicConstraints: Sendable, Hashable {
        /// Whether it may issue certificates.
        package let isAuthority: Bool
        /// The most intermediates that may follow; nil for no limit.
        package let pathLength: Int?
    }

    /// The version: 1, 2 or 3.
    package var version: Int { fields.version }

    /// The first second of validity, counted from 1970; nil when the field is malformed.
    package var notBefore: Int64? { fields.notBefore }

    /// The last second of validity, counted from 1970; nil when the field is malformed.
    package var notAfter: Int64? { fields.notAfter }

    /// SHA-256 of the whole certificate in hexadecimal.
    package var fingerprintHex: String { fingerprintSHA256.hexadecimal }

    /// The serial number in hexadecimal, two digits a byte, with a minus sign if it is negative.
    package var serial: String {
        let fields = fields
        return fields.with(fields.serial) { bytes in
            guard let first = bytes.first else { return "" }
            if first < 0x80 {
                return (bytes.count > 1 && first == 0 ? bytes.dropFirst() : bytes[...]).hexadecimal
            }
            // Two's complement: the magnitude is the inverse plus one.
            var magnitude = bytes.map { ~$0 }
            for index in magnitude.indices.reversed() {
                magnitude[index] &+= 1
                if magnitude[index] != 0 { break }
            }
            return "-" + magnitude.hexadecimal
        }
    }

    /// The serial number's octets as they stand in the certificate.
    package var serialBytes: [UInt8] { fields.with(fields.serial) { Array($0) } }

    /// All subject alternative names, as written.
    package var alternativeNames: [Name] {
        var names: [Name] = []
        fields.forEachAlternativeName { name in
            names.append(Self.name(name))
            return true
        }
        return names
    }

    /// The DNS names of the subject alternative names, as written.
    package var dnsNames: [String] {
        alternativeNames.compactMap { if case .dns(let name) = $0 { name } else { nil } }
    }

    /// The addresses of the subject alternative names: 4 or 16 bytes each.
    package var ipAddresses: [[UInt8]] {
        alternativeNames.compactMap { if case .ip(let bytes) = $0 { bytes } else { nil } }
    }

    /// The mailboxes of the subject alternative names and of the subject.
    package var emailAddresses: [String] {
        let fields = fields
        var found = alternativeNames.compactMap { if case .email(let text) = $0 { text } else { nil } }
        fields.with(fields.subject) { name in
            DistinguishedName.forEachValue(of: ObjectIdentifiers.emailAddress, in: name) { value in
                found.append(String(decoding: value, as: UTF8.self))
            }
        }
        return found
    }

    /// The subject as DER that is the same for equal names (RFC 5280 section 7.1); nil when it is malformed.
    package var normalizedSubject: [UInt8]? {
        let fields = fields
        return fields.with(fields.subject) { DistinguishedName.normalized(whole: $0) }
    }

    /// The issuer as DER that is the same for equal names (RFC 5280 section 7.1); nil when it is malformed.
    package var normalizedIssuer: [UInt8]? {
        let fields = fields
        return fields.with(fields.issuer) { DistinguishedName.normalized(whole: $0) }
    }

    /// What basic constraints say; nil when they are absent.
    package var basicConstraints: BasicConstraints? {
        let extensions = fields.extensions
        return extensions.isAuthority.map { BasicConstraints(isAuthority: $0, pathLength: extensions.pathLength) }
    }

    /// Whether basic constraints say that it may issue certificates.
    package var isCertificateAuthority: Bool { fields.extensions.isAuthority == true }

    /// The uses of the key; nil when the extension is absent.
    package var keyUsage: KeyUsage? { fields.extensions.keyUsage.map(KeyUsage.init(rawValue:)) }

    /// The purposes of extended key usage as dotted identifiers; nil when the extension is absent.
    package var extendedKeyUsage: [String]? {
        let fields = fields
        guard let list = fields.extensions.purposeList else { return nil }
        return fields.bytes.withUnsafeBytes { bytes in
            var reader = DERReader(bytes, list)
            var found: [String] = []
            while let purpose = reader.next(DERReader.objectIdentifier) {
                found.append(ObjectIdentifiers.text(bytes[part: purpose.content]))
            }
            return found
        }
    }

    /// The identifier of its own key; nil when the extension is absent.
    package var subjectKeyIdentifier: [UInt8]? {
        let fields = fields
        return fields.extensions.subjectKey.map { range in fields.with(range) { Array($0) } }
    }

    /// The identifier of its issuer's key; nil when it is absent.
    package var authorityKeyIdentifier: [UInt8]? {
        let fields = fields
        return fields.extensions.authorityKey?.identifier.map { range in fields.with(range) { Array($0) } }
    }

    /// The names it may certify and those it may not; nil when there are no name constraints or they are malformed.
    package var nameConstraints: (permitted: [Name], excluded: [Name])? {
        let fields = fields
        guard let list = fields.extensions.nameConstraints else { return nil }
        return fields.bytes.withUnsafeBytes { bytes in
            guard let subtrees = NameSubtrees(bytes, list, profile: .standard) else { return nil }
            return (subtrees.permitted.map(Self.name), subtrees.excluded.map(Self.name))
        }
    }

    /// Whether issuer and subject are the same name.
    package var isSelfIssued: Bool {
        let fields = fields
        return fields.equal(fields.issuer, fields, fields.subject)
    }

    /// Whether it is self-issued and its key identifiers do not speak against its having signed itself.
    package var isSelfSigned: Bool {
        guard isSelfIssued else { return false }
        guard let above = authorityKeyIdentifier, let own = subjectKeyIdentifier else { return true }
        return above == own
    }

    private static func name(_ name: GeneralName) -> Name {
        switch name.kind {
        case .dns: .dns(String(decoding: name.value, as: UTF8.self))
        case .email: .email(String(decoding: name.value, as: UTF8.self))
        case .uri: .uri(String(decoding: name.value, as: UTF8.self))
        case .ipAddress: .ip(Array(name.value))
        case .directory: .directory(Array(name.value))
        case .other, .x400, .ediParty, .registered: .other(name.kind.rawValue, Array(name.value))
        }
    }
}
