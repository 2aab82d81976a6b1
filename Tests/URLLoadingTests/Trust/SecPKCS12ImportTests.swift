// PKCS #12 files as programs read them.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTrust

@Suite("SecPKCS12Import")
struct SecPKCS12ImportTests {
    private static let client = Result { try TrustSamples.intermediate.get().issue(.client("somebody")) }

    private func makeFile() throws -> Data { Data(try Self.client.get().pkcs12(passphrase: "secret")) }

    private func read(_ data: Data, _ options: CFDictionary) -> (OSStatus, [[String: Any]]?) {
        var items: CFArray? = NSArray()
        let status = SecPKCS12Import(data as CFData, options, &items)
        return (status, items as? [[String: Any]])
    }

    @Test("An identity with its chain, a trust, a label and a key's number, whichever way the passphrase is named")
    func identity() throws {
        let issued = try Self.client.get()
        let file = try makeFile()
        let asText: [String: Any] = [kSecImportExportPassphrase as String: "secret"]
        let asString: [CFString: Any] = [kSecImportExportPassphrase: "secret" as NSString]
        for options in [asText as CFDictionary, asString as CFDictionary, NSDictionary(dictionary: asText)] {
            let (status, items) = read(file, options)
            #expect(status == errSecSuccess)
            #expect(items?.count == 1)
            let item = try #require(items?.first)
            let identity = try #require(item[kSecImportItemIdentity as String] as? SecIdentity)
            var certificate: SecCertificate?
            #expect(SecIdentityCopyCertificate(identity, &certificate) == errSecSuccess)
            #expect(try certificate == TrustSamples.face(issued.certificate))
            var key: SecKey?
            #expect(SecIdentityCopyPrivateKey(identity, &key) == errSecSuccess)
            #expect(
                try SecKeyCopyPublicKey(#require(key)) == SecCertificateCopyKey(TrustSamples.face(issued.certificate)))
            #expect(CFGetTypeID(identity) == SecIdentityGetTypeID())
            let chain = item[kSecImportItemCertChain as String] as? [SecCertificate]
            #expect(try chain == TrustSamples.faces(issued.chain.certificates))
            let trust = try #require(item[kSecImportItemTrust as String] as? SecTrust)
            SecTrustSetAnchorCertificates(trust, [try TrustSamples.anchor()] as CFArray)
            #expect(failureCode(trust) == 0)
            #expect(item[kSecImportItemLabel as String] as? String == "identity")
            #expect((item[kSecImportItemKeyID as String] as? Data)?.count == 20)
        }
    }

    @Test("A wrong passphrase, a missing one and options of a wrong type have codes of their own")
    func passphrases() throws {
        let file = try makeFile()
        func status(_ options: CFDictionary) -> OSStatus {
            let (status, items) = read(file, options)
            #expect(items == nil || status == errSecSuccess)
            return status
        }
        for wrong in ["", "Secret", "secret ", "s\u{0}"] {
            #expect(status([kSecImportExportPassphrase: wrong]) == errSecAuthFailed)
        }
        #expect(status([:]) == errSecPassphraseRequired)
        #expect(status([kSecImportExportPassphrase: 1]) == errSecParam)
        #expect(status(["other": "secret"]) == errSecParam)
        #expect(status([1: "secret"]) == errSecParam)
    }

    @Test("A file without passphrase needs none")
    func withoutPassphrase() throws {
        let file = Data(try Self.client.get().pkcs12(passphrase: ""))
        #expect(read(file, [:]).0 == errSecSuccess)
        #expect(read(file, [kSecImportExportPassphrase: ""]).0 == errSecSuccess)
    }

    @Test("Data that are no PKCS #12 file are not decoded")
    func garbage() throws {
        let file = try makeFile()
        let options: CFDictionary = [kSecImportExportPassphrase: "secret"]
        for data in [Data(), Data("garbage".utf8), Data(repeating: 0x30, count: 10_000), file.prefix(file.count / 2)] {
            let (status, items) = read(data, options)
            #expect(status == errSecDecode)
            #expect(items == nil)
        }
        for index in stride(from: 0, to: file.count, by: 97) {
            var changed = file
            changed[index] ^= 0x55
            let (status, items) = read(changed, options)
            #expect((status == errSecSuccess) == (items != nil))
        }
    }

    @Test("A file whose certificates are encrypted with RC2 of 40 bits, as older tools write them, is read")
    func olderTools() throws {
        let data = try #require(Data(base64Encoded: Self.older))
        do {
            let identity = try URLSessionConfiguration.ClientIdentity.pkcs12(data, passphrase: "secret")
            var certificate: SecCertificate?
            #expect(SecIdentityCopyCertificate(identity.secIdentity, &certificate) == errSecSuccess)
            #expect(SecCertificateCopySubjectSummary(try #require(certificate)) == "legacy")
        } catch let error as URLSessionConfiguration.ClientIdentityError {
            // Some machines have no legacy provider: then the error names what is missing.
            #expect(error.description.contains("RC2, for which OpenSSL's legacy provider is not installed"))
        }
        #expect(throws: URLSessionConfiguration.ClientIdentityError.self) {
            try URLSessionConfiguration.ClientIdentity.pkcs12(data, passphrase: "guess")
        }
    }

