import Testing
import URLLoadingLoopbackServer
import URLLoadingTrust

@Suite struct IdentityFileTests {
    @Test(
        "An identity is read from PKCS #12 with RSA, elliptic curve and Ed25519 keys",
        arguments: [CertificateTemplate.Key.rsa(2_048), .p256, .ed25519])
    func pkcs12(_ key: CertificateTemplate.Key) throws {
        let issued = try Chains.intermediate.get().issue(.client("somebody").with { $0.key = key })
        let identity = try Identity(pkcs12: issued.pkcs12(passphrase: "secret"), passphrase: "secret")
        #expect(identity.chain == issued.chain)
        #expect(identity.keyPEM == issued.identity.keyPEM)
    }

    @Test("B2.51: an identity is shown with its own certificate once, whole chain or not")
    func ownCertificateOnce() throws {
        let (above, leaf) = (try Chains.intermediate.get(), try Chains.leaf.get())
        let bare = try leaf.identity(showing: [])
        let whole = [leaf.certificate, above.certificate]
        #expect(bare.showing(whole).chain.certificates == whole)
        #expect(bare.showing([above.certificate]).chain.certificates == whole)
        #expect(bare.showing([leaf.certificate]).chain.certificates == [leaf.certificate])
    }

    @Test("A wrong passphrase is told from a broken file")
    func wrongPassphrase() throws {
        let bytes = try Chains.leaf.get().pkcs12(passphrase: "secret")
        #expect(throws: CertificateError.wrongPassphrase) { try Identity(pkcs12: bytes, passphrase: "guess") }
        for count in stride(from: 0, to: bytes.count, by: 37) {
            #expect(throws: CertificateError.self) {
                try Identity(pkcs12: Array(bytes[..<count]), passphrase: "secret")
            }
        }
    }

    @Test("A file that asks for thousands of millions of rounds is turned down at once")
    func hostileRounds() throws {
        var bytes = try Chains.leaf.get().pkcs12(passphrase: "secret")
        // The count of MacData is the last element: INTEGER 2,048.
        #expect(Array(bytes.suffix(4)) == [2, 2, 8, 0])
        bytes.replaceSubrange(bytes.count - 2..<bytes.count, with: [0x7F, 0xFF])
        #expect(throws: CertificateError.wrongPassphrase) { try Identity(pkcs12: bytes, passphrase: "secret") }
        var huge = [UInt8](bytes.dropLast(4)) + [2, 4, 0x7F, 0xFF, 0xFF, 0xFF]
        // Both lengths around it grow by two.
        let outer = Int(huge[2]) << 8 | Int(huge[3])
        (huge[2], huge[3]) = (UInt8((outer + 2) >> 8), UInt8((outer + 2) & 0xFF))
        #expect(throws: CertificateError.self) { try Identity(pkcs12: huge, passphrase: "secret") }
    }

    @Test(
        "Rounds are limited in every part of a PKCS #12 file, in every spelling of it",
        arguments: HostilePKCS12.Place.allCases)
    func hiddenRounds(_ place: HostilePKCS12.Place) throws {
        let issued = try Chains.leaf.get()
        // The count that was there before: the file is sound.
        let sound = try HostilePKCS12.make(issued, .mac, rounds: 2)
        let hostile = try HostilePKCS12.make(issued, place, rounds: .max)
        #expect(Array(sound.prefix(2)) == [0x30, 0x82] && Array(hostile.prefix(2)) == [0x30, 0x82])
        // BER, which PKCS #12 allows: the length of the outermost sequence is indefinite.
        let spellings = [{ $0 }, { [0x30, 0x80] + $0.dropFirst(4) + [0, 0] }] as [([UInt8]) -> [UInt8]]
        for spell in spellings {
            #expect(try Identity(pkcs12: spell(sound), passphrase: "secret").chain.leaf == issued.certificate)
            #expect(throws: CertificateError.notPKCS12("it asks for more work than any file needs")) {
                try Identity(pkcs12: spell(hostile), passphrase: "secret")
            }
        }
    }

    @Test("Files with an empty passphrase are read, whichever way it was written")
    func emptyPassphrase() throws {
        let issued = try Chains.leaf.get()
        #expect(try Identity(pkcs12: issued.pkcs12(passphrase: ""), passphrase: "").chain == issued.chain)
    }

    @Test("An encrypted key in PEM that asks for thousands of millions of rounds is turned down at once")
    func hostileKey() throws {
        let issued = try Chains.leaf.get()
        let text = try HostileKey.make(issued, rounds: .max)
        #expect(throws: CertificateError.unreadableKey("it asks for more work than any key needs")) {
            try Identity(certificatePEM: issued.identity.certificatePEM, keyPEM: text, passphrase: "secret")
        }
        #expect(throws: CertificateError.wrongPassphrase) {
            let text = try issued.identity.keyPEM(encryptedWith: "secret")
            _ = try Identity(certificatePEM: issued.identity.certificatePEM, keyPEM: text)
        }
    }

    @Test(
        "An encrypted key is read from PEM with its passphrase only",
        arguments: [CertificateTemplate.Key.rsa(2_048), .p256, .ed25519])
    func encryptedPEM(_ key: CertificateTemplate.Key) throws {
        let issued = try Chains.intermediate.get().issue(.client("somebody").with { $0.key = key })
        let secret = try issued.identity.keyPEM(encryptedWith: "secret")
        let certificate = issued.identity.certificatePEM
        #expect(try Identity(certificatePEM: certificate, keyPEM: secret, passphrase: "secret").chain == issued.chain)
        #expect(throws: CertificateError.wrongPassphrase) {
            try Identity(certificatePEM: certificate, keyPEM: secret, passphrase: "guess")
        }
    }

    @Test("Revocation lists are read from DER and PEM, and other bytes are refused")
    func lists() throws {
        let leaf = try Chains.leaf.get().certificate
        let list = try Chains.intermediate.get().revocationList(revoking: [leaf])
        #expect(try RevocationList(der: list.der) == list)
        #expect(list.count == 1)
        #expect(throws: CertificateError.self) { try RevocationList(der: list.der + [0]) }
        #expect(throws: CertificateError.self) { try RevocationList.parse(pem: "nothing") }
        for count in stride(from: 0, to: list.der.count, by: 7) {
            #expect(throws: CertificateError.self) { try RevocationList(der: Array(list.der[..<count])) }
        }
    }
}
