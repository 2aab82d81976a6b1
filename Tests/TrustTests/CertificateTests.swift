import Testing
import URLLoadingLoopbackServer
import URLLoadingTrust

@Suite struct CertificateTests {
    @Test("A certificate's parts are read")
    func parts() throws {
        let template = CertificateTemplate.server("example.test", "*.example.test", "127.0.0.1").with {
            $0.notBefore = 1_700_000_000
            $0.notAfter = 1_700_086_400
            $0.serial = [0x01, 0xAB]
        }
        let certificate = try Chains.leaf(template).certificate
        #expect(certificate.subject == "CN=example.test")
        #expect(certificate.issuer == "CN=Test Intermediate")
        #expect(certificate.dnsNames == ["example.test", "*.example.test"])
        #expect(certificate.ipAddresses == [[127, 0, 0, 1]])
        #expect(certificate.notBefore == 1_700_000_000)
        #expect(certificate.notAfter == 1_700_086_400)
        #expect(certificate.serial == "01ab")
        #expect(certificate.spkiSHA256.count == 32)
        #expect(certificate.isSelfIssued == false)
        #expect(certificate.isCertificateAuthority == false)
        #expect(try Chains.root.get().certificate.isSelfSigned)
    }

    @Test("Dates before 1970 and after 2050 are read")
    func farDates() throws {
        let template = CertificateTemplate.server("example.test").with {
            $0.notBefore = -86_400
            $0.notAfter = 4_102_444_800
        }
        let certificate = try Chains.leaf(template).certificate
        #expect(certificate.notBefore == -86_400)
        #expect(certificate.notAfter == 4_102_444_800)
    }

    @Test("DER and PEM lead back to an equal certificate")
    func roundTrip() throws {
        let certificate = try Chains.leaf.get().certificate
        #expect(try Certificate(der: certificate.der) == certificate)
        let read = try Certificate.parse(pem: "text before\n" + certificate.pem + certificate.pem)
        #expect(read == [certificate, certificate])
        #expect(read.first?.hashValue == certificate.hashValue)
    }

    @Test("Bytes that are not a certificate are refused, at every length")
    func garbage() throws {
        let der = try Chains.leaf.get().certificate.der
        #expect(throws: CertificateError.self) { try Certificate(der: []) }
        for count in stride(from: 0, to: der.count, by: 7) {
            #expect(throws: CertificateError.self) { try Certificate(der: Array(der[..<count])) }
        }
        #expect(throws: CertificateError.self) { try Certificate(der: der + [0]) }
        #expect(throws: CertificateError.noCertificateFound) { try Certificate.parse(pem: "nothing") }
        #expect(throws: CertificateError.self) {
            try Certificate.parse(pem: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
        }
    }

    @Test("Certificates with any byte changed are judged without a crash")
    func alteredBytes() throws {
        let chain = try Chains.leaf.get().chain
        let der = chain.leaf.der
        for index in der.indices {
            var altered = der
            altered[index] ^= 0xFF
            guard let certificate = try? Certificate(der: altered) else { continue }
            #expect(try judge([certificate] + chain.certificates.dropFirst()).isTrusted == false)
        }
    }

    @Test("An identity is read from PEM, and a key of another certificate is refused")
    func identity() throws {
        let leaf = try Chains.leaf.get()
        let read = try Identity(certificatePEM: leaf.identity.certificatePEM, keyPEM: leaf.identity.keyPEM)
        #expect(read.chain == leaf.chain)
        let other = try Chains.intermediate.get().identity.keyPEM
        #expect(throws: CertificateError.keyDoesNotMatch(subject: "example.test")) {
            try Identity(certificatePEM: leaf.identity.certificatePEM, keyPEM: other)
        }
        #expect(throws: CertificateError.self) {
            try Identity(certificatePEM: leaf.identity.certificatePEM, keyPEM: "no key")
        }
    }

    @Test("An encrypted key needs its passphrase")
    func encryptedKey() throws {
        let leaf = try Chains.leaf.get()
        let sealed = try leaf.identity.keyPEM(encryptedWith: "secret")
        let certificate = leaf.identity.certificatePEM
        #expect(try Identity(certificatePEM: certificate, keyPEM: sealed, passphrase: "secret").chain == leaf.chain)
        #expect(throws: CertificateError.wrongPassphrase) {
            try Identity(certificatePEM: certificate, keyPEM: sealed, passphrase: "other")
        }
        #expect(throws: CertificateError.wrongPassphrase) {
            try Identity(certificatePEM: certificate, keyPEM: sealed)
        }
    }
}
