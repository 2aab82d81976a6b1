// The two lists of name constraints, read and held to their syntax. RFC 5280 section 4.2.1.10.

/// The names an authority may certify, and those it may not.
struct NameSubtrees {
    private(set) var permitted: [GeneralName] = []
    private(set) var excluded: [GeneralName] = []

    /// Reads the content of the extension's sequence; nil when it is malformed. The bytes must outlive the value.
    init?(_ bytes: UnsafeRawBufferPointer, _ list: Range<Int>, profile: TrustPolicy.Profile) {
        var lists = DERReader(bytes, list)
        if let first = lists.next(0xA0) {
            guard Self.read(bytes, first.content, profile, into: &permitted) else { return nil }
        }
        if let second = lists.next(0xA1) {
            guard Self.read(bytes, second.content, profile, into: &excluded) else { return nil }
        }
        guard lists.isAtEnd else { return nil }
        // Conforming authorities must not issue an empty sequence.
        if profile == .strict, permitted.isEmpty, excluded.isEmpty { return nil }
    }

    private static func read(
        _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, _ profile: TrustPolicy.Profile,
        into list: inout [GeneralName]
    ) -> Bool {
        var subtrees = DERReader(bytes, range)
        while !subtrees.isAtEnd {
            guard let subtree = subtrees.next(DERReader.sequence), list.count < most else { return false }
            var parts = DERReader(bytes, subtree.content)
            // The minimum is always its default, 0, and the maximum is absent, so nothing follows the base.
            guard let base = parts.next(), parts.isAtEnd, let kind = GeneralNameKind(rawValue: base.tag) else {
                return false
            }
            let name = GeneralName(kind: kind, value: bytes[part: base.content])
            guard isWellFormed(name, profile) else { return false }
            list.append(name)
        }
        return true
    }

    private static func isWellFormed(_ base: GeneralName, _ profile: TrustPolicy.Profile) -> Bool {
        switch base.kind {
        case .dns:
            if base.value.isEmpty { return true }
            // A leading dot is for URIs only; many authorities write it for DNS names nevertheless.
            let isDotted = profile == .standard && base.value[0] == NameSyntax.dot
            return NameSyntax.isDNSName(isDotted ? base.value[part: 1..<base.value.count] : base.value)
        case .email:
            if base.value.contains(UInt8(ascii: "@")) { return NameSyntax.isMailbox(base.value) }
            return isHostOrDomain(base.value)
        case .uri: return isHostOrDomain(base.value)
        case .ipAddress:
            guard base.value.count == 8 || base.value.count == 32 else { return false }
            return profile == .standard || isPrefix(base.value.dropFirst(base.value.count / 2))
        case .directory: return DistinguishedName.canonical(whole: base.value) != nil
        case .other, .x400, .ediParty, .registered: return true
        }
    }

    private static func isHostOrDomain(_ text: UnsafeRawBufferPointer) -> Bool {
        if text.isEmpty { return true }
        return NameSyntax.isDNSName(text[0] == NameSyntax.dot ? text[part: 1..<text.count] : text)
    }

    /// Whether a mask is ones and then zeros (RFC 4632 section 3.1).
    private static func isPrefix(_ mask: Slice<UnsafeRawBufferPointer>) -> Bool {
        var ended = false
        for octet in mask {
            if ended, octet != 0 { return false }
            let ones = (~octet).leadingZeroBitCount
            if ones < 8 {
                if octet != ~(0xFF >> UInt8(ones)) { return false }
                ended = true
            }
        }
        return true
    }

    // By feel: the largest in use, of governments' authorities, have some hundred.
    private static let most = 1_024
}