    /// What `openssl pkcs12 -export -legacy` has made of a key on P-256 and its certificate, under "secret".
    private static let older = """
        MIIDegIBAzCCA0AGCSqGSIb3DQEHAaCCAzEEggMtMIIDKTCCAh8GCSqGSIb3DQEHBqCCAhAwggIMAgEAMIICBQYJKoZIhvcNAQcB\
        MBwGCiqGSIb3DQEMAQYwDgQIDJXfsKOYg5sCAggAgIIB2E80epegGvmRqpUcvHYQKtKfY8ZB/+VhZUprs4l9XOEtIDxZofik6EKA\
        twLDA+nLrvbtyJT+s/4s6t7cAnvi/7n202Y5hKGMTQgfkT1iIbcW9n9CKqsGmB5e+NEY4IKciKRU91T0LHjodVXxXDgbyhV/AxhQ\
        ZWmYfglUlDMXQz3N5sbdIqJmW+UdU+mkW52WeINmg0DVH7Jfr1kdzvxpvHoOtjpkXkbiC9AMeUCpyIyjnLwTOkvQI0QmgOnG2j09\
        pXHu3dtWJO95zl3YfhbkSk9bqCAyArWQLWoIqYEAh4fZHDH0qfWVUzcX9HQbB/tkAaR9p1StK8vC6K6BgP0ai5AlKLZ63fHOzl6Y\
        KEQQfVHIgr9fN5kh+S8t98Je14uILqOTZfc3bLDJvbcpmJLECt3RrPhZRzwiHcyrUKXZCw561CSJR1EV76J4JxIZvu1qjDXIKCgE\
        Vn0TjTFfEWVsR3QWcLu9aEwC6ilYqlynfVUjGm2GIGjb4ZFWi34kTdNJ3q37VyF4/+6onABsoAXietUeWNkXUEyhoFJRlMYTjlI1\
        FHDtuiEzvl+ym939J1lJX+v8+ae5Tgqq2U+pjyk33gbY+iaN4ZSSm8ENz+1D2H9K+Xrlym/qLf4wggECBgkqhkiG9w0BBwGggfQE\
        gfEwge4wgesGCyqGSIb3DQEMCgECoIG0MIGxMBwGCiqGSIb3DQEMAQMwDgQIKXFhIdFb03ACAggABIGQ6twlufPs4wsgNA6+tBs7\
        G9Zt7N9LE9uQHL7PFArlOc4K02BY40+XZtZscLv0LmpGIoMfA6rPNgRalqU79TsS37s84kS0urOcHk9SZGZwDuogIHrqXMV/33su\
        xBUn7C7TFfLV1RwIEky1v5Bcspf2Ws2zyJkwPJD6pHKYru1tMyS1RzpSM5uqurxGTUA2lkq8MSUwIwYJKoZIhvcNAQkVMRYEFM9z\
        1oF2taU5qN0FSbNrzbGxdA3eMDEwITAJBgUrDgMCGgUABBQ22zed1Ev+nXGsUSp9yJdRsWt5MgQIvs1UPkQ5S5ECAggA
        """
}
