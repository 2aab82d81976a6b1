// Where in bundles of PEM certificates each subject name is. Only base64 and the outer DER are undone; a certificate is
// decoded when it is asked for, because decoding some 150 keys would cost every process milliseconds.
//
// Names are compared as they are encoded, which nearly always finds the root: an issuer's name is copied from it. Names
// that are equal only by the rules of RFC 5280 section 7.1 have to be hashed first, all of them; that waits until
// nothing else helps.

import CURLLoadingOpenSSL

/// The certificates of bundle files by their subject names.
struct BundleIndex {
    /// The decoded blocks, one behind the other.
    private var bytes: [UInt8] = []
    private var entries: [Entry] = []
    /// The entries by the hash of their names; nil until one is looked up by a hash.
    private var byHash: [UInt: [Entry]]?
    /// Whether a file could not be read.
    private(set) var lacksFile = false

    private struct Entry {
        /// The certificate, and behind it its settings if it has any.
        let certificate: Range<Int>
        let subject: Range<Int>
        let hasSettings: Bool
    }

    /// Reads the files; what cannot be read or is no certificate is passed over.
    init(files: [String]) {
        OpenSSLLibrary.prepare()
        for file in files {
            guard let text = Platform.contents(of: file) else {
                lacksFile = true
                continue
            }
            PEMBlocks.forEach(in: text) { label, content in
                guard let kind = Self.kinds.first(where: { label.elementsEqual($0.label.utf8) }) else { return }
                add(content, hasSettings: kind.hasSettings)
            }
        }
    }

    /// The certificates whose subject name has exactly this encoding.
    func certificates(subject: [UInt8]) -> [Certificate] {
        entries.filter { bytes[$0.subject].elementsEqual(subject) }.compactMap(decode)
    }

    /// The certificates whose subject name has this hash.
    mutating func certificates(subjectHash: UInt) -> [Certificate] {
        let byHash = self.byHash ?? Dictionary(grouping: entries, by: hash)
        self.byHash = byHash
        return (byHash[subjectHash] ?? []).compactMap(decode)
    }

    private mutating func add(_ content: UnsafeRawBufferPointer, hasSettings: Bool) {
        var outer = DERReader(content)
        guard let whole = outer.next(DERReader.sequence), let subject = Self.subject(of: content, whole.content) else {
            return
        }
        let start = bytes.count
        let offset = start + subject.lowerBound
        let count = hasSettings ? content.count : whole.whole.count
        bytes.append(contentsOf: content[..<count])
        entries.append(
            Entry(
                certificate: start..<start + count, subject: offset..<offset + subject.count, hasSettings: hasSettings))
    }

    /// RFC 5280 section 4.1: TBSCertificate is [0] version, serial, signature, issuer, validity, subject, ...
    private static func subject(of bytes: UnsafeRawBufferPointer, _ certificate: Range<Int>) -> Range<Int>? {
        var reader = DERReader(bytes, certificate)
        guard let signed = reader.next(DERReader.sequence) else { return nil }
        var fields = DERReader(bytes, signed.content)
        _ = fields.next(0xA0)
        // Serial, signature, issuer, validity.
        for _ in 0..<4 where fields.next() == nil { return nil }
        return fields.next(DERReader.sequence)?.whole
    }

    private func hash(_ entry: Entry) -> UInt {
        bytes[entry.subject].withUnsafeBufferPointer { name in
            var cursor = name.baseAddress
            guard let name = d2i_X509_NAME(nil, &cursor, name.count) else { return 0 }
            defer { X509_NAME_free(name) }
            return shim_x509_name_hash(name)
        }
    }

    private func decode(_ entry: Entry) -> Certificate? {
        guard entry.hasSettings else { return try? Certificate(der: Array(bytes[entry.certificate])) }
        return bytes[entry.certificate].withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_X509_AUX(nil, &cursor, bytes.count).map { Certificate(owning: .certificate(owning: $0)) }
        }
    }

    // Blocks of the last kind carry OpenSSL's settings behind the certificate: what it is
    // trusted for, and for what not.
    private static let kinds: [(label: String, hasSettings: Bool)] = [
        ("CERTIFICATE", false), ("X509 CERTIFICATE", false), ("TRUSTED CERTIFICATE", true),
    ]
}
