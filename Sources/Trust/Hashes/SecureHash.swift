// Hash functions of the SHA-2 family, by OpenSSL. It knows nothing of what is hashed.

import CURLLoadingOpenSSL

/// A hash function whose values cannot be forged.
package enum SecureHash: Sendable {
    /// SHA-256.
    case sha256
    /// SHA-512/256 of FIPS 180-4.
    case sha512_256

    /// The hash of some bytes; nil when OpenSSL cannot do it, as under a provider that leaves the function out.
    package func hash(_ bytes: [UInt8]) -> [UInt8]? {
        OpenSSLLibrary.prepare()
        var hash = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        guard EVP_Digest(bytes, bytes.count, &hash, &length, function, nil) == 1, length == 32 else {
            OpenSSLErrors.clear()
            return nil
        }
        return hash
    }

    fileprivate var function: OpaquePointer? {
        switch self {
        case .sha256: EVP_sha256()
        case .sha512_256: EVP_sha512_256()
        }
    }
}

/// A hash that is fed piece by piece, on one thread.
package final class SecureHashStream {
    private let context: OpaquePointer
    private var isWhole = true

    /// Begins a hash; nil when OpenSSL cannot do it.
    package init?(_ hash: SecureHash) {
        OpenSSLLibrary.prepare()
        guard let context = EVP_MD_CTX_new() else { return nil }
        self.context = context
        guard EVP_DigestInit_ex(context, hash.function, nil) == 1 else {
            OpenSSLErrors.clear()
            return nil
        }
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    /// Adds bytes.
    package func update(_ bytes: UnsafeRawBufferPointer) {
        if bytes.isEmpty { return }
        isWhole = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1 && isWhole
    }

    /// The hash of all bytes; nil when OpenSSL failed on the way. Nothing can be added after that.
    package func finished() -> [UInt8]? {
        var hash = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        guard isWhole, EVP_DigestFinal_ex(context, &hash, &length) == 1, length == 32 else {
            OpenSSLErrors.clear()
            return nil
        }
        isWhole = false
        return hash
    }
}
