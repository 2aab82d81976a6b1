// What a server writes down of the connections of HTTP/2: what came on them, and how it ended.

import URLLoadingWire

/// A frame as it came.
package struct HTTP2ReceivedFrame: Sendable, Equatable {
    /// The number of the connection.
    package let connection: Int
    /// Its type, flags, stream and length.
    package let header: HTTP2FrameHeader
    /// What it carried; of DATA nothing is kept.
    package let payload: [UInt8]

    /// What it is; nil for a type that is not known.
    package var type: HTTP2FrameType? { HTTP2FrameType(rawValue: header.type) }

    /// Whether it is an acknowledgement of SETTINGS or PING.
    package var isAcknowledgement: Bool {
        (type == .settings || type == .ping) && header.flags & HTTP2FrameFlags.acknowledgement != 0
    }

    /// Whether it ends its stream's message.
    package var endsStream: Bool {
        (type == .headers || type == .data) && header.flags & HTTP2FrameFlags.endStream != 0
    }

    /// The code of RST_STREAM or GOAWAY.
    package var code: HTTP2ErrorCode? {
        switch type {
        case .resetStream where payload.count >= 4: HTTP2ErrorCode(rawValue: number(at: 0))
        case .goAway where payload.count >= 8: HTTP2ErrorCode(rawValue: number(at: 4))
        default: nil
        }
    }

    /// By how much WINDOW_UPDATE opens a window.
    package var increment: UInt32? { type == .windowUpdate && payload.count >= 4 ? number(at: 0) : nil }

    /// The entries of SETTINGS in order.
    package var settings: [(identifier: UInt16, value: UInt32)] {
        guard type == .settings else { return [] }
        return stride(from: 0, to: payload.count - payload.count % 6, by: 6).map { place in
            (UInt16(payload[place]) << 8 | UInt16(payload[place + 1]), number(at: place + 2))
        }
    }

    private func number(at place: Int) -> UInt32 {
        payload[place..<(place + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// A record of connections of HTTP/2.
package typealias HTTP2Record = ServerRecord<HTTP2RecordContents>

/// What has been written down of connections of HTTP/2.
package struct HTTP2RecordContents: RecordContents {
    /// All frames of all connections, in order.
    package var frames: [HTTP2ReceivedFrame] = []
    /// How each stream ended that the server has served, by connection and number.
    package var ends: [(connection: Int, stream: UInt32, end: HTTP2StreamEnd)] = []
    /// The rules that clients have broken.
    package var faults: [HTTP2Fault] = []

    /// Nothing.
    package init() {}

    /// The frames of one type.
    package func frames(_ type: HTTP2FrameType) -> [HTTP2ReceivedFrame] { frames.filter { $0.type == type } }
}
