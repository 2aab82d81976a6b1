// An RSA or elliptic-curve key in the plain forms in which key stores and pins have it: PKCS #1 (RFC 8017 appendix A.1)
// and the uncompressed point of X9.63 (SEC 1 section 2.3.3), without the header that names the algorithm. Signs
// nothing.

import CURLLoadingOpenSSL

/// A public or private key.
package struct Key: Sendable, Hashable {
    /// The kinds that have a plain form.
    package enum Kind: Sendable, Hashable {
        /// RSA; PSS keys, which are bound to their padding, do not count.
        case rsa
        /// P-256, P-384 or P-521.
        case ellipticCurve
    }

    /// What kind of key it is.
    package let kind: Kind
    /// Whether it can sign.
    package let isPrivate: Bool
    /// The size of the modulus, or of the curve's field.
    package let bits: Int
    /// The plain form of the public part.
    package let publicBytes: [UInt8]
    private let object: OpenSSLObject

    /// The key of an OpenSSL object; nil for other kinds.
    init?(_ object: OpenSSLObject, isPrivate: Bool) {
        let pointer = object.pointer
        bits = Int(EVP_PKEY_get_bits(pointer))
        switch EVP_PKEY_get_base_id(pointer) {
        case EVP_PKEY_RSA:
            kind = .rsa
            publicBytes = OpenSSLEncoding.bytes { i2d_PublicKey(pointer, $0) }
        case EVP_PKEY_EC:
            kind = .ellipticCurve
            guard let curve = Curve.all.first(where: { $0.identifier == shim_ec_curve(pointer) }),
                let x = Self.number(OSSL_PKEY_PARAM_EC_PUB_X, of: pointer, octets: curve.octets),
                let y = Self.number(OSSL_PKEY_PARAM_EC_PUB_Y, of: pointer, octets: curve.octets)
            else { return nil }
            publicBytes = [Self.uncompressed] + x + y
        default:
            return nil
        }
        if publicBytes.isEmpty { return nil }
        self.isPrivate = isPrivate
        self.object = object
    }

    /// Reads a key in its plain form.
    package init(_ bytes: [UInt8], kind: Kind, isPrivate: Bool) throws(CertificateError) {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        guard bytes.count <= Self.mostBytes else { throw .unreadableKey("it is too long") }
        let read =
            switch kind {
            case .rsa: Self.readRSA(bytes, isPrivate: isPrivate)
            case .ellipticCurve: Self.readPoint(bytes, isPrivate: isPrivate)
            }
        guard let read, let key = Key(.key(owning: read), isPrivate: isPrivate) else {
            throw .unreadableKey("it is not in the form of such a key")
        }
        self = key
    }

    /// The plain form; a private key's holds its secret.
    package var bytes: [UInt8] {
        guard isPrivate else { return publicBytes }
        switch kind {
        case .rsa:
            return OpenSSLEncoding.bytes { i2d_PrivateKey(object.pointer, $0) }
        case .ellipticCurve:
            let octets = publicBytes.count / 2
            let secret = Self.number(OSSL_PKEY_PARAM_PRIV_KEY, of: object.pointer, octets: octets)
            return secret.map { publicBytes + $0 } ?? []
        }
    }

    /// The public part.
    package var publicKey: Key { isPrivate ? Key(object, isPrivate: false) ?? self : self }

    /// Keys are equal where kind, place and public parts are.
    package static func == (left: Key, right: Key) -> Bool {
        left.kind == right.kind && left.isPrivate == right.isPrivate && left.publicBytes == right.publicBytes
    }

    /// Feeds the public part.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(publicBytes)
    }

    // MARK: Reading

    private static func readRSA(_ bytes: [UInt8], isPrivate: Bool) -> OpaquePointer? {
        bytes.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            let read =
                isPrivate
                ? d2i_PrivateKey(EVP_PKEY_RSA, nil, &cursor, buffer.count)
                : d2i_PublicKey(EVP_PKEY_RSA, nil, &cursor, buffer.count)
            guard let read else { return nil }
            let used = cursor.flatMap { end in buffer.baseAddress.map { end - $0 } } ?? 0
            if used == buffer.count, EVP_PKEY_get_bits(read) >= leastBits { return read }
            EVP_PKEY_free(read)
            return nil
        }
    }

    /// The curve follows from the length: the point's two coordinates, and the secret behind them.
    private static func readPoint(_ bytes: [UInt8], isPrivate: Bool) -> OpaquePointer? {
        let numbers = isPrivate ? 3 : 2
        guard bytes.first == uncompressed,
            let curve = Curve.all.first(where: { bytes.count == 1 + numbers * $0.octets })
        else { return nil }
        return bytes.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let length = 1 + 2 * curve.octets
            let secret = isPrivate ? start + length : nil
            return shim_key_from_point(curve.name, start, length, secret, isPrivate ? curve.octets : 0)
        }
    }

    private static func number(_ name: String, of key: OpaquePointer, octets: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: octets)
        return shim_key_number(key, name, &bytes, Int32(octets)) == 1 ? bytes : nil
    }

    private struct Curve {
        let name: String
        let identifier: Int32
        let octets: Int

        static let all = [
            Curve(name: "P-256", identifier: NID_X9_62_prime256v1, octets: 32),
            Curve(name: "P-384", identifier: NID_secp384r1, octets: 48),
            Curve(name: "P-521", identifier: NID_secp521r1, octets: 66),
        ]
    }

    private static let uncompressed: UInt8 = 4
    // By feel: less is no key in any use.
    private static let leastBits: Int32 = 512
    // RSA of 16,384 bits with all that PKCS #1 keeps of a private key.
    private static let mostBytes = 16 << 10
}

extension Certificate {
    /// The public key; nil where it is neither RSA nor on one of the usual curves (B3.43).
    package var publicKey: Key? {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        return X509_get_pubkey(pointer).flatMap { Key(.key(owning: $0), isPrivate: false) }
    }
}
