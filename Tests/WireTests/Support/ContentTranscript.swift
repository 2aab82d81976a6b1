// Runs `ContentDecoder` over a vector and writes down what came out.

import Testing
import URLLoadingTestSupport
import URLLoadingWire

/// What a content decoder makes of bytes, as text.
enum ContentTranscript {
    /// The events of a body that comes in these pieces and is decoded into outputs of that size.
    static func run(
        _ vector: Vector, _ pieces: [ArraySlice<UInt8>], outputBytes: Int, libraries: CodingLibraries? = nil
    ) -> [String] {
        let coding = vector.options("coding").first ?? ""
        guard var decoder = ContentDecoder.make(contentEncoding: coding, libraries: libraries ?? .none) else {
            return ["untouched"]
        }
        var events: [String] = []
        var content: [UInt8] = []
        let onlyZeros = [UInt8](repeating: 0, count: outputBytes)
        var zeros = 0
        var error: WireError?
        do throws(WireError) {
            for piece in pieces {
                try decode(&decoder, Array(piece), outputBytes) { output in
                    // Millions of zeros are counted, not kept.
                    if content.isEmpty, firstDifference(output, onlyZeros.prefix(output.count)) == nil {
                        zeros += output.count
                    } else {
                        content += output
                    }
                }
            }
            try decoder.finish()
        } catch let fault {
            error = fault
        }
        if zeros > 0 { events.append("zeros \(zeros)") }
        if !content.isEmpty { events.append("text " + VectorText.escape(content)) }
        if content.isEmpty, zeros == 0, error == nil { events.append("empty") }
        if let error { events.append("error \(error.kind): \(error)") }
        return events
    }

    /// Checks that a vector's body leads to its events, however it is cut and however large the outputs are.
    static func check(_ vector: Vector, libraries: CodingLibraries? = nil) {
        let isLarge = vector.events.contains { $0.hasPrefix("zeros") }
        let ways = Pieces.waysToCut(vector.bytes)
        for outputBytes in isLarge ? [64 * 1024] : [1, 5, 4096] {
            for pieces in isLarge ? Array(ways.prefix(4)) : ways {
                let events = run(vector, pieces, outputBytes: outputBytes, libraries: libraries)
                guard agree(events, vector.expectedEvents, mayKeepEnd: libraries != nil) else {
                    #expect(events == vector.expectedEvents, "\(pieces.prefix(3).map(\.count))… into \(outputBytes)")
                    return
                }
            }
        }
    }

    /// Whether events are those that are expected. A library keeps the end of a text to itself where the fault is in
    /// bytes that it was given together with it.
    static func agree(_ events: [String], _ expected: [String], mayKeepEnd: Bool) -> Bool {
        guard mayKeepEnd, let error = expected.last, error.hasPrefix("error"), events.last == error else {
            return events == expected
        }
        let (text, whole) = (events.dropLast().joined(), expected.dropLast().joined())
        return whole.hasPrefix(text)
    }

    /// There was something to decode and no decoder for it.
    struct NoDecoder: Error {}

    /// A decoder, or a failed test.
    static func require(_ decoder: consuming ContentDecoder?) throws(NoDecoder) -> ContentDecoder {
        guard let decoder else { throw NoDecoder() }
        return decoder
    }

    /// Decodes one piece as the decoder's documentation says it is to be done.
    static func decode(
        _ decoder: inout ContentDecoder, _ piece: [UInt8], _ outputBytes: Int, _ deliver: ([UInt8]) -> Void
    ) throws(WireError) {
        var output = [UInt8](repeating: 0xAA, count: outputBytes)
        var offset = 0
        while true {
            let before = offset
            let produced = try step(&decoder, piece, &offset, &output)
            if produced > 0 { deliver(Array(output.prefix(produced))) }
            if !decoder.hasMore, offset == piece.count { return }
            if produced == 0, offset == before, !decoder.hasMore { return deliver(Array("BUG: no progress".utf8)) }
        }
    }

    private static func step(
        _ decoder: inout ContentDecoder, _ piece: [UInt8], _ offset: inout Int, _ output: inout [UInt8]
    ) throws(WireError) -> Int {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: output.count, alignment: 1)
        defer { memory.deallocate() }
        let produced = try decoder.decode(piece.span.bytes, offset: &offset, into: memory)
        output.withUnsafeMutableBytes { $0.copyMemory(from: UnsafeRawBufferPointer(memory)) }
        return produced
    }
}
