// Hosts and names: RFC 9525 section 6, RFC 5280 sections 4.2.1.6 and 4.2.1.10.

import URLLoadingLoopbackServer
import URLLoadingTrust

extension MatrixCase {
    static let hosts: [MatrixCase] = [
        MatrixCase("the host itself") { try .leaf() },
        MatrixCase("the host in capitals") { try .leaf("EXAMPLE.test") },
        MatrixCase("the host asked for in capitals") { try .leaf(host: "Example.TEST") },
        MatrixCase("a trailing dot in the host") { try .leaf(host: "example.test.") },
        MatrixCase("another host", "hostMismatch") { try .leaf(host: "other.test") },
        MatrixCase("a host below", "hostMismatch") { try .leaf(host: "www.example.test") },
        MatrixCase("the host above", "hostMismatch") { try .leaf("www.example.test") },
        MatrixCase("the second of two names") { try .leaf("other.test", "example.test") },
        MatrixCase("no host is asked for") { try .leaf("other.test", host: nil) },
        MatrixCase("a common name alone", "hostMismatch", openSSL: .differs) { try .leaf { $0.names = [] } },
        MatrixCase("a common name beside another name", "hostMismatch", strict: "malformed") {
            try .leaf { $0.names = [.dns("other.test")] }
        },
        MatrixCase("a common name that is no host") { try .leaf("example.test") { $0.commonName = "My server" } },
        MatrixCase("a common name in other letters than the alternative name", strict: "malformed") {
            try .leaf { $0.commonName = "Example.test" }
        },
        MatrixCase("a common name beside its wildcard", strict: "malformed") {
            try .leaf("*.corp.test", host: "www.corp.test") { $0.commonName = "corp.test" }
        },
        MatrixCase("an address as a common name beside a host", strict: "malformed") {
            try .leaf { $0.commonName = "192.0.2.1" }
        },
        MatrixCase("a common name with an address in hexadecimal", strict: "malformed") {
            try .leaf("192.0.2.1", host: "192.0.2.1") { $0.commonName = "0xC0000201" }
        },
        MatrixCase("a wildcard") { try .leaf("*.example.test", host: "www.example.test") },
        MatrixCase("a wildcard for the domain itself", "hostMismatch") { try .leaf("*.example.test") },
        MatrixCase("a wildcard across two labels", "hostMismatch") {
            try .leaf("*.example.test", host: "a.b.example.test")
        },
        MatrixCase("a wildcard below a top-level name", "hostMismatch") {
            try .leaf("*.test") { $0.commonName = "" }
        },
        MatrixCase("a part of a label as wildcard", "hostMismatch", openSSL: .differs) {
            try .leaf("w*.example.test", host: "www.example.test")
        },
        MatrixCase("a wildcard that is not leftmost", "hostMismatch") {
            try .leaf("www.*.test", host: "www.example.test")
        },
        MatrixCase("two wildcards", "hostMismatch") { try .leaf("*.*.test", host: "www.example.test") },
        MatrixCase("a lone wildcard", "hostMismatch") { try .leaf("*", host: "example") },
        MatrixCase("a wildcard in an A-label", "hostMismatch") {
            try .leaf("xn--*-1b3c148a.example.test", host: "xn--bliss-1b3c148a.example.test")
        },
        MatrixCase("an A-label") { try .leaf("xn--bcher-kva.test", host: "xn--bcher-kva.test") },
        MatrixCase("a wildcard for an A-label") {
            try .leaf("*.example.test", host: "xn--bcher-kva.example.test")
        },
        MatrixCase("a name in UTF-8", "hostMismatch", strict: "malformed") {
            try .leaf("b\u{FC}cher.test", host: "xn--bcher-kva.test")
        },
        MatrixCase("an IPv4 address") { try .leaf("192.0.2.1", host: "192.0.2.1") },
        MatrixCase("an IPv6 address") { try .leaf("2001:db8::1", host: "[2001:db8::1]") },
        MatrixCase("another address", "hostMismatch") { try .leaf("192.0.2.1", host: "192.0.2.2") },
        MatrixCase("an address as a DNS name", "hostMismatch") {
            try .leaf(host: "192.0.2.1") {
                $0.names = [.dns("192.0.2.1")]; $0.commonName = ""
            }
        },
        MatrixCase("an address as a common name", "hostMismatch") {
            try .leaf(host: "192.0.2.1") {
                $0.names = []; $0.commonName = "192.0.2.1"
            }
        },
        MatrixCase("a URI is no host", "hostMismatch") {
            try .leaf {
                $0.names = [.uri("https://example.test/")]; $0.commonName = ""
            }
        },
        MatrixCase("a mailbox is no host", "hostMismatch") {
            try .leaf {
                $0.names = [.email("x@example.test")]; $0.commonName = ""
            }
        },
        MatrixCase("1,000 names") {
            try .leaf { $0.names = (0..<999).map { .dns("h\($0).test") } + [.dns("example.test")] }
        },
        MatrixCase("1,000 names of others", "hostMismatch") {
            try .leaf {
                $0.names = (0..<1_000).map { .dns("h\($0).test") }; $0.commonName = ""
            }
        },
        MatrixCase("alternative names that are no DER", "malformed") {
            try .leaf {
                $0.names = []; $0.extensions = [.init("2.5.29.17", critical: false, value: [1, 2, 3])]
            }
        },
        MatrixCase("empty alternative names", strict: "malformed") {
            try .leaf(host: nil) {
                $0.names = []; $0.extensions = [.init("2.5.29.17", critical: false, value: [0x30, 0])]
            }
        },
        MatrixCase("a DNS name with an empty label", strict: "malformed") {
            try .leaf("example.test", "a..test")
        },
        MatrixCase("a DNS name with a leading dot", strict: "malformed") {
            try .leaf("example.test", ".example.test")
        },
        MatrixCase("a DNS name with a zero byte", "hostMismatch", strict: "malformed") {
            try .leaf { $0.names = [.dns("example.test\u{0}.evil.test")] }
        },
        MatrixCase("an address of five bytes", strict: "malformed") {
            try .leaf { $0.names.append(.ip([1, 2, 3, 4, 5])) }
        },
        MatrixCase("critical alternative names beside a subject", strict: "malformed") {
            try .leaf { $0.hasCriticalNames = true }
        },
        MatrixCase("an empty subject beside names that are not critical", strict: "malformed") {
            try .leaf {
                $0.commonName = ""; $0.hasCriticalNames = false
            }
        },
        MatrixCase("an empty subject beside critical names") { try .leaf { $0.commonName = "" } },
    ]

