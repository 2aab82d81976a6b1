// Certificates as programs have them. Ours: Apple's API has only `SecCertificate`.

import Foundation
import URLLoadingTrust

extension URLSessionConfiguration {
    /// Ours: certificates as PEM text, as DER data or read before.
    public struct CertificateList: Sendable, Equatable {
        private let form: Form

        /// The certificates in a PEM text; other blocks and the text between are passed over.
        public static func pem(_ text: String) -> CertificateList { CertificateList(form: .pem(text)) }

        /// One encoded certificate in each data.
        public static func der(_ certificates: [Data]) -> CertificateList { CertificateList(form: .der(certificates)) }

        /// Certificates that were read before.
        public static func certificates(_ certificates: [SecCertificate]) -> CertificateList {
            CertificateList(form: .read(certificates))
        }

        /// The certificates, of which there is at least one.
        func read() throws(CertificateError) -> [Certificate] {
            var certificates: [Certificate] = []
            switch form {
            case .pem(let text): certificates = try Certificate.parse(pem: text)
            case .der(let list): for one in list { certificates.append(try Certificate(der: Array(one))) }
            case .read(let list): certificates = list.map(\.certificate)
            }
            if certificates.isEmpty { throw .noCertificateFound }
            return certificates
        }

        private enum Form: Sendable, Equatable {
            case pem(String)
            case der([Data])
            case read([SecCertificate])
        }
    }
}
