// Which public keys are strong enough (B3.29). Looks at one certificate at a time.

import CURLLoadingOpenSSL

/// Minimum strength of keys.
enum KeyRules {
    /// What is weak about the certificate's public key; nil when nothing is.
    static func weakness(_ certificate: Certificate, policy: TrustPolicy) -> String? {
        guard let key = X509_get0_pubkey(certificate.pointer) else { return "of a kind that is not understood" }
        let bits = Int(EVP_PKEY_get_bits(key))
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS:
            if bits > mostRSABits { return "RSA of \(bits) bits, more than can be worked with" }
            return bits < policy.minimumRSABits ? "RSA of \(bits) bits" : nil
        case EVP_PKEY_EC:
            if bits < policy.minimumECBits { return "elliptic curve of \(bits) bits" }
            return isUsualCurve(key) || (policy.profile == .standard && shim_ec_curve(key) != NID_undef)
                ? nil : "an elliptic curve that is not in use"
        case EVP_PKEY_ED25519, EVP_PKEY_ED448:
            return nil
        case EVP_PKEY_DSA, EVP_PKEY_DH:
            return "DSA"
        default:
            return "of a kind that is not in use"
        }
    }

    /// OpenSSL works with no larger ones.
    private static let mostRSABits = 16_384

    /// P-256, P-384 and P-521 by name: a curve that a certificate brings along itself proves nothing.
    private static func isUsualCurve(_ key: OpaquePointer) -> Bool {
        [NID_X9_62_prime256v1, NID_secp384r1, NID_secp521r1].contains(shim_ec_curve(key))
    }
}
