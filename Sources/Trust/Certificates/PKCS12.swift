// Reads PKCS #12 files: a key, its certificate and those above it, under one passphrase. RFC 7292; OpenSSL opens the
// envelopes.

import COpenSSL

extension Identity {
    /// Reads the one identity of a PKCS #12 file; its chain is put in order, leaf first.
    package init(pkcs12 bytes: [UInt8], passphrase: String) throws(CertificateError) {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        guard PKCS12Limits.allow(bytes) else { throw .notPKCS12("it asks for more work than any file needs") }
        let file = bytes.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_PKCS12(nil, &cursor, bytes.count)
        }
        guard let file else { throw .notPKCS12(OpenSSLErrors.takeText()) }
        defer { PKCS12_free(file) }
        var key: OpaquePointer?
        var leaf: OpaquePointer?
        var others: OpaquePointer?
        guard passphrase.withCString({ PKCS12_parse(file, $0, &key, &leaf, &others) }) == 1 else {
            let code = ERR_peek_error()
            if shim_err_lib(code) == ERR_LIB_PKCS12, shim_err_reason(code) == PKCS12_R_MAC_VERIFY_FAILURE {
                throw .wrongPassphrase
            }
            throw .notPKCS12(OpenSSLErrors.takeText())
        }
        let ownedKey = key.map(OpenSSLObject.key(owning:))
        let ownedLeaf = leaf.map { Certificate(owning: .certificate(owning: $0)) }
        let above = (0..<shim_certs_count(others)).compactMap { index in
            shim_certs_get(others, index).map(Certificate.init(retaining:))
        }
        shim_certs_free_all(others)
        guard let ownedKey else { throw .notPKCS12("it holds no key") }
        guard let ownedLeaf, let chain = CertificateChain([ownedLeaf] + Self.ordered(above, below: ownedLeaf)) else {
            throw .notPKCS12("it holds no certificate of its key")
        }
        try self.init(chain: chain, key: ownedKey)
    }

    /// Those of the certificates that lead upwards from the leaf, in that order, without the root.
    private static func ordered(_ certificates: [Certificate], below leaf: Certificate) -> [Certificate] {
        var rest = certificates.filter { $0 != leaf }
        var chain: [Certificate] = []
        var last = leaf
        while let index = rest.firstIndex(where: {
            last.fields.equal(last.fields.issuer, $0.fields, $0.fields.subject) && !$0.isSelfSigned
        }) {
            last = rest.remove(at: index)
            chain.append(last)
        }
        return chain
    }
}

/// Key derivation repeats a hash as often as the file says, which a hostile file can set to thousands of millions.
private enum PKCS12Limits {
    /// Whether no number of the file that could be a count of rounds is beyond use.
    static func allow(_ bytes: [UInt8]) -> Bool {
        guard bytes.count <= mostBytes else { return false }
        return bytes.withUnsafeBytes { bytes in
            var budget = mostElements
            return walk(bytes, 0..<bytes.count, depth: 0, &budget)
        }
    }

    /// Every INTEGER that a salt stands before is looked at: PBEParameter, PBKDF2-params and MacData are such.
    private static func walk(
        _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, depth: Int, _ budget: inout Int
    ) -> Bool {
        var reader = DERReader(bytes, range)
        var previous: UInt8?
        while let element = reader.next() {
            budget -= 1
            guard budget > 0, depth < 32 else { return false }
            if element.tag == DERReader.integer, previous == DERReader.octetString {
                guard let rounds = DERValues.smallInteger(bytes[part: element.content]), rounds <= mostRounds else {
                    return false
                }
            }
            // Constructed elements, and octet strings, which hold further ones.
            let isHolder = element.tag & 0x20 != 0 || element.tag == DERReader.octetString
            if isHolder, !walk(bytes, element.content, depth: depth + 1, &budget) { return false }
            previous = element.tag
        }
        return true
    }

    private static let mostBytes = 4 << 20
    private static let mostElements = 20_000
    // By feel: what tools write today is 2,048 to 600,000.
    private static let mostRounds = 1_000_000
}
