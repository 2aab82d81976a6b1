// A body stream that a thread of the program feeds piece by piece, through a pair of bound streams with little room.

import Foundation
import URLLoading
import URLLoadingTestSupport

/// The feeding of one such stream.
//
// `@unchecked Sendable`: the writing end is touched by the feeding thread alone; Foundation's stream
// classes are never Sendable.
final class FedStream: @unchecked Sendable {
    private let output: OutputStream
    private let body: [UInt8]
    private let piece: Int

    private init(_ output: OutputStream, _ body: [UInt8], piece: Int) {
        self.output = output
        self.body = body
        self.piece = piece
    }

    /// The end that is read, while a thread writes these bytes to the other until they are
    /// through or the reader has gone.
    static func of(_ body: [UInt8], _ random: inout SeededRandom) -> InputStream? {
        var (input, output): (InputStream?, OutputStream?) = (nil, nil)
        Stream.getBoundStreams(
            withBufferSize: Int.random(in: 256...65_536, using: &random), inputStream: &input, outputStream: &output)
        guard let output else { return nil }
        let feeding = FedStream(output, body, piece: Int.random(in: 256...100_000, using: &random))
        Thread.detachNewThread { feeding.run() }
        return input
    }

    private func run() {
        output.open()
        var rest = body[...]
        while !rest.isEmpty {
            let written = rest.prefix(piece).withContiguousStorageIfAvailable { bytes in
                bytes.baseAddress.map { output.write($0, maxLength: bytes.count) }
            }
            // The request has ended without it.
            guard let written = written ?? nil, written > 0 else { break }
            rest = rest.dropFirst(written)
        }
        output.close()
    }
}
