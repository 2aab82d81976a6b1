// Keys, certificates and policies as Security's functions show them (behaviour 3.4).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTrust

@Suite("SecKey")
struct SecKeyTests {
    private static let ec = Result { try TrustSamples.root.get().issue(.server("ec.test")) }
    private static let rsa = Result {
        try TrustSamples.root.get().issue(.server("rsa.test").with { $0.key = .rsa(2048) })
    }

    private func publicKey(_ issued: IssuedCertificate) throws -> SecKey {
        try #require(SecCertificateCopyKey(TrustSamples.face(issued.certificate)))
    }

    private func privateKey(_ issued: IssuedCertificate) throws -> SecKey {
        let file = try issued.pkcs12(passphrase: "secret")
        var items: CFArray?
        let options = [kSecImportExportPassphrase as String: "secret"] as CFDictionary
        #expect(SecPKCS12Import(Data(file) as CFData, options, &items) == errSecSuccess)
        let item = try #require((items as? [[String: Any]])?.first)
        let identity = try #require(item[kSecImportItemIdentity as String] as? SecIdentity)
        var key: SecKey?
        #expect(SecIdentityCopyPrivateKey(identity, &key) == errSecSuccess)
        return try #require(key)
    }

    private func external(_ key: SecKey) throws -> Data {
        try #require(SecKeyCopyExternalRepresentation(key, nil)) as Data
    }

    @Test("B3.43: a trust gives its leaf's key and a certificate its own, if it is RSA or EC")
    @available(*, deprecated)
    func copyKey() throws {
        let leaf = try TrustSamples.leaf.get()
        let trust = try TrustSamples.trust(leaf)
        let key = try #require(SecTrustCopyKey(trust))
        #expect(try key == publicKey(leaf))
        #expect(SecTrustCopyPublicKey(trust) == key)
        #expect(SecCertificateCopyPublicKey(try TrustSamples.face(leaf.certificate)) == key)
        #expect(try key != publicKey(TrustSamples.intermediate.get()))
        #expect(try SecCertificateCopyKey(TrustSamples.face(Self.rsa.get().certificate)) != nil)
        let other = try TrustSamples.intermediate.get().issue(.server("example.test").with { $0.key = .ed25519 })
        #expect(SecCertificateCopyKey(try TrustSamples.face(other.certificate)) == nil)
        let edwards = try TrustSamples.trust(other)
        #expect(SecTrustCopyKey(edwards) == nil)
        #expect(failureCode(edwards) == 0, "the key counts all the same")
        let weak = try TrustSamples.intermediate.get().issue(.server("example.test").with { $0.key = .p224 })
        #expect(SecCertificateCopyKey(try TrustSamples.face(weak.certificate)) == nil, "not a usual curve")
    }

    @Test("B3.44: the external form is the SPKI's last part: PKCS #1 for RSA, the point for EC")
    func externalForm() throws {
        for (issued, header) in [(try Self.ec.get(), 26), (try Self.rsa.get(), 24)] {
            let encoded = Data(issued.certificate.publicKeyInfo)
            let plain = try external(publicKey(issued))
            // RFC 5280: the bit string's content is the key, behind the header with the algorithm.
            #expect(plain == encoded.dropFirst(header))
            #expect(plain != encoded, "pins of one are no pins of the other")
        }
        let point = try external(publicKey(Self.ec.get()))
        #expect(point.count == 65)
        #expect(point.first == 4)
        let rsa = try external(publicKey(Self.rsa.get()))
        #expect(rsa.first == 0x30)
    }

    @Test("B3.44: P-384 has a point of 97 bytes")
    func largerCurve() throws {
        let issued = try TrustSamples.root.get().issue(.server("ec.test").with { $0.key = .p384 })
        let key = try publicKey(issued)
        #expect(try external(key).count == 97)
        #expect(SecKeyGetBlockSize(key) == 48)
    }

    @Test("A private EC key's external form begins with the public key's; every private key gives its public key")
    func privateKeys() throws {
        for issued in [try Self.ec.get(), try Self.rsa.get()] {
            let (secret, open) = (try privateKey(issued), try publicKey(issued))
            #expect(secret != open)
            #expect(SecKeyCopyPublicKey(secret) == open)
            #expect(SecKeyCopyPublicKey(open) == open)
        }
        let secret = try external(privateKey(Self.ec.get()))
        #expect(secret.count == 97)
        #expect(try secret.prefix(65) == external(publicKey(Self.ec.get())))
        #expect(try external(privateKey(Self.rsa.get())).first == 0x30)
    }

