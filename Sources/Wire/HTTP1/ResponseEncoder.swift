// Writes the head of a response: what a server does. The same care as for requests, because a router's text may come
// from anywhere. RFC 9112 §4, §5, §6.

/// Writes responses; the body's bytes are the caller's to send.
package enum ResponseEncoder {
    /// Appends the head.
    ///
    /// `.length` and `.chunked` write Content-Length and Transfer-Encoding, and fields of these names in the head are
    /// left out; `.none` and `.untilClose` leave the head's fields as they are, so that the answer to a HEAD can name a
    /// length. Throws, and appends nothing, if a part may not be sent.
    package static func encode(
        _ head: ResponseHead, framing: BodyFraming, into out: inout [UInt8]
    ) throws(WireError) {
        guard (100...999).contains(head.status) else { throw .unsendableStatus }
        let reason = head.reason
        guard reason.withUTF8Span({ $0.endOfText(from: 0) == $0.byteCount }) else { throw .unsendableReason }
        let replacesFraming =
            switch framing {
            case .length, .chunked: true
            case .none, .untilClose: false
            }
        let fields = try FieldSection(head.fields, framing: framing, replacesFraming: replacesFraming)

        let startLine = "HTTP/1.1 200 \r\n".utf8.count + reason.utf8.count
        out.appendWire(capacity: startLine + fields.byteCount) { writer in
            writer.write(head.version == .http10 ? "HTTP/1.0 " : "HTTP/1.1 " as StaticString)
            writer.write(decimal: Int64(head.status))
            writer.write(ASCII.space)
            writer.write(reason)
            writer.write("\r\n")
            fields.write(to: &writer)
        }
    }
}
