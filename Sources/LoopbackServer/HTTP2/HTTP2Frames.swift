// Frames as bytes, right ones and wrong ones, for scripts. Header blocks are literals that touch no table, so that they
// can be sent at any time. It keeps to no rule: whatever is asked for is written. RFC 9113 §6, RFC 7541 §6.2.2.

import URLLoadingWire

/// Makes frames.
package enum HTTP2Frames {
    /// Fields by name and value, pseudo-header fields included.
    package typealias FieldList = KeyValuePairs<String, String>

    /// A frame of any type.
    package static func frame(
        type: UInt8, flags: UInt8 = 0, on stream: UInt32 = 0, _ payload: [UInt8] = []
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(HTTP2FrameHeader.byteCount + payload.count)
        HTTP2FrameHeader(type: type, flags: flags, stream: stream, length: payload.count).encode(into: &bytes)
        bytes += payload
        return bytes
    }

    /// A frame of a type that is known.
    package static func frame(
        _ type: HTTP2FrameType, flags: UInt8 = 0, on stream: UInt32 = 0, _ payload: [UInt8] = []
    ) -> [UInt8] {
        frame(type: type.rawValue, flags: flags, on: stream, payload)
    }

    /// SETTINGS with these entries; `HTTP2Settings.Identifier` has the numbers.
    package static func settings(_ entries: KeyValuePairs<UInt16, UInt32> = [:]) -> [UInt8] {
        settings(entries.map { (identifier: $0.key, value: $0.value) })
    }

    /// SETTINGS with a list of entries.
    package static func settings(_ entries: [(identifier: UInt16, value: UInt32)]) -> [UInt8] {
        frame(.settings, entries.flatMap { bigEndian($0.identifier) + bigEndian($0.value) })
    }

    /// The acknowledgement of SETTINGS.
    package static var settingsAcknowledgement: [UInt8] { frame(.settings, flags: HTTP2FrameFlags.acknowledgement) }

    /// PING, or the answer to one.
    package static func ping(_ bytes: UInt64 = 0, isAnswer: Bool = false) -> [UInt8] {
        frame(.ping, flags: isAnswer ? HTTP2FrameFlags.acknowledgement : 0, bigEndian(bytes))
    }

    /// WINDOW_UPDATE, of the connection if no stream is named.
    package static func windowUpdate(_ increment: UInt32, on stream: UInt32 = 0) -> [UInt8] {
        frame(.windowUpdate, on: stream, bigEndian(increment))
    }

    /// RST_STREAM.
    package static func reset(_ stream: UInt32, _ code: HTTP2ErrorCode) -> [UInt8] {
        frame(.resetStream, on: stream, bigEndian(code.rawValue))
    }

    /// GOAWAY.
    package static func goAway(last: UInt32, _ code: HTTP2ErrorCode = .noError, text: String = "") -> [UInt8] {
        frame(.goAway, bigEndian(last) + bigEndian(code.rawValue) + Array(text.utf8))
    }

    /// DATA, padded with so many zeros if wanted.
    package static func data(
        _ payload: [UInt8], on stream: UInt32, ends: Bool = false, padding: UInt8? = nil
    ) -> [UInt8] {
        frame(.data, flags: flags(ends: ends, padding), on: stream, padded(payload, padding))
    }

    /// HEADERS with a block of these fields, cut into so many frames, the others being CONTINUATION.
    package static func headers(
        _ fields: FieldList, on stream: UInt32, ends: Bool = false, padding: UInt8? = nil, frames: Int = 1
    ) -> [UInt8] {
        headers(block: block(fields), on: stream, ends: ends, padding: padding, frames: frames)
    }

    /// HEADERS with a block of any bytes, cut into so many frames.
    package static func headers(
        block: [UInt8], on stream: UInt32, ends: Bool = false, padding: UInt8? = nil, frames: Int = 1
    ) -> [UInt8] {
        let pieces = max(frames, 1)
        var bytes: [UInt8] = []
        for piece in 0..<pieces {
            let part = Array(block[(block.count * piece / pieces)..<(block.count * (piece + 1) / pieces)])
            let end = piece == pieces - 1 ? HTTP2FrameFlags.endHeaders : 0
            if piece == 0 {
                bytes += frame(
                    .headers, flags: flags(ends: ends, padding) | end, on: stream, padded(part, padding))
            } else {
                bytes += frame(.continuation, flags: end, on: stream, part)
            }
        }
        return bytes
    }

    /// PUSH_PROMISE.
    package static func pushPromise(_ fields: FieldList, promising promised: UInt32, on stream: UInt32) -> [UInt8] {
        frame(.pushPromise, flags: HTTP2FrameFlags.endHeaders, on: stream, bigEndian(promised) + block(fields))
    }

    /// A header block of literals that enter no table.
    package static func block(_ fields: FieldList) -> [UInt8] {
        block(fields.map { (name: Array($0.key.utf8), value: Array($0.value.utf8)) })
    }

    /// A header block of literals that enter no table, whose names and values may be any bytes.
    package static func block(_ fields: [(name: [UInt8], value: [UInt8])]) -> [UInt8] {
        fields.flatMap { [0] + string($0.name) + string($0.value) }
    }

    // MARK: Parts

    private static func flags(ends: Bool, _ padding: UInt8?) -> UInt8 {
        (ends ? HTTP2FrameFlags.endStream : 0) | (padding == nil ? 0 : HTTP2FrameFlags.padded)
    }

    private static func padded(_ payload: [UInt8], _ padding: UInt8?) -> [UInt8] {
        guard let padding else { return payload }
        return [padding] + payload + [UInt8](repeating: 0, count: Int(padding))
    }

    private static func bigEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    /// A string as it is: its length with a prefix of seven bits, then its bytes (RFC 7541 §5.1, §5.2).
    private static func string(_ text: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        var left = text.count
        if left < 127 {
            bytes.append(UInt8(left))
        } else {
            bytes.append(127)
            left -= 127
            while left >= 128 {
                bytes.append(UInt8(left & 127) | 128)
                left >>= 7
            }
            bytes.append(UInt8(left))
        }
        return bytes + text
    }
}
