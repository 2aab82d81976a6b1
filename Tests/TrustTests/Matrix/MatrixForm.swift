// Dates, uses, authorities, keys, signatures, extensions, versions and numbers: RFC 5280 sections 4.1 and 4.2.

import URLLoadingLoopbackServer
import URLLoadingTrust

extension MatrixCase {
    private static let past: Int64 = 1_600_000_000
    private static let distant: Int64 = 4_102_444_800
    private static let odd = CertificateTemplate.Extension("1.3.6.1.4.1.55555.1", critical: true, value: [5, 0])
    private static func without(_ key: Int, _ template: inout CertificateTemplate, with other: [UInt8]? = nil) {
        template.hasKeyIdentifiers = false
        let own = CertificateTemplate.Extension("2.5.29.14", critical: false, value: [4, 2, 1, 2])
        let above = CertificateTemplate.Extension(
            "2.5.29.35", critical: false, value: other ?? [0x30, 4, 0x80, 2, 1, 2])
        template.extensions += key == 14 ? [above] : [own] + (other == nil ? [] : [above])
    }

    static let dates: [MatrixCase] = [
        MatrixCase("an expired leaf", "expired") {
            try .leaf {
                $0.notBefore = past; $0.notAfter = past + 1
            }
        },
        MatrixCase("a leaf of the future", "notYetValid") {
            try .leaf {
                $0.notBefore = distant; $0.notAfter = distant + 1
            }
        },
        MatrixCase("an expired intermediate", "expired") {
            try .intermediate {
                $0.notBefore = past; $0.notAfter = past + 1
            }
        },
        MatrixCase("an intermediate of the future", "notYetValid") {
            try .intermediate {
                $0.notBefore = distant; $0.notAfter = distant + 1
            }
        },
        // RFC 5280 section 6.1 asks nothing of an anchor's dates (B3.28).
        MatrixCase("an expired root", openSSL: .differs) {
            try .root {
                $0.notBefore = past; $0.notAfter = past + 1
            }
        },
        MatrixCase("the first second of validity", openSSL: .differs) {
            try .leaf { $0.notBefore = past }.with { $0.policy.time = past }
                .with { chain in chain.anchors = chain.sent.dropFirst().map { $0 } }
        },
        MatrixCase("the second before it", "notYetValid") {
            try .leaf { $0.notBefore = past }.with { $0.policy.time = past - 1 }
                .with { chain in chain.anchors = chain.sent.dropFirst().map { $0 } }
        },
        MatrixCase("the last second of validity", openSSL: .differs) {
            try .leaf { $0.notAfter = distant }.with { $0.policy.time = distant }
                .with { chain in chain.anchors = chain.sent.dropFirst().map { $0 } }
        },
        MatrixCase("the second after it", "expired") {
            try .leaf { $0.notAfter = distant }.with { $0.policy.time = distant + 1 }
                .with { chain in chain.anchors = chain.sent.dropFirst().map { $0 } }
        },
        MatrixCase("dates the wrong way round", "expired") {
            try .leaf {
                $0.notBefore = distant; $0.notAfter = past
            }
        },
    ]

    static let uses: [MatrixCase] = [
        MatrixCase("no extended key usage") { try .leaf { $0.purposes = nil } },
        MatrixCase("client authentication alone", "wrongPurpose") {
            try .leaf { $0.purposes = [.clientAuthentication] }
        },
        MatrixCase("client and server authentication") {
            try .leaf { $0.purposes = [.clientAuthentication, .serverAuthentication] }
        },
        MatrixCase("any purpose alone", strict: "wrongPurpose", openSSL: .differs) {
            try .leaf { $0.purposes = [.any] }
        },
        MatrixCase("signing of code", "wrongPurpose") { try .leaf { $0.purposes = [.codeSigning] } },
        MatrixCase("an intermediate for clients alone", "wrongPurpose") {
            try .intermediate { $0.purposes = [.clientAuthentication] }
        },
        MatrixCase("an intermediate for servers") { try .intermediate { $0.purposes = [.serverAuthentication] } },
        MatrixCase("an intermediate for any purpose", openSSL: .differs) { try .intermediate { $0.purposes = [.any] } },
        MatrixCase("no key usage") { try .leaf { $0.keyUsage = nil } },
        MatrixCase("a key for signing revocation lists alone", "wrongPurpose") { try .leaf { $0.keyUsage = .crlSign } },
        MatrixCase("an empty key usage", "wrongPurpose", strict: "malformed", openSSL: .agrees) {
            try .leaf { $0.keyUsage = [] }
        },
        MatrixCase("a leaf whose key may sign certificates", strict: "malformed") {
            try .leaf { $0.keyUsage = [.digitalSignature, .keyCertSign] }
        },
        MatrixCase("an authority in the place of a leaf", openSSL: .differs) {
            try .leaf {
                $0.isAuthority = true; $0.keyUsage = [.keyCertSign]
            }
        },
        MatrixCase("an authority in the place of a leaf that may not sign", strict: "malformed") {
            try .leaf { $0.isAuthority = true }
        },
        MatrixCase("a leaf without basic constraints") { try .leaf { $0.isAuthority = nil } },
    ]

