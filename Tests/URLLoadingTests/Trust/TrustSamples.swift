// Certificates that the tests of Security's functions share, in the forms in which programs have them. Made once a run.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTrust

/// A root, an intermediate below it and a server's leaf.
enum TrustSamples {
    static let root = Result { try CertificateFactory.root("Sample Root") }
    static let intermediate = Result { try root.get().issue(.authority("Sample Intermediate")) }
    static let leaf = Result { try intermediate.get().issue(.server("example.test")) }
    static let expired = Result { try intermediate.get().issue(over(.server("example.test"))) }
    static let selfSigned = Result { try CertificateFactory.selfSigned(.server("example.test")) }

    /// The template, valid for some years that are over.
    static func over(_ template: CertificateTemplate) -> CertificateTemplate {
        template.with {
            $0.notBefore = 1_000_000_000
            $0.notAfter = 1_100_000_000
        }
    }

    /// The shared root, as an anchor.
    static func anchor() throws -> SecCertificate { try face(root.get().certificate) }

    /// The certificate as a program reads it.
    static func face(_ certificate: Certificate) throws -> SecCertificate {
        try #require(SecCertificateCreateWithData(nil, Data(certificate.der) as CFData))
    }

    /// The certificates of a chain as a program reads them.
    static func faces(_ certificates: [Certificate]) throws -> [SecCertificate] {
        try certificates.map { try face($0) }
    }

    /// A trust of an issued certificate with its intermediates; anchored at the shared root unless told otherwise.
    static func trust(
        _ issued: IssuedCertificate, policies: [SecPolicy]? = nil, isAnchored: Bool = true
    ) throws -> SecTrust {
        var made: SecTrust?
        let policies = policies ?? [SecPolicyCreateSSL(true, "example.test" as CFString)]
        let certificates = try faces(issued.chain.certificates)
        let status = SecTrustCreateWithCertificates(certificates as CFArray, policies as CFArray, &made)
        #expect(status == errSecSuccess)
        let trust = try #require(made)
        if isAnchored { SecTrustSetAnchorCertificates(trust, [try anchor()] as CFArray) }
        return trust
    }
}

/// The code with which an evaluation fails; 0 where it does not.
func failureCode(_ trust: SecTrust) -> OSStatus {
    var error: CFError?
    if SecTrustEvaluateWithError(trust, &error) { return error == nil ? 0 : 1 }
    return OSStatus(error?.code ?? 1)
}

/// The result of the last evaluation.
func lastResult(_ trust: SecTrust) -> SecTrustResultType? {
    var result = SecTrustResultType.otherError
    return SecTrustGetTrustResult(trust, &result) == errSecSuccess ? result : nil
}

/// The DER bytes of a trust's chain.
func chainBytes(_ trust: SecTrust) -> [Data] {
    ((SecTrustCopyCertificateChain(trust) as? [SecCertificate]) ?? []).map { SecCertificateCopyData($0) as Data }
}

/// The bytes of certificates.
func bytes(_ certificates: [Certificate]) -> [Data] { certificates.map { Data($0.der) } }
