// What the content of a request is made of: bytes in memory, a file, or pieces that a source supplies.
//
// Must not know: URLSession, Foundation's streams, how content is framed or sent.

import URLLoadingSystem
import URLLoadingWire

/// The content of a request.
package enum RequestBody: Sendable {
    /// None.
    case none
    /// Bytes in memory; they can be sent again.
    case bytes(any BodyBytes)
    /// A file, as long as it was when it was opened; it can be sent again.
    case file(OpenFile)
    /// So many bytes of a file, from an offset on; they can be sent again.
    case section(OpenFile, from: Int64, count: Int64)
    /// Pieces that can be had once.
    case stream(any BodySource)
}

/// Bytes in memory that can be read in place from the loop's thread.
package protocol BodyBytes: Sendable {
    /// How many bytes there are.
    var count: Int { get }
    /// Lends the bytes, contiguous, for the duration of the call.
    func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R
}

extension [UInt8]: BodyBytes {}

/// Supplies content piece by piece, away from the loop.
///
/// It is asked for one piece ahead of what is being sent, so two pieces at most are in memory.
package protocol BodySource: Sendable {
    /// Asks for the next piece; answers once, from any thread. Never asked while an answer is outstanding.
    func next(_ answer: @escaping @Sendable (SourcePiece) -> Void)

    /// Nothing more is wanted, for whatever reason; an answer that is still to come is not looked at. Called once or
    /// more, on the loop.
    func close()
}

/// What a source answers.
package enum SourcePiece: Sendable {
    /// The next bytes, at least one.
    case bytes([UInt8])
    /// There is nothing more.
    case end
    /// There is nothing more but these fields behind the body (RFC 9110 §6.5). Of a body of a known
    /// length they are not asked for.
    case trailers(Fields)
    /// There is more, but it cannot be had.
    case failed(any Error)
}

/// Why a request's content could not be sent whole.
package enum BodyFailure: Error, Sendable {
    /// It ended before its announced length: a file that shrank (B11.7), a stream that was too short (B5.29).
    case endedEarly(given: Int64, announced: Int64)
    /// A stream gave a piece that goes across its announced length (B5.29).
    case goesBeyond(announced: Int64)
    /// The file could not be read.
    case unreadable(SystemError)
    /// The source's own error (B5.39).
    case source(any Error)
}