    static let authorities: [MatrixCase] = [
        MatrixCase("an intermediate that is none", "notACertificateAuthority") {
            try .intermediate { $0.isAuthority = false }
        },
        MatrixCase("an intermediate without basic constraints", "notACertificateAuthority") {
            try .intermediate { $0.isAuthority = nil }
        },
        MatrixCase("an intermediate of version 1", "notACertificateAuthority") { try .intermediate { $0.version = 1 } },
        MatrixCase("an intermediate that may not sign certificates", "notACertificateAuthority") {
            try .intermediate { $0.keyUsage = [.digitalSignature, .crlSign] }
        },
        MatrixCase("an intermediate without key usage") { try .intermediate { $0.keyUsage = nil } },
        MatrixCase("basic constraints that are not critical", strict: "malformed") {
            try .intermediate {
                $0.isAuthority = nil
                $0.extensions = [.init("2.5.29.19", critical: false, value: [0x30, 3, 1, 1, 0xFF])]
            }
        },
        MatrixCase("basic constraints that are no DER", "malformed") {
            try .leaf {
                $0.isAuthority = nil; $0.extensions = [.init("2.5.29.19", critical: true, value: [0x30, 5, 1])]
            }
        },
        MatrixCase("TRUE in another spelling", "malformed", openSSL: .differs) {
            try .intermediate {
                $0.isAuthority = nil
                $0.extensions = [.init("2.5.29.19", critical: true, value: [0x30, 3, 1, 1, 1])]
            }
        },
        MatrixCase("a root that is no authority", "notACertificateAuthority") { try .root { $0.isAuthority = false } },
        MatrixCase("a root without basic constraints", "notACertificateAuthority", openSSL: .differs) {
            try .root { $0.isAuthority = nil }
        },
        MatrixCase("a root of version 1", strict: "notACertificateAuthority") {
            try .root { $0.version = 1 }
        },
        MatrixCase("a root that may not sign certificates", "notACertificateAuthority") {
            try .root { $0.keyUsage = .digitalSignature }
        },
        MatrixCase("a negative path length", "malformed") {
            try .intermediate {
                $0.isAuthority = nil
                $0.extensions = [.init("2.5.29.19", critical: true, value: [0x30, 6, 1, 1, 0xFF, 2, 1, 0xFF])]
            }
        },
        MatrixCase("a path length that is kept") { try .intermediate { $0.pathLength = 0 } },
        MatrixCase("a path length that is not kept", "pathLength") { try path(lengths: [0, nil]) },
        MatrixCase("a path length of one that is kept") { try path(lengths: [1, 0]) },
        MatrixCase("a path length that grows below") { try path(lengths: [1, 7]) },
        MatrixCase("a path length of one that is not kept", "pathLength") { try path(lengths: [1, 0, nil]) },
        MatrixCase("a root's path length that is not kept", "pathLength") { try .root { $0.pathLength = 0 } },
        MatrixCase("self-issued certificates do not count") {
            let first = try Chains.root.get().issue(.authority("Rolling").with { $0.pathLength = 0 })
            let next = try first.issue(.authority("Rolling"))
            return MatrixChain(
                try next.issue(.server("example.test")).chain.certificates,
                anchors: [try Chains.root.get().certificate])
        },
        MatrixCase("a leaf that issues", "notACertificateAuthority") {
            let forged = try Chains.leaf.get().issue(.server("victim.test"))
            return MatrixChain(
                forged.chain.certificates, anchors: [try Chains.root.get().certificate], host: "victim.test")
        },
    ]

    private static func path(lengths: [UInt?]) throws -> MatrixChain {
        var last = try Chains.root.get()
        for (index, length) in lengths.enumerated() {
            last = try last.issue(.authority("Level \(index)").with { $0.pathLength = length })
        }
        return MatrixChain(
            try last.issue(.server("example.test")).chain.certificates, anchors: [try Chains.root.get().certificate])
    }

