// Ways round single rules, each of which is closed.

import Testing
import URLLoadingLoopbackServer
import URLLoadingTestPrograms
import URLLoadingTrust

@Suite struct StrictnessTests {
    @Test("B3.19: a host with a star is refused, whatever names a certificate has")
    func starHost() throws {
        let leaf = try Chains.leaf(.server(hosts: ["*.example.test"]))
        #expect(try judge(leaf, host: "a.example.test").isTrusted)
        #expect(try judge(leaf, host: "*.example.test").failure != nil)
    }

    @Test(
        "B3.22: addresses in old notations match no name",
        arguments: ["127.1", "1.2.3.0x4", "0x7f000001", "2130706433"])
    func oldNotations(_ host: String) throws {
        let leaf = try Chains.leaf(.server("").with { $0.names = [.dns(host), .dns("example.test")] })
        #expect(try judge(leaf, host: host).reason != nil)
        #expect(try judge(leaf, host: "example.test").isTrusted)
    }

    @Test("The zone of a scoped address does not count, with brackets or without")
    func zone() throws {
        let address: [UInt8] = [0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
        for host in ["fe80::1", "[fe80::1%25eth0]", "fe80::1%eth0", "FE80:0::0:1"] {
            #expect(HostName(host) == .ip(address), "\(host)")
        }
    }

    @Test("B3.66: the pattern of a host is compared as hosts are")
    func patterns() throws {
        let root = try Chains.root.get().certificate
        let trustsNone = PerHostEvaluator([], otherwise: nil)
        let chain = try Chains.leaf(.server("a.example.test")).chain
        let policy = TrustPolicy(host: HostName("a.example.test"))
        for pattern in ["*.example.test", "*.EXAMPLE.test", "*.example.test."] {
            let evaluator = PerHostEvaluator(
                [(HostPattern(pattern), trustsNone)], otherwise: AnchorsEvaluator(anchors: [root]))
            #expect(evaluator.evaluate(chain, policy: policy).failure != nil, "\(pattern)")
        }
    }

    @Test("B3.25: an excluded directory name is excluded in every kind of string")
    func spellings() throws {
        func name(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
            let attribute = DERWriter.sequence([
                DERWriter.objectIdentifier("2.5.4.10"), DERWriter.element(tag, content),
            ])
            return DERWriter.sequence([DERWriter.element(0x31, attribute)])
        }
        let word = Array("Evil  Corp".utf8)
        let above = try Chains.root.get().issue(
            .authority("Constrained").with {
                $0.nameConstraints = .init(permitted: [], excluded: [.directory(name(0x0C, word))])
            })
        let spellings: [(UInt8, [UInt8])] = [
            (0x13, Array("evil corp".utf8)), (0x0C, Array(" EVIL corp ".utf8)),
            (0x1E, word.flatMap { [0, $0] }), (0x1C, word.flatMap { [0, 0, 0, $0] }),
        ]
        for (tag, content) in spellings {
            let leaf = try above.issue(.server("example.test").with { $0.subject = name(tag, content) })
            #expect(try judge(leaf).reason == .nameConstraint, "\(tag)")
        }
        let other = try above.issue(.server("example.test").with { $0.subject = name(0x1E, [0, 0x41]) })
        #expect(try judge(other).isTrusted)
    }

    @Test("B3.29: a curve that is spelled out is refused, also when it is a usual one")
    func explicitCurve() throws {
        let top = try Chains.root.get()
        let key = WorstCase.explicitP256()
        let leaf = try top.certify(.server("example.test"), publicKeyInfo: key)
        for profile in [TrustPolicy.Profile.standard, .strict] {
            #expect(try judge([leaf], profile: profile).reason == .weakKey("an elliptic curve that is not in use"))
        }
    }

    @Test("A name with a line break does not break the line of a log")
    func lineBreaks() throws {
        let leaf = try CertificateFactory.selfSigned(.server("").with { $0.commonName = "a\nERROR: b\u{85}" })
        #expect(leaf.certificate.displayName == "a\u{FFFD}ERROR: b\u{FFFD}")
    }

    @Test("A verdict at the earliest and at the latest possible time overflows nothing")
    func extremeTimes() throws {
        let leaf = try Chains.leaf.get()
        let issuer = try Chains.intermediate.get()
        let response = try issuer.ocspResponse(about: leaf.certificate, .good)
        let chain = try #require(CertificateChain(leaf.chain.certificates, stapling: .response(response)))
        for time in [Int64.min, .max] {
            let policy = TrustPolicy(
                host: HostName("example.test"), time: time, revocation: RevocationPolicy(mode: .hard),
                maximumIntermediates: .max)
            let verdict = AnchorsEvaluator(anchors: [try Chains.root.get().certificate]).evaluate(chain, policy: policy)
            #expect(verdict.failure != nil)
        }
    }
}
