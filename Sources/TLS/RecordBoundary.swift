// Follows the record layer's framing in the bytes that OpenSSL takes, to know when it holds no part of a record. It
// must not know what records mean. RFC 8446 section 5.1, RFC 5246 section 6.2.1.

/// Where a stream of TLS records stands.
package struct RecordBoundary {
    /// Octets of the next header that have passed.
    private var headerCount = 0
    /// The length in the header, as far as it has passed.
    private var length = 0
    /// Octets of the record's content that are to come.
    private var contentLeft = 0

    /// The beginning of a stream.
    package init() {}

    /// Whether the last octet of a record was the last that has passed.
    package var isBetweenRecords: Bool { headerCount == 0 && contentLeft == 0 }

    /// These octets have passed.
    package mutating func passed(_ bytes: UnsafeBufferPointer<UInt8>) {
        var position = 0
        while position < bytes.count {
            if contentLeft > 0 {
                let count = min(contentLeft, bytes.count - position)
                contentLeft -= count
                position += count
                continue
            }
            // Type and version come first, and the length in the last two octets.
            if headerCount >= 3 { length = length << 8 | Int(bytes[position]) }
            headerCount += 1
            position += 1
            if headerCount == Self.headerLength { (contentLeft, headerCount, length) = (length, 0, 0) }
        }
    }

    private static let headerLength = 5
}
