import Testing
import URLLoadingLoopbackServer
import URLLoadingTrust

@Suite struct HostNameTests {
    /// Whether a leaf with these alternative names is trusted for a host.
    private func trusted(_ names: [CertificateTemplate.Name], _ host: String?) throws -> Bool {
        let template = names.isEmpty ? CertificateTemplate.server("x").with { $0.names = [] } : .named(names)
        return try judge(Chains.leaf(template), host: host).isTrusted
    }

    @Test("B3.15: the common name is never used, even without alternative names")
    func commonNameOnly() throws {
        let verdict = try judge(Chains.leaf(.server("example.test").with { $0.names = [] }))
        #expect(verdict.reason == .hostMismatch(wanted: "example.test", presented: []))
        #expect(verdict.failure?.description.contains("names no host") == true)
        let beside = try Chains.leaf(.server("common.test").with { $0.names = [.dns("other.test")] })
        #expect(try judge(beside, host: "common.test").isTrusted == false)
    }

    @Test("B3.16: a self-signed certificate with only a common name is refused even as an anchor")
    func selfSignedCommonName() throws {
        let own = try CertificateFactory.selfSigned(.server("example.test").with { $0.names = [] })
        #expect(
            try judge(own, anchors: [own.certificate]).reason == .hostMismatch(wanted: "example.test", presented: []))
    }

    @Test("B3.15: every alternative name counts")
    func severalNames() throws {
        let names: [CertificateTemplate.Name] = [
            .dns("a.test"), .uri("https://x.test"), .dns("b.test"), .ip([10, 0, 0, 1]),
        ]
        #expect(try trusted(names, "a.test"))
        #expect(try trusted(names, "b.test"))
        #expect(try trusted(names, "10.0.0.1"))
        #expect(try trusted(names, "c.test") == false)
    }

    @Test("B3.17: letters' case and a trailing dot of the host do not matter")
    func caseAndDot() throws {
        #expect(try trusted([.dns("Example.TEST")], "eXample.test"))
        #expect(try trusted([.dns("example.test")], "EXAMPLE.TEST."))
        #expect(HostName("Example.Test.") == .dns("example.test"))
    }

    @Test("A host without anything to change is the name as it stands, and no numeric address is taken for one")
    func plainNames() {
        for name in ["example.test", "a", "xn--bcher-kva.test", "1a.test", "0x7f.test", "10.0.0.1a", "a..b"] {
            #expect(HostName(name) == .dns(name), "\(name)")
        }
        for numeric in ["10.0.0.1", "10.0.0.1.", "[::1]", "::1", "fe80::1", "fe80::1%eth0"] {
            guard case .ip = HostName(numeric) else {
                Issue.record("\(numeric) is a name")
                continue
            }
        }
        #expect(HostName("a.test.") == .dns("a.test") && HostName("A.test") == .dns("a.test"))
        #expect(HostName("1.2.3") == .dns("1.2.3") && HostName("") == .dns(""))
    }

    @Test("B3.18: A-labels are compared as they are")
    func internationalNames() throws {
        #expect(try trusted([.dns("xn--bcher-kva.test")], "xn--bcher-kva.test"))
        #expect(try trusted([.dns("*.test.example")], "xn--bcher-kva.test.example"))
        #expect(try trusted([.dns("b\u{fc}cher.test")], "xn--bcher-kva.test") == false)
    }

    @Test(
        "B3.19: a wildcard is accepted only as the complete leftmost label",
        arguments: [
            ("f*.example.test", "foo.example.test"), ("*f.example.test", "of.example.test"),
            ("*.*.example.test", "a.b.example.test"), ("a.*.example.test", "a.b.example.test"),
            ("*", "localhost"), ("*", "example.test"), ("**.example.test", "a.example.test"), ("*.", "a."),
        ])
    func wildcardPlaces(_ pattern: String, _ host: String) throws {
        #expect(try trusted([.dns(pattern)], host) == false)
    }

    @Test("B3.19: a wildcard matches exactly one label")
    func wildcard() throws {
        #expect(try trusted([.dns("*.example.test")], "www.example.test"))
        #expect(try trusted([.dns("*.EXAMPLE.test")], "WWW.example.test"))
    }

    @Test("B3.20: a wildcard directly below a top-level name is refused")
    func wildcardBelowTop() throws {
        #expect(try trusted([.dns("*.test")], "example.test") == false)
        #expect(try trusted([.dns("*.test.")], "example.test") == false)
    }

    @Test("B3.21: a wildcard matches neither the bare domain nor two labels")
    func wildcardDepth() throws {
        #expect(try trusted([.dns("*.example.test")], "example.test") == false)
        #expect(try trusted([.dns("*.example.test")], "a.b.example.test") == false)
        #expect(try trusted([.dns("*.example.test")], ".example.test") == false)
    }

    @Test("B3.22: a numeric host matches only an address entry, byte for byte")
    func addresses() throws {
        #expect(try trusted([.ip([127, 0, 0, 1])], "127.0.0.1"))
        #expect(try trusted([.ip([127, 0, 0, 1])], "127.0.0.2") == false)
        #expect(try trusted([.dns("127.0.0.1")], "127.0.0.1") == false)
        #expect(try trusted([.dns("*.0.0.1")], "127.0.0.1") == false)
        let loopback = [UInt8](repeating: 0, count: 15) + [1]
        #expect(try trusted([.ip(loopback)], "::1"))
        #expect(try trusted([.ip(loopback)], "[::1]"))
        #expect(try trusted([.ip(loopback)], "0:0:0:0:0:0:0:1"))
        let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 127, 0, 0, 1]
        #expect(try trusted([.ip(mapped)], "127.0.0.1") == false)
    }

    @Test("B3.22: an address in another notation is no name either")
    func otherNotations() throws {
        #expect(HostName("127.0.0.1.") == HostName("127.0.0.1"))
        #expect(try trusted([.dns("127.0.0.1")], "127.0.0.1.") == false)
        #expect(try trusted([.dns("127.1")], "127.1") == false)
    }

    @Test("B3.22: an IPv6 zone is not part of the name")
    func zone() {
        #expect(HostName("fe80::1%eth0") == HostName("fe80::1"))
    }

    @Test("B3.23: URI and e-mail entries never match a host")
    func otherKinds() throws {
        #expect(try trusted([.uri("https://example.test/")], "example.test") == false)
        #expect(try trusted([.uri("example.test")], "example.test") == false)
        #expect(try trusted([.email("example.test")], "example.test") == false)
    }

    @Test("B3.24: a policy without a host checks everything but the name")
    func withoutHost() throws {
        #expect(try trusted([], nil))
        let leaf = try Chains.leaf(.server("example.test"))
        #expect(try judge(leaf, anchors: [], host: nil).reason == .unknownRoot)
    }

    @Test("A name with a NUL inside does not match its beginning")
    func embeddedNul() throws {
        #expect(try trusted([.dns("example.test\0.evil.test")], "example.test") == false)
    }

    @Test("A mismatch tells some of the names and how many more there are")
    func mismatchText() throws {
        let names = (1...8).map { CertificateTemplate.Name.dns("host\($0).test") }
        let text = try judge(Chains.leaf(.named(names))).failure?.description
        #expect(text?.contains("host1.test, host2.test, host3.test, host4.test, host5.test and 3 more") == true)
    }

    @Test("A thousand names are searched")
    func manyNames() throws {
        let names = (1...1_000).map { CertificateTemplate.Name.dns("host\($0).test") }
        let leaf = try Chains.leaf(.named(names))
        #expect(try judge(leaf, host: "host1000.test").isTrusted)
        #expect(try judge(leaf, host: "host1001.test").isTrusted == false)
    }
}
