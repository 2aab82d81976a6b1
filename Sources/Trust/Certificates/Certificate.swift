// One X.509 certificate: parsed once, its parts read on demand. Does not know whether it is trusted, nor where it came
// from. RFC 5280 section 4.

import CURLLoadingOpenSSL
import Synchronization

/// An X.509 certificate.
package final class Certificate: Sendable {
    private let object: OpenSSLObject
    private let read = Mutex<CertificateFields?>(nil)

    /// Parses exactly one certificate.
    package convenience init(der: [UInt8]) throws(CertificateError) {
        OpenSSLErrors.clear()
        let (parsed, used) = der.withUnsafeBufferPointer { bytes -> (OpaquePointer?, Int) in
            var cursor = bytes.baseAddress
            let parsed = d2i_X509(nil, &cursor, bytes.count)
            return (parsed, cursor.flatMap { end in bytes.baseAddress.map { end - $0 } } ?? 0)
        }
        guard let parsed else { throw .notACertificate(OpenSSLErrors.takeText()) }
        let object = OpenSSLObject.certificate(owning: parsed)
        guard used == der.count else { throw .notACertificate("\(der.count - used) bytes follow it") }
        self.init(owning: object)
    }

    /// Shares a certificate that OpenSSL has parsed already.
    package convenience init(retaining pointer: OpaquePointer) {
        X509_up_ref(pointer)
        self.init(owning: .certificate(owning: pointer))
    }

    /// Wraps a certificate whose reference is handed over.
    package init(owning object: OpenSSLObject) {
        self.object = object
    }

    /// Every certificate of a PEM text, in order; text between the blocks and blocks of other kinds are passed over.
    package static func parse(pem: String) throws(CertificateError) -> [Certificate] {
        let certificates = try PEM.certificates(in: Array(pem.utf8))
        if certificates.isEmpty { throw .noCertificateFound }
        return certificates
    }

    /// OpenSSL's `X509`, valid while this certificate lives.
    package var pointer: OpaquePointer { object.pointer }

    /// The encoded certificate.
    package var der: [UInt8] {
        OpenSSLEncoding.bytes { i2d_X509(pointer, $0) }
    }

    /// The certificate as a PEM block.
    package var pem: String {
        PEM.text { PEM_write_bio_X509($0, pointer) }
    }

    /// The subject's name in the manner of RFC 2253.
    package var subject: String { X509_get_subject_name(pointer).map(Self.text) ?? "" }

    /// The issuer's name in the manner of RFC 2253.
    package var issuer: String { X509_get_issuer_name(pointer).map(Self.text) ?? "" }

    /// The subject's last common name, for messages only: it never takes part in matching a host (B3.15).
    package var commonName: String? {
        guard let name = X509_get_subject_name(pointer) else { return nil }
        let index = X509_NAME_get_index_by_NID(name, NID_commonName, -1)
        guard index >= 0, let entry = X509_NAME_get_entry(name, index), let value = X509_NAME_ENTRY_get_data(entry)
        else { return nil }
        var utf8: UnsafeMutablePointer<UInt8>?
        let count = ASN1_STRING_to_UTF8(&utf8, value)
        guard count >= 0, let utf8 else { return nil }
        defer { CRYPTO_free(utf8, "", 0) }
        return String(decoding: UnsafeBufferPointer(start: utf8, count: Int(count)), as: UTF8.self)
    }

    /// The encoded subject name, as lists of acceptable issuers hold it.
    package var subjectDER: [UInt8] {
        guard let name = X509_get_subject_name(pointer) else { return [] }
        return OpenSSLEncoding.bytes { i2d_X509_NAME(name, $0) }
    }

    /// The parts as our own reader finds them, read once.
    var fields: CertificateFields {
        if let known = read.withLock({ $0 }) { return known }
        // Read outside the lock: two threads may both read, and the first to finish is kept.
        let fields = CertificateFields(der)
        return read.withLock { known in
            if let known { return known }
            known = fields
            return fields
        }
    }

    /// The encoded SubjectPublicKeyInfo.
    package var publicKeyInfo: [UInt8] {
        guard let key = X509_get_X509_PUBKEY(pointer) else { return [] }
        return OpenSSLEncoding.bytes { i2d_X509_PUBKEY(key, $0) }
    }

    /// SHA-256 of the encoded SubjectPublicKeyInfo, the form of public key pins (B3.52).
    package var spkiSHA256: [UInt8] { SecureHash.sha256.hash(publicKeyInfo) ?? [] }

    /// SHA-1 of the key's bits without the header of its algorithm, by which key stores number keys.
    package var publicKeySHA1: [UInt8] {
        var digest = [UInt8](repeating: 0, count: 20)
        var length: UInt32 = 0
        guard X509_pubkey_digest(pointer, EVP_sha1(), &digest, &length) == 1, length == 20 else { return [] }
        return digest
    }

    /// The name that a key store has given it; nil where it comes from elsewhere.
    package var label: String? {
        var length: Int32 = 0
        guard let bytes = X509_alias_get0(pointer, &length), length > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: bytes, count: Int(length)), as: UTF8.self)
    }

    /// SHA-256 of the whole certificate.
    package var fingerprintSHA256: [UInt8] { SecureHash.sha256.hash(der) ?? [] }

    /// The hash of the subject name under which hashed directories file a certificate.
    package var subjectHash: UInt { X509_get_subject_name(pointer).map { shim_x509_name_hash($0) } ?? 0 }
    /// The subject, to look anchors up by.
    var subjectName: SubjectName { SubjectName(hash: subjectHash, encoded: subjectDER) }
    /// The issuer, to look anchors up by.
    var issuerName: SubjectName {
        guard let name = X509_get_issuer_name(pointer) else { return SubjectName(hash: 0, encoded: []) }
        return SubjectName(hash: shim_x509_name_hash(name), encoded: OpenSSLEncoding.bytes { i2d_X509_NAME(name, $0) })
    }

    /// How a person would call it: common name, else first DNS name, else the whole subject.
    package var displayName: String {
        if let commonName, !commonName.isEmpty { return Self.printable(commonName) }
        if let first = dnsNames.first { return Self.printable(first) }
        return subject.isEmpty ? "(a certificate without a name)" : subject
    }
}

extension Certificate: Hashable {
    /// Certificates are equal when their encodings are.
    package static func == (left: Certificate, right: Certificate) -> Bool {
        left.pointer == right.pointer || X509_cmp(left.pointer, right.pointer) == 0
    }

    /// Feeds the serial number, which nearly always differs.
    package func hash(into hasher: inout Hasher) {
        // As OpenSSL has read it: what our own reader would take for it is twenty thousand instructions.
        guard let serial = X509_get0_serialNumber(pointer), let bytes = ASN1_STRING_get0_data(serial) else { return }
        hasher.combine(bytes: UnsafeRawBufferPointer(start: bytes, count: max(0, Int(ASN1_STRING_length(serial)))))
    }
}

extension Certificate {
    /// Without what could break a line of a log in two: names come from strangers.
    private static func printable(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            scalars.append(scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) ? "\u{FFFD}" : scalar)
        }
        return String(scalars)
    }

    private static func text(of name: OpaquePointer) -> String {
        PEM.text { shim_x509_name_print($0, name) }
    }
}