    @Test("A key's attributes tell its type, class and size")
    func attributes() throws {
        for (issued, type, size) in [
            (try Self.ec.get(), kSecAttrKeyTypeECSECPrimeRandom, 256), (try Self.rsa.get(), kSecAttrKeyTypeRSA, 2048),
        ] {
            for (key, name) in [
                (try publicKey(issued), kSecAttrKeyClassPublic), (try privateKey(issued), kSecAttrKeyClassPrivate),
            ] {
                let found = try #require(SecKeyCopyAttributes(key) as? [String: Any])
                #expect(found[kSecAttrKeyType as String] as? String == type as String)
                #expect(found[kSecAttrKeyClass as String] as? String == name as String)
                #expect(found[kSecAttrKeySizeInBits as String] as? Int == size)
                #expect(SecKeyGetBlockSize(key) == size / 8)
            }
        }
    }

    @Test("An exported key can be read again")
    func reading() throws {
        for (issued, type, size) in [
            (try Self.ec.get(), kSecAttrKeyTypeEC, 256), (try Self.rsa.get(), kSecAttrKeyTypeRSA, 2048),
        ] {
            for (key, name) in [
                (try publicKey(issued), kSecAttrKeyClassPublic), (try privateKey(issued), kSecAttrKeyClassPrivate),
            ] {
                let data = try external(key)
                let short: [CFString: Any] = [kSecAttrKeyType: type, kSecAttrKeyClass: name]
                let long: [String: Any] = [
                    kSecAttrKeyType as String: type, kSecAttrKeyClass as String: name as String,
                    kSecAttrKeySizeInBits as String: size,
                ]
                for attributes in [short as CFDictionary, long as CFDictionary] {
                    let read = try #require(SecKeyCreateWithData(data as CFData, attributes, nil))
                    #expect(read == key)
                    #expect(try external(read) == data)
                }
            }
        }
    }

    @Test("Data that are no key, or not the key that the attributes describe, give an error")
    func broken() throws {
        let (ec, rsa) = (try Self.ec.get(), try Self.rsa.get())
        let point = try external(publicKey(ec))
        let modulus = try external(publicKey(rsa))
        func refuses(_ data: Data, _ attributes: [CFString: Any]) -> Bool {
            var error: Unmanaged<CFError>?
            guard SecKeyCreateWithData(data as CFData, attributes as CFDictionary, &error) == nil else { return false }
            let found = error?.takeRetainedValue()
            return found?.code == Int(errSecParam) && found?.domain == NSOSStatusErrorDomain
        }
        for (type, good) in [(kSecAttrKeyTypeEC, point), (kSecAttrKeyTypeRSA, modulus)] {
            for name in [kSecAttrKeyClassPublic, kSecAttrKeyClassPrivate] {
                let attributes: [CFString: Any] = [kSecAttrKeyType: type, kSecAttrKeyClass: name]
                for count in 0..<good.count { #expect(refuses(good.prefix(count), attributes)) }
                #expect(refuses(good + [0], attributes))
                #expect(refuses(Data(repeating: 4, count: 65), attributes))
                #expect(refuses(Data(repeating: 0x30, count: 100_000), attributes))
            }
        }
        // A point that is not on the curve, and a number that is not the point's.
        var off = point
        off[64] ^= 1
        let open: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeyClass: kSecAttrKeyClassPublic]
        let secret: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeyClass: kSecAttrKeyClassPrivate]
        #expect(refuses(off, open))
        #expect(refuses(point + Data(repeating: 0, count: 32), secret))
        #expect(refuses(point + Data(repeating: 1, count: 32), secret))
        #expect(refuses(point + Data(repeating: 0xFF, count: 32), secret))
        #expect(refuses(point, [kSecAttrKeyType: kSecAttrKeyTypeEC]))
        #expect(refuses(point, [kSecAttrKeyClass: kSecAttrKeyClassPublic]))
        #expect(refuses(point, [kSecAttrKeyType: "99" as NSString, kSecAttrKeyClass: kSecAttrKeyClassPublic]))
        #expect(refuses(point, [kSecAttrKeyType: NSNull(), kSecAttrKeyClass: NSNull()]))
        #expect(refuses(point, open.merging([kSecAttrKeySizeInBits: 384]) { $1 }))
    }
}