    private static let network = CertificateTemplate.Name.ip([192, 0, 2, 0, 255, 255, 255, 0])

    private static func constrained(
        _ name: String, _ reason: String? = nil, strict: String? = nil, openSSL: OpenSSL = .agrees,
        permitted: [CertificateTemplate.Name] = [], excluded: [CertificateTemplate.Name] = [],
        leaf: [CertificateTemplate.Name], host: String? = nil
    ) -> MatrixCase {
        MatrixCase("constraints: " + name, reason, strict: strict, openSSL: openSSL) {
            try .intermediate(leaf: leaf, host: host) {
                $0.nameConstraints = .init(permitted: permitted, excluded: excluded)
            }
        }
    }

    private static func person(_ name: String) -> [UInt8] { DERWriter.name([("2.5.4.3", name)]) }
    private static func member(_ name: String) -> [UInt8] {
        DERWriter.name([("2.5.4.10", "Example  Org"), ("2.5.4.3", name)])
    }
    private static let organisation = DERWriter.name([("2.5.4.10", "example org")])

    static let constraints: [MatrixCase] = [
        constrained("a permitted domain", permitted: [.dns("example.test")], leaf: [.dns("www.example.test")]),
        constrained("the permitted domain itself", permitted: [.dns("example.test")], leaf: [.dns("example.test")]),
        constrained(
            "outside of the permitted domain", "nameConstraint", permitted: [.dns("example.test")],
            leaf: [.dns("other.test")]),
        constrained(
            "a name that only ends alike", "nameConstraint", permitted: [.dns("example.test")],
            leaf: [.dns("notexample.test")]),
        constrained(
            "one of two names outside", "nameConstraint", permitted: [.dns("example.test")],
            leaf: [.dns("a.example.test"), .dns("other.test")]),
        constrained(
            "an excluded domain", "nameConstraint", excluded: [.dns("example.test")], leaf: [.dns("www.example.test")]),
        constrained("outside of the excluded domain", excluded: [.dns("example.test")], leaf: [.dns("other.test")]),
        constrained(
            "permitted and excluded", "nameConstraint", permitted: [.dns("example.test")],
            excluded: [.dns("example.test")], leaf: [.dns("example.test")]),
        constrained("everything excluded", "nameConstraint", excluded: [.dns("")], leaf: [.dns("example.test")]),
        constrained(
            "a wildcard inside the permitted domain", permitted: [.dns("example.test")],
            leaf: [.dns("*.www.example.test")]),
        constrained(
            "a wildcard for the permitted domain's hosts", permitted: [.dns("example.test")],
            leaf: [.dns("*.example.test")]),
        constrained(
            "a wildcard that reaches beyond the permitted host", "nameConstraint", openSSL: .agrees,
            permitted: [.dns("www.example.test")], leaf: [.dns("*.example.test")]),
        constrained(
            "a wildcard that covers an excluded host", "nameConstraint", openSSL: .differs,
            excluded: [.dns("secret.example.test")], leaf: [.dns("*.example.test")]),
        constrained(
            "a wildcard beside an excluded host two labels below", excluded: [.dns("a.b.example.test")],
            leaf: [.dns("*.example.test")]),
        constrained("addresses inside the network", permitted: [network], leaf: [.ip([192, 0, 2, 9])]),
        constrained("addresses outside of it", "nameConstraint", permitted: [network], leaf: [.ip([192, 0, 3, 9])]),
        constrained(
            "an excluded network", "nameConstraint", excluded: [network], leaf: [.ip([192, 0, 2, 9])]),
        constrained(
            "an excluded IPv6 address", "nameConstraint",
            excluded: [.ip([UInt8](repeating: 0, count: 15) + [1] + [UInt8](repeating: 255, count: 16))],
            leaf: [.ip([UInt8](repeating: 0, count: 15) + [1])]),
        constrained(
            "a network of the other family", excluded: [network], leaf: [.ip([UInt8](repeating: 7, count: 16))]),
        constrained(
            "a network without a mask", "malformed", permitted: [.ip([192, 0, 2, 1])], leaf: [.ip([192, 0, 2, 1])]),
        constrained(
            "a mask with holes", strict: "malformed",
            permitted: [.ip([192, 0, 2, 0, 255, 0, 255, 0])], leaf: [.ip([192, 0, 2, 1])]),
        constrained("names of another kind", permitted: [network], leaf: [.dns("example.test")]),
        constrained("a permitted mailbox", permitted: [.email("a@example.test")], leaf: [.email("a@example.test")]),
        constrained(
            "another mailbox", "nameConstraint", permitted: [.email("a@example.test")],
            leaf: [.email("b@example.test")]),
        constrained(
            "a mailbox in other letters before the at", "nameConstraint", permitted: [.email("a@example.test")],
            leaf: [.email("A@example.test")]),
        constrained(
            "a mailbox of the permitted host", permitted: [.email("example.test")], leaf: [.email("a@EXAMPLE.test")]),
        constrained(
            "a mailbox of a host below it", "nameConstraint", permitted: [.email("example.test")],
            leaf: [.email("a@www.example.test")]),
        constrained(
            "a mailbox below the permitted domain", permitted: [.email(".example.test")],
            leaf: [.email("a@www.example.test")]),
        constrained(
            "a mailbox with two ats", "nameConstraint", strict: "malformed", openSSL: .differs,
            permitted: [.email("example.test")], leaf: [.email("a@b@example.test")]),
        constrained(
            "a constraint with two ats", "malformed", openSSL: .differs, permitted: [.email("a@b@example.test")],
            leaf: [.dns("example.test")]),
        constrained(
            "a URI of the permitted host", openSSL: .differs, permitted: [.uri("example.test")],
            leaf: [.uri("https://user@example.test:8443/x")]),
        constrained(
            "a URI of another host", "nameConstraint", permitted: [.uri("example.test")],
            leaf: [.uri("https://other.test/")]),
        constrained(
            "a URI below the excluded domain", "nameConstraint", excluded: [.uri(".example.test")],
            leaf: [.uri("ftp://www.example.test")]),
        constrained(
            "a URI without a host", "nameConstraint", permitted: [.uri("example.test")], leaf: [.uri("urn:x:y")]),
        constrained(
            "a permitted directory", permitted: [.directory(organisation)], leaf: [.directory(member("A"))]),
        constrained(
            "a directory outside", "nameConstraint", permitted: [.directory(organisation)],
            leaf: [.directory(person("A"))]),
        constrained(
            "an excluded directory", "nameConstraint", excluded: [.directory(organisation)],
            leaf: [.directory(member("A"))]),
        constrained(
            "a wildcard as a constraint", "malformed", openSSL: .agrees, permitted: [.dns("*.example.test")],
            leaf: [.dns("www.example.test")]),
        constrained(
            "a leading dot in a constraint", strict: "malformed", permitted: [.dns(".example.test")],
            leaf: [.dns("www.example.test")]),
        constrained(
            "a kind of name that is not understood", "nameConstraint", excluded: [.raw(0x88, [0x2A, 3])],
            leaf: [.raw(0x88, [0x2A, 3]), .dns("example.test")]),
        MatrixCase("constraints: the subject lies outside of the permitted directory", "nameConstraint") {
            let above = try Chains.root.get().issue(
                .authority("Directory").with { $0.nameConstraints = .init(permitted: [.directory(organisation)]) })
            let leaf = try above.issue(.server("example.test"))
            return MatrixChain(leaf.chain.certificates, anchors: [try Chains.root.get().certificate])
        },
        MatrixCase("constraints: an empty subject lies in no directory") {
            try .intermediate { $0.nameConstraints = .init(permitted: [.directory(organisation)]) }
        },
        MatrixCase("constraints: a mailbox in the subject", "nameConstraint") {
            let above = try Chains.root.get().issue(
                .authority("No mail").with { $0.nameConstraints = .init(excluded: [.email("example.test")]) })
            let leaf = try above.issue(
                .server("example.test").with {
                    $0.subject = DERWriter.name([("1.2.840.113549.1.9.1", "a@example.test")])
                })
            return MatrixChain(leaf.chain.certificates, anchors: [try Chains.root.get().certificate])
        },
        MatrixCase("constraints: of the root") {
            try .root { $0.nameConstraints = .init(permitted: [.dns("example.test")]) }
        },
        MatrixCase("constraints: outside of those of the root", "nameConstraint") {
            try .root { $0.nameConstraints = .init(permitted: [.dns("other.test")]) }
        },
        MatrixCase("constraints: not marked critical, which the forum allows") {
            try .root { $0.extensions = [.init("2.5.29.30", critical: false, value: permittingExample)] }
        },
        MatrixCase("constraints: empty", strict: "malformed") {
            try .intermediate { $0.extensions = [.init("2.5.29.30", critical: true, value: [0x30, 0])] }
        },
        MatrixCase("constraints: in a leaf", strict: "malformed") {
            try .leaf { $0.nameConstraints = .init(permitted: [.dns("example.test")]) }
        },
        MatrixCase("constraints: a later authority widens what an earlier one has narrowed", "nameConstraint") {
            let narrow = try Chains.root.get().issue(
                .authority("Narrow").with { $0.nameConstraints = .init(permitted: [.dns("a.example.test")]) })
            let wide = try narrow.issue(
                .authority("Wide").with { $0.nameConstraints = .init(permitted: [.dns("example.test")]) })
            let leaf = try wide.issue(.server("b.example.test"))
            return MatrixChain(
                leaf.chain.certificates, anchors: [try Chains.root.get().certificate], host: "b.example.test")
        },
        MatrixCase("constraints: an intermediate's own alternative name lies outside", "nameConstraint") {
            let narrow = try Chains.root.get().issue(
                .authority("Narrow").with { $0.nameConstraints = .init(permitted: [.dns("example.test")]) })
            let odd = try narrow.issue(.authority("Odd").with { $0.names = [.dns("other.test")] })
            let leaf = try odd.issue(.server("example.test"))
            return MatrixChain(leaf.chain.certificates, anchors: [try Chains.root.get().certificate])
        },
        MatrixCase("constraints: a self-issued intermediate's own name does not count") {
            let narrow = try Chains.root.get().issue(
                .authority("Rolling").with { $0.nameConstraints = .init(permitted: [.dns("example.test")]) })
            let next = try narrow.issue(.authority("Rolling").with { $0.names = [.dns("other.test")] })
            let leaf = try next.issue(.server("example.test"))
            return MatrixChain(leaf.chain.certificates, anchors: [try Chains.root.get().certificate])
        },
        MatrixCase("constraints: 1,000 names against 1,000 constraints", "nameConstraint", openSSL: .agrees) {
            try .intermediate(leaf: (0..<1_000).map { .dns("h\($0).test") } + [.dns("example.test")]) {
                $0.nameConstraints = .init(permitted: (0..<1_000).map { .dns("d\($0).test") })
            }
        },
    ]

    /// Name constraints that permit example.test.
    private static let permittingExample = DERWriter.sequence([
        DERWriter.element(0xA0, DERWriter.sequence([DERWriter.element(0x82, Array("example.test".utf8))]))
    ])
}
