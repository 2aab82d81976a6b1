// Frames of a body that come in a row become one piece: servers send small ones, and each piece costs its way up
// to the program. The bytes of a frame are moved to those of the one before it, where nothing is left but headers
// of frames that were read.

import URLLoadingWire

/// Bytes of one stream's body that lie in a row in what is being read.
struct BodyRun {
    let stream: HTTP2StreamID
    var range: Range<Int>
}

extension HTTP2Connection {
    /// Bytes of a body have come; they are given on with those that follow.
    func gather(_ range: Range<Int>, of id: HTTP2StreamID) {
        if let earlier = run, earlier.stream == id, let base = input.baseAddress {
            let end = earlier.range.upperBound + range.count
            (base + earlier.range.upperBound).copyMemory(from: base + range.lowerBound, byteCount: range.count)
            run = BodyRun(stream: id, range: earlier.range.lowerBound..<end)
        } else {
            giveRun()
            run = BodyRun(stream: id, range: range)
        }
    }

    /// Gives on what was gathered.
    func giveRun() {
        guard let run else { return }
        self.run = nil
        let bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(input)[run.range])
        if let stream = stream(run.stream) {
            stream.received(bytes)
        } else {
            machine.taken(bytes.count, of: run.stream, now: now)
        }
    }
}

extension HTTP2ConnectionMachine.Action {
    /// Whether what has come of bodies is to be given on before.
    var concernsStreams: Bool {
        switch self {
        case .send, .data, .setTimer, .encoderTableChanged, .decoderTableChanged, .capacityChanged: false
        case .blockBegins, .block, .blockEnds, .head, .messageEnds, .closed, .draining, .failed, .finished: true
        }
    }
}
