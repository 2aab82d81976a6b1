// One coding in a chain of codings. It pulls: asked for output, it asks the stage outside it for input, and the
// outermost stage reads what came from the wire. RFC 9110 §8.4.

/// A coding of a chain, with the stage whose output is its input.
final class DecoderStage {
    private var decoder: CodingDecoder
    /// The stage outside this one, nil for the one that reads the wire.
    private let outer: DecoderStage?
    /// Output that the stage inside has not read; empty for the innermost stage, which writes to the caller.
    private var buffer: [UInt8] = []
    private var unread = 0..<0

    /// Makes a stage for a coding.
    init(_ coding: ContentCoding, input outer: DecoderStage?) {
        decoder = CodingDecoder(coding)
        self.outer = outer
    }

    /// Makes a stage that reads the wire and lets nothing through.
    init(refusing error: WireError) {
        decoder = .refusal(CodingRefusal(error))
        outer = nil
    }

    /// Decodes into `output` and returns how many bytes it wrote.
    ///
    /// If they are fewer than `output` holds, all input was used, `refills` has come to zero,
    /// or `failure` says why not.
    func decode(
        _ input: UnsafeRawBufferPointer, offset: inout Int, into output: UnsafeMutableRawBufferPointer,
        refills: inout Int
    ) -> Int {
        guard let outer else { return decoder.decode(input, offset: &offset, into: output) }
        var produced = 0
        while true {
            let room = UnsafeMutableRawBufferPointer(rebasing: output[produced...])
            produced += outer.buffer.withUnsafeBytes { buffer in
                var position = outer.unread.lowerBound
                let produced = decoder.decode(buffer.part(0, outer.unread.upperBound), offset: &position, into: room)
                outer.unread = position..<outer.unread.upperBound
                return produced
            }
            guard produced < output.count, decoder.failure == nil, outer.refill(input, &offset, &refills) else {
                return produced
            }
        }
    }

    /// Why this stage or one outside it stopped.
    var failure: WireError? { decoder.failure ?? outer?.failure }

    /// The input is over: the error that makes the content incomplete or wrong.
    ///
    /// A fault that was met comes before an end that was not, and of two ends that were not the outermost stage's is
    /// the cause.
    func finish() -> WireError? { failure ?? outer?.finish() ?? decoder.finish() }

    /// Fills the buffer that was read; false if there is nothing to fill it with, or it was done often enough.
    private func refill(_ input: UnsafeRawBufferPointer, _ offset: inout Int, _ refills: inout Int) -> Bool {
        guard refills > 0 else { return false }
        refills -= 1
        if buffer.isEmpty { buffer = [UInt8](repeating: 0, count: DecoderStage.bufferBytes) }
        let produced = buffer.withUnsafeMutableBytes { decode(input, offset: &offset, into: $0, refills: &refills) }
        unread = 0..<produced
        return produced > 0
    }

    /// Picked by feel: a chain is rare, and this much is read at once often enough.
    private static var bufferBytes: Int { 16 * 1024 }
}
