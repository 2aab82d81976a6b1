// How much has happened on a connection of HTTP/2, for the scripts that wait for it.

import URLLoadingWire

/// Counters from the beginning of a connection.
struct HTTP2Counts {
    var heads = 0
    var requests = 0
    var answers = 0
    /// The client has ended its side.
    var hasEnded = false
    private var frames: [UInt8: Int] = [:]
    private var acknowledgements: [UInt8: Int] = [:]
    /// Bytes of bodies by stream; kept where there is no server that counts them.
    private var bodies: [UInt32: Int64] = [:]
    /// The highest stream that came, where there is no server that knows it.
    private(set) var lastStream: UInt32 = 0

    /// A frame came. Where there is a server it counts requests when it understands them.
    mutating func add(_ frame: HTTP2ReceivedFrame, isCountedByServer: Bool) {
        if frame.isAcknowledgement {
            acknowledgements[frame.header.type, default: 0] += 1
        } else {
            frames[frame.header.type, default: 0] += 1
        }
        guard !isCountedByServer else { return }
        if frame.type == .headers, frame.header.stream > lastStream {
            lastStream = frame.header.stream
            heads += 1
        }
        if frame.type == .data { bodies[frame.header.stream, default: 0] += Int64(frame.header.length) }
        if frame.endsStream { requests += 1 }
    }

    func frames(_ type: HTTP2FrameType) -> Int { frames[type.rawValue] ?? 0 }

    func acknowledgements(_ type: HTTP2FrameType) -> Int { acknowledgements[type.rawValue] ?? 0 }

    func bodyBytes(on stream: UInt32) -> Int64 { bodies[stream] ?? 0 }
}
