// A response's body as a sequence of bytes that is read as it comes.

import Foundation

extension URLSession {
    /// Loads a request; returns as soon as the response's head has come, with the body still to be read (B1.92).
    /// Cancelling the surrounding task cancels the transfer and throws `URLError.cancelled` (B1.89).
    public func bytes(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URLSession.AsyncBytes, URLResponse) {
        if let interceptors { return try await InterceptedLoad.bytes(self, interceptors, request, delegate) }
        let feed = makeFeed(request, scope: .body, delegate: delegate)
        let response = try await feed.start()
        return (AsyncBytes(.feed(feed)), response)
    }

    /// Loads a URL; returns as soon as the response's head has come, with the body still to be read (B1.92). Cancelling
    /// the surrounding task cancels the transfer and throws `URLError.cancelled` (B1.89).
    public func bytes(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URLSession.AsyncBytes, URLResponse) {
        try await bytes(for: URLRequest(url: url), delegate: delegate)
    }

    /// Makes a suspended task whose events are taken by an iteration.
    func makeFeed(
        _ request: URLRequest, scope: EventPipe.Scope, delegate: (any URLSessionTaskDelegate)?
    ) -> TransferFeed {
        let pipe = EventPipe(scope: scope)
        let new = NewTask(request, outlet: .pipe(pipe), delegate: delegate)
        return TransferFeed(task: make(new) { URLSessionDataTask(core: $0) }, pipe: pipe)
    }

    /// A response's body, byte by byte. It can be read once. While it is not read, the server is made to wait.
    ///
    /// When the iteration ends early, the last one where there are several, or the sequence goes without having been
    /// read, the transfer is cancelled (B1.92).
    public struct AsyncBytes: AsyncSequence, Sendable {
        /// A byte.
        public typealias Element = UInt8
        /// What reads the bytes.
        public typealias AsyncIterator = URLSession.AsyncBytes.Iterator

        let source: BytesSource

        init(_ source: BytesSource) {
            self.source = source
        }

        /// The task that loads the body; cancel it to stop early. Of several that the session's interceptors have had
        /// it is the last, and where they have answered without any it is one that never begins.
        public var task: URLSessionDataTask { source.task }

        /// Begins to read. Of several iterations each gets what no other has taken, a batch at a time: what one has
        /// taken ahead of its caller the others do not see.
        public func makeAsyncIterator() -> URLSession.AsyncBytes.Iterator {
            Iterator(bytes: BufferedBytes(BodyPieces(source)))
        }

        /// Reads a body byte by byte.
        public struct Iterator: AsyncIteratorProtocol, Sendable {
            @usableFromInline var bytes: BufferedBytes<BodyPieces>

            /// The next byte, or `nil` at the end; throws what broke the body off, after all bytes before that.
            @inlinable @inline(__always)
            public mutating func next() async throws -> UInt8? {
                try await bytes.next(isolation: nil)
            }

            /// The next byte, or `nil` at the end; throws what broke the body off, after all bytes before that.
            @inlinable @inline(__always)
            public mutating func next(isolation actor: isolated (any Actor)?) async throws -> UInt8? {
                try await bytes.next(isolation: actor)
            }
        }
    }
}
