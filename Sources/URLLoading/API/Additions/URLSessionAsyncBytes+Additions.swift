// A body in the pieces in which it came; Apple's `AsyncBytes` has single bytes only.

import Foundation

extension URLSession.AsyncBytes {
    /// The body in pieces as they arrive, without a further copy. This view is ours.
    ///
    /// ```swift
    /// let (bytes, _) = try await session.bytes(from: url)
    /// for try await piece in bytes.chunks {
    ///     try file.write(contentsOf: piece)
    /// }
    /// ```
    public var chunks: Chunks { Chunks(source: source) }

    /// A response's body, piece by piece; how it is cut is not defined, and no piece is empty.
    public struct Chunks: AsyncSequence, Sendable {
        /// A piece.
        public typealias Element = Data

        let source: BytesSource

        /// Begins to read; when the iteration ends early, the last one where there are several,
        /// the transfer is cancelled.
        public func makeAsyncIterator() -> Iterator {
            Iterator(pieces: BodyPieces(source))
        }

        /// Reads a body piece by piece.
        public struct Iterator: AsyncIteratorProtocol, Sendable {
            var pieces: BodyPieces

            /// The next piece, or `nil` at the end; throws what broke the body off, after all pieces before that.
            public mutating func next() async throws -> Data? {
                try await pieces.next(isolation: nil)
            }

            /// The next piece, or `nil` at the end; throws what broke the body off, after all pieces before that.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
                try await pieces.next(isolation: actor)
            }
        }
    }
}
