// The frames that a server has received, looked at as the lines of a case name them, with the fields of their blocks.
//
// Must not know: drivers and results.

import URLLoadingLoopbackServer
import URLLoadingWire

extension HTTP2ReceivedLine.Pattern {
    /// Whether a frame is one of these.
    func fits(_ frame: HTTP2ReceivedFrame) -> Bool {
        frame.header.type == kind.type && frame.isAcknowledgement == kind.isAcknowledgement
            && stream ?? frame.header.stream == frame.header.stream
            && connection ?? frame.connection == frame.connection
    }
}

/// The frames of a record.
struct HTTP2Sight {
    let frames: [HTTP2ReceivedFrame]

    /// The place of the first frame of a kind, from a place on; of blocks only those that are whole.
    func place(of pattern: HTTP2ReceivedLine.Pattern, from start: Int) -> Int? {
        frames.indices.dropFirst(start).first { pattern.fits(frames[$0]) && (!frames[$0].beginsBlock || isWhole($0)) }
    }

    /// How many streams were opened.
    var streams: Int {
        Set(frames.lazy.filter(\.beginsBlock).map { [UInt32($0.connection), $0.header.stream] }).count
    }

    /// The fields of the block that begins at a place, in order. All blocks before it are decoded,
    /// too: they make the table.
    func fields(at place: Int) throws(CaseFailure) -> [(name: String, value: String)] {
        var decoder = HPACKDecoder()
        for next in frames.indices where frames[next].beginsBlock && frames[next].connection == frames[place].connection
        {
            decoder.beginBlock()
            do throws(HPACKError) {
                let block = frames[next].blockPart + continuations(of: next).flatMap(\.payload)
                try decoder.decode(block.span.bytes)
                try decoder.endBlock()
            } catch {
                throw CaseFailure("the client's fields cannot be decoded: \(error)")
            }
            if next == place { break }
        }
        return (0..<decoder.list.count).map { (decoder.list.name(at: $0), decoder.list.value(at: $0)) }
    }

    /// What else there is of the block that begins at a place.
    private func continuations(of place: Int) -> some Collection<HTTP2ReceivedFrame> {
        let later = frames[(place + 1)...].lazy.filter { $0.connection == frames[place].connection }
        return later.prefix { !frames[place].endsBlock && $0.type == .continuation }
    }

    private func isWhole(_ place: Int) -> Bool {
        frames[place].endsBlock || continuations(of: place).contains(where: \.endsBlock)
    }
}

extension HTTP2ReceivedFrame {
    fileprivate var beginsBlock: Bool { type == .headers }

    fileprivate var endsBlock: Bool { header.flags & HTTP2FrameFlags.endHeaders != 0 }

    /// Its part of a header block, without padding and priority.
    fileprivate var blockPart: ArraySlice<UInt8> {
        var part = payload[...]
        if header.flags & HTTP2FrameFlags.padded != 0, let padding = part.popFirst() {
            part = part.dropLast(Int(padding))
        }
        return header.flags & HTTP2FrameFlags.priority != 0 ? part.dropFirst(5) : part
    }
}
