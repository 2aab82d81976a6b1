// Where in a bundle of PEM certificates each subject name is. Only base64 and the outer DER are undone; a certificate is
// decoded when somebody asks for it, because decoding some 150 keys would cost every process milliseconds.

import COpenSSL

/// The certificates of bundle files by the hash of their subject name.
struct BundleIndex {
    private var encoded: [UInt: [[UInt8]]] = [:]

    /// Reads the files; what cannot be read or is no certificate is passed over.
    init(files: [String]) {
        for file in files {
            guard let text = Platform.contents(of: file) else { continue }
            add(text)
        }
    }

    /// The certificates whose subject name has this hash.
    func certificates(subjectHash: UInt) -> [Certificate] {
        (encoded[subjectHash] ?? []).compactMap { try? Certificate(der: $0) }
    }

    private mutating func add(_ text: [UInt8]) {
        guard let bio = BIO_new_mem_buf(text, Int32(clamping: text.count)) else { return }
        defer { BIO_free(bio) }
        OpenSSLErrors.clear()
        var kind: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var data: UnsafeMutablePointer<UInt8>?
        var count = 0
        while PEM_read_bio(bio, &kind, &header, &data, &count) == 1 {
            if let data, let kind, Self.kinds.contains(String(cString: kind)) {
                add(UnsafeRawBufferPointer(start: data, count: count))
            }
            CRYPTO_free(kind, "", 0)
            CRYPTO_free(header, "", 0)
            CRYPTO_free(data, "", 0)
            (kind, header, data, count) = (nil, nil, nil, 0)
        }
        OpenSSLErrors.clear()
    }

    private mutating func add(_ certificate: UnsafeRawBufferPointer) {
        var outer = DERReader(certificate)
        guard let whole = outer.next(), whole.tag == DERReader.sequence,
            let subject = Self.subject(of: whole.content), let start = subject.baseAddress
        else { return }
        var cursor: UnsafePointer<UInt8>? = start.assumingMemoryBound(to: UInt8.self)
        guard let name = d2i_X509_NAME(nil, &cursor, subject.count) else { return }
        defer { X509_NAME_free(name) }
        // "TRUSTED CERTIFICATE" blocks carry OpenSSL's own additions behind the certificate, which are left away.
        encoded[shim_x509_name_hash(name), default: []].append(Array(whole.whole))
    }

    /// RFC 5280 section 4.1: TBSCertificate is [0] version, serial, signature, issuer, validity, subject, ...
    private static func subject(of certificate: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        var reader = DERReader(certificate)
        guard let signed = reader.next(), signed.tag == DERReader.sequence else { return nil }
        var fields = DERReader(signed.content)
        guard var field = fields.next() else { return nil }
        if field.tag == 0xA0 {
            guard let serial = fields.next() else { return nil }
            field = serial
        }
        for _ in 0..<4 {
            guard let next = fields.next() else { return nil }
            field = next
        }
        return field.tag == DERReader.sequence ? field.whole : nil
    }

    private static let kinds: Set<String> = ["CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CERTIFICATE"]
}