@Suite("SecCertificate and SecPolicy")
struct SecCertificateTests {
    @Test("B3.52: a certificate tells its pin, the hosts that it is for, and its issuer")
    func additions() throws {
        let root = try CertificateFactory.root()
        let issued = try root.issue(.server(hosts: ["a.test", "*.b.test", "127.0.0.1", "::1"]))
        let certificate = try #require(SecCertificateCreateWithData(nil, Data(issued.certificate.der) as NSData))
        #expect(certificate.publicKeyPin == Data(issued.certificate.spkiSHA256).base64EncodedString())
        #expect(certificate.hostNames == ["a.test", "*.b.test", "127.0.0.1", "::1"])
        #expect(certificate.issuerDescription == root.certificate.subject && !certificate.issuerDescription.isEmpty)
        let pinned = URLSessionConfiguration.ServerTrustEvaluation.pinnedKeys([certificate.publicKeyPin])
        #expect(pinned.problem == nil)
    }

    @Test("A certificate is read from DER, not from PEM nor anything else, and gives the same bytes")
    func bytes() throws {
        let certificate = try TrustSamples.leaf.get().certificate
        let der = Data(certificate.der)
        let read = try #require(SecCertificateCreateWithData(kCFAllocatorDefault, der as CFData))
        #expect(SecCertificateCopyData(read) as Data == der)
        #expect(CFDataGetLength(SecCertificateCopyData(read)) == der.count)
        #expect(try read == TrustSamples.face(certificate))
        #expect(try Set([read, TrustSamples.face(certificate), TrustSamples.anchor()]).count == 2)
        for wrong in [Data(), Data(certificate.pem.utf8), der + [0], der.dropLast(), Data([0x30, 0x80])] {
            #expect(SecCertificateCreateWithData(nil, wrong as CFData) == nil)
        }
    }

