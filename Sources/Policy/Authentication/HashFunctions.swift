// The hash functions that Digest can ask for (RFC 7616 §3.3). MD5 is written here, since a FIPS provider has none;
// those of the SHA-2 family are given in by a layer that has OpenSSL.

/// A hash function of Digest.
package enum HashAlgorithm: Sendable, Hashable, CaseIterable {
    case md5
    case sha256
    /// SHA-512/256 of FIPS 180-4, which is not SHA-512 cut in half.
    case sha512_256
}

/// The hash functions at hand.
package struct HashFunctions: Sendable {
    private let sha2: @Sendable (HashAlgorithm, [UInt8]) -> [UInt8]?

    /// Takes the functions of the SHA-2 family; nil is an answer for what the system does not provide.
    package init(sha2: @escaping @Sendable (HashAlgorithm, [UInt8]) -> [UInt8]?) {
        self.sha2 = sha2
    }

    /// The hash of some bytes; nil where the system does not provide the function.
    package func hash(_ algorithm: HashAlgorithm, _ bytes: [UInt8]) -> [UInt8]? {
        algorithm == .md5 ? MD5.hash(bytes) : sha2(algorithm, bytes)
    }
}
