// A certificate with its private key, which proves the client, or a server, to the other side. Does not know when it is
// shown.

import CURLLoadingOpenSSL

/// A private key and the chain of certificates that belongs to it.
package struct Identity: Sendable {
    /// Our certificate and those that lead to its root.
    package let chain: CertificateChain
    private let key: OpenSSLObject

    /// Reads the chain and the key from PEM text; `passphrase` opens an encrypted key.
    package init(certificatePEM: String, keyPEM: String, passphrase: String? = nil) throws(CertificateError) {
        let certificates = try Certificate.parse(pem: certificatePEM)
        guard let chain = CertificateChain(certificates) else { throw .noCertificateFound }
        try self.init(chain: chain, key: Self.readKey(keyPEM, passphrase: passphrase))
    }

    /// Joins certificates and a key that were read or made before.
    package init(chain: CertificateChain, key: OpenSSLObject) throws(CertificateError) {
        OpenSSLErrors.clear()
        guard X509_check_private_key(chain.leaf.pointer, key.pointer) == 1 else {
            OpenSSLErrors.clear()
            throw .keyDoesNotMatch(subject: chain.leaf.displayName)
        }
        self.chain = chain
        self.key = key
    }

    private init(_ leaf: Identity, chain: CertificateChain) {
        self.chain = chain
        key = leaf.key
    }

    /// A copy that shows these certificates behind its own. Its own among them is left out: whole chains are handed
    /// over, as they are read from PKCS #12, and it may be sent only once (RFC 5246 section 7.4.2).
    package func showing(_ others: [Certificate]) -> Identity {
        CertificateChain([chain.leaf] + others.filter { $0 != chain.leaf }).map { Identity(self, chain: $0) } ?? self
    }

    /// The private key; nil for kinds that have no plain form.
    package var privateKey: Key? { Key(key, isPrivate: true) }

    /// OpenSSL's `EVP_PKEY`, valid while this identity lives.
    package var keyPointer: OpaquePointer { key.pointer }

    /// The private key as unencrypted PKCS#8 PEM.
    package var keyPEM: String {
        PEM.text { PEM_write_bio_PKCS8PrivateKey($0, key.pointer, nil, nil, 0, nil, nil) }
    }

    /// The private key as PKCS#8 PEM, encrypted with AES-256 under a passphrase.
    package func keyPEM(encryptedWith passphrase: String) throws(CertificateError) -> String {
        var secret = Array(passphrase.utf8CString.dropLast())
        let count = Int32(clamping: secret.count)
        let text = PEM.text {
            PEM_write_bio_PKCS8PrivateKey($0, key.pointer, EVP_aes_256_cbc(), &secret, count, nil, nil)
        }
        if text.isEmpty { throw .unreadableKey(OpenSSLErrors.takeText()) }
        return text
    }

    /// The chain as PEM, leaf first.
    package var certificatePEM: String {
        chain.certificates.map(\.pem).joined()
    }

    private static func readKey(_ text: String, passphrase: String?) throws(CertificateError) -> OpenSSLObject {
        OpenSSLErrors.clear()
        if text.contains(encryptedLabel) { return try readEncryptedKey(text, passphrase: passphrase ?? "") }
        var secret = Array((passphrase ?? "").utf8)
        let read = try PEM.withReader(of: Array(text.utf8)) { bio in
            secret.withUnsafeMutableBytes { bytes in
                var given = PassphraseBytes(start: bytes.baseAddress, count: bytes.count)
                return withUnsafeMutablePointer(to: &given) {
                    PEM_read_bio_PrivateKey(bio, nil, passphraseCallback, $0)
                }
            }
        }
        if let key = read ?? nil { return .key(owning: key) }
        let code = ERR_peek_last_error()
        ERR_clear_error()
        // Order: these libraries report only when a key was found and could not be opened.
        let asked = [ERR_LIB_EVP, ERR_LIB_PROV, ERR_LIB_PKCS12].contains(shim_err_lib(code))
        let badPassphrase =
            shim_err_lib(code) == ERR_LIB_PEM
            && [PEM_R_BAD_PASSWORD_READ, PEM_R_BAD_DECRYPT].contains(shim_err_reason(code))
        if badPassphrase || (asked && text.contains("ENCRYPTED")) { throw .wrongPassphrase }
        throw .unreadableKey(OpenSSLErrors.text(of: code))
    }

    /// PKCS #8's own encryption (RFC 5958 section 3), whose key derivation can be made to take for ever.
    private static func readEncryptedKey(_ text: String, passphrase: String) throws(CertificateError) -> OpenSSLObject {
        var contents: [UInt8]?
        PEMBlocks.forEach(in: Array(text.utf8)) { label, content in
            if contents == nil, label.elementsEqual(encryptedLabel.utf8) { contents = Array(content) }
        }
        guard let contents else { throw .unreadableKey("its block is cut off or no base64") }
        let sealed = contents.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_X509_SIG(nil, &cursor, bytes.count)
        }
        guard let sealed else { throw .unreadableKey(OpenSSLErrors.takeText()) }
        defer { X509_SIG_free(sealed) }
        var budget = RoundsBudget()
        guard budget.take(shim_pbe_rounds(shim_sig_algorithm(sealed))) else {
            throw .unreadableKey("it asks for more work than any key needs")
        }
        if passphrase.isEmpty { throw .wrongPassphrase }
        guard let key = PrivateKeyInfo.open(sealed, Passphrase(passphrase)) else {
            OpenSSLErrors.clear()
            throw .wrongPassphrase
        }
        return key
    }

    private static let encryptedLabel = "ENCRYPTED PRIVATE KEY"
}

private struct PassphraseBytes {
    let start: UnsafeMutableRawPointer?
    let count: Int
}

/// Hands OpenSSL the passphrase; without it OpenSSL would ask on the terminal.
private func passphraseCallback(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int32, _: Int32, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let buffer, let given = context?.assumingMemoryBound(to: PassphraseBytes.self).pointee,
        let start = given.start, given.count > 0, given.count <= Int(size)
    else { return -1 }
    UnsafeMutableRawPointer(buffer).copyMemory(from: start, byteCount: given.count)
    return Int32(given.count)
}
