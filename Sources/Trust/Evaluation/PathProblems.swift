// The problems of a chain: collected, and turned from OpenSSL's codes into reasons of ours. Does not look for them.

import COpenSSL

/// What is wrong with a path or a certificate.
struct PathProblems {
    private var list: [(reason: TrustFailure.Reason, certificate: Certificate)] = []

    var isEmpty: Bool { list.isEmpty }

    mutating func add(_ reason: TrustFailure.Reason, _ certificate: Certificate) {
        if !list.contains(where: { $0.reason == reason && $0.certificate == certificate }) {
            list.append((reason, certificate))
        }
    }

    mutating func add(_ other: PathProblems) {
        for problem in other.list { add(problem.reason, problem.certificate) }
    }

    /// Whether the worst of these is less serious than the worst of others.
    func isLessSerious(than others: PathProblems) -> Bool {
        (worstRank ?? .max) > (others.worstRank ?? .max)
    }

    /// The most serious problem, the others behind it (B3.72).
    var failure: TrustFailure? {
        let sorted = list.sorted { $0.reason.rank < $1.reason.rank }
        guard let worst = sorted.first else { return nil }
        return TrustFailure(worst.reason, worst.certificate, further: sorted.dropFirst().map(\.reason))
    }

    private var worstRank: Int? { list.map(\.reason.rank).min() }
}

extension PathProblems {
    /// Whether the code says that a certificate's time is over or has not begun.
    static func isAboutDates(_ code: Int32) -> Bool {
        code == X509_V_ERR_CERT_HAS_EXPIRED || code == X509_V_ERR_CERT_NOT_YET_VALID
    }

    /// The reason behind a code that was raised for this certificate.
    static func reason(_ code: Int32, _ certificate: Certificate) -> TrustFailure.Reason {
        switch code {
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
            X509_V_ERR_CERT_UNTRUSTED:
            return .unknownRoot
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
            return .selfSigned
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return certificate.notAfter.map { .expired(notAfter: $0) } ?? .malformed("its end date cannot be read")
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return certificate.notBefore.map { .notYetValid(notBefore: $0) }
                ?? .malformed("its start date cannot be read")
        case X509_V_ERR_ERROR_IN_CERT_NOT_BEFORE_FIELD:
            return .malformed("its start date cannot be read")
        case X509_V_ERR_ERROR_IN_CERT_NOT_AFTER_FIELD:
            return .malformed("its end date cannot be read")
        case X509_V_ERR_CERT_SIGNATURE_FAILURE, X509_V_ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE:
            return .signatureInvalid
        case X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY:
            return .malformed("its public key cannot be read")
        case X509_V_ERR_INVALID_CA, X509_V_ERR_KEYUSAGE_NO_CERTSIGN:
            return .notACertificateAuthority
        case X509_V_ERR_PATH_LENGTH_EXCEEDED, X509_V_ERR_CERT_CHAIN_TOO_LONG:
            return .pathLength
        case X509_V_ERR_INVALID_PURPOSE:
            let isBroken = certificate.extensionFlags & UInt32(EXFLAG_INVALID) != 0
            return isBroken ? .malformed("an extension cannot be read") : .wrongPurpose
        case X509_V_ERR_CERT_REJECTED:
            return .wrongPurpose
        case X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION:
            return .unknownCriticalExtension
        case X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION, X509_V_ERR_SUBTREE_MINMAX,
            X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE, X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX,
            X509_V_ERR_UNSUPPORTED_NAME_SYNTAX:
            return .nameConstraint
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL:
            return .weakKey("refused by OpenSSL")
        case X509_V_ERR_CA_MD_TOO_WEAK:
            return .weakSignature("refused by OpenSSL")
        case X509_V_ERR_CERT_REVOKED:
            return .revoked
        case X509_V_ERR_INVALID_EXTENSION:
            return .malformed("an extension cannot be read")
        default:
            return .other(X509_verify_cert_error_string(Int(code)).map { String(cString: $0) } ?? "error \(code)")
        }
    }
}
