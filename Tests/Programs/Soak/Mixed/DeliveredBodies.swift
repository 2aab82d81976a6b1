// What a client was sent, read once more by the book: which bodies stood in it. Over HTTP/1.1 a body stands there as it
// is; over HTTP/2 in frames, between those of other streams. RFC 9113 §4.1, §6.1.

import Foundation
import URLLoadingWire

/// The bodies in the bytes of one connection.
struct DeliveredBodies {
    private let bytes: [UInt8]
    private let spoken: LaneProtocol

    init(in bytes: [UInt8], of spoken: LaneProtocol) {
        self.bytes = bytes
        self.spoken = spoken
    }

    /// Whether this is one of them.
    func contain(_ body: Data) -> Bool {
        if body.isEmpty { return true }
        switch spoken {
        case .http1: return Data(bytes).range(of: body) != nil
        case .http2: return bodiesOfStreams().values.contains(body)
        }
    }

    private func bodiesOfStreams() -> [UInt32: Data] {
        var bodies: [UInt32: Data] = [:]
        var rest = bytes[...]
        func number(_ places: Range<Int>) -> Int {
            rest.dropFirst(places.lowerBound).prefix(places.count).reduce(0) { $0 << 8 | Int($1) }
        }
        while rest.count >= HTTP2FrameHeader.byteCount {
            let (length, type, flags) = (number(0..<3), number(3..<4), UInt8(number(4..<5)))
            let stream = UInt32(number(5..<9) & 0x7FFF_FFFF)
            rest = rest.dropFirst(HTTP2FrameHeader.byteCount)
            var payload = rest.prefix(length)
            rest = rest.dropFirst(length)
            guard type == HTTP2FrameType.data.rawValue else { continue }
            if flags & HTTP2FrameFlags.padded != 0, let padding = payload.popFirst() {
                payload = payload.dropLast(Int(padding))
            }
            bodies[stream, default: Data()].append(contentsOf: payload)
        }
        return bodies
    }
}
