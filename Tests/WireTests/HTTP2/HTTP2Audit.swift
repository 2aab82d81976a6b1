// Looks over the shoulder of one end of a connection: reads what is delivered to it and what it writes, keeps its own
// books of windows, streams and blocks, and records an issue where what was written was not allowed at that moment.

import Testing
import URLLoadingWire

/// The books about one end.
struct HTTP2Audit {
    private struct Books {
        var window: Int
        var hasEnded = false
        var peerHasEnded = false
        var isReset = false
    }

    private let name: String
    private let isClient: Bool
    private var connectionWindow = 65_535
    private var initialWindow = 65_535
    private var largestFrame = 16_384
    private var streams: [UInt32: Books] = [:]
    private var openBlock: UInt32 = 0
    private var highest: UInt32 = 0
    private var pingsUnanswered = 0
    private var settingsUnacknowledged = 0
    /// Bytes of frames that have not come whole.
    private var partlySent: [UInt8]
    private var partlyDelivered: [UInt8] = []
    private var prefaceLeft: Int

    /// How many frames were looked at.
    private(set) var frames = 0

    init(_ role: HTTP2Role) {
        isClient = role == .client
        name = isClient ? "client" : "server"
        partlySent = []
        prefaceLeft = WireHTTP2.preface.count
    }

    /// Bytes were given to the end. Bodies may come in pieces, and nothing is done about them before they end.
    mutating func delivered(_ bytes: [UInt8]) {
        partlyDelivered += bytes
        if !isClient { Self.dropPreface(&partlyDelivered, &prefaceLeft) }
        while let frame = Self.nextFrame(&partlyDelivered) { hear(frame) }
    }

    /// How many bytes are to come until the frame under way, or at least its header, is whole.
    var bytesToFrameEnd: Int {
        if !isClient, prefaceLeft > 0 { return prefaceLeft }
        guard partlyDelivered.count >= 9 else { return 9 - partlyDelivered.count }
        return 9 + partlyDelivered[..<3].reduce(0) { $0 << 8 | Int($1) } - partlyDelivered.count
    }

    /// The end has written bytes.
    mutating func sent(_ bytes: [UInt8]) {
        partlySent += bytes
        if isClient { Self.dropPreface(&partlySent, &prefaceLeft) }
        while let frame = Self.nextFrame(&partlySent) {
            frames += 1
            check(frame)
        }
    }

    /// Whether everything that was asked was answered, and no frame is unfinished.
    var isQuiet: Bool {
        pingsUnanswered == 0 && settingsUnacknowledged == 0 && openBlock == 0 && partlySent.isEmpty
            && partlyDelivered.isEmpty
    }

    // MARK: Frames

    private struct Frame {
        let type: UInt8
        let flags: UInt8
        let stream: UInt32
        let payload: [UInt8]

        func number(at place: Int) -> UInt32 { payload[place..<(place + 4)].reduce(0) { $0 << 8 | UInt32($1) } }
    }

    private static func dropPreface(_ bytes: inout [UInt8], _ left: inout Int) {
        let count = min(left, bytes.count)
        bytes.removeFirst(count)
        left -= count
    }

    private static func nextFrame(_ bytes: inout [UInt8]) -> Frame? {
        guard bytes.count >= 9 else { return nil }
        let length = bytes[..<3].reduce(0) { $0 << 8 | Int($1) }
        guard bytes.count >= 9 + length else { return nil }
        defer { bytes.removeFirst(9 + length) }
        return Frame(
            type: bytes[3], flags: bytes[4], stream: bytes[5..<9].reduce(0) { $0 << 8 | UInt32($1) },
            payload: Array(bytes[9..<(9 + length)]))
    }

    // MARK: What is delivered

    private mutating func hear(_ frame: Frame) {
        switch frame.type {
        case 0, 1:
            if frame.type == 1, streams[frame.stream] == nil { streams[frame.stream] = Books(window: initialWindow) }
            if frame.flags & 1 != 0 { streams[frame.stream]?.peerHasEnded = true }
        case 4 where frame.flags & 1 == 0:
            settingsUnacknowledged += 1
            for place in stride(from: 0, to: frame.payload.count, by: 6) {
                let value = Int(frame.number(at: place + 2))
                if frame.payload[place + 1] == 5 { largestFrame = value }
                guard frame.payload[place + 1] == 4 else { continue }
                for stream in streams.keys { streams[stream]?.window += value - initialWindow }
                initialWindow = value
            }
        case 6 where frame.flags & 1 == 0: pingsUnanswered += 1
        case 8 where frame.stream == 0: connectionWindow += Int(frame.number(at: 0))
        case 8: streams[frame.stream]?.window += Int(frame.number(at: 0))
        default: break
        }
    }

    // MARK: What is written

    private mutating func check(_ frame: Frame) {
        expect(openBlock == 0 || frame.type == 9 && frame.stream == openBlock, "a frame inside a block")
        expect(frame.payload.count <= largestFrame, "a frame of \(frame.payload.count) bytes")
        switch frame.type {
        case 0: checkData(frame)
        case 1, 9:
            if frame.type == 1 { checkHeaders(frame) }
            openBlock = frame.flags & 4 == 0 ? frame.stream : 0
        case 3:
            // A stream can be refused before all of its HEADERS has come.
            if !isClient, streams[frame.stream] == nil { streams[frame.stream] = Books(window: initialWindow) }
            expect(streams[frame.stream]?.isReset == false, "a stream is reset that is not there")
            streams[frame.stream]?.isReset = true
        case 4: if frame.flags & 1 != 0 { settingsUnacknowledged -= 1 }
        case 6: if frame.flags & 1 != 0 { pingsUnanswered -= 1 }
        case 8:
            expect(frame.number(at: 0) > 0, "an update of 0")
            if frame.stream != 0 {
                let books = streams[frame.stream]
                expect(books?.isReset == false && books?.peerHasEnded == false, "an update for a stream that is over")
            }
        default: expect(frame.type == 7, "a frame of type \(frame.type)")
        }
        expect(pingsUnanswered >= 0 && settingsUnacknowledged >= 0, "an answer without a question")
    }

    private mutating func checkHeaders(_ frame: Frame) {
        if isClient, streams[frame.stream] == nil {
            expect(frame.stream > highest && frame.stream % 2 == 1, "number \(frame.stream) after \(highest)")
            highest = frame.stream
            streams[frame.stream] = Books(window: initialWindow)
        }
        checkOpen(frame)
    }

    private mutating func checkData(_ frame: Frame) {
        checkOpen(frame)
        let count = frame.payload.count
        connectionWindow -= count
        streams[frame.stream]?.window -= count
        guard count > 0 else { return }
        expect(connectionWindow >= 0, "the connection's window is overrun")
        expect((streams[frame.stream]?.window ?? -1) >= 0, "a stream's window is overrun")
    }

    private mutating func checkOpen(_ frame: Frame) {
        let books = streams[frame.stream]
        expect(books?.hasEnded == false && books?.isReset == false, "stream \(frame.stream) goes on behind its end")
        if frame.flags & 1 != 0 { streams[frame.stream]?.hasEnded = true }
    }

    private func expect(_ condition: Bool, _ message: @autoclosure () -> String) {
        if !condition { Issue.record("\(name): \(message())") }
    }
}
