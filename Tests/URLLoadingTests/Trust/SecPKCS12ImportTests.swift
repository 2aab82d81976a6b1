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
}
