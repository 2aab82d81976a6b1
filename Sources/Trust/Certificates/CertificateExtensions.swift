// The extensions of a certificate that decide what it may be used for. Reads them; weighs nothing. What is broken
// whatever the profile is told apart from what only a strict profile minds. RFC 5280 section 4.2.

/// A certificate's extensions.
struct CertificateExtensions: Sendable {
    /// The purposes of extended key usage that are asked for here.
    struct Purposes: OptionSet, Sendable, Hashable {
        let rawValue: UInt8
        static let server = Purposes(rawValue: 1)
        static let client = Purposes(rawValue: 2)
        static let any = Purposes(rawValue: 4)
        static let ocspSigning = Purposes(rawValue: 8)
    }

    /// How a certificate names its issuer's key.
    struct AuthorityKey: Sendable {
        var identifier: Range<Int>?
        var hasIssuerOrSerial = false
    }

    private(set) var count = 0
    /// Whether the certificate may issue others; nil when nothing is said.
    private(set) var isAuthority: Bool?
    private(set) var basicConstraintsIsCritical = false
    private(set) var pathLength: Int?
    /// The bits of key usage, bit 0 lowest; nil when nothing is said.
    private(set) var keyUsage: UInt16?
    /// The purposes; nil when nothing is said.
    private(set) var purposes: Purposes?
    /// The encoded identifiers of all purposes, one behind the other.
    private(set) var purposeList: Range<Int>?
    /// The names' sequence content.
    private(set) var alternativeNames: Range<Int>?
    private(set) var alternativeNamesIsCritical = false
    private(set) var subjectKey: Range<Int>?
    private(set) var authorityKey: AuthorityKey?
    /// The content of the sequence of both lists of subtrees.
    private(set) var nameConstraints: Range<Int>?
    /// Whether a stapled OCSP response is promised (RFC 7633).
    private(set) var mustStaple = false
    /// An extension marked critical that is not processed here, as dotted text.
    private(set) var unknownCritical: String?
    /// What only a strict profile refuses, in words.
    private(set) var pedantic: String?

    /// Reads the content of the list; what is broken in words, or nil.
    mutating func read(_ bytes: UnsafeRawBufferPointer, _ list: Range<Int>) -> String? {
        var reader = DERReader(bytes, list)
        var seen: Set<ArraySlice<UInt8>> = []
        while !reader.isAtEnd {
            count += 1
            guard count <= Self.most else { return "it has more than \(Self.most) extensions" }
            guard let entry = reader.next(DERReader.sequence) else { return "its extensions cannot be read" }
            var parts = DERReader(bytes, entry.content)
            guard let identifier = parts.next(DERReader.objectIdentifier) else {
                return "its extensions cannot be read"
            }
            var isCritical = false
            if let flag = parts.next(DERReader.boolean) {
                guard let value = DERValues.boolean(bytes[part: flag.content]) else {
                    return "its extensions cannot be read"
                }
                isCritical = value
            }
            guard let value = parts.next(DERReader.octetString), parts.isAtEnd else {
                return "its extensions cannot be read"
            }
            let name = bytes[part: identifier.content]
            // Section 4.2: not more than one instance of an extension.
            if !seen.insert(Array(name)[...]).inserted { return "it has an extension twice" }
            if let problem = take(name, isCritical, bytes, value.content) { return problem }
        }
        return nil
    }

    private mutating func take(
        _ identifier: UnsafeRawBufferPointer, _ isCritical: Bool, _ bytes: UnsafeRawBufferPointer, _ value: Range<Int>
    ) -> String? {
        switch ObjectIdentifiers.standardExtension(identifier) {
        case ObjectIdentifiers.basicConstraints:
            basicConstraintsIsCritical = isCritical
            return readBasicConstraints(bytes, value) ? nil : "its basic constraints cannot be read"
        case ObjectIdentifiers.keyUsage:
            return readKeyUsage(bytes, value) ? nil : "its key usage cannot be read"
        case ObjectIdentifiers.extendedKeyUsage:
            return readPurposes(bytes, value) ? nil : "its extended key usage cannot be read"
        case ObjectIdentifiers.subjectAlternativeName:
            alternativeNamesIsCritical = isCritical
            alternativeNames = Self.sequence(bytes, value)
            return alternativeNames == nil ? "its alternative names cannot be read" : nil
        case ObjectIdentifiers.nameConstraints:
            nameConstraints = Self.sequence(bytes, value)
            return nameConstraints == nil ? "its name constraints cannot be read" : nil
        case ObjectIdentifiers.subjectKeyIdentifier:
            if isCritical { mind("its subject key identifier is marked critical") }
            return readSubjectKey(bytes, value) ? nil : "its subject key identifier cannot be read"
        case ObjectIdentifiers.authorityKeyIdentifier:
            if isCritical { mind("its authority key identifier is marked critical") }
            return readAuthorityKey(bytes, value) ? nil : "its authority key identifier cannot be read"
        case ObjectIdentifiers.policyConstraints:
            // Section 4.2.1.11: always critical. Policies are not processed here, so what demands them is refused.
            if isCritical { unknownCritical = ObjectIdentifiers.text(identifier) }
            if !isCritical { mind("its policy constraints are not marked critical") }
        case ObjectIdentifiers.certificatePolicies, ObjectIdentifiers.policyMappings,
            ObjectIdentifiers.inhibitAnyPolicy, ObjectIdentifiers.issuerAlternativeName:
            // Nothing follows from them as long as no policy is asked for.
            break
        default:
            takeOther(identifier, isCritical, bytes, value)
        }
        return nil
    }

