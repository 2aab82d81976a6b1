import Testing
import URLLoadingLoopbackServer
import URLLoadingTrust

@Suite struct FieldTests {
    @Test("Uses, constraints and key identifiers are read")
    func values() throws {
        let authority = try CertificateFactory.selfSigned(
            .authority("Fields").with {
                $0.pathLength = 3
                $0.nameConstraints = .init(permitted: [.dns("example.test")], excluded: [.email("x.test")])
            })
        let root = authority.certificate
        #expect(root.basicConstraints?.isAuthority == true && root.basicConstraints?.pathLength == 3)
        #expect(root.keyUsage == [.keyCertSign, .crlSign])
        #expect(root.nameConstraints?.permitted == [.dns("example.test")])
        #expect(root.nameConstraints?.excluded == [.email("x.test")])
        #expect(root.subjectKeyIdentifier == root.authorityKeyIdentifier)
        #expect(root.isSelfIssued && root.isSelfSigned && root.version == 3)
        let leaf = try authority.issue(
            .server("example.test").with { $0.names += [.email("a@example.test"), .uri("urn:x:y")] }
        ).certificate
        #expect(leaf.extendedKeyUsage == ["1.3.6.1.5.5.7.3.1"])
        #expect(leaf.authorityKeyIdentifier == root.subjectKeyIdentifier)
        #expect(leaf.emailAddresses == ["a@example.test"])
        #expect(leaf.alternativeNames.last == .uri("urn:x:y"))
        #expect(leaf.nameConstraints == nil)
    }

    @Test("An object identifier whose numbers are too large for its first octets is not encoded")
    func largeIdentifiers() {
        #expect(DERWriter.objectIdentifier("2.999.3") == [0x06, 3, 0x88, 0x37, 3])
        #expect(DERWriter.objectIdentifier("2.\(UInt.max - 80)").count == 12)
        for number in [UInt.max - 79, UInt.max] { #expect(DERWriter.objectIdentifier("2.\(number)") == []) }
        #expect(DERWriter.objectIdentifier("1.\(UInt.max)") == [])
    }

    @Test("Serial numbers are shown with their sign")
    func serials() throws {
        func serial(_ bytes: [UInt8], negative: Bool = false) throws -> String {
            try Chains.leaf(
                .server("x").with {
                    $0.serial = bytes; $0.isSerialNegative = negative
                }
            ).certificate.serial
        }
        #expect(try serial([0x80]) == "80")
        #expect(try serial([0x01, 0x00]) == "0100")
        #expect(try serial([0x05], negative: true) == "-05")
    }

    @Test("Every root of this machine's store may anchor chains under the default profile")
    func systemRootsAreWellFormed() throws {
        let files = SystemStore.usualFiles.compactMap { path in
            (try? String(decoding: readFile(path), as: UTF8.self)).flatMap { try? Certificate.parse(pem: $0) }
        }
        for root in files.first ?? [] {
            let constraints = try #require(root.basicConstraints, "\(root.displayName)")
            #expect(constraints.isAuthority, "\(root.displayName)")
            #expect(root.keyUsage?.contains(.keyCertSign) ?? true, "\(root.displayName)")
            #expect(root.formProblem == nil, "\(root.displayName): \(root.formProblem ?? "")")
        }
    }
}
