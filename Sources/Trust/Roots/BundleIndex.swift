// Where in a bundle of PEM certificates each subject name is. Only base64 and the outer DER are undone; a certificate
// is decoded when somebody asks for it, because decoding some 150 keys would cost every process milliseconds.

import COpenSSL

/// The certificates of bundle files by the hash of their subject name.
struct BundleIndex {
    private var entries: [UInt: [Entry]] = [:]

    private struct Entry {
        let bytes: [UInt8]
        let hasSettings: Bool
    }

    /// Reads the files; what cannot be read or is no certificate is passed over.
    init(files: [String]) {
        for file in files {
            guard let text = Platform.contents(of: file) else { continue }
            add(text)
        }
    }

    /// The certificates whose subject name has this hash.
    func certificates(subjectHash: UInt) -> [Certificate] {
        (entries[subjectHash] ?? []).compactMap(Self.decode)
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
                let isTrusted = String(cString: kind) == Self.trustedKind
                add(UnsafeRawBufferPointer(start: data, count: count), hasSettings: isTrusted)
            }
            CRYPTO_free(kind, "", 0)
            CRYPTO_free(header, "", 0)
            CRYPTO_free(data, "", 0)
            (kind, header, data, count) = (nil, nil, nil, 0)
        }
        OpenSSLErrors.clear()
    }

    private mutating func add(_ certificate: UnsafeRawBufferPointer, hasSettings: Bool) {
        var outer = DERReader(certificate)
        guard let whole = outer.next(), whole.tag == DERReader.sequence,
            let subject = Self.subject(of: whole.content), let start = subject.baseAddress
        else { return }
        var cursor: UnsafePointer<UInt8>? = start.assumingMemoryBound(to: UInt8.self)
        guard let name = d2i_X509_NAME(nil, &cursor, subject.count) else { return }
        defer { X509_NAME_free(name) }
        let entry = Entry(bytes: Array(hasSettings ? certificate : whole.whole), hasSettings: hasSettings)
        entries[shim_x509_name_hash(name), default: []].append(entry)
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

    private static func decode(_ entry: Entry) -> Certificate? {
        guard entry.hasSettings else { return try? Certificate(der: entry.bytes) }
        return entry.bytes.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_X509_AUX(nil, &cursor, bytes.count).map { Certificate(owning: .certificate(owning: $0)) }
        }
    }

    // Blocks of this kind carry OpenSSL's settings behind the certificate: what it is trusted for, and for what not.
    private static let trustedKind = "TRUSTED CERTIFICATE"
    private static let kinds: Set<String> = ["CERTIFICATE", "X509 CERTIFICATE", trustedKind]
}
