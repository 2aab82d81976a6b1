// Makes revocation lists and OCSP responses, good and bad ones, as tests need them. Does not judge what it is told to
// write.

import CURLLoadingOpenSSL
import URLLoadingSystem
import URLLoadingTrust

/// What an OCSP response says.
package enum OCSPAnswer: Sendable, Hashable {
    /// Not revoked.
    case good
    /// Revoked.
    case revoked
    /// The responder does not know.
    case unknown
}

extension IssuedCertificate {
    /// A revocation list of this authority, of certificates and of serial numbers; `signer` signs it in its place.
    package func revocationList(
        revoking certificates: [Certificate], serials: [[UInt8]] = [], thisUpdate: Int64? = nil,
        nextUpdate: Int64? = nil, extensions: [CertificateTemplate.Extension] = [],
        signedBy signer: IssuedCertificate? = nil
    ) throws(CertificateError) -> RevocationList {
        OpenSSLErrors.clear()
        guard let made = X509_CRL_new() else { throw .notMade(OpenSSLErrors.takeText()) }
        let object = OpenSSLObject.revocationList(owning: made)
        let now = Int64(time(nil))
        guard let start = ASN1_TIME_set(nil, time_t(thisUpdate ?? now - 3_600)),
            let end = ASN1_TIME_set(nil, time_t(nextUpdate ?? now + 86_400))
        else { throw .notMade(OpenSSLErrors.takeText()) }
        defer {
            ASN1_TIME_free(start)
            ASN1_TIME_free(end)
        }
        guard X509_CRL_set_version(made, 1) == 1,
            X509_CRL_set_issuer_name(made, X509_get_subject_name(certificate.pointer)) == 1,
            X509_CRL_set1_lastUpdate(made, start) == 1, X509_CRL_set1_nextUpdate(made, end) == 1,
            (certificates.map(\.serialBytes) + serials).allSatisfy({ Self.add($0, to: made, at: start) }),
            extensions.allSatisfy({ Self.add($0, to: made) })
        else { throw .notMade(OpenSSLErrors.takeText()) }
        guard X509_CRL_sort(made) == 1, X509_CRL_sign(made, (signer ?? self).key.pointer, EVP_sha256()) > 0 else {
            throw .notMade(OpenSSLErrors.takeText())
        }
        return try RevocationList(der: OpenSSLEncoding.bytes { i2d_X509_CRL(object.pointer, $0) })
    }

    /// An encoded OCSP response about a certificate of this authority; `signer` signs it in its place, and its
    /// certificate is sent along.
    package func ocspResponse(
        about subject: Certificate, _ answer: OCSPAnswer, thisUpdate: Int64? = nil, nextUpdate: Int64? = nil,
        signedBy signer: IssuedCertificate? = nil
    ) throws(CertificateError) -> [UInt8] {
        OpenSSLErrors.clear()
        guard let basic = OCSP_BASICRESP_new() else { throw .notMade(OpenSSLErrors.takeText()) }
        defer { OCSP_BASICRESP_free(basic) }
        let now = Int64(time(nil))
        guard let start = ASN1_GENERALIZEDTIME_set(nil, time_t(thisUpdate ?? now - 3_600)),
            let end = ASN1_GENERALIZEDTIME_set(nil, time_t(nextUpdate ?? now + 86_400)),
            let identifier = OCSP_cert_to_id(EVP_sha1(), subject.pointer, certificate.pointer)
        else { throw .notMade(OpenSSLErrors.takeText()) }
        defer {
            ASN1_GENERALIZEDTIME_free(start)
            ASN1_GENERALIZEDTIME_free(end)
            OCSP_CERTID_free(identifier)
        }
        let status =
            switch answer {
            case .good: V_OCSP_CERTSTATUS_GOOD
            case .revoked: V_OCSP_CERTSTATUS_REVOKED
            case .unknown: V_OCSP_CERTSTATUS_UNKNOWN
            }
        let by = signer ?? self
        guard OCSP_basic_add1_status(basic, identifier, status, 0, start, start, end) != nil,
            OCSP_basic_sign(basic, by.certificate.pointer, by.key.pointer, EVP_sha256(), nil, 0) == 1,
            let response = OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic)
        else { throw .notMade(OpenSSLErrors.takeText()) }
        defer { OCSP_RESPONSE_free(response) }
        return OpenSSLEncoding.bytes { i2d_OCSP_RESPONSE(response, $0) }
    }

    private static func add(
        _ serial: [UInt8], to list: OpaquePointer, at time: UnsafeMutablePointer<ASN1_TIME>
    ) -> Bool {
        let encoded = DERWriter.element(0x02, serial)
        let number = encoded.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_ASN1_INTEGER(nil, &cursor, bytes.count)
        }
        guard let number else { return false }
        defer { ASN1_INTEGER_free(number) }
        guard let entry = X509_REVOKED_new() else { return false }
        guard X509_REVOKED_set_serialNumber(entry, number) == 1,
            X509_REVOKED_set_revocationDate(entry, time) == 1
        else {
            X509_REVOKED_free(entry)
            return false
        }
        return X509_CRL_add0_revoked(list, entry) == 1
    }

    private static func add(_ addition: CertificateTemplate.Extension, to list: OpaquePointer) -> Bool {
        guard let made = CertificateMaker.openSSLForm(of: addition) else { return false }
        defer { X509_EXTENSION_free(made) }
        return X509_CRL_add_ext(list, made, -1) == 1
    }
}
