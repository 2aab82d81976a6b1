// Reads PKCS #12 files: a key, its certificate and those above it, under one passphrase. OpenSSL decodes the envelopes;
// they are opened one by one here, because what is in one says how much work it takes to open the next. RFC 7292.

import CURLLoadingOpenSSL

extension Identity {
    /// Reads the one identity of a PKCS #12 file; its chain is put in order, leaf first.
    package init(pkcs12 bytes: [UInt8], passphrase: String) throws(CertificateError) {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        guard bytes.count <= Self.mostFileBytes else { throw .notPKCS12("it is too long") }
        let file = bytes.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_PKCS12(nil, &cursor, bytes.count)
        }
        guard let file else { throw .notPKCS12(OpenSSLErrors.takeText()) }
        defer { PKCS12_free(file) }
        var contents = PKCS12Contents()
        try contents.read(file, passphrase)
        guard let key = contents.key else { throw .notPKCS12("it holds no key") }
        let certificates = contents.certificates
        guard let leaf = certificates.first(where: { X509_check_private_key($0.pointer, key.pointer) == 1 }),
            let chain = CertificateChain([leaf] + Self.ordered(certificates, below: leaf))
        else { throw .notPKCS12("it holds no certificate of its key") }
        try self.init(chain: chain, key: key)
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

    private static let mostFileBytes = 4 << 20
}

/// What a file holds, as it is found.
private struct PKCS12Contents {
    /// The first key.
    private(set) var key: OpenSSLObject?
    private(set) var certificates: [Certificate] = []
    private var budget = RoundsBudget()

    /// Checks the file's integrity, and opens its parts.
    mutating func read(_ file: OpaquePointer, _ text: String) throws(CertificateError) {
        let passphrase = try checked(file, text)
        guard let parts = PKCS12_unpack_authsafes(file) else { throw .notPKCS12(OpenSSLErrors.takeText()) }
        defer { shim_parts_free_all(parts) }
        for index in 0..<shim_parts_count(parts) {
            guard let part = shim_parts_get(parts, index) else { continue }
            try read(part: part, passphrase)
        }
    }

    /// The passphrase in the form in which it fits the MAC: tools write the empty one in two ways.
    private mutating func checked(_ file: OpaquePointer, _ text: String) throws(CertificateError) -> Passphrase {
        let first = text.isEmpty ? Passphrase.none : Passphrase(text)
        guard PKCS12_mac_present(file) == 1 else { return first }
        for passphrase in text.isEmpty ? [first, Passphrase(text)] : [first] {
            try take(shim_pkcs12_mac_rounds(file))
            if passphrase.with({ PKCS12_verify_mac(file, $0, $1) }) == 1 { return passphrase }
        }
        // A MAC that is merely another one leaves no error behind.
        throw ERR_peek_error() == 0 ? .wrongPassphrase : .notPKCS12(OpenSSLErrors.takeText())
    }

    private mutating func read(
        part: UnsafeMutablePointer<PKCS7>, _ passphrase: Passphrase
    ) throws(CertificateError) {
        let bags: OpaquePointer?
        if let encryption = shim_p7_encryption(part) {
            try take(shim_pbe_rounds(encryption))
            bags =
                LegacyCiphers.areNeeded(for: encryption)
                ? try LegacyCiphers.open(part, passphrase)
                : passphrase.with { PKCS12_unpack_p7encdata(part, $0, $1) }
        } else if shim_p7_is_data(part) == 1 {
            bags = PKCS12_unpack_p7data(part)
        } else {
            // Encrypted for a key in place of a passphrase, or of an unknown kind.
            return
        }
        guard let bags else { throw .notPKCS12(OpenSSLErrors.takeText()) }
        defer { shim_bags_free_all(bags) }
        try read(bags: bags, passphrase, depth: 0)
    }

    private mutating func read(
        bags: OpaquePointer, _ passphrase: Passphrase, depth: Int
    ) throws(CertificateError) {
        guard depth < Self.mostDepth else { throw .notPKCS12("its parts are nested too deeply") }
        for index in 0..<shim_bags_count(bags) {
            guard let bag = shim_bags_get(bags, index) else { continue }
            switch PKCS12_SAFEBAG_get_nid(bag) {
            case NID_keyBag:
                if key == nil, let info = PKCS12_SAFEBAG_get0_p8inf(bag) { key = PrivateKeyInfo.decode(info) }
            case NID_pkcs8ShroudedKeyBag:
                guard key == nil, let sealed = PKCS12_SAFEBAG_get0_pkcs8(bag) else { continue }
                try take(shim_pbe_rounds(shim_sig_algorithm(sealed)))
                key = PrivateKeyInfo.open(sealed, passphrase)
                if key == nil { throw .notPKCS12("its key cannot be opened") }
            case NID_certBag:
                guard PKCS12_SAFEBAG_get_bag_nid(bag) == NID_x509Certificate else { continue }
                guard let pointer = PKCS12_SAFEBAG_get1_cert(bag) else { throw .notPKCS12(OpenSSLErrors.takeText()) }
                Self.name(pointer, as: bag)
                certificates.append(Certificate(owning: .certificate(owning: pointer)))
                guard certificates.count <= Self.mostCertificates else { throw .notPKCS12("it holds too many") }
            case NID_safeContentsBag:
                if let inner = PKCS12_SAFEBAG_get0_safes(bag) { try read(bags: inner, passphrase, depth: depth + 1) }
            default:
                break
            }
        }
    }

    /// Gives a certificate, which is not shared yet, the name that the file has for it.
    private static func name(_ certificate: OpaquePointer, as bag: OpaquePointer) {
        guard let name = PKCS12_get_friendlyname(bag) else { return }
        defer { CRYPTO_free(name, "", 0) }
        let text = Array(String(cString: name).utf8)
        X509_alias_set1(certificate, text, Int32(clamping: text.count))
    }

    private mutating func take(_ rounds: Int64) throws(CertificateError) {
        guard budget.take(rounds) else { throw .notPKCS12("it asks for more work than any file needs") }
    }

    // By feel: identities have a handful, in one part.
    private static let mostCertificates = 1_000
    private static let mostDepth = 8
}
