// Writes frames behind what a buffer holds already. Bodies are not copied: of a DATA frame only the header is written,
// and the owner of the body puts it behind. Order, windows and streams are the caller's to know. RFC 9113 §3.4, §4, §6.

/// Writes frames.
package enum HTTP2FrameEncoder {
    /// What a client's bytes begin with (RFC 9113 §3.4).
    package static var preface: StaticString { "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" }

    /// One byte of the preface; 0 behind its end.
    static func prefaceByte(_ place: Int) -> UInt8 {
        preface.withUTF8Buffer { place < $0.count ? $0[place] : 0 }
    }

    /// Appends what a client begins with.
    package static func encodePreface(into out: inout [UInt8]) {
        preface.withUTF8Buffer { out.append(contentsOf: $0) }
    }

    /// Appends the header of a DATA frame; that many bytes are to follow it.
    package static func encodeDataHeader(stream: UInt32, byteCount: Int, endsStream: Bool, into out: inout [UInt8]) {
        let flags = endsStream ? HTTP2FrameFlags.endStream : 0
        HTTP2FrameHeader(.data, flags: flags, stream: stream, length: byteCount).encode(into: &out)
    }

    /// Appends a header block as HEADERS and as many CONTINUATION frames as it needs (H3.7).
    package static func encodeBlock(
        _ block: RawSpan, stream: UInt32, endsStream: Bool, maximumFrameSize: UInt32, into out: inout [UInt8]
    ) {
        let largest = max(1, Int(maximumFrameSize))
        out.makeRoom(for: block.byteCount + HTTP2FrameHeader.byteCount * (block.byteCount / largest + 1))
        var start = 0
        repeat {
            let end = min(start + largest, block.byteCount)
            var flags = end == block.byteCount ? HTTP2FrameFlags.endHeaders : 0
            if start == 0, endsStream { flags |= HTTP2FrameFlags.endStream }
            HTTP2FrameHeader(start == 0 ? .headers : .continuation, flags: flags, stream: stream, length: end - start)
                .encode(into: &out)
            block.withUnsafeBytes { out.append(contentsOf: $0.part(start, end)) }
            start = end
        } while start < block.byteCount
    }

    /// Appends a SETTINGS frame of what differs from what holds anyway.
    package static func encode(_ settings: HTTP2Settings, into out: inout [UInt8]) {
        var count = 0
        settings.forEachEntry { _, _ in count += 1 }
        HTTP2FrameHeader(.settings, length: 6 * count).encode(into: &out)
        settings.forEachEntry { identifier, value in
            out.append(bigEndian: UInt64(identifier), bytes: 2)
            out.append(bigEndian: UInt64(value), bytes: 4)
        }
    }

    /// Appends the acknowledgement of a SETTINGS frame.
    package static func encodeSettingsAcknowledgement(into out: inout [UInt8]) {
        HTTP2FrameHeader(.settings, flags: HTTP2FrameFlags.acknowledgement, length: 0).encode(into: &out)
    }

    /// Appends a ping, or the answer to one.
    package static func encodePing(_ bytes: UInt64, isAnswer: Bool, into out: inout [UInt8]) {
        HTTP2FrameHeader(.ping, flags: isAnswer ? HTTP2FrameFlags.acknowledgement : 0, length: 8).encode(into: &out)
        out.append(bigEndian: bytes, bytes: 8)
    }

    /// Appends that more may be sent, on a stream or with number 0 on the connection.
    package static func encodeWindowUpdate(stream: UInt32, increment: UInt32, into out: inout [UInt8]) {
        HTTP2FrameHeader(.windowUpdate, stream: stream, length: 4).encode(into: &out)
        out.append(bigEndian: UInt64(increment & 0x7FFF_FFFF), bytes: 4)
    }

    /// Appends that a stream ends at once.
    package static func encodeReset(stream: UInt32, _ code: HTTP2ErrorCode, into out: inout [UInt8]) {
        HTTP2FrameHeader(.resetStream, stream: stream, length: 4).encode(into: &out)
        out.append(bigEndian: UInt64(code.rawValue), bytes: 4)
    }

    /// Appends that no streams above `last` are looked at.
    package static func encodeGoAway(last: UInt32, _ code: HTTP2ErrorCode, into out: inout [UInt8]) {
        HTTP2FrameHeader(.goAway, length: 8).encode(into: &out)
        out.append(bigEndian: UInt64(last & 0x7FFF_FFFF), bytes: 4)
        out.append(bigEndian: UInt64(code.rawValue), bytes: 4)
    }
}
