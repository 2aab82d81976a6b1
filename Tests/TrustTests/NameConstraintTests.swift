import Testing
import URLLoadingLoopbackServer
import URLLoadingTrust

@Suite struct NameConstraintTests {
    /// What is said about a leaf with these names below an intermediate with these constraints.
    private func reason(
        permitted: [CertificateTemplate.Name] = [], excluded: [CertificateTemplate.Name] = [],
        leaf names: [CertificateTemplate.Name]
    ) throws -> TrustFailure.Reason? {
        let authority = CertificateTemplate.authority("Constrained").with {
            $0.nameConstraints = .init(permitted: permitted, excluded: excluded)
        }
        let leaf = try Chains.root.get().issue(authority).issue(
            .server("common").with {
                $0.names = names; $0.commonName = ""
            })
        return try judge(leaf, host: nil).reason
    }

    @Test("B3.25: a DNS name inside the permitted domain passes, one outside fails")
    func permittedDNS() throws {
        #expect(try reason(permitted: [.dns("example.test")], leaf: [.dns("www.example.test")]) == nil)
        #expect(try reason(permitted: [.dns("example.test")], leaf: [.dns("example.test")]) == nil)
        #expect(try reason(permitted: [.dns("example.test")], leaf: [.dns("other.test")]) == .nameConstraint)
        #expect(try reason(permitted: [.dns("example.test")], leaf: [.dns("notexample.test")]) == .nameConstraint)
    }

    @Test("B3.25: every name of the leaf must be permitted")
    func everyName() throws {
        let names: [CertificateTemplate.Name] = [.dns("www.example.test"), .dns("other.test")]
        #expect(try reason(permitted: [.dns("example.test")], leaf: names) == .nameConstraint)
    }

    @Test("B3.25: a DNS name inside the excluded domain fails")
    func excludedDNS() throws {
        #expect(try reason(excluded: [.dns("example.test")], leaf: [.dns("www.example.test")]) == .nameConstraint)
        #expect(try reason(excluded: [.dns("example.test")], leaf: [.dns("www.other.test")]) == nil)
    }

    @Test("B3.25: addresses are compared under the mask")
    func addresses() throws {
        let network = CertificateTemplate.Name.ip([10, 0, 0, 0, 255, 0, 0, 0])
        #expect(try reason(permitted: [network], leaf: [.ip([10, 1, 2, 3])]) == nil)
        #expect(try reason(permitted: [network], leaf: [.ip([11, 1, 2, 3])]) == .nameConstraint)
        #expect(try reason(excluded: [network], leaf: [.ip([10, 1, 2, 3])]) == .nameConstraint)
    }

    @Test("B3.25: a constraint on one kind of name leaves the others free")
    func otherKinds() throws {
        #expect(try reason(permitted: [.dns("example.test")], leaf: [.ip([10, 1, 2, 3])]) == nil)
    }
}
