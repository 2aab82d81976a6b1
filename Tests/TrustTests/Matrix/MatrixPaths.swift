// Finding the path, and revocation: RFC 4158, RFC 5280 sections 5 and 6, RFC 6960, RFC 7633.

import URLLoadingLoopbackServer
import URLLoadingTrust

extension MatrixCase {
    private static func root() throws -> Certificate { try Chains.root.get().certificate }
    private static let promise = CertificateTemplate.Extension(
        "1.3.6.1.5.5.7.1.24", critical: false, value: [0x30, 3, 2, 1, 5])

    static let paths: [MatrixCase] = [
        MatrixCase("leaf, intermediate, root") { try .leaf() },
        MatrixCase("the root is sent too") { try .leaf().with { $0.sent += $0.anchors } },
        MatrixCase("an unknown root", "unknownRoot") {
            let other = try CertificateFactory.root("Other Root").certificate
            return try .leaf().with { $0.anchors = [other] }
        },
        MatrixCase("no anchors", "unknownRoot") { try .leaf().with { $0.anchors = [] } },
        MatrixCase("a missing intermediate", "unknownRoot") { try .leaf().with { $0.sent.removeLast() } },
        MatrixCase("a self-signed leaf", "selfSigned") {
            let own = try CertificateFactory.selfSigned(.server("example.test"))
            return MatrixChain([own.certificate], anchors: [try root()])
        },
        MatrixCase("a self-signed leaf that is trusted itself") {
            let own = try CertificateFactory.selfSigned(.server("example.test"))
            return MatrixChain([own.certificate], anchors: [own.certificate])
        },
        MatrixCase("a self-signed leaf that is trusted itself, for another host", "hostMismatch") {
            let own = try CertificateFactory.selfSigned(.server("example.test"))
            return MatrixChain([own.certificate], anchors: [own.certificate], host: "other.test")
        },
        MatrixCase("a leaf that is an anchor", openSSL: .differs) {
            try .leaf().with {
                $0.anchors = [$0.sent[0]]; $0.sent.removeLast()
            }
        },
        MatrixCase("an intermediate that is an anchor", openSSL: .differs) {
            try .leaf().with { $0.anchors = [$0.sent[1]] }
        },
        MatrixCase("an intermediate that is an anchor, and the root is sent", openSSL: .differs) {
            let top = try root()
            return try .leaf().with {
                $0.anchors = [$0.sent[1]]; $0.sent = [$0.sent[0], top]
            }
        },
        MatrixCase("intermediates the wrong way round") {
            let second = try Chains.intermediate.get().issue(.authority("Second"))
            let leaf = try second.issue(.server("example.test"))
            return MatrixChain(
                [leaf.certificate, try Chains.intermediate.get().certificate, second.certificate], anchors: [try root()]
            )
        },
        MatrixCase("certificates that do not belong to the chain") {
            let other = try CertificateFactory.root("Unrelated").certificate
            return try .leaf().with { $0.sent.insert(other, at: 1) }
        },
        MatrixCase("certificates twice") { try .leaf().with { $0.sent += $0.sent } },
        MatrixCase("an impostor of the intermediate first", openSSL: .agrees) {
            let impostor = try CertificateFactory.root("Other").issue(.authority("Test Intermediate")).certificate
            return try .leaf().with { $0.sent.insert(impostor, at: 1) }
        },
        MatrixCase("impostors without key identifiers first", strict: "malformed", openSSL: .differs) {
            let plain = CertificateTemplate.authority("Plain").with { $0.hasKeyIdentifiers = false }
            let genuine = try Chains.root.get().issue(plain)
            let leaf = try genuine.issue(.server("example.test").with { $0.hasKeyIdentifiers = false })
            let impostors = try (0..<5).map { _ in try Chains.root.get().issue(plain).certificate }
            return MatrixChain([leaf.certificate] + impostors + [genuine.certificate], anchors: [try root()])
        },
        MatrixCase("an impostor of the root among the anchors") {
            let impostor = try CertificateFactory.root("Test Root").certificate
            return try .leaf().with { $0.anchors.insert(impostor, at: 0) }
        },
        MatrixCase("an impostor of the root alone", "unknownRoot|signatureInvalid") {
            let impostor = try CertificateFactory.root("Test Root").certificate
            return try .leaf().with { $0.anchors = [impostor] }
        },
        MatrixCase("an altered leaf", "signatureInvalid") {
            try .leaf().with { $0.sent[0] = altered($0.sent[0]) ?? $0.sent[0] }.with { $0.policy.host = nil }
        },
        MatrixCase("an altered intermediate", "signatureInvalid") {
            try .intermediate { _ in }.with { $0.sent[1] = altered($0.sent[1]) ?? $0.sent[1] }
        },
        MatrixCase("cross-signed by an unknown root first", openSSL: .differs) { try crossed(first: true) },
        MatrixCase("cross-signed by an unknown root last") { try crossed(first: false) },
        MatrixCase("an expired intermediate before its renewed twin") { try renewed(oldFirst: true) },
        MatrixCase("an expired intermediate behind its renewed twin") { try renewed(oldFirst: false) },
        MatrixCase("a root that was cross-signed by one that has expired") {
            let old = try CertificateFactory.root("Old Root")
            let crossed = try old.issue(
                .authority("Test Root").with {
                    $0.notBefore = 1_000_000_000; $0.notAfter = 1_600_000_000
                },
                forKeyOf: try Chains.root.get())
            return try .leaf().with {
                $0.sent.append(crossed.certificate); $0.anchors.append(old.certificate)
            }
        },
        MatrixCase("one of two cross-signed ways breaks name constraints", openSSL: .differs) {
            let narrow = try Chains.root.get().issue(
                .authority("Narrow").with { $0.nameConstraints = .init(excluded: [.dns("example.test")]) })
            let free = try CertificateFactory.root("Free Root")
            let one = try narrow.issue(.authority("Issuer"))
            let other = try free.issue(.authority("Issuer"), forKeyOf: one)
            let leaf = try one.issue(.server("example.test"))
            return MatrixChain(
                [leaf.certificate, one.certificate, narrow.certificate, other.certificate],
                anchors: [try root(), free.certificate])
        },
        MatrixCase("one of two cross-signed ways is too long", openSSL: .differs) {
            let short = try Chains.root.get().issue(.authority("Short").with { $0.pathLength = 0 })
            let free = try CertificateFactory.root("Free Root")
            let one = try short.issue(.authority("Issuer"))
            let other = try free.issue(.authority("Issuer"), forKeyOf: one)
            let leaf = try one.issue(.server("example.test"))
            return MatrixChain(
                [leaf.certificate, one.certificate, short.certificate, other.certificate],
                anchors: [try root(), free.certificate])
        },
        MatrixCase("one of two twins may not identify servers", openSSL: .differs) {
            let one = try Chains.root.get().issue(.authority("Issuer").with { $0.purposes = [.clientAuthentication] })
            let other = try Chains.root.get().issue(.authority("Issuer"), forKeyOf: one)
            let leaf = try one.issue(.server("example.test"))
            return MatrixChain([leaf.certificate, one.certificate, other.certificate], anchors: [try root()])
        },
        MatrixCase("authorities that sign each other and lead nowhere", "unknownRoot") {
            let first = try CertificateFactory.root("First")
            let second = try first.issue(.authority("Second"))
            let back = try second.issue(.authority("First"), forKeyOf: first)
            let leaf = try first.issue(.server("example.test"))
            return MatrixChain([leaf.certificate, back.certificate, second.certificate], anchors: [try root()])
        },
        MatrixCase("authorities that sign each other, one of which is trusted") {
            let first = try CertificateFactory.root("First")
            let second = try first.issue(.authority("Second"))
            let back = try second.issue(.authority("First"), forKeyOf: first)
            let leaf = try second.issue(.server("example.test"))
            return MatrixChain([leaf.certificate, second.certificate, back.certificate], anchors: [first.certificate])
        },
        MatrixCase("forty authorities of one name", "unknownRoot|signatureInvalid|other", strict: "malformed") {
            let plain = CertificateTemplate.authority("Maze").with { $0.hasKeyIdentifiers = false }
            let first = try CertificateFactory.selfSigned(plain)
            let others = try (0..<40).map { _ in try first.issue(plain).certificate }
            let leaf = try first.issue(.server("example.test").with { $0.hasKeyIdentifiers = false })
            return MatrixChain([leaf.certificate] + others, anchors: [try root()])
        },
        MatrixCase("forty authorities that all lead to each other", "unknownRoot|other") { try ladder(40) },
        MatrixCase("more intermediates than are allowed", "unknownRoot", openSSL: .differs) {
            try deep(6).with { $0.policy.maximumIntermediates = 5 }
        },
        MatrixCase("as many intermediates as are allowed") { try deep(5).with { $0.policy.maximumIntermediates = 5 } },
        MatrixCase("a client's certificate") {
            let leaf = try Chains.intermediate.get().issue(.client("somebody"))
            return MatrixChain(leaf.chain.certificates, anchors: [try root()], host: nil)
                .with { $0.policy.purpose = .clientAuthentication }
        },
        MatrixCase("a server's certificate for a client", "wrongPurpose") {
            try .leaf(host: nil).with { $0.policy.purpose = .clientAuthentication }
        },
    ]

