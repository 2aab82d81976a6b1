// Makes PKCS #12 files, as tests need them.

import CURLLoadingOpenSSL
import URLLoadingTrust

extension IssuedCertificate {
    /// A PKCS #12 file with this certificate, those above it and the key, under a passphrase.
    package func pkcs12(passphrase: String) throws(CertificateError) -> [UInt8] {
        OpenSSLErrors.clear()
        let above = shim_certs_new()
        defer { shim_certs_free(above) }
        for certificate in chain.certificates.dropFirst() { shim_certs_push(above, certificate.pointer) }
        let file = passphrase.withCString {
            PKCS12_create($0, "identity", key.pointer, certificate.pointer, above, 0, 0, 0, 0, 0)
        }
        guard let file else { throw .notMade(OpenSSLErrors.takeText()) }
        defer { PKCS12_free(file) }
        return OpenSSLEncoding.bytes { i2d_PKCS12(file, $0) }
    }
}
