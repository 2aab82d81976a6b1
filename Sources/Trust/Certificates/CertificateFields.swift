// What a certificate says, read from its encoding once by our own reader, because OpenSSL's answers are lossy: they do
// not tell a missing extension from a broken one, nor what was marked critical. Holds values and places; weighs
// nothing. RFC 5280 section 4.1.

/// A certificate's parts.
struct CertificateFields: Sendable {
    /// The whole encoding, into which the ranges below point.
    let bytes: [UInt8]
    /// 1, 2 or 3.
    private(set) var version = 1
    private(set) var serial: Range<Int> = 0..<0
    private(set) var issuer: Range<Int> = 0..<0
    private(set) var subject: Range<Int> = 0..<0
    private(set) var publicKeyInfo: Range<Int> = 0..<0
    private(set) var publicKeyBits: Range<Int> = 0..<0
    private(set) var notBefore: Int64?
    private(set) var notAfter: Int64?
    private(set) var extensions = CertificateExtensions()
    /// What breaks the format, in words; nil when nothing does. Then the rest is not to be relied on.
    private(set) var malformed: String?

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        malformed = bytes.withUnsafeBytes { read($0) }
    }

    /// Calls `body` with the bytes of a part.
    func with<Result>(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body($0[part: range]) }
    }

    /// Whether a part of this certificate has the same bytes as a part of another.
    func equal(_ range: Range<Int>, _ other: CertificateFields, _ otherRange: Range<Int>) -> Bool {
        with(range) { left in other.with(otherRange) { right in left.elementsEqual(right) } }
    }

    var hasSubject: Bool { subject.count > 2 }
    var hasIssuer: Bool { issuer.count > 2 }

    /// RFC 5280 section 4.1: Certificate is SEQUENCE of TBSCertificate, signatureAlgorithm, signature.
    private mutating func read(_ bytes: UnsafeRawBufferPointer) -> String? {
        var outer = DERReader(bytes)
        guard let certificate = outer.next(DERReader.sequence), outer.isAtEnd else { return "it is not DER" }
        var parts = DERReader(bytes, certificate.content)
        guard let signed = parts.next(DERReader.sequence), let algorithm = parts.next(DERReader.sequence),
            parts.next(DERReader.bitString) != nil, parts.isAtEnd
        else { return "it is not a certificate's sequence" }
        var fields = DERReader(bytes, signed.content)
        if let problem = readVersion(&fields, bytes) { return problem }
        guard let number = fields.next(DERReader.integer), DERValues.isInteger(bytes[part: number.content]) else {
            return "its serial number cannot be read"
        }
        serial = number.content
        // Section 4.1.1.2: both statements of the signature's algorithm must be the same.
        guard let inner = fields.next(DERReader.sequence),
            bytes[part: inner.whole].elementsEqual(bytes[part: algorithm.whole])
        else { return "its two statements of the signature's algorithm differ" }
        guard let issuer = fields.next(DERReader.sequence) else { return "its issuer cannot be read" }
        self.issuer = issuer.whole
        guard let validity = fields.next(DERReader.sequence) else { return "its dates cannot be read" }
        var dates = DERReader(bytes, validity.content)
        guard let start = dates.next(), let end = dates.next(), dates.isAtEnd else { return "its dates cannot be read" }
        notBefore = DERValues.time(start.tag, bytes[part: start.content])
        notAfter = DERValues.time(end.tag, bytes[part: end.content])
        guard let subject = fields.next(DERReader.sequence) else { return "its subject cannot be read" }
        self.subject = subject.whole
        guard let key = fields.next(DERReader.sequence), let bits = Self.keyBits(bytes, key.content) else {
            return "its public key cannot be read"
        }
        (publicKeyInfo, publicKeyBits) = (key.whole, bits)
        if notBefore == nil { return "its start date cannot be read" }
        if notAfter == nil { return "its end date cannot be read" }
        return readRest(&fields, bytes)
    }

    private mutating func readVersion(_ fields: inout DERReader, _ bytes: UnsafeRawBufferPointer) -> String? {
        guard let tagged = fields.next(0xA0) else { return nil }
        var inner = DERReader(bytes, tagged.content)
        guard let number = inner.next(DERReader.integer), inner.isAtEnd,
            let version = DERValues.smallInteger(bytes[part: number.content]), version <= 2
        else { return "its version is unknown" }
        self.version = version + 1
        return nil
    }

    /// The unique identifiers, which only versions 2 and 3 have, and the extensions, which only version 3 has.
    private mutating func readRest(_ fields: inout DERReader, _ bytes: UnsafeRawBufferPointer) -> String? {
        for tag in [0x81, 0x82] as [UInt8] {
            if fields.next(tag) != nil, version < 2 { return "it has fields that its version does not have" }
        }
        guard let tagged = fields.next(0xA3) else {
            return fields.isAtEnd ? nil : "it has fields that are unknown"
        }
        guard fields.isAtEnd else { return "it has fields that are unknown" }
        guard version == 3 else { return "it has extensions although it is of version \(version)" }
        var inner = DERReader(bytes, tagged.content)
        guard let list = inner.next(DERReader.sequence), inner.isAtEnd, !list.content.isEmpty else {
            return "its extensions cannot be read"
        }
        return extensions.read(bytes, list.content)
    }

    private static func keyBits(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Range<Int>? {
        var parts = DERReader(bytes, range)
        guard parts.next(DERReader.sequence) != nil, let bits = parts.next(DERReader.bitString), parts.isAtEnd,
            bits.content.count > 1
        else { return nil }
        return bits.content.dropFirst()
    }
}