    static let revocation: [MatrixCase] = [
        listed("revoked by a list", "revoked", openSSL: .differs) { leaf, issuer in
            try issuer.revocationList(revoking: [leaf])
        },
        listed("revoked by a list that is old", "revoked", openSSL: .differs) { leaf, issuer in
            try issuer.revocationList(revoking: [leaf], thisUpdate: 1_500_000_000, nextUpdate: 1_500_086_400)
        },
        listed("not on the list", mode: .hard) { _, issuer in try issuer.revocationList(revoking: []) },
        listed("another is on the list", mode: .hard) { _, issuer in
            try issuer.revocationList(revoking: [try Chains.leaf.get().certificate])
        },
        listed("the list is stale", "revocationUnknown", openSSL: .differs, mode: .hard) { _, issuer in
            try issuer.revocationList(revoking: [], thisUpdate: 1_500_000_000, nextUpdate: 1_500_086_400)
        },
        listed("the list is of the future", "revocationUnknown", openSSL: .differs, mode: .hard) { _, issuer in
            try issuer.revocationList(revoking: [], thisUpdate: 4_000_000_000, nextUpdate: 4_000_086_400)
        },
        listed("the list is forged", "revocationUnknown", openSSL: .differs, mode: .hard) { _, issuer in
            try issuer.revocationList(revoking: [], signedBy: try Chains.leaf.get())
        },
        listed("a forged list revokes no certificate") { leaf, issuer in
            try issuer.revocationList(revoking: [leaf], signedBy: try Chains.leaf.get())
        },
        listed("the list has a critical extension that is unknown", "revocationUnknown", openSSL: .differs, mode: .hard)
        {
            try $1.revocationList(
                revoking: [], extensions: [.init("1.3.6.1.4.1.55555.3", critical: true, value: [5, 0])])
        },
        listed("the list is about authorities only", "revocationUnknown", openSSL: .differs, mode: .hard) {
            try $1.revocationList(
                revoking: [], extensions: [.init("2.5.29.28", critical: true, value: [0x30, 3, 0x82, 1, 0xFF])])
        },
        listed("the list is a delta", "revocationUnknown", openSSL: .differs, mode: .hard) {
            try $1.revocationList(revoking: [], extensions: [.init("2.5.29.27", critical: true, value: [2, 1, 1])])
        },
        MatrixCase("nothing is known where something must be", "revocationUnknown", openSSL: .differs) {
            try .leaf().with { $0.policy.revocation.mode = .hard }
        },
        stapled("a good response", mode: .hard) { leaf, issuer in .response(try issuer.ocspResponse(about: leaf, .good))
        },
        stapled("a response that says revoked", "revoked", openSSL: .differs) { leaf, issuer in
            .response(try issuer.ocspResponse(about: leaf, .revoked))
        },
        stapled("a stale response", "revocationUnknown", openSSL: .differs, mode: .hard) { leaf, issuer in
            .response(
                try issuer.ocspResponse(about: leaf, .good, thisUpdate: 1_500_000_000, nextUpdate: 1_500_086_400))
        },
        stapled("a response about another", "revocationUnknown", openSSL: .differs, mode: .hard) { _, issuer in
            .response(try issuer.ocspResponse(about: try Chains.leaf.get().certificate, .good))
        },
        stapled("a forged response", "revocationUnknown", openSSL: .differs, mode: .hard) { leaf, issuer in
            .response(try issuer.ocspResponse(about: leaf, .good, signedBy: try Chains.leaf.get()))
        },
        stapled("a forged response revokes no certificate") { leaf, issuer in
            .response(try issuer.ocspResponse(about: leaf, .revoked, signedBy: try Chains.leaf.get()))
        },
        stapled("a responder that does not know", "revocationUnknown", openSSL: .differs, mode: .hard) {
            .response(try $1.ocspResponse(about: $0, .unknown))
        },
        stapled("a responder with a certificate for it", mode: .hard) { leaf, issuer in
            let responder = try issuer.issue(
                .client("responder").with {
                    $0.purposes = nil
                    $0.extensions = [
                        .init("2.5.29.37", critical: false, value: [0x30, 0x0A, 6, 8, 0x2B, 6, 1, 5, 5, 7, 3, 9])
                    ]
                })
            return .response(try issuer.ocspResponse(about: leaf, .good, signedBy: responder))
        },
        stapled("a response that is no DER", "revocationUnknown", openSSL: .differs, mode: .hard) { _, _ in
            .response([1, 2, 3])
        },
        stapled("a promised response that is sent", extensions: [promise]) { leaf, issuer in
            .response(try issuer.ocspResponse(about: leaf, .good))
        },
        stapled("a promised response that is not sent", "revocationUnknown", openSSL: .differs, extensions: [promise]) {
            _, _ in .absent
        },
        stapled("a promised response that is stale", "revocationUnknown", openSSL: .differs, extensions: [promise]) {
            .response(try $1.ocspResponse(about: $0, .good, thisUpdate: 1_500_000_000, nextUpdate: 1_500_086_400))
        },
        stapled("revoked, where nothing is looked at", mode: RevocationPolicy.Mode.none) { leaf, issuer in
            .response(try issuer.ocspResponse(about: leaf, .revoked))
        },
    ]

