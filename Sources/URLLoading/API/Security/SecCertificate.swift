// Apple's name for a certificate: a thin face of Trust's. The functions around it stand beside it in this folder.

import URLLoadingTrust

/// An X.509 certificate. Two are equal where their encoded bytes are.
public final class SecCertificate: Hashable, Sendable {
    let certificate: Certificate

    package init(_ certificate: Certificate) {
        self.certificate = certificate
    }

    /// Whether both have the same bytes.
    public static func == (one: SecCertificate, other: SecCertificate) -> Bool { one.certificate == other.certificate }

    /// Hashes the certificate's bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(certificate) }
}
