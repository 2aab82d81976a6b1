// A file as a sequence of bytes.

import Foundation

extension FileHandle {
    /// The bytes from where the handle stands, as they can be read.
    public var bytes: FileHandle.AsyncBytes { AsyncBytes(handle: self) }

    /// What can be read from a file handle, byte by byte.
    public struct AsyncBytes: AsyncSequence, Sendable {
        /// A byte.
        public typealias Element = UInt8

        let handle: FileHandle

        /// Begins to read.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(bytes: BufferedBytes(FilePieces(handle)))
        }

        /// Reads byte by byte.
        public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
            @usableFromInline var bytes: BufferedBytes<FilePieces>

            /// The next byte, or `nil` at the end.
            @inlinable @inline(__always)
            public mutating func next() async throws -> UInt8? {
                try await bytes.next(isolation: nil)
            }

            /// The next byte, or `nil` at the end.
            @inlinable @inline(__always)
            public mutating func next(isolation actor: isolated (any Actor)?) async throws -> UInt8? {
                try await bytes.next(isolation: actor)
            }
        }
    }
}
