// Reads a revocation list's fields. RFC 5280 section 5.1.

/// The parts of a list that is decided by.
struct RevocationListParts {
    private(set) var issuer: [UInt8] = []
    private(set) var thisUpdate: Int64 = 0
    private(set) var nextUpdate: Int64?
    private(set) var serials: Set<[UInt8]> = []
    private(set) var covers = (leaves: true, authorities: true)
    private(set) var isUsable = true

    /// Reads a list; nil when it is malformed.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var outer = DERReader(bytes)
        guard let list = outer.next(DERReader.sequence) else { return nil }
        var parts = DERReader(bytes, list.content)
        guard let signed = parts.next(DERReader.sequence), let algorithm = parts.next(DERReader.sequence) else {
            return nil
        }
        var fields = DERReader(bytes, signed.content)
        _ = fields.next(DERReader.integer)
        guard let inner = fields.next(DERReader.sequence),
            bytes[part: inner.whole].elementsEqual(bytes[part: algorithm.whole]),
            let issuer = fields.next(DERReader.sequence), let start = fields.next(),
            let thisUpdate = DERValues.time(start.tag, bytes[part: start.content])
        else { return nil }
        self.issuer = Array(bytes[part: issuer.whole])
        self.thisUpdate = thisUpdate
        if let end = fields.next(0x17) ?? fields.next(0x18) {
            guard let time = DERValues.time(end.tag, bytes[part: end.content]) else { return nil }
            nextUpdate = time
        }
        if let entries = fields.next(DERReader.sequence) {
            guard readEntries(bytes, entries.content) else { return nil }
        }
        if let tagged = fields.next(0xA0) {
            guard readExtensions(bytes, tagged.content) else { return nil }
        }
        guard fields.isAtEnd else { return nil }
    }

    private mutating func readEntries(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
        var entries = DERReader(bytes, range)
        while !entries.isAtEnd {
            guard let entry = entries.next(DERReader.sequence) else { return false }
            var parts = DERReader(bytes, entry.content)
            guard let serial = parts.next(DERReader.integer), parts.next() != nil else { return false }
            // Section 5.3: whatever an entry adds, a certificate that is listed is not to be relied on. Only an entry
            // for another issuer's certificate would be a different thing, and lists that have those are not used.
            if let more = parts.next(DERReader.sequence) {
                Self.forEachExtension(bytes, more.content) { identifier, _, _ in
                    if identifier == ObjectIdentifiers.certificateIssuer { isUsable = false }
                }
            }
            serials.insert(Array(bytes[part: serial.content]))
        }
        return true
    }

    private mutating func readExtensions(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
        var inner = DERReader(bytes, range)
        guard let list = inner.next(DERReader.sequence) else { return false }
        Self.forEachExtension(bytes, list.content) { identifier, isCritical, value in
            switch identifier {
            case ObjectIdentifiers.issuingDistributionPoint: readScope(bytes, value)
            // A delta says nothing without its base.
            case ObjectIdentifiers.deltaCRLIndicator: isUsable = false
            case ObjectIdentifiers.authorityKeyIdentifier, ObjectIdentifiers.crlNumber: break
            default: if isCritical { isUsable = false }
            }
        }
        return true
    }

    /// Section 5.2.5: which certificates the list is about.
    private mutating func readScope(_ bytes: UnsafeRawBufferPointer, _ value: Range<Int>) {
        var outer = DERReader(bytes, value)
        guard let list = outer.next(DERReader.sequence) else { return isUsable = false }
        var parts = DERReader(bytes, list.content)
        while !parts.isAtEnd {
            guard let part = parts.next() else { return isUsable = false }
            let isSet = DERValues.boolean(bytes[part: part.content])
            switch part.tag {
            // One of several lists of the authority: a certificate on it is revoked, one that is not may be on another.
            case 0xA0: covers = (false, false)
            case 0x81: if isSet != false { covers.authorities = false }
            case 0x82: if isSet != false { covers.leaves = false }
            // Some reasons only, other issuers' certificates, attribute certificates: no answer for ours.
            default: if isSet != false { isUsable = false }
            }
        }
    }

    private static func forEachExtension(
        _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>,
        _ visit: (_ identifier: UInt8?, _ isCritical: Bool, _ value: Range<Int>) -> Void
    ) {
        var reader = DERReader(bytes, range)
        while let entry = reader.next(DERReader.sequence) {
            var parts = DERReader(bytes, entry.content)
            guard let identifier = parts.next(DERReader.objectIdentifier) else { return visit(nil, true, 0..<0) }
            let flag = parts.next(DERReader.boolean)
            let isCritical = flag.map { DERValues.boolean(bytes[part: $0.content]) != false } ?? false
            guard let value = parts.next(DERReader.octetString) else { return visit(nil, true, 0..<0) }
            visit(
                ObjectIdentifiers.standardExtension(bytes[part: identifier.content]), isCritical, value.content)
        }
    }
}
