// OpenSSL's error queue and the alerts that passed, as one TLSError. Does not know what was being done but for the few
// facts it is given.

import CURLLoadingOpenSSL
import URLLoadingTrust

/// What was going on when OpenSSL failed.
struct FailureCircumstances {
    var isHandshake: Bool
    var certificateWasRequested: Bool
    var certificateWasGiven: Bool
    var alertSent: UInt8?
    var alertReceived: UInt8?
    var isOutOfMemory: Bool
}

/// Conversion of OpenSSL's failures.
enum TLSFailures {
    /// Empties the error queue and says what it means.
    static func take(_ facts: FailureCircumstances) -> TLSError {
        let (code, isAboutProtocol) = first()
        if let alert = facts.alertReceived { return error(for: alert, facts) }
        if facts.isOutOfMemory { return .internalFailure("memory is exhausted") }
        guard let code else {
            return facts.isHandshake ? .closedDuringHandshake : .truncated
        }
        if shim_err_lib(code) == ERR_LIB_SSL {
            let reason = shim_err_reason(code)
            if meansNotTLS.contains(reason), facts.isHandshake { return .notTLS }
            if meansNothingInCommon.contains(reason) { return .noCommonVersionOrCipher }
            if reason == SSL_R_BAD_EXTENSION, isAboutProtocol { return .alpnMismatch("") }
            if reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE { return .clientCertificateRequired }
        }
        let text = OpenSSLErrors.text(of: code)
        return facts.isHandshake
            ? .handshakeFailed(reason: text, alert: facts.alertSent)
            : .protocolViolation(reason: text, alert: facts.alertSent)
    }

    /// What a fatal alert of the peer means.
    private static func error(for alert: UInt8, _ facts: FailureCircumstances) -> TLSError {
        switch alert {
        case 70, 71: return .noCommonVersionOrCipher
        case 116: return .clientCertificateRequired
        // No certificate, and what Java and Go call the empty one: a bad one.
        case 40...42 where facts.certificateWasRequested && !facts.certificateWasGiven:
            return .clientCertificateRequired
        // RFC 8446 section 6.2: alerts about the certificate that was shown.
        case 42...46 where facts.certificateWasGiven: return .clientCertificateRejected
        case 48, 49, 51: if facts.certificateWasGiven { return .clientCertificateRejected }
        case 40 where facts.certificateWasGiven: return .clientCertificateRejected
        default: break
        }
        return .alertReceived(code: alert, name: name(of: alert))
    }

    /// The alert's name.
    static func name(of alert: UInt8) -> String {
        if alert == 116 { return "certificate required" }
        if alert == 120 { return "no application protocol" }
        return SSL_alert_desc_string_long(Int32(alert)).map { String(cString: $0) } ?? "unknown"
    }

    /// The first error of the TLS library, or else the first of all, and whether ALPN's answer caused it: newer
    /// releases of OpenSSL compare it with the offer themselves and tell so by the function's name only.
    private static func first() -> (code: UInt?, isAboutProtocol: Bool) {
        var first: (code: UInt, isAboutProtocol: Bool)?
        while true {
            var function: UnsafePointer<CChar>?
            let code = ERR_get_error_all(nil, nil, &function, nil, nil)
            if code == 0 { return (first?.code, first?.isAboutProtocol ?? false) }
            let isBetter =
                shim_err_lib(code) == ERR_LIB_SSL && first.map { shim_err_lib($0.code) != ERR_LIB_SSL } ?? true
            if first == nil || isBetter {
                first = (code, function.map { String(cString: $0) == "tls_parse_stoc_alpn" } ?? false)
            }
        }
    }

    private static let meansNotTLS: Set<Int32> = [
        SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_WRONG_VERSION_NUMBER, SSL_R_BAD_RECORD_TYPE,
        SSL_R_UNKNOWN_PROTOCOL,
    ]

    private static let meansNothingInCommon: Set<Int32> = [
        SSL_R_NO_PROTOCOLS_AVAILABLE, SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_NO_SHARED_CIPHER, SSL_R_WRONG_SSL_VERSION,
        SSL_R_NO_CIPHERS_AVAILABLE, SSL_R_VERSION_TOO_LOW, SSL_R_VERSION_TOO_HIGH, SSL_R_WRONG_CIPHER_RETURNED,
        SSL_R_NO_SHARED_GROUPS, SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM,
    ]
}
