// What programs want to know of a certificate and Apple's functions do not say on every platform.

import Foundation
import URLLoadingTrust

extension SecCertificate {
    /// Ours: the pin of its key, as `URLSessionConfiguration.ServerTrustEvaluation.pinnedKeys` takes it: the base64 of
    /// the SHA-256 of the encoded SubjectPublicKeyInfo.
    public var publicKeyPin: String { Data(certificate.spkiSHA256).base64EncodedString() }

    /// Ours: the hosts that it is for, as its subject alternative names have them: DNS names, perhaps with a
    /// wildcard, and addresses.
    public var hostNames: [String] {
        certificate.alternativeNames.compactMap { name in
            switch name {
            case .dns(let host): host
            case .ip(let bytes): HostName.ip(bytes).description
            default: nil
            }
        }
    }

    /// Ours: the name of the certificate's issuer, in the manner of RFC 2253, such as `CN=Example CA,O=Example`.
    public var issuerDescription: String { certificate.issuer }
}