    // MARK: - Chains

    private static func listed(
        _ name: String, _ reason: String? = nil, openSSL: OpenSSL = .agrees, mode: RevocationPolicy.Mode = .soft,
        _ list: @escaping @Sendable (Certificate, IssuedCertificate) throws -> RevocationList
    ) -> MatrixCase {
        MatrixCase("revocation: " + name, reason, openSSL: openSSL) {
            let leaf = try Chains.root.get().issue(.server("example.test"))
            let own = try list(leaf.certificate, try Chains.root.get())
            return MatrixChain([leaf.certificate], anchors: [try root()])
                .with { $0.policy.revocation = RevocationPolicy(mode: mode, lists: [own]) }
        }
    }

    private static func stapled(
        _ name: String, _ reason: String? = nil, openSSL: OpenSSL = .agrees, mode: RevocationPolicy.Mode = .soft,
        extensions: [CertificateTemplate.Extension] = [],
        _ response: @escaping @Sendable (Certificate, IssuedCertificate) throws -> CertificateChain.Stapling
    ) -> MatrixCase {
        MatrixCase("stapling: " + name, reason, openSSL: openSSL) {
            let leaf = try Chains.root.get().issue(.server("example.test").with { $0.extensions = extensions })
            let own = try response(leaf.certificate, try Chains.root.get())
            return MatrixChain([leaf.certificate], anchors: [try root()])
                .with {
                    $0.policy.revocation.mode = mode; $0.stapling = own
                }
        }
    }

