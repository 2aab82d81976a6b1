// What OpenSSL's objects are in DER.

/// Encodes objects of OpenSSL.
package enum OpenSSLEncoding {
    /// The bytes that an `i2d` function writes, which is run twice: for the length and for the
    /// bytes. None where it fails.
    package static func bytes(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8] {
        let length = write(nil)
        guard length > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
            var cursor = buffer.baseAddress
            count = Int(max(0, write(&cursor)))
        }
    }
}
