// The head of a response as a value: what a client gets from `ResponseDecoder` and a server hands to
// `ResponseEncoder`. It does not know what it answers. RFC 9112 §4.

/// The status line and the fields of a response.
package struct ResponseHead: Sendable, Equatable {
    /// The status code, 100 to 999.
    package var status: Int
    /// The version of the message.
    package var version: HTTPVersion
    /// The fields in order.
    package var fields: Fields
    /// How many bytes the head took on the wire; 0 for a head that was not received.
    package let byteCount: Int
    /// The reason phrase where it is not the one RFC 9110 gives; the common ones cost no `String`.
    package private(set) var unusualReason: String?

    /// Makes a head to send; without a reason the phrase of RFC 9110 §15 is used.
    package init(
        status: Int, reason: String? = nil, version: HTTPVersion = .http11, fields: Fields = Fields()
    ) {
        self.init(status: status, unusualReason: reason, version: version, fields: fields, byteCount: 0)
    }

    @inline(__always)
    init(status: Int, unusualReason: consuming String?, version: HTTPVersion, fields: consuming Fields, byteCount: Int)
    {
        self.status = status
        self.version = version
        self.fields = fields
        self.byteCount = byteCount
        self.unusualReason = unusualReason
    }

    /// The reason phrase; of no meaning to a client (B16.16).
    package var reason: String { unusualReason ?? ReasonPhrase.standard(for: status).description }

    /// Whether the status is 1xx: the final response is still to come.
    package var isInformational: Bool { status < 200 }

    /// The transfer codings below the chunks, first applied first; usually none (B16.48).
    package var transferCodings: [ContentCoding] { FramingFields.codingsBelowChunks(fields) }

    /// The length that the fields say, of an answer that has a body or of one that has none (RFC 9110 §9.3.2); nil
    /// where a body would end otherwise, or its length were refused.
    package var announcedLength: Int64? {
        let framing = FramingFields(fields)
        guard framing.transferEncoding == .absent, case .bytes(let length) = framing.contentLength else { return nil }
        return length
    }
}