    private static func altered(_ certificate: Certificate) -> Certificate? {
        var bytes = certificate.der
        bytes[bytes.count - 5] ^= 1
        return try? Certificate(der: bytes)
    }

    private static func crossed(first: Bool) throws -> MatrixChain {
        let intermediate = try Chains.intermediate.get()
        let other = try CertificateFactory.root("Unknown Root")
            .issue(.authority("Test Intermediate"), forKeyOf: intermediate).certificate
        return try .leaf().with { $0.sent.insert(other, at: first ? 1 : 2) }
    }

    private static func renewed(oldFirst: Bool) throws -> MatrixChain {
        let old = try Chains.root.get().issue(
            .authority("Test Intermediate").with {
                $0.notBefore = 1_500_000_000; $0.notAfter = 1_600_000_000
            },
            forKeyOf: try Chains.intermediate.get()
        ).certificate
        return try .leaf().with { $0.sent.insert(old, at: oldFirst ? 1 : 2) }
    }

    private static func deep(_ count: Int) throws -> MatrixChain {
        var last = try Chains.root.get()
        for index in 0..<count { last = try last.issue(.authority("Deep \(index)")) }
        return MatrixChain(try last.issue(.server("example.test")).chain.certificates, anchors: [try root()])
    }

    /// Authorities each of which has signed each next one, which makes ways without number.
    private static func ladder(_ count: Int) throws -> MatrixChain {
        let keys = try (0..<4).map { try CertificateFactory.root("Rung \($0)") }
        var sent: [Certificate] = []
        for index in 0..<count {
            let (lower, upper) = (keys[index % 4], keys[(index + 1 + index / 12) % 4])
            sent.append(try upper.issue(.authority("Rung \(index % 4)"), forKeyOf: lower).certificate)
        }
        let leaf = try keys[0].issue(.server("example.test"))
        return MatrixChain([leaf.certificate] + sent, anchors: [try root()])
    }
}
