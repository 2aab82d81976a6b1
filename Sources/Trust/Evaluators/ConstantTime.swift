// Comparison whose duration says nothing about where two values differ.

import CURLLoadingOpenSSL

/// Comparison in constant time.
enum ConstantTime {
    /// Whether two values are equal; only their lengths can be told from the time it takes.
    static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && !left.isEmpty && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
