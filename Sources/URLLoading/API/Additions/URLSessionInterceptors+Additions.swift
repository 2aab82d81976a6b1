// Code of the program's around the loads of a session's `async` calls: it has a request before it goes, and its answer
// before the caller has it. Ours; Apple's loader has nothing of the kind.
//
// Must not know: tasks, and how an answer is given to the caller (`InterceptedLoad`).

import Foundation

extension URLSession {
    /// Ours: code that stands between a session's `async` calls and its loads. It signs requests, asks again with a new
    /// token, writes down what goes by, or answers itself.
    ///
    /// ```swift
    /// struct ClientName: URLSession.Interceptor {
    ///     func intercept(
    ///         _ request: URLRequest, next: URLSession.InterceptorChain
    ///     ) async throws -> URLSession.InterceptedAnswer {
    ///         var request = request
    ///         request.setValue("almanac/3", forHTTPHeaderField: "X-Client")
    ///         return try await next(request)
    ///     }
    /// }
    /// ```
    ///
    /// It is called for `data`, `upload`, `download` and `bytes`, and for each connection of `serverSentEvents`;
    /// not for tasks that are made otherwise, `events(for:)`, and what goes on by resume data. Calls come at the
    /// same time, from any thread.
    public protocol Interceptor: Sendable {
        /// Answers a request of the program's, mostly by `next`, which can be called as often as it takes.
        /// What it throws is thrown by the call of the program's, as it is. It runs in the task that has
        /// called, and is cancelled with it.
        func intercept(
            _ request: URLRequest, next: URLSession.InterceptorChain
        ) async throws -> URLSession.InterceptedAnswer
    }

    /// Ours: what stands behind an interceptor: the interceptors after it, and then the load.
    public struct InterceptorChain: Sendable {
        let load: InterceptedLoad
        /// Where the interceptor stands that is called next.
        let position: Int

        /// The session of the load. What an interceptor loads by it, in its own task or in one that it begins by
        /// `Task`, goes through the interceptors after it alone, as what it gives to the chain does; by
        /// `Task.detached`, through all of them.
        public var session: URLSession { load.session }

        /// Gives a request to the next interceptor, or loads it; each call is a load for itself.
        ///
        /// The body of an upload is sent each time, and so is a request's own. One that is a stream can be read once:
        /// with the same stream another call throws `URLError.requestBodyStreamExhausted`.
        public func callAsFunction(_ request: URLRequest) async throws -> URLSession.InterceptedAnswer {
            try await load.answer(request, by: position)
        }
    }

    /// Ours: an answer on its way to the caller.
    public struct InterceptedAnswer: Sendable {
        /// The response; of a load by http an `HTTPURLResponse`.
        public var response: URLResponse
        /// The body.
        public var body: Body

        /// An answer with this response and this body.
        public init(_ response: URLResponse, body: Body) {
            self.response = response
            self.body = body
        }

        /// The status of an answer by http; nil for others.
        public var statusCode: Int? { (response as? HTTPURLResponse)?.statusCode }

        /// The body of an answer, in memory, in a file, or still to come; to be read piece by piece in any case.
        ///
        /// For `data` and `upload` it is in memory, for `download` in a file, and for `bytes` it is read from the
        /// network as it is read here, once. An interceptor may answer with a body of another kind: what is in memory
        /// is written to the file of a download, and what is still to come is collected for `data`.
        ///
        /// The file of an answer that is dropped is removed, and a body that is dropped before its end
        /// is not read any further.
        public struct Body: AsyncSequence, Sendable {
            /// A piece; none is empty.
            public typealias Element = Data
            /// What broke the body off.
            public typealias Failure = any Error

            let source: InterceptedBody

            /// A body in memory.
            public init(data: Data) { source = .data(data) }

            /// What is in a file. It stays the program's, unless it is the answer of a download, whose
            /// caller gets this very file.
            public init(file: URL) { source = .file(AnswerFile(file, isOwned: false)) }

            /// A body that comes piece by piece.
            public init<Pieces: AsyncSequence & Sendable>(pieces: Pieces) where Pieces.Element == Data {
                source = .pieces { SequencePieces(pieces) }
            }

            init(_ source: InterceptedBody) { self.source = source }

            /// Where the body is, if it is in a file.
            public var file: URL? { if case .file(let file) = source { file.url } else { nil } }

            /// The whole body in memory. One that is longer than `limit` throws `URLError.dataLengthExceedsMaximum`.
            public func collected(upTo limit: Int = .max) async throws -> Data {
                try await source.collected(upTo: limit)
            }

            /// Begins to read.
            public func makeAsyncIterator() -> Iterator { Iterator(pieces: BodyPieces(source)) }

            /// Reads a body piece by piece.
            public struct Iterator: AsyncIteratorProtocol, Sendable {
                var pieces: BodyPieces

                /// The next piece, or `nil` at the end; throws what broke the body off, after all pieces before that.
                public mutating func next() async throws -> Data? { try await pieces.next(isolation: nil) }

                /// The next piece, or `nil` at the end; throws what broke the body off, after all pieces before that.
                public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
                    try await pieces.next(isolation: actor)
                }
            }
        }
    }
}

extension URLSessionConfiguration {
    /// Ours: the interceptors that see the requests and answers of the session's `async` calls, the outermost first: it
    /// has a request before the others, and an answer after them.
    ///
    /// Redirects, challenges, cookies, the cache and repetitions by a `URLSession.RetryPolicy` are part of a load,
    /// behind all of them. Background sessions have no `async` calls.
    public var interceptors: [any URLSession.Interceptor] {
        get { value(\.interceptors) }
        set { assign(\.interceptors, newValue) }
    }
}
