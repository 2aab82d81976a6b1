// Which algorithm a certificate is signed with, and whether the signature is its issuer's. OpenSSL does the arithmetic.

import CURLLoadingOpenSSL

/// Signatures on certificates.
enum SignatureRules {
    /// Why the algorithm of the signature does not count, in words; nil when it does (B3.29).
    static func weakness(_ certificate: Certificate, policy: TrustPolicy) -> String? {
        let identifier = X509_get_signature_nid(certificate.pointer)
        let (algorithm, name) = known(identifier, certificate)
        return policy.signatureAlgorithms.isSuperset(of: algorithm) && !algorithm.isEmpty ? nil : name
    }

    /// Whether the issuer's key has signed the certificate; the weight of the check was taken from a budget before.
    static func isSigned(_ certificate: Certificate, by issuer: Certificate) -> Bool {
        guard let key = X509_get0_pubkey(issuer.pointer) else { return false }
        return X509_verify(certificate.pointer, key) == 1
    }

    /// How much a check with this key costs, in checks with a key as they are usual; nil for keys that are too costly
    /// for any honest use.
    static func weight(of issuer: Certificate) -> Int? {
        guard let key = X509_get0_pubkey(issuer.pointer) else { return 1 }
        let bits = EVP_PKEY_get_bits(key)
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS:
            // A large exponent makes checking as slow as signing; those in use have 17 bits.
            guard bits <= 8_192, shim_rsa_exponent_bits(key) <= 64 else { return nil }
            return bits <= 4_096 ? 1 : 3
        case EVP_PKEY_EC:
            switch shim_ec_curve(key) {
            case NID_X9_62_prime256v1: return 1
            case NID_secp384r1, NID_secp521r1: return 8
            // One that spells out its parameters may be any, and is no good.
            case NID_undef: return nil
            default: return 16
            }
        case EVP_PKEY_ED25519: return 1
        case EVP_PKEY_ED448: return 4
        // DSA and others, whose signatures do not count.
        default: return nil
        }
    }

    private static func known(
        _ identifier: Int32, _ certificate: Certificate
    ) -> (TrustPolicy.SignatureAlgorithms, name: String) {
        switch identifier {
        case NID_sha256WithRSAEncryption, NID_sha384WithRSAEncryption, NID_sha512WithRSAEncryption: (.rsa, "RSA")
        case NID_ecdsa_with_SHA256, NID_ecdsa_with_SHA384, NID_ecdsa_with_SHA512: (.ecdsa, "ECDSA")
        case NID_ED25519, NID_ED448: (.eddsa, "EdDSA")
        case NID_rsassaPss: pss(certificate)
        case NID_sha1WithRSAEncryption, NID_sha1WithRSA: ([.rsa, .sha1], "SHA-1")
        case NID_ecdsa_with_SHA1: ([.ecdsa, .sha1], "SHA-1")
        case NID_dsaWithSHA1, NID_dsaWithSHA1_2: ([], "SHA-1")
        case NID_md5WithRSAEncryption, NID_md5WithRSA: ([], "MD5")
        case NID_md4WithRSAEncryption: ([], "MD4")
        case NID_md2WithRSAEncryption: ([], "MD2")
        default: ([], OBJ_nid2ln(identifier).map { String(cString: $0) } ?? "an unknown algorithm")
        }
    }

    /// The hash of PSS stands in its parameters.
    private static func pss(_ certificate: Certificate) -> (TrustPolicy.SignatureAlgorithms, name: String) {
        var hash = NID_undef
        guard X509_get_signature_info(certificate.pointer, &hash, nil, nil, nil) == 1 else { return ([], "PSS") }
        switch hash {
        case NID_sha256, NID_sha384, NID_sha512: return (.rsaPSS, "RSA-PSS")
        case NID_sha1: return ([.rsaPSS, .sha1], "SHA-1")
        default: return ([], "PSS")
        }
    }
}
