// The nine bytes before a frame's payload, and what stands in them. It judges nothing. RFC 9113 §4.1, §6.
//
//     length in 3 bytes | type | flags | 1 reserved bit and 31 bits of stream number

/// What a frame is (RFC 9113 §6).
package enum HTTP2FrameType: UInt8, Sendable {
    /// Bytes of a body.
    case data = 0x0
    /// Begins a header block.
    case headers = 0x1
    /// Nothing, nowadays.
    case priority = 0x2
    /// Ends a stream at once.
    case resetStream = 0x3
    /// How its sender wants to be spoken to.
    case settings = 0x4
    /// A push.
    case pushPromise = 0x5
    /// Wants the same back.
    case ping = 0x6
    /// No new streams.
    case goAway = 0x7
    /// More may be sent.
    case windowUpdate = 0x8
    /// Goes on with a header block.
    case continuation = 0x9
}

/// The bits of a frame's flags that mean something.
package enum HTTP2FrameFlags {
    /// On DATA and HEADERS: the message ends.
    package static var endStream: UInt8 { 0x01 }
    /// On SETTINGS and PING: this is an answer.
    package static var acknowledgement: UInt8 { 0x01 }
    /// On HEADERS and CONTINUATION: the block ends.
    package static var endHeaders: UInt8 { 0x04 }
    /// On DATA and HEADERS: there is padding.
    package static var padded: UInt8 { 0x08 }
    /// On HEADERS: there are five bytes of priority.
    package static var priority: UInt8 { 0x20 }
}

/// The header of a frame.
package struct HTTP2FrameHeader: Sendable, Equatable {
    /// How many bytes of payload follow; below 2^24.
    package var length: Int
    /// What the frame is; any number.
    package var type: UInt8
    /// What is special about it.
    package var flags: UInt8
    /// The stream's number, 0 for the connection.
    package var stream: UInt32

    /// How many bytes it takes.
    package static var byteCount: Int { 9 }

    /// Makes a header.
    package init(_ type: HTTP2FrameType, flags: UInt8 = 0, stream: UInt32 = 0, length: Int) {
        self.init(type: type.rawValue, flags: flags, stream: stream, length: length)
    }

    /// Makes a header of any numbers.
    package init(type: UInt8, flags: UInt8, stream: UInt32, length: Int) {
        self.length = length
        self.type = type
        self.flags = flags
        self.stream = stream
    }

    /// Reads the first five bytes; the stream's number comes later.
    init(start: UInt64) {
        length = Int(start >> 16 & 0xFF_FFFF)
        type = UInt8(truncatingIfNeeded: start >> 8)
        flags = UInt8(truncatingIfNeeded: start)
        stream = 0
    }

    /// Whether a bit of the flags is set.
    func has(_ flag: UInt8) -> Bool { flags & flag != 0 }

    /// Appends the header.
    package func encode(into out: inout [UInt8]) {
        out.append(bigEndian: UInt64(truncatingIfNeeded: length), bytes: 3)
        out.append(type)
        out.append(flags)
        out.append(bigEndian: UInt64(stream & 0x7FFF_FFFF), bytes: 4)
    }
}

extension [UInt8] {
    /// Appends the low bytes of a number, the highest of them first.
    mutating func append(bigEndian number: UInt64, bytes: Int) {
        var place = bytes
        while place > 0 {
            place -= 1
            append(UInt8(truncatingIfNeeded: number >> UInt64(8 * place)))
        }
    }
}
