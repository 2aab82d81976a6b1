// Which of OpenSSL's verification codes stands for a refusal, because the code decides the alert that the peer is sent.
// RFC 8446 section 6.2.

import CURLLoadingOpenSSL
import URLLoadingTrust

/// Refusals as alerts.
enum TLSRefusals {
    /// The code whose alert tells the peer this reason.
    static func code(for reason: TrustFailure.Reason) -> Int32 {
        switch reason {
        case .noRootsFound, .unknownRoot: X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY
        case .selfSigned: X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT
        case .notACertificateAuthority: X509_V_ERR_INVALID_CA
        case .pathLength: X509_V_ERR_PATH_LENGTH_EXCEEDED
        case .expired: X509_V_ERR_CERT_HAS_EXPIRED
        case .notYetValid: X509_V_ERR_CERT_NOT_YET_VALID
        case .revoked: X509_V_ERR_CERT_REVOKED
        case .wrongPurpose: X509_V_ERR_INVALID_PURPOSE
        case .signatureInvalid: X509_V_ERR_CERT_SIGNATURE_FAILURE
        case .hostMismatch: X509_V_ERR_HOSTNAME_MISMATCH
        case .weakKey: X509_V_ERR_EE_KEY_TOO_SMALL
        case .weakSignature: X509_V_ERR_CA_MD_TOO_WEAK
        case .unknownCriticalExtension, .nameConstraint, .malformed, .revocationUnknown,
            .knownHostChanged, .pinMismatch, .other:
            X509_V_ERR_CERT_REJECTED
        }
    }

    /// The alert itself, the same that OpenSSL makes of the code.
    static func alert(for reason: TrustFailure.Reason) -> UInt8 {
        switch reason {
        case .noRootsFound, .unknownRoot, .selfSigned, .notACertificateAuthority, .pathLength:
            UInt8(SSL_AD_UNKNOWN_CA)
        case .expired: UInt8(SSL_AD_CERTIFICATE_EXPIRED)
        case .revoked: UInt8(SSL_AD_CERTIFICATE_REVOKED)
        case .wrongPurpose: UInt8(SSL_AD_UNSUPPORTED_CERTIFICATE)
        case .signatureInvalid: UInt8(SSL_AD_DECRYPT_ERROR)
        case .notYetValid, .hostMismatch, .weakKey, .weakSignature, .unknownCriticalExtension, .nameConstraint,
            .malformed, .revocationUnknown, .knownHostChanged, .pinMismatch, .other:
            UInt8(SSL_AD_BAD_CERTIFICATE)
        }
    }
}
