// PEM text to certificates, and back. Does not know what they are for. RFC 7468.

import CURLLoadingOpenSSL

/// PEM encoding by OpenSSL's reader and writer.
enum PEM {
    /// The certificates of a PEM text, in order; empty when there is none.
    static func certificates(in text: [UInt8]) throws(CertificateError) -> [Certificate] {
        try withReader(of: text) { bio throws(CertificateError) in try certificates(from: bio) } ?? []
    }

    /// Calls `body` with a BIO that reads the bytes in place, for which they stay where they are; nil without memory.
    static func withReader<Result>(
        of bytes: [UInt8], _ body: (OpaquePointer) throws(CertificateError) -> Result
    ) throws(CertificateError) -> Result? {
        try bytes.withUnsafeBufferPointer { bytes throws(CertificateError) in
            guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
            defer { BIO_free(bio) }
            return try body(bio)
        }
    }

    private static func certificates(from bio: OpaquePointer) throws(CertificateError) -> [Certificate] {
        var found: [Certificate] = []
        while true {
            OpenSSLErrors.clear()
            if let next = PEM_read_bio_X509_AUX(bio, nil, nil, nil) {
                found.append(Certificate(owning: .certificate(owning: next)))
                continue
            }
            let code = ERR_peek_last_error()
            ERR_clear_error()
            let ended = shim_err_lib(code) == ERR_LIB_PEM && shim_err_reason(code) == PEM_R_NO_START_LINE
            if ended { return found }
            throw .notACertificate(OpenSSLErrors.text(of: code))
        }
    }

    /// What `write` puts into a memory BIO.
    static func text(_ write: (OpaquePointer) -> Int32) -> String {
        guard let bio = BIO_new(BIO_s_mem()) else { return "" }
        defer { BIO_free(bio) }
        guard write(bio) >= 0 else { return "" }
        var data: UnsafeMutablePointer<CChar>?
        let count = shim_bio_mem_data(bio, &data)
        guard let data, count > 0 else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: data, count: count), as: UTF8.self)
    }
}
