// Which keys and hashes are strong enough (B3.29). Looks at one certificate at a time.

import COpenSSL

/// Minimum strength of certificates.
enum CertificateStrength {
    /// What is weak about the certificate's public key; nil when nothing is.
    static func weakKey(_ certificate: Certificate, policy: TrustPolicy) -> String? {
        guard let key = X509_get0_pubkey(certificate.pointer) else { return "of a kind that is not understood" }
        let bits = Int(EVP_PKEY_get_bits(key))
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS:
            return bits < policy.minimumRSABits ? "RSA of \(bits) bits" : nil
        case EVP_PKEY_EC:
            return bits < policy.minimumECBits ? "elliptic curve of \(bits) bits" : nil
        case EVP_PKEY_ED25519, EVP_PKEY_ED448:
            return nil
        case EVP_PKEY_DSA, EVP_PKEY_DH:
            return "DSA"
        default:
            return nil
        }
    }

    /// The broken hash the certificate is signed with; nil when it is none.
    static func weakSignature(_ certificate: Certificate) -> String? {
        var hash = NID_undef
        guard X509_get_signature_info(certificate.pointer, &hash, nil, nil, nil) == 1 else { return nil }
        switch hash {
        case NID_sha1: return "SHA-1"
        case NID_md5: return "MD5"
        case NID_md5_sha1: return "MD5 with SHA-1"
        case NID_md4: return "MD4"
        case NID_md2: return "MD2"
        default: return nil
        }
    }
}