    static let strength: [MatrixCase] = [
        MatrixCase("RSA of 1,024 bits", "weakKey", openSSL: .differs) { try .leaf { $0.key = .rsa(1_024) } },
        MatrixCase("RSA of 2,048 bits") { try .leaf { $0.key = .rsa(2_048) } },
        MatrixCase("P-224", "weakKey", openSSL: .differs) { try .leaf { $0.key = .p224 } },
        MatrixCase("P-384") { try .leaf { $0.key = .p384 } },
        MatrixCase("Ed25519") { try .leaf { $0.key = .ed25519 } },
        MatrixCase("an intermediate with RSA of 1,024 bits", "weakKey", openSSL: .differs) {
            try .intermediate { $0.key = .rsa(1_024) }
        },
        MatrixCase("a root with RSA of 1,024 bits", strict: "weakKey") {
            try .root { $0.key = .rsa(1_024) }
        },
        MatrixCase("SHA-1", "weakSignature", openSSL: .differs) { try .leaf { $0.hash = .sha1 } },
        MatrixCase("SHA-1 on an intermediate", "weakSignature", openSSL: .differs) {
            try .intermediate { $0.hash = .sha1 }
        },
        MatrixCase("SHA-1 on a root, which is not checked") { try .root { $0.hash = .sha1 } },
        MatrixCase("MD5", "weakSignature", openSSL: .differs) {
            let above = try Chains.root.get().issue(.authority("RSA").with { $0.key = .rsa(2_048) })
            let leaf = try above.issue(.server("example.test").with { $0.hash = .md5 })
            return MatrixChain(leaf.chain.certificates, anchors: [try Chains.root.get().certificate])
        },
        MatrixCase("an algorithm that the policy does not have", "weakSignature", openSSL: .differs) {
            try .leaf().with { $0.policy.signatureAlgorithms = .rsa }
        },
        MatrixCase("SHA-1 where the policy has it") {
            try .leaf { $0.hash = .sha1 }.with { $0.policy.signatureAlgorithms.insert(.sha1) }
        },
    ]

