// What a URL stands for as a sequence of bytes: a file's contents, or what the shared session loads.

import Foundation

extension URL {
    /// The bytes of a file, or of what the shared session loads. Opening or loading begins with the first byte.
    public var resourceBytes: URL.AsyncBytes { AsyncBytes(url: self) }

    /// The lines of a file in UTF-8, or of what the shared session loads; empty ones are left out.
    public var lines: AsyncLineSequence<URL.AsyncBytes> { resourceBytes.lines }

    /// What a URL stands for, byte by byte; each iteration reads or loads it anew.
    public struct AsyncBytes: AsyncSequence, Sendable {
        /// A byte.
        public typealias Element = UInt8

        let url: URL

        /// Begins to read.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(bytes: BufferedBytes(URLPieces(url)))
        }

        /// Reads byte by byte.
        public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
            @usableFromInline var bytes: BufferedBytes<URLPieces>

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

/// Reads a file or a response's body.
@usableFromInline
struct URLPieces: PieceSupply {
    private enum Source: Sendable {
        case unopened(URL)
        case file(FilePieces)
        case body
    }

    private var source: Source
    /// The body, where it is one. It is read in its place: a copy would share what waits in it, and all of that would
    /// be copied for each piece that is taken.
    private var body: BodyPieces?

    init(_ url: URL) {
        source = .unopened(url)
    }

    @usableFromInline
    mutating func next(isolation: isolated (any Actor)?) async throws -> Data? {
        switch source {
        case .unopened(let url):
            if url.isFileURL {
                source = .file(FilePieces(url))
            } else {
                body = BodyPieces(try await URLSession.shared.bytes(from: url).0.source)
                source = .body
            }
            return try await next(isolation: isolation)
        case .file(var pieces):
            return try await pieces.next(isolation: isolation)
        case .body:
            return try await body?.next(isolation: isolation)
        }
    }
}
