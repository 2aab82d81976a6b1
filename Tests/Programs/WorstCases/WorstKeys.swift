// Keys whose signatures take long to check: in many candidates for one issuer, all of them wrong.

import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingTrust

extension WorstCase {
    static let keys: [WorstCase] = [
        WorstCase("99 candidates with RSA keys of 2,048 bits", .stopped) {
            try candidates(rsa: 2_048, exponent: [1, 0, 1])
        },
        WorstCase("99 candidates with RSA keys of 4,096 bits", .stopped) {
            try candidates(rsa: 4_096, exponent: [1, 0, 1])
        },
        WorstCase("99 candidates with RSA keys of 4,096 bits and exponents of 64", .stopped) {
            try candidates(rsa: 4_096, exponent: Array(repeating: 0xFF, count: 8))
        },
        WorstCase("99 candidates with RSA keys of 8,192 bits and exponents of 64", .stopped) {
            try candidates(rsa: 8_192, exponent: Array(repeating: 0xFF, count: 8))
        },
        WorstCase("50 candidates with RSA keys of 16,384 bits and exponents of as many", .refused) {
            try candidates(rsa: 16_384, exponent: Array(repeating: 0xFF, count: 2_047), count: 50)
        },
        WorstCase("99 candidates with RSA keys of 2,048 bits and exponents of as many", .refused) {
            try candidates(rsa: 2_048, exponent: Array(repeating: 0x7F, count: 255))
        },
        WorstCase("a candidate with an RSA key of 400,000 bits", .refused) {
            try candidates(rsa: 400_000, exponent: [1, 0, 1], count: 1)
        },
        WorstCase("a leaf with an RSA key of 400,000 bits", .refused) {
            let top = try root.get()
            let leaf = try top.certify(end(), publicKeyInfo: rsa(400_000, exponent: [1, 0, 1]))
            return Input([leaf], anchors: [top.certificate])
        },
        WorstCase("99 candidates on P-384", .stopped) { try candidates(.p384) },
        WorstCase("99 candidates on P-521", .stopped) { try candidates(.curve("P-521")) },
        WorstCase("99 candidates with Ed25519 keys", .stopped) { try candidates(.ed25519) },
        WorstCase("99 candidates on brainpoolP512r1", .stopped) {
            try candidates(.curve("brainpoolP512r1"))
        },
        WorstCase("99 candidates on sect571k1, a curve over a binary field", .stopped) {
            try candidates(.curve("sect571k1"))
        },
        WorstCase("99 candidates on P-256 with its parameters written out", .refused) {
            try candidates(count: 99) { _ in explicitP256() }
        },
    ]

    /// A leaf, and authorities of its issuer's name that have not signed it.
    private static func candidates(
        count: Int, _ key: (Int) throws -> [UInt8]
    ) throws -> Input {
        let above = try stranger.get()
        let template = authority("Candidate") { $0.hasKeyIdentifiers = false }
        let sent = try (0..<count).map { try above.certify(identified(template), publicKeyInfo: key($0)) }
        let issuer = try above.issue(identified(template))
        let leaf = try issuer.issue(identified(end()))
        return Input([leaf.certificate] + sent, anchors: [try root.get().certificate])
    }

    /// Key identifiers that are the same everywhere, so that no candidate can be told from the issuer.
    private static func identified(_ template: CertificateTemplate) -> CertificateTemplate {
        let identifier: [UInt8] = [1, 2, 3, 4]
        return template.with {
            $0.hasKeyIdentifiers = false
            $0.extensions += [
                .init("2.5.29.14", critical: false, value: DERWriter.octetString(identifier)),
                .init("2.5.29.35", critical: false, value: DERWriter.sequence([DERWriter.element(0x80, identifier)])),
            ]
        }
    }

    private static func candidates(_ key: CertificateTemplate.Key, count: Int = 99) throws -> Input {
        let other = try CertificateFactory.selfSigned(authority("Key") { $0.key = key }).certificate.publicKeyInfo
        return try candidates(count: count) { _ in other }
    }

    private static func candidates(rsa bits: Int, exponent: [UInt8], count: Int = 99) throws -> Input {
        try candidates(count: count) { _ in rsa(bits, exponent: exponent) }
    }

    /// A key with a modulus whose factors are not known.
    private static func rsa(_ bits: Int, exponent: [UInt8]) -> [UInt8] {
        var modulus = (0..<bits / 8).map { _ in UInt8.random(in: 0...255) }
        modulus[0] |= 0x80
        modulus[modulus.count - 1] |= 1
        let key = DERWriter.sequence([positive(modulus), positive(exponent)])
        let algorithm = DERWriter.sequence([DERWriter.objectIdentifier("1.2.840.113549.1.1.1"), [0x05, 0]])
        return DERWriter.sequence([algorithm, DERWriter.element(0x03, [0] + key)])
    }

    private static func positive(_ number: [UInt8]) -> [UInt8] {
        DERWriter.element(0x02, (number.first.map { $0 >= 0x80 } ?? true ? [0] : []) + number)
    }

    /// P-256 (SEC 2, section 2.4.2) as parameters in place of its name; the key is the generator.
    package static func explicitP256() -> [UInt8] {
        let prime = Hexadecimal.bytes("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
        let a = Hexadecimal.bytes("ffffffff00000001000000000000000000000000fffffffffffffffffffffffc")
        let b = Hexadecimal.bytes("5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b")
        let generator =
            [4] + Hexadecimal.bytes("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")
            + Hexadecimal.bytes("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
        let order = Hexadecimal.bytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        let parameters = DERWriter.sequence([
            DERWriter.integer(1),
            DERWriter.sequence([DERWriter.objectIdentifier("1.2.840.10045.1.1"), positive(prime)]),
            DERWriter.sequence([DERWriter.octetString(a), DERWriter.octetString(b)]),
            DERWriter.octetString(generator), positive(order), DERWriter.integer(1),
        ])
        let algorithm = DERWriter.sequence([DERWriter.objectIdentifier("1.2.840.10045.2.1"), parameters])
        return DERWriter.sequence([algorithm, DERWriter.element(0x03, [0] + generator)])
    }
}