    static let form: [MatrixCase] = [
        MatrixCase("an unknown critical extension", "unknownCriticalExtension") { try .leaf { $0.extensions = [odd] } },
        MatrixCase("an unknown critical extension of an intermediate", "unknownCriticalExtension") {
            try .intermediate { $0.extensions = [odd] }
        },
        MatrixCase("an unknown critical extension of a root", "unknownCriticalExtension", openSSL: .agrees) {
            try .root { $0.extensions = [odd] }
        },
        MatrixCase("an unknown extension") {
            try .leaf { $0.extensions = [.init("1.3.6.1.4.1.55555.1", critical: false, value: [5, 0])] }
        },
        MatrixCase("a precertificate", "unknownCriticalExtension") {
            try .leaf { $0.extensions = [.init("1.3.6.1.4.1.11129.2.4.3", critical: true, value: [5, 0])] }
        },
        MatrixCase("policies that are critical") {
            try .leaf {
                $0.extensions = [.init("2.5.29.32", critical: true, value: [0x30, 5, 0x30, 3, 6, 1, 0x2A])]
            }
        },
        MatrixCase("policy constraints that are not critical", strict: "malformed") {
            try .intermediate { $0.extensions = [.init("2.5.29.36", critical: false, value: [0x30, 3, 0x80, 1, 3])] }
        },
        MatrixCase("an extension twice", "malformed", openSSL: .differs) {
            try .leaf {
                let same = CertificateTemplate.Extension("1.3.6.1.4.1.55555.2", critical: false, value: [5, 0])
                $0.extensions = [same, same]
            }
        },
        MatrixCase("alternative names twice", "malformed") {
            try .leaf { $0.extensions = [.init("2.5.29.17", critical: false, value: [0x30, 3, 0x82, 1, 0x61])] }
        },
        MatrixCase("a leaf of version 1", "hostMismatch", strict: "malformed", openSSL: .differs) {
            try .leaf { $0.version = 1 }
        },
        MatrixCase("a serial number of zero", strict: "malformed") { try .leaf { $0.serial = [0] } },
        MatrixCase("a negative serial number", strict: "malformed") {
            try .leaf {
                $0.serial = [5]; $0.isSerialNegative = true
            }
        },
        MatrixCase("a serial number of 20 octets") {
            try .leaf { $0.serial = [0x7F] + [UInt8](repeating: 9, count: 19) }
        },
        MatrixCase("a serial number of 21 octets", strict: "malformed") {
            try .leaf { $0.serial = [0x7F] + [UInt8](repeating: 9, count: 20) }
        },
        MatrixCase("a serial number of 1,000 octets", strict: "malformed") {
            try .leaf { $0.serial = [UInt8](repeating: 9, count: 1_000) }
        },
        MatrixCase("an empty issuer", "unknownRoot", strict: "malformed", openSSL: .agrees) {
            try .leaf { $0.issuer = [0x30, 0] }
        },
        MatrixCase("an authority without a name", strict: "malformed") {
            try .root { $0.commonName = "" }
        },
        MatrixCase("a leaf without an authority key identifier", strict: "malformed") {
            try .leaf { without(35, &$0) }
        },
        MatrixCase("an intermediate without an authority key identifier", strict: "malformed") {
            try keyed { without(35, &$0) }
        },
        MatrixCase("an intermediate without a subject key identifier", strict: "malformed") {
            try .intermediate {
                without(14, &$0, with: nil); $0.extensions.removeAll { $0.identifier == "2.5.29.35" }
            }
        },
        MatrixCase("an authority key identifier without a key", strict: "malformed") {
            try .leaf { without(35, &$0, with: [0x30, 0]) }
        },
        MatrixCase("a critical authority key identifier", strict: "malformed", openSSL: .differs) {
            try .leaf {
                $0.hasKeyIdentifiers = false
                $0.extensions = [.init("2.5.29.35", critical: true, value: [0x30, 4, 0x80, 2, 1, 2])]
            }
        },
        MatrixCase("a critical subject key identifier", strict: "malformed", openSSL: .differs) {
            try keyed {
                $0.hasKeyIdentifiers = false
                $0.extensions = [
                    .init("2.5.29.14", critical: true, value: [4, 2, 1, 2]),
                    .init("2.5.29.35", critical: false, value: [0x30, 4, 0x80, 2, 1, 2]),
                ]
            }
        },
        MatrixCase("a root without an authority key identifier") {
            try rooted {
                $0.hasKeyIdentifiers = false; $0.extensions = [own]
            }
        },
        MatrixCase("a root without a subject key identifier", strict: "malformed") {
            try rooted { $0.hasKeyIdentifiers = false }
        },
        MatrixCase("a root whose two key identifiers differ", strict: "malformed", openSSL: .differs) {
            try rooted {
                $0.hasKeyIdentifiers = false
                $0.extensions = [own, .init("2.5.29.35", critical: false, value: [0x30, 4, 0x80, 2, 3, 4])]
            }
        },
        MatrixCase("information access that is critical", strict: "malformed", openSSL: .differs) {
            try .leaf { $0.extensions = [access(critical: true, [0x30, 0x10, 0x30, 0x0E] + caIssuers)] }
        },
        MatrixCase("information access that is no DER", strict: "malformed") {
            try .leaf { $0.extensions = [access(critical: false, Array("malformed".utf8))] }
        },
        MatrixCase("information access") {
            try .leaf { $0.extensions = [access(critical: false, [0x30, 0x0E, 0x30, 0x0C] + caIssuers)] }
        },
    ]

    private static let own = CertificateTemplate.Extension("2.5.29.14", critical: false, value: [4, 2, 1, 2])
    private static let caIssuers: [UInt8] = [6, 8, 0x2B, 6, 1, 5, 5, 7, 0x30, 2, 0x82, 0]

    private static func access(critical: Bool, _ value: [UInt8]) -> CertificateTemplate.Extension {
        .init("1.3.6.1.5.5.7.1.1", critical: critical, value: value)
    }

    /// A leaf that names no key of its issuer's below an intermediate with chosen identifiers.
    private static func keyed(_ change: (inout CertificateTemplate) -> Void) throws -> MatrixChain {
        let above = try Chains.root.get().issue(.authority("Keyed").with(change))
        let leaf = try above.issue(
            .server("example.test").with {
                $0.hasKeyIdentifiers = false
                $0.extensions = [.init("2.5.29.35", critical: false, value: [0x30, 4, 0x80, 2, 1, 2])]
            })
        return MatrixChain(leaf.chain.certificates, anchors: [try Chains.root.get().certificate])
    }

    /// A leaf that names no key of its issuer's below a root with chosen identifiers.
    private static func rooted(_ change: (inout CertificateTemplate) -> Void) throws -> MatrixChain {
        let root = try CertificateFactory.selfSigned(.authority("Keyed Root").with(change))
        let leaf = try root.issue(
            .server("example.test").with {
                $0.hasKeyIdentifiers = false
                $0.extensions = [.init("2.5.29.35", critical: false, value: [0x30, 4, 0x80, 2, 1, 2])]
            })
        return MatrixChain(leaf.chain.certificates, anchors: [root.certificate])
    }
}
