// The settings that OpenSSL's own form of certificates carries beside the certificate: what an administrator trusts a
// root for, and for what not.

import CURLLoadingOpenSSL

/// An anchor's settings.
enum AnchorSettings {
    /// Whether there are settings beside a certificate.
    static func exist(beside anchor: Certificate) -> Bool { X509_trusted(anchor.pointer) != 0 }

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

    /// The anchors without the copies of one that has settings which do not allow the purpose: what an administrator
    /// has rejected stays so, whichever copy is found first.
    static func strictest(_ anchors: [Certificate], _ purpose: TrustPolicy.Purpose) -> [Certificate] {
        if anchors.count < 2 { return anchors }
        let rejected = anchors.filter { !allow($0, purpose) }
        if rejected.isEmpty { return anchors }
        return rejected + anchors.filter { !rejected.contains($0) }
    }
}
