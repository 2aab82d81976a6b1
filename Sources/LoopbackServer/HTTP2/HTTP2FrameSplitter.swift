// Takes what a client sends apart into frames, without judging them: for scripts that wait for a frame, and for tests
// that want to see all. It decodes nothing and knows no stream. RFC 9113 §3.4, §4.1.

import URLLoadingWire

/// The frames of one connection, as they come.
struct HTTP2FrameSplitter {
    private let connection: Int
    /// Bytes of the preface that are still to come.
    private var prefaceLeft = HTTP2FrameEncoder.preface.utf8CodeUnitCount
    private var start: [UInt8] = []
    private var header: HTTP2FrameHeader?
    private var payload: [UInt8] = []
    private var left = 0

    init(connection: Int) { self.connection = connection }

    /// Calls `body` with each frame that has become whole.
    mutating func take(_ bytes: UnsafeRawBufferPointer, _ body: (HTTP2ReceivedFrame) -> Void) {
        let skipped = min(prefaceLeft, bytes.count)
        prefaceLeft -= skipped
        var rest = bytes.dropFirst(skipped)
        while !rest.isEmpty {
            guard let header else {
                let count = min(HTTP2FrameHeader.byteCount - start.count, rest.count)
                start += rest.prefix(count)
                rest = rest.dropFirst(count)
                if start.count == HTTP2FrameHeader.byteCount { begin(body) }
                continue
            }
            let count = min(left, rest.count)
            if header.type != HTTP2FrameType.data.rawValue { payload += rest.prefix(count) }
            rest = rest.dropFirst(count)
            left -= count
            if left == 0 { end(header, body) }
        }
    }

    private mutating func begin(_ body: (HTTP2ReceivedFrame) -> Void) {
        func number(_ places: Range<Int>) -> UInt32 { start[places].reduce(0) { $0 << 8 | UInt32($1) } }
        left = Int(number(0..<3))
        let begun = HTTP2FrameHeader(
            type: start[3], flags: start[4], stream: number(5..<9) & 0x7FFF_FFFF, length: left)
        start.removeAll(keepingCapacity: true)
        header = begun
        if left == 0 { end(begun, body) }
    }

    private mutating func end(_ whole: HTTP2FrameHeader, _ body: (HTTP2ReceivedFrame) -> Void) {
        header = nil
        body(HTTP2ReceivedFrame(connection: connection, header: whole, payload: payload))
        payload = []
    }
}