    private mutating func takeOther(
        _ identifier: UnsafeRawBufferPointer, _ isCritical: Bool, _ bytes: UnsafeRawBufferPointer, _ value: Range<Int>
    ) {
        if identifier.elementsEqual(ObjectIdentifiers.authorityInformationAccess) {
            if isCritical { mind("its authority information access is marked critical") }
            if !Self.isAccessList(bytes, value) { mind("its authority information access cannot be read") }
        } else if identifier.elementsEqual(ObjectIdentifiers.tlsFeature) {
            guard let list = Self.sequence(bytes, value) else { return mind("its TLS features cannot be read") }
            var features = DERReader(bytes, list)
            while let feature = features.next(DERReader.integer) {
                // RFC 7633 section 4: the numbers of TLS extensions, of which 5 asks for a stapled response.
                if DERValues.smallInteger(bytes[part: feature.content]) == 5 { mustStaple = true }
            }
        } else if isCritical {
            unknownCritical = ObjectIdentifiers.text(identifier)
        }
    }

    /// Notes the first thing that a strict profile minds.
    private mutating func mind(_ what: String) {
        if pedantic == nil { pedantic = what }
    }

    // By feel: certificates have about ten.
    private static let most = 64
}

// MARK: - Values

extension CertificateExtensions {
    private mutating func readBasicConstraints(_ bytes: UnsafeRawBufferPointer, _ value: Range<Int>) -> Bool {
        guard let list = Self.sequence(bytes, value) else { return false }
        var parts = DERReader(bytes, list)
        isAuthority = false
        if let flag = parts.next(DERReader.boolean) {
            guard let value = DERValues.boolean(bytes[part: flag.content]) else { return false }
            if !value { mind("its basic constraints spell out a default") }
            isAuthority = value
        }
        if let length = parts.next(DERReader.integer) {
            guard DERValues.isInteger(bytes[part: length.content]), bytes[length.content.lowerBound] < 0x80 else {
                return false
            }
            pathLength = DERValues.smallInteger(bytes[part: length.content]) ?? .max
            if isAuthority == false { mind("it has a path length and is no authority") }
        }
        return parts.isAtEnd
    }

    private mutating func readKeyUsage(_ bytes: UnsafeRawBufferPointer, _ value: Range<Int>) -> Bool {
        var outer = DERReader(bytes, value)
        guard let bits = outer.next(DERReader.bitString), outer.isAtEnd else { return false }
        keyUsage = DERValues.namedBits(bytes[part: bits.content])
        // Section 4.2.1.3: at least one of the bits must be set.
        if keyUsage == 0 { mind("its key usage is empty") }
        return keyUsage != nil
    }

    private mutating func readPurposes(_ bytes: UnsafeRawBufferPointer, _ value: Range<Int>) -> Bool {
        guard let list = Self.sequence(bytes, value), !list.isEmpty else { return false }
        purposeList = list
        var found: Purposes = []
        var reader = DERReader(bytes, list)
        while !reader.isAtEnd {
            guard let purpose = reader.next(DERReader.objectIdentifier) else { return false }
            let identifier = bytes[part: purpose.content]
            for (known, encoded) in Self.knownPurposes where identifier.elementsEqual(encoded) { found.insert(known) }
        }
        purposes = found
        return true
    }

    private mutating func readSubjectKey(_ bytes: UnsafeRawBufferPointer, _ value: Range<Int>) -> Bool {
        var outer = DERReader(bytes, value)
        guard let key = outer.next(DERReader.octetString), outer.isAtEnd, !key.content.isEmpty else { return false }
        subjectKey = key.content
        return true
    }

    private mutating func readAuthorityKey(_ bytes: UnsafeRawBufferPointer, _ value: Range<Int>) -> Bool {
        guard let list = Self.sequence(bytes, value) else { return false }
        var parts = DERReader(bytes, list)
        var key = AuthorityKey()
        key.identifier = parts.next(0x80)?.content
        if parts.next(0xA1) != nil { key.hasIssuerOrSerial = true }
        if parts.next(0x82) != nil { key.hasIssuerOrSerial = true }
        authorityKey = key
        return parts.isAtEnd && key.identifier?.isEmpty != true
    }

    /// The content of a value that is one sequence and nothing else.
    private static func sequence(_ bytes: UnsafeRawBufferPointer, _ value: Range<Int>) -> Range<Int>? {
        var outer = DERReader(bytes, value)
        guard let list = outer.next(DERReader.sequence), outer.isAtEnd else { return nil }
        return list.content
    }

    /// Section 4.2.2.1: one or more of a method and a name.
    private static func isAccessList(_ bytes: UnsafeRawBufferPointer, _ value: Range<Int>) -> Bool {
        guard let list = sequence(bytes, value), !list.isEmpty else { return false }
        var entries = DERReader(bytes, list)
        while !entries.isAtEnd {
            guard let entry = entries.next(DERReader.sequence) else { return false }
            var parts = DERReader(bytes, entry.content)
            guard parts.next(DERReader.objectIdentifier) != nil, parts.next() != nil, parts.isAtEnd else {
                return false
            }
        }
        return true
    }

    private static let knownPurposes: [(Purposes, [UInt8])] = [
        (.server, ObjectIdentifiers.serverAuthentication), (.client, ObjectIdentifiers.clientAuthentication),
        (.any, ObjectIdentifiers.anyPurpose), (.ocspSigning, ObjectIdentifiers.ocspSigning),
    ]
}
