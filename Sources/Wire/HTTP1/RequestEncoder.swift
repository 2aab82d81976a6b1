// Writes the head of a request. Whatever a caller supplied is checked before a byte is written: nothing that is not a
// token stands where a token must stand, and no control byte gets between two lines (RFC 9112 §11.1, request
// splitting). The framing fields are written here and nowhere else. RFC 9112 §3, §5, §6.

/// Writes requests; the body's bytes are the caller's to send.
package enum RequestEncoder {
    /// Appends the head.
    ///
    /// Content-Length and Transfer-Encoding follow from `framing`; fields of these names in the head are left out.
    /// Throws, and appends nothing, if a part may not be sent.
    package static func encode(
        _ head: RequestHead, framing: BodyFraming, into out: inout [UInt8]
    ) throws(WireError) {
        guard head.method.withUTF8Span({ !$0.isEmpty && $0.endOfToken(from: 0) == $0.byteCount })
        else { throw .unsendableMethod }
        // What a URL holds beside visible ASCII is percent-encoded before it comes here (B5.22).
        guard head.target.withUTF8Span({ !$0.isEmpty && $0.endOfVisible(from: 0) == $0.byteCount })
        else { throw .unsendableTarget }
        if framing == .untilClose { throw .unsendableFraming }
        let fields = try FieldSection(head.fields, framing: framing, replacesFraming: true)

        let startLine = head.method.utf8.count + 1 + head.target.utf8.count + " HTTP/1.1\r\n".utf8.count
        out.appendWire(capacity: startLine + fields.byteCount) { writer in
            writer.write(head.method)
            writer.write(ASCII.space)
            writer.write(head.target)
            writer.write(head.version.minor == 0 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n" as StaticString)
            fields.write(to: &writer)
        }
    }

    /// Appends the line before a chunk of that many bytes; nothing for an empty chunk, which would end the body.
    package static func encodeChunkHeader(size: Int, into out: inout [UInt8]) {
        guard size > 0 else { return }
        var shift = (Int.bitWidth - 1 - size.leadingZeroBitCount) & ~3
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: size >> shift) & 0xF
            out.append(digit < 10 ? ASCII.zero + digit : 0x61 - 10 + digit)
            shift -= 4
        }
        out.append(ASCII.carriageReturn)
        out.append(ASCII.lineFeed)
    }

    /// Appends what ends a chunked body, with fields behind it. Throws, and appends nothing, if one may not be sent;
    /// those that say something about framing are left out.
    package static func encodeLastChunk(_ trailers: Fields, into out: inout [UInt8]) throws(WireError) {
        let fields = try FieldSection(trailers, framing: .none, replacesFraming: true)
        out.appendWire(capacity: "0\r\n".utf8.count + fields.byteCount) { writer in
            writer.write("0\r\n")
            fields.write(to: &writer)
        }
    }

    /// What follows a chunk's data.
    package static let chunkTrailer: [UInt8] = [0x0D, 0x0A]

    /// What ends a chunked body that has no trailer fields.
    package static let lastChunk: [UInt8] = [0x30, 0x0D, 0x0A, 0x0D, 0x0A]
}
