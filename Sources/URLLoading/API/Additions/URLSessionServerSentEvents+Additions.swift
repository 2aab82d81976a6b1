// Server-sent events (WHATWG HTML, "Server-sent events") as a sequence that comes back by itself
// when its connection ends.
//
// Ours; Apple has nothing of the kind. Must not know: how the stream is read (`EventSubscription`).

import Foundation
import URLLoadingPolicy

extension URLSession {
    /// The events that a server sends for a request, over as many connections as it takes. This method is ours.
    ///
    /// ```swift
    /// for try await event in session.serverSentEvents(from: url) {
    ///     print(event.type, event.data)
    /// }
    /// ```
    ///
    /// Nothing is sent before the first event is asked for. An event is there with its last byte. When a
    /// connection ends or is lost, another one goes on behind the last event (`Last-Event-ID`). The iteration ends
    /// when the server answers with 204. It throws `ServerSentEvents.StreamError` where an answer is no stream of
    /// events, and `URLError` for a failure that does not pass. Ending the iteration early, or cancelling the
    /// surrounding task, ends the load.
    ///
    /// Each connection is a data task of its own, with this delegate.
    public func serverSentEvents(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) -> URLSession.ServerSentEvents {
        ServerSentEvents(self, request, delegate)
    }

    /// The events that a server sends for a URL, over as many connections as it takes. This method is ours.
    public func serverSentEvents(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) -> URLSession.ServerSentEvents {
        serverSentEvents(for: URLRequest(url: url), delegate: delegate)
    }

    /// Ours: an event that a server has sent.
    public struct ServerSentEvent: Sendable, Hashable {
        /// The last event ID: this event's, or that of an event before it; empty where there is none.
        public var id: String
        /// What the `event` field says, `message` without one.
        public var type: String
        /// The data; of several `data` fields with a line feed in between.
        public var data: String
        /// How long to wait before the server is asked again, where it says so with this event.
        /// The sequence keeps to it.
        public var retry: Duration?

        /// Makes an event.
        public init(id: String = "", type: String = "message", data: String, retry: Duration? = nil) {
            self.id = id
            self.type = type
            self.data = data
            self.retry = retry
        }
    }

    /// Ours: the events of a server, as `serverSentEvents(for:delegate:)` gives them. Each iteration is a
    /// subscription of its own.
    public struct ServerSentEvents: AsyncSequence, Sendable {
        /// An event.
        public typealias Element = URLSession.ServerSentEvent

        /// Why there are no more events, where the load itself has not failed.
        public enum StreamError: Error, Sendable, Hashable {
            /// The answer had another status than 200 and 204.
            case unexpectedStatus(Int)
            /// The answer was not of the type `text/event-stream`, but of this one.
            case unexpectedContentType(String?)
            /// An event, or a line, was longer than `maximumEventBytes`.
            case eventTooLong(limit: Int)
        }

        let session: URLSession
        let request: URLRequest
        let delegate: (any URLSessionTaskDelegate)?

        /// How many bytes an event with its lines may have; 1 MiB unless set. A longer one ends the iteration with
        /// `StreamError.eventTooLong`.
        public var maximumEventBytes = 1 << 20
        /// How long to wait before a connection that has ended is followed by another, until the server says so itself;
        /// 3 seconds unless set. It is never shorter than 100 ms and, after a failure, longer, up to a minute.
        public var reconnectionTime = Duration.seconds(3)
        /// Whether another connection follows. It does unless the request's method is one that must not be
        /// repeated, such as POST (RFC 9110 §9.2.2): then the iteration ends with the answer's body, and
        /// throws what breaks it off.
        public var reconnects: Bool

        init(_ session: URLSession, _ request: URLRequest, _ delegate: (any URLSessionTaskDelegate)?) {
            self.session = session
            self.request = request
            self.delegate = delegate
            reconnects = ReplayRules.isIdempotent(request.values.method)
        }

        /// Begins to listen, with the first event that is asked for. Where the request has a `Last-Event-ID` the server
        /// is asked to go on behind that event.
        public func makeAsyncIterator() -> Iterator {
            Iterator(subscription: EventSubscription(self))
        }

        /// Gives events in order.
        public struct Iterator: AsyncIteratorProtocol, Sendable {
            var subscription: EventSubscription

            /// The next event, or `nil` where there are no more; throws what has ended them.
            public mutating func next() async throws -> URLSession.ServerSentEvent? {
                try await subscription.next(isolation: nil)
            }

            /// The next event, or `nil` where there are no more; throws what has ended them.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws -> URLSession.ServerSentEvent? {
                try await subscription.next(isolation: actor)
            }
        }
    }
}

extension URLSession.ServerSentEvents.StreamError: LocalizedError {
    /// A sentence for a person.
    public var errorDescription: String? {
        switch self {
        case .unexpectedStatus(let status):
            "The server answered with status \(status); a stream of events has 200."
        case .unexpectedContentType(let type):
            "The server's answer is of type \(type ?? "unknown"), and not text/event-stream."
        case .eventTooLong(let limit): "The server has sent an event of more than \(limit) bytes."
        }
    }
}
