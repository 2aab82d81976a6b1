// The SHA-256 of content that comes in pieces and is kept nowhere. FIPS 180-4, by OpenSSL.

import CURLLoadingOpenSSL

/// A hash under way; its owner guards it.
package final class ContentDigest {
    private let context = EVP_MD_CTX_new()

    /// The hash of nothing so far.
    package init() {
        EVP_DigestInit_ex(context, EVP_sha256(), nil)
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    /// More content.
    package func update(_ bytes: UnsafeRawBufferPointer) {
        EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    }

    /// The hash of what has come, in hexadecimal digits; more may come afterwards.
    package var text: String {
        guard let copy = EVP_MD_CTX_new() else { return "" }
        defer { EVP_MD_CTX_free(copy) }
        var hash = [UInt8](repeating: 0, count: 32)
        guard EVP_MD_CTX_copy_ex(copy, context) == 1, EVP_DigestFinal_ex(copy, &hash, nil) == 1 else { return "" }
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: hash.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
