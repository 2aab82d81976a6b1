// Makes PKCS #12 files that ask for any number of rounds at any place, without doing that work.
//
// Calls with a string stand outside of `#require`: within it the string is gone before the call.

import CURLLoadingOpenSSL
import Testing
import URLLoadingLoopbackServer
import URLLoadingTrust

/// A file for the passphrase "secret" one of whose parts asks for another number of rounds than is right.
enum HostilePKCS12 {
    /// The part.
    enum Place: CaseIterable {
        case mac
        case key
        case certificates
        /// A key within an encrypted part: its rounds are seen only after that was opened.
        case hiddenKey
    }

    /// The encoded file.
    static func make(_ issued: IssuedCertificate, _ place: Place, rounds: Int32) throws -> [UInt8] {
        let cipher = Int32(NID_aes_256_cbc)
        let keys = try addKey(issued, rounds: place == .key || place == .hiddenKey ? rounds : nil)
        var certificates: OpaquePointer?
        defer {
            shim_bags_free_all(keys)
            shim_bags_free_all(certificates)
        }
        let added = PKCS12_add_cert(&certificates, issued.certificate.pointer)
        try #require(added != nil)
        var parts: OpaquePointer?
        defer { shim_parts_free_all(parts) }
        let results = [
            PKCS12_add_safe(&parts, keys, place == .hiddenKey ? cipher : -1, 1, "secret"),
            PKCS12_add_safe(&parts, certificates, cipher, 1, "secret"),
        ]
        try #require(results == [1, 1])
        if place == .certificates {
            let part = try #require(shim_parts_get(parts, 1))
            try set(rounds, in: part.pointee.d.encrypted.pointee.enc_data.pointee.algorithm)
        }
        let file = try #require(PKCS12_add_safes(parts, 0))
        defer { PKCS12_free(file) }
        let isSealed = PKCS12_set_mac(file, "secret", -1, nil, 0, 2, nil)
        try #require(isSealed == 1)
        if place == .mac {
            var count: UnsafePointer<ASN1_INTEGER>?
            PKCS12_get0_mac(nil, nil, nil, &count, file)
            try #require(ASN1_INTEGER_set(UnsafeMutablePointer(mutating: count), Int(rounds)) == 1)
        }
        return OpenSSLEncoding.bytes { i2d_PKCS12(file, $0) }
    }

    private static func addKey(_ issued: IssuedCertificate, rounds: Int32?) throws -> OpaquePointer? {
        var bags: OpaquePointer?
        let added = PKCS12_add_key(&bags, issued.identity.keyPointer, 0, 1, Int32(NID_aes_256_cbc), "secret")
        let bag = try #require(added)
        if let rounds {
            var algorithm: UnsafeMutablePointer<X509_ALGOR>?
            X509_SIG_getm(PKCS12_SAFEBAG_get0_pkcs8(bag), &algorithm, nil)
            try set(rounds, in: algorithm)
        }
        return bags
    }

    fileprivate static func set(_ rounds: Int32, in algorithm: UnsafeMutablePointer<X509_ALGOR>?) throws {
        let other = try #require(PKCS5_pbe2_set_iv(EVP_aes_256_cbc(), rounds, nil, 0, nil, -1))
        defer { X509_ALGOR_free(other) }
        try #require(X509_ALGOR_copy(algorithm, other) == 1)
    }
}

/// An encrypted key as PEM text that asks for any number of rounds.
enum HostileKey {
    /// The text.
    static func make(_ issued: IssuedCertificate, rounds: Int32) throws -> String {
        let info = try #require(EVP_PKEY2PKCS8(issued.identity.keyPointer))
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        let made = PKCS8_encrypt(-1, EVP_aes_256_cbc(), "secret", 6, nil, 0, 1, info)
        let sealed = try #require(made)
        defer { X509_SIG_free(sealed) }
        var algorithm: UnsafeMutablePointer<X509_ALGOR>?
        X509_SIG_getm(sealed, &algorithm, nil)
        try HostilePKCS12.set(rounds, in: algorithm)
        let bio = try #require(BIO_new(BIO_s_mem()))
        defer { BIO_free(bio) }
        try #require(PEM_write_bio_PKCS8(bio, sealed) == 1)
        var data: UnsafeMutablePointer<CChar>?
        let count = shim_bio_mem_data(bio, &data)
        return String(decoding: UnsafeRawBufferPointer(start: data, count: count), as: UTF8.self)
    }
}
