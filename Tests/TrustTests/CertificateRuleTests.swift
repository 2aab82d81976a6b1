import Testing
import URLLoadingLoopbackServer
import URLLoadingTrust

@Suite struct CertificateRuleTests {
    private static let hour: Int64 = 3_600
    private static let moment: Int64 = 1_700_000_000  // 2023-11-14 22:13:20 UTC

    // MARK: Use

    @Test("B3.26: without extended key usage a leaf may identify a server")
    func noExtendedKeyUsage() throws {
        #expect(try judge(Chains.leaf(.server("example.test").with { $0.purposes = nil })).isTrusted)
    }

    @Test("B3.26: a leaf for clients only does not identify a server, nor the other way round")
    func wrongPurpose() throws {
        let client = try Chains.leaf(.server("example.test").with { $0.purposes = [.clientAuthentication] })
        #expect(try judge(client).reason == .wrongPurpose)
        #expect(try judge(client, host: nil, purpose: .clientAuthentication).isTrusted)
        let server = try Chains.leaf(.server("example.test"))
        #expect(try judge(server, host: nil, purpose: .clientAuthentication).reason == .wrongPurpose)
        let mail = try Chains.leaf(.server("example.test").with { $0.purposes = [.emailProtection] })
        #expect(try judge(mail).reason == .wrongPurpose)
    }

    @Test("B3.26: serverAuth among several purposes is enough")
    func severalPurposes() throws {
        let both = CertificateTemplate.server("example.test").with {
            $0.purposes = [.clientAuthentication, .serverAuthentication]
        }
        #expect(try judge(Chains.leaf(both)).isTrusted)
    }

    // MARK: Issuers

    @Test("B3.27: an issuer with CA=false is refused")
    func issuerIsNoAuthority() throws {
        let leaf = try Chains.leaf(below: .authority("Not a CA").with { $0.isAuthority = false })
        let verdict = try judge(leaf)
        #expect(verdict.reason == .notACertificateAuthority)
        #expect(verdict.failure?.certificate == "Not a CA")
    }

    @Test("B3.27: an issuer without basicConstraints is refused, although OpenSSL accepts keyUsage alone")
    func issuerWithoutBasicConstraints() throws {
        let leaf = try Chains.leaf(below: .authority("No Constraints").with { $0.isAuthority = nil })
        #expect(try judge(leaf).reason == .notACertificateAuthority)
    }

    @Test("B3.27: a version 1 certificate does not issue")
    func versionOneIssuer() throws {
        let old = CertificateTemplate.authority("Version One").with { $0.version = 1 }
        #expect(try judge(Chains.leaf(below: old)).reason == .notACertificateAuthority)
    }

    @Test("B3.27: an issuer whose keyUsage lacks keyCertSign is refused")
    func issuerMayNotSign() throws {
        let leaf = try Chains.leaf(below: .authority("No Signing").with { $0.keyUsage = .digitalSignature })
        #expect(try judge(leaf).reason == .notACertificateAuthority)
    }

    @Test("B3.27: an issuer without keyUsage may sign")
    func issuerWithoutKeyUsage() throws {
        #expect(try judge(Chains.leaf(below: .authority("No Usage").with { $0.keyUsage = nil })).isTrusted)
    }

    @Test("B3.27: a leaf cannot issue another leaf")
    func leafAsIssuer() throws {
        let forged = try Chains.leaf.get().issue(.server("victim.test"))
        #expect(try judge(forged, host: "victim.test").reason == .notACertificateAuthority)
    }

    @Test("B3.27: the path length is enforced, and a path that keeps it is fine")
    func pathLength() throws {
        let short = try Chains.root.get().issue(.authority("Length 0").with { $0.pathLength = 0 })
        #expect(try judge(short.issue(.server("example.test"))).isTrusted)
        let below = try short.issue(.authority("Below"))
        #expect(try judge(below.issue(.server("example.test"))).reason == .pathLength)
        let one = try Chains.root.get().issue(.authority("Length 1").with { $0.pathLength = 1 })
        let two = try one.issue(.authority("Two"))
        #expect(try judge(two.issue(.server("example.test"))).isTrusted)
    }

