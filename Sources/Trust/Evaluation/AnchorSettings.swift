// The settings that OpenSSL's own form of certificates carries beside the certificate: what an administrator trusts a
// root for, and for what not.

import CURLLoadingOpenSSL

/// An anchor's settings.
enum AnchorSettings {
    /// Whether the settings, if there are any, allow the purpose.
    static func allow(_ anchor: Certificate, _ purpose: TrustPolicy.Purpose) -> Bool {
        let trust: Int32
        switch purpose {
        case .serverAuthentication: trust = X509_TRUST_SSL_SERVER
        case .clientAuthentication: trust = X509_TRUST_SSL_CLIENT
        case .anyPurpose: return true
        }
        // Without settings the answer depends on whether the certificate is self-signed, which does not count here.
        return X509_check_trust(anchor.pointer, trust, 0) != X509_TRUST_REJECTED
    }
}
