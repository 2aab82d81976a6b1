// What authentication needs of this machine: hash functions, random bytes, and the hash of a body that is sent with
// Digest's `auth-int`. The schemes themselves are in URLLoadingPolicy, which knows neither OpenSSL nor chance.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTrust

extension HashFunctions {
    /// The hash functions of this machine.
    package static let system = HashFunctions { algorithm, bytes in
        SecureHash(algorithm)?.hash(bytes)
    }
}

extension AuthenticationFreshness {
    /// Random bytes, and the time as seconds since 1970.
    package static func drawn(secondsSince1970: Int64) -> AuthenticationFreshness {
        var generator = Chance()
        let bytes = (0..<byteCount).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
        return AuthenticationFreshness(bytes: bytes, secondsSince1970: secondsSince1970)
    }
}

/// The hash of a body that is read piece by piece, on one thread.
package final class BodyHash {
    private var md5: MD5?
    private let secure: SecureHashStream?

    /// Begins a hash; nil when the system has no such function.
    package init?(_ algorithm: HashAlgorithm) {
        guard let secureHash = SecureHash(algorithm) else {
            md5 = MD5()
            secure = nil
            return
        }
        guard let stream = SecureHashStream(secureHash) else { return nil }
        secure = stream
    }

    /// Adds bytes.
    package func update(_ bytes: UnsafeRawBufferPointer) {
        md5?.update(bytes)
        secure?.update(bytes)
    }

    /// The hash of all bytes; nil when the system failed.
    package func finished() -> [UInt8]? {
        md5?.finished() ?? secure?.finished()
    }
}

extension SecureHash {
    /// Nil for MD5, which is not OpenSSL's business.
    fileprivate init?(_ algorithm: HashAlgorithm) {
        switch algorithm {
        case .md5: return nil
        case .sha256: self = .sha256
        case .sha512_256: self = .sha512_256
        }
    }
}
