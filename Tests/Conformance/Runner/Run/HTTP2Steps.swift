// What a case's server does on a connection of HTTP/2, as the test server plays it.
//
// Must not know: drivers and results.

import URLLoadingLoopbackServer
import URLLoadingWire

/// Makes steps of the test server of a case's steps.
struct HTTP2Steps {
    let words: KnownWords
    let gate: (String) -> ServerGate

    /// The steps of a script or an answer.
    func steps(_ steps: [HTTP2ServerStep]) throws -> [HTTP2Step] {
        try steps.flatMap { step -> [HTTP2Step] in
            switch step {
            case .send(let sending, let times): return [.send(try bytes(sending), times: times)]
            case .sendBytewise(let sending):
                // A turn of the loop between two bytes gives the client a chance to see them apart.
                return Array(try bytes(sending).map { [.send([$0])] }.joined(separator: [.delay(.zero)]))
            case .wait(let name): return [.wait(gate(name))]
            case .play(let step): return [step]
            }
        }
    }

    private func bytes(_ sending: HTTP2Sending) throws -> [UInt8] {
        switch sending {
        case .made(let bytes): return bytes
        case .raw(let text): return try words.bytes(text)
        case .frame(let type, let flags, let stream, let text):
            return HTTP2Frames.frame(type: type, flags: flags, on: stream, try words.bytes(text))
        case .data(let framing, let text):
            return HTTP2Frames.data(
                try words.bytes(text), on: framing.stream, ends: framing.endsStream, padding: framing.padding)
        case .headers(let framing, let fields):
            return headers(
                HTTP2Frames.block(
                    try fields.map { (Array($0.name.utf8), try $0.value.map(words.bytes) ?? []) }), framing)
        case .block(let framing, let text): return headers(try words.bytes(text), framing)
        }
    }

    private func headers(_ block: [UInt8], _ framing: HTTP2Framing) -> [UInt8] {
        HTTP2Frames.headers(
            block: block, on: framing.stream, ends: framing.endsStream, padding: framing.padding,
            frames: framing.frames)
    }
}