    // MARK: Dates

    @Test("B3.28: an expired leaf is refused, with its date")
    func expiredLeaf() throws {
        let leaf = try Chains.leaf(
            .server("example.test").with {
                $0.notBefore = Self.moment - Self.hour; $0.notAfter = Self.moment
            })
        let verdict = try judge(leaf)
        #expect(verdict.reason == .expired(notAfter: Self.moment))
        #expect(
            verdict.failure?.description
                == "The certificate of \"example.test\" expired on 2023-11-14 22:13:20 UTC.")
    }

    @Test("B3.28: a leaf that is not valid yet is refused, with its date")
    func futureLeaf() throws {
        let start: Int64 = 4_102_444_800  // 2100-01-01
        let leaf = try Chains.leaf(
            .server("example.test").with {
                $0.notBefore = start; $0.notAfter = start + Self.hour
            })
        let verdict = try judge(leaf)
        #expect(verdict.reason == .notYetValid(notBefore: start))
        #expect(verdict.failure?.further == [])
        #expect(verdict.failure?.description.contains("2100-01-01 00:00:00 UTC") == true)
    }

    @Test("B3.28: an expired intermediate is refused, and named")
    func expiredIntermediate() throws {
        let old = CertificateTemplate.authority("Old Intermediate").with {
            $0.notBefore = Self.moment - Self.hour
            $0.notAfter = Self.moment
        }
        let verdict = try judge(Chains.leaf(below: old))
        #expect(verdict.reason == .expired(notAfter: Self.moment))
        #expect(verdict.failure?.certificate == "Old Intermediate")
    }

    @Test("B3.28: an anchor's own dates do not count")
    func expiredAnchor() throws {
        let root = try CertificateFactory.selfSigned(
            .authority("Old Root").with {
                $0.notBefore = Self.moment - Self.hour; $0.notAfter = Self.moment
            })
        #expect(try judge(root.issue(.server("example.test")), anchors: [root.certificate]).isTrusted)
    }

    @Test("B3.28: a leaf that is an anchor itself must be valid")
    func expiredLeafAnchor() throws {
        let own = try CertificateFactory.selfSigned(
            .server("example.test").with {
                $0.notBefore = Self.moment - Self.hour; $0.notAfter = Self.moment
            })
        #expect(try judge(own, anchors: [own.certificate]).reason == .expired(notAfter: Self.moment))
    }

    @Test("B3.41: the policy's time is used in place of now")
    func chosenTime() throws {
        let leaf = try Chains.leaf.get()
        let end = try #require(leaf.certificate.notAfter)
        #expect(try judge(leaf, time: end - 3600).isTrusted)
        #expect(try judge(leaf, time: end + 1).isTrusted == false)
    }

    @Test("B3.30: a leaf that is valid for ten years is accepted")
    func longLived() throws {
        let now = try #require(Chains.leaf.get().certificate.notBefore)
        let leaf = try Chains.leaf(.server("example.test").with { $0.notAfter = now + 3_650 * 86_400 })
        #expect(try judge(leaf).isTrusted)
    }

    // MARK: Strength

    @Test("B3.29: SHA-1 and MD5 signatures are refused, on leaf and intermediate")
    func brokenHashes() throws {
        #expect(
            try judge(Chains.leaf(.server("example.test").with { $0.hash = .sha1 })).reason == .weakSignature("SHA-1"))
        let rsa = try Chains.root.get().issue(.authority("RSA Intermediate").with { $0.key = .rsa(2_048) })
        let md5 = try rsa.issue(.server("example.test").with { $0.hash = .md5 })
        #expect(try judge(md5).reason == .weakSignature("MD5"))
        let verdict = try judge(Chains.leaf(below: .authority("SHA-1 Intermediate").with { $0.hash = .sha1 }))
        #expect(verdict.reason == .weakSignature("SHA-1"))
        #expect(verdict.failure?.certificate == "SHA-1 Intermediate")
    }

    @Test("B3.29: an anchor's own signature does not count")
    func brokenHashOfAnchor() throws {
        let root = try CertificateFactory.selfSigned(.authority("SHA-1 Root").with { $0.hash = .sha1 })
        #expect(try judge(root.issue(.server("example.test")), anchors: [root.certificate]).isTrusted)
    }

    @Test("B3.29: RSA keys under 2048 bits and curves under 256 bits are refused")
    func weakKeys() throws {
        let rsa = try judge(Chains.leaf(.server("example.test").with { $0.key = .rsa(1_024) }))
        #expect(rsa.reason == .weakKey("RSA of 1024 bits"))
        let curve = try judge(Chains.leaf(.server("example.test").with { $0.key = .p224 }))
        #expect(curve.reason == .weakKey("elliptic curve of 224 bits"))
    }

    @Test(
        "B3.29: RSA of 2048 bits, P-384 and Ed25519 are fine",
        arguments: [CertificateTemplate.Key.rsa(2_048), .p384, .ed25519])
    func strongKeys(_ key: CertificateTemplate.Key) throws {
        #expect(try judge(Chains.leaf(.server("example.test").with { $0.key = key })).isTrusted)
        #expect(
            try judge(
                Chains.leaf(
                    below: .authority("Strong").with {
                        $0.key = key; $0.hash = .sha384
                    })
            ).isTrusted)
    }

    // MARK: Extensions

    @Test("B3.31: an unknown critical extension is refused anywhere in the path")
    func unknownCritical() throws {
        let odd = CertificateTemplate.Extension("1.3.6.1.4.1.55555.1", critical: true, value: [0x05, 0x00])
        #expect(
            try judge(Chains.leaf(.server("example.test").with { $0.extensions = [odd] })).reason
                == .unknownCriticalExtension)
        let verdict = try judge(Chains.leaf(below: .authority("Odd").with { $0.extensions = [odd] }))
        #expect(verdict.reason == .unknownCriticalExtension)
        #expect(verdict.failure?.certificate == "Odd")
    }

    @Test("B3.31: an unknown extension that is not critical is ignored")
    func unknownNotCritical() throws {
        let odd = CertificateTemplate.Extension("1.3.6.1.4.1.55555.1", critical: false, value: [0x05, 0x00])
        #expect(try judge(Chains.leaf(.server("example.test").with { $0.extensions = [odd] })).isTrusted)
    }

    @Test("A malformed extension is refused")
    func malformedExtension() throws {
        let broken = CertificateTemplate.Extension("2.5.29.19", critical: true, value: [0x30, 0x05, 0x01])
        let leaf = try Chains.leaf(
            .server("example.test").with {
                $0.isAuthority = nil; $0.extensions = [broken]
            })
        #expect(try judge(leaf).isTrusted == false)
    }

    // MARK: Several problems

    @Test("B3.72: an untrusted root comes before a wrong host, and a wrong host before dates")
    func mostSeriousFirst() throws {
        let expired = try Chains.leaf(
            .server("other.test").with {
                $0.notBefore = Self.moment - Self.hour; $0.notAfter = Self.moment
            })
        let wrongHost = TrustFailure.Reason.hostMismatch(wanted: "example.test", presented: ["other.test"])
        let known = try judge(expired)
        #expect(known.reason == wrongHost)
        #expect(known.failure?.further == [.expired(notAfter: Self.moment)])
        let unknown = try judge(expired, anchors: [])
        #expect(unknown.reason == .unknownRoot)
        #expect(unknown.failure?.further.contains(wrongHost) == true)
        #expect(unknown.failure?.further.contains(.expired(notAfter: Self.moment)) == true)
    }

    @Test("B3.71: not-yet-valid is reported first only when nothing else is wrong")
    func notYetValidIsLast() throws {
        let start: Int64 = 4_102_444_800
        let leaf = try Chains.leaf(
            .server("other.test").with {
                $0.notBefore = start; $0.notAfter = start + Self.hour
            })
        #expect(try judge(leaf).reason == .hostMismatch(wanted: "example.test", presented: ["other.test"]))
    }
}