    @Test("A certificate tells its names, mailboxes, serial number and dates")
    @available(*, deprecated)
    func contents() throws {
        let template = CertificateTemplate.server("example.test").with {
            $0.names.append(.email("who@example.test"))
            $0.serial = [0x80, 0x01]
            $0.notBefore = 1_700_000_000
            $0.notAfter = 1_800_000_000
        }
        let certificate = try TrustSamples.face(TrustSamples.intermediate.get().issue(template).certificate)
        #expect(SecCertificateCopySubjectSummary(certificate) == "example.test")
        var name: CFString?
        #expect(SecCertificateCopyCommonName(certificate, &name) == errSecSuccess)
        #expect(name == "example.test")
        var mailboxes: CFArray?
        #expect(SecCertificateCopyEmailAddresses(certificate, &mailboxes) == errSecSuccess)
        #expect(mailboxes as? [String] == ["who@example.test"])
        #expect(SecCertificateCopySerialNumberData(certificate, nil) as Data? == Data([0, 0x80, 0x01]))
        #expect(SecCertificateCopySerialNumber(certificate) as Data? == Data([0, 0x80, 0x01]))
        #expect(
            SecCertificateCopyNotValidBeforeDate(certificate) as Date? == Date(timeIntervalSince1970: 1_700_000_000))
        #expect(SecCertificateCopyNotValidAfterDate(certificate) as Date? == Date(timeIntervalSince1970: 1_800_000_000))
    }

    @Test("Names and mailboxes that a certificate lacks are nil or empty")
    func nothing() throws {
        let template = CertificateTemplate.server("").with {
            $0.commonName = ""
            $0.names = []
        }
        let certificate = try TrustSamples.face(TrustSamples.intermediate.get().issue(template).certificate)
        #expect(SecCertificateCopySubjectSummary(certificate) == nil)
        var name: CFString? = "x"
        #expect(SecCertificateCopyCommonName(certificate, &name) == errSecItemNotFound)
        #expect(name == nil)
        var mailboxes: CFArray?
        #expect(SecCertificateCopyEmailAddresses(certificate, &mailboxes) == errSecSuccess)
        #expect(mailboxes?.count == 0)
    }

    @Test("Normalized names are DER, and the same for names that are equal")
    func normalizedNames() throws {
        let intermediate = try TrustSamples.intermediate.get()
        func face(_ commonName: String) throws -> SecCertificate {
            try TrustSamples.face(intermediate.issue(.client(commonName)).certificate)
        }
        let (one, same, other) = (try face("Some  Body"), try face("some body"), try face("nobody"))
        let subject = try #require(SecCertificateCopyNormalizedSubjectSequence(one))
        #expect(subject == SecCertificateCopyNormalizedSubjectSequence(same))
        #expect(subject != SecCertificateCopyNormalizedSubjectSequence(other))
        // SEQUENCE of SET of SEQUENCE of 2.5.4.3 and UTF8String.
        let wanted = [0x30, 0x14, 0x31, 0x12, 0x30, 0x10, 0x06, 0x03, 0x55, 0x04, 0x03, 0x0C, 0x09] + "some body".utf8
        #expect(subject as Data == Data(wanted))
        let issuer = SecCertificateCopyNormalizedIssuerSequence(one)
        let above = try TrustSamples.face(intermediate.certificate)
        #expect(issuer == SecCertificateCopyNormalizedSubjectSequence(above))
        #expect(issuer != subject)
    }

    @Test("A policy's properties make an equal policy")
    func policyProperties() throws {
        let host: NSString = "example.test"
        let policies = [
            SecPolicyCreateSSL(true, host), SecPolicyCreateSSL(true, nil), SecPolicyCreateSSL(false, host),
            SecPolicyCreateBasicX509(), try #require(SecPolicyCreateRevocation(kSecRevocationUseAnyAvailableMethod)),
        ]
        #expect(Set(policies).count == policies.count)
        for policy in policies {
            let found = try #require(SecPolicyCopyProperties(policy))
            let identifier = try #require(found[kSecPolicyOid] as? NSString)
            let rest = try #require(found as? [String: Any]).filter { $0.key != kSecPolicyOid as String }
            #expect(SecPolicyCreateWithProperties(identifier, rest as CFDictionary) == policy)
            #expect(SecPolicyCreateWithProperties(identifier, ["unknown": 1]) == nil)
        }
        #expect(
            SecPolicyCreateWithProperties(kSecPolicyAppleSSL, [kSecPolicyName as String: "example.test"]) == policies[0]
        )
        #expect(SecPolicyCreateWithProperties(kSecPolicyAppleSSL, nil) == policies[1])
        #expect(SecPolicyCreateWithProperties(kSecPolicyAppleSSL, [kSecPolicyName: 1]) == nil)
        #expect(SecPolicyCreateWithProperties(kSecPolicyAppleSSL, [kSecPolicyClient: "x"]) == nil)
        #expect(SecPolicyCreateWithProperties(kSecPolicyAppleSSL, [1: 2]) == nil)
        #expect(SecPolicyCreateWithProperties(NSString(string: "1.2.3"), nil) == nil)
        #expect(SecPolicyCreateWithProperties(NSNumber(value: 1), nil) == nil)
    }

    @Test("B3.47: revocation flags that are unknown make no policy")
    func revocationFlags() {
        #expect(SecPolicyCreateRevocation(1 << 20) == nil)
        #expect(SecPolicyCreateRevocation(.max) == nil)
        #expect(SecPolicyCreateRevocation(kSecRevocationPreferCRL | kSecRevocationNetworkAccessDisabled) != nil)
    }

    @Test("Each status code has a sentence of its own, and an unknown one its number")
    func messages() {
        let codes = [
            errSecSuccess, errSecParam, errSecDecode, errSecAuthFailed, errSecCertificateExpired, errSecNotTrusted,
        ]
        #expect(Set(codes.map { SecCopyErrorMessageString($0, nil) }).count == codes.count)
        #expect(SecCopyErrorMessageString(-1, nil) == "OSStatus -1")
        #expect(noErr == errSecSuccess)
    }

    @Test("Core Foundation's functions accept nil")
    func coreFoundation() {
        #expect(CFErrorGetCode(nil) == 0)
        #expect(CFErrorGetDomain(nil) == "")
        #expect(CFErrorCopyDescription(nil) == "")
        #expect(CFErrorCopyUserInfo(nil).count == 0)
        #expect(CFArrayGetCount(nil) == 0)
        #expect(CFArrayGetCount([1, 2] as CFArray) == 2)
        #expect(CFDataGetLength(nil) == 0)
        #expect(kCFAllocatorDefault == nil)
        #expect(kCFBooleanTrue.boolValue)
        #expect(!kCFBooleanFalse.boolValue)
    }
}
