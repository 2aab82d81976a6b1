// Everything that happens to a task, as a sequence: an alternative to a delegate.

import Foundation

extension URLSession {
    /// Loads a request and tells everything that happens, in order. This method is ours.
    ///
    /// ```swift
    /// for await event in session.events(for: request) {
    ///     switch event {
    ///     case .response(let response): print(response)
    ///     case .body(let piece): file.write(piece)
    ///     case .end(let error): print(error.map { "failed: \($0)" } ?? "done")
    ///     default: break
    ///     }
    /// }
    /// ```
    ///
    /// The load begins with the first event that is asked for. Until the next is asked for, the server is made to wait.
    /// Ending the iteration early, or cancelling the surrounding task, cancels the transfer. Delegates are told what
    /// they would be told of an `async` call; the session's delegate is asked about redirects.
    public func events(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) -> URLSession.TransferEvents {
        TransferEvents(feed: makeFeed(request, scope: .everything, delegate: delegate))
    }

    /// Ours: something that happens to a task.
    public enum TransferEvent: Sendable {
        /// A 1xx response other than 100 and 101 came.
        case informational(HTTPURLResponse)
        /// A redirect is followed, with this request.
        case redirect(HTTPURLResponse, URLRequest)
        /// Another attempt follows an answer or an error, after so many seconds (`URLSession.RetryPolicy`).
        case retry(URLSession.RetryPolicy.Failure, after: TimeInterval)
        /// The head of the task's response has come; exactly once, unless the task fails before.
        case response(URLResponse)
        /// Body bytes have been sent or received; several reports in a row are one.
        case progress(TransferProgress)
        /// The next bytes of the body, decoded.
        case body(Data)
        /// What was measured; comes before the end of every task that was started.
        case metrics(URLSessionTaskMetrics)
        /// The task is over; always the last event. `nil` stands for success, whatever the HTTP status.
        case end((any Error)?)
    }

    /// Ours: how far a task has come; lengths that are not known are −1.
    public struct TransferProgress: Sendable, Hashable {
        /// Bytes of the request's body that were sent.
        public var bytesSent: Int64
        /// The length of the request's body.
        public var bytesExpectedToSend: Int64
        /// Bytes of the response's body that came, after decoding.
        public var bytesReceived: Int64
        /// The length of the response's body.
        public var bytesExpectedToReceive: Int64

        /// Numbers as they are.
        public init(
            bytesSent: Int64, bytesExpectedToSend: Int64, bytesReceived: Int64, bytesExpectedToReceive: Int64
        ) {
            self.bytesSent = bytesSent
            self.bytesExpectedToSend = bytesExpectedToSend
            self.bytesReceived = bytesReceived
            self.bytesExpectedToReceive = bytesExpectedToReceive
        }
    }

    /// Ours: what happens to one task, from its start to its end; to be iterated once.
    public struct TransferEvents: AsyncSequence, Sendable {
        /// An event.
        public typealias Element = URLSession.TransferEvent
        /// Errors come as the last event.
        public typealias Failure = Never

        let feed: TransferFeed

        /// The task; cancel or suspend it as any other.
        public var task: URLSessionDataTask { feed.task }

        /// Begins to listen; the task starts with the first event that is asked for.
        public func makeAsyncIterator() -> Iterator {
            Iterator(iteration: FeedIteration(feed))
        }

        /// Gives events in order.
        public struct Iterator: AsyncIteratorProtocol, Sendable {
            /// Errors come as the last event.
            public typealias Failure = Never

            let iteration: FeedIteration
            /// What was taken from the feed, last first.
            private var events: [URLSession.TransferEvent] = []
            private var hasStarted = false

            init(iteration: FeedIteration) {
                self.iteration = iteration
            }

            /// The next event, or `nil` after the end.
            public mutating func next() async -> URLSession.TransferEvent? {
                await next(isolation: nil)
            }

            /// The next event, or `nil` after the end.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> URLSession.TransferEvent? {
                if let event = events.popLast() { return event }
                if !hasStarted {
                    hasStarted = true
                    iteration.feed.begin()
                }
                events = await iteration.feed.next(isolation: actor)
                events.reverse()
                return events.popLast()
            }
        }
    }
}
