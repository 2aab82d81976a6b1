// Opens private keys that are encrypted under a passphrase, and decodes them. The files may be hostile: how much work
// one may cause is counted before it is begun. RFC 5958, RFC 8018.

import CURLLoadingOpenSSL

/// Private keys in the form of PKCS #8.
enum PrivateKeyInfo {
    /// Decrypts a key whose rounds were taken from a budget before; nil when the passphrase does not fit, or the key is
    /// of no use.
    static func open(_ sealed: OpaquePointer, _ passphrase: Passphrase) -> OpenSSLObject? {
        guard let info = passphrase.with({ PKCS8_decrypt(sealed, $0, $1) }) else { return nil }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        return decode(info)
    }

    /// Decodes a key; nil for a broken one and for kinds that certificates for TLS do not have, which can be made such
    /// that decoding them takes for ever.
    static func decode(_ info: OpaquePointer) -> OpenSSLObject? {
        let kinds = [NID_rsaEncryption, NID_rsassaPss, NID_X9_62_id_ecPublicKey, NID_ED25519, NID_ED448]
        guard kinds.contains(shim_key_info_kind(info)) else { return nil }
        return EVP_PKCS82PKEY(info).map(OpenSSLObject.key(owning:))
    }
}

/// How often hashes may be repeated for one file: key derivation does so as often as the file says.
struct RoundsBudget {
    // By feel: what tools write today is 2,048 to 600,000, for each of up to three parts.
    private var left: Int64 = 3_000_000

    /// Whether so many more are allowed; a count that could not be read, -1, is not.
    mutating func take(_ rounds: Int64) -> Bool {
        guard rounds >= 0, rounds <= left else { return false }
        left -= rounds
        return true
    }
}

/// A passphrase as OpenSSL takes it: bytes with their number.
struct Passphrase {
    private let bytes: [CChar]?

    /// The text in UTF-8.
    init(_ text: String) {
        bytes = Array(text.utf8CString)
    }

    /// No passphrase, which PKCS #12 tells from an empty one.
    static let none = Passphrase()

    private init() {
        bytes = nil
    }

    /// Calls `body` with the bytes and their number, the closing zero not counted.
    func with<Result>(_ body: (UnsafePointer<CChar>?, Int32) -> Result) -> Result {
        guard let bytes else { return body(nil, 0) }
        return bytes.withUnsafeBufferPointer { body($0.baseAddress, Int32(clamping: $0.count - 1)) }
    }
}
