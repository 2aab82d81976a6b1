// Stubs for tests of programs: a session that asks no server and gets the answers that the test has laid down.
//
// Ours; Apple has nothing of the kind. Must not know: tasks, how an answer is delivered (`MockCarrier`).

import Foundation
import Synchronization
import URLLoadingPolicy

extension URLSession {
    /// Ours: a table of answers that stands in for all servers.
    ///
    /// ```swift
    /// let mock = URLSession.Mock()
    /// mock.stub(URL(string: "https://api.example.com/users")!, .text("[]", headers: ["Content-Type": "application/json"]))
    /// let session = mock.session()
    /// ```
    ///
    /// Sessions of its configuration load nothing from anywhere else: what no stub matches fails, with an error that
    /// names the URL, and stream and web socket tasks fail with `URLError.unsupportedURL`. Each mock is for itself, so
    /// tests that run at the same time do not meet.
    public final class Mock: Sendable {
        private struct Stub: Sendable {
            let matches: @Sendable (URLRequest) -> Bool
            var answers: [Answer]
        }

        private struct State: Sendable {
            var stubs: [Stub] = []
            var requests: [URLRequest] = []
        }

        private let state = Mutex(State())

        /// Makes a table without any answer.
        public init() {}

        // MARK: Laying down answers

        /// Answers requests for a URL, of one method or of all. Of several answers each is given once, in order, and
        /// the last from then on; of several stubs for a request the newest counts.
        public func stub(_ url: URL, method: String? = nil, _ answers: Answer...) {
            add(answers) { request in
                request.url?.absoluteString == url.absoluteString && (method == nil || request.httpMethod == method)
            }
        }

        /// Answers the requests for which `matches` says yes, as the other form does. Their bodies are in `httpBody`,
        /// however they were given.
        public func stub(where matches: @escaping @Sendable (URLRequest) -> Bool, _ answers: Answer...) {
            add(answers, matches)
        }

        private func add(_ answers: [Answer], _ matches: @escaping @Sendable (URLRequest) -> Bool) {
            guard !answers.isEmpty else { return }
            state.withLock { $0.stubs.append(Stub(matches: matches, answers: answers)) }
        }

        /// Forgets all stubs and requests.
        public func reset() {
            // Order: the program's closures, and what they hold, go when the lock is free, since a
            // deinit may use the mock.
            state.letGo { exchange(&$0, with: State()) }
        }

        // MARK: Using them

        /// A new ephemeral configuration whose sessions this table answers. `URLSessionConfiguration.mock` does the
        /// same for any other.
        public var configuration: URLSessionConfiguration {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.mock = self
            return configuration
        }

        /// A new session that this table answers.
        public func session(
            delegate: (any URLSessionDelegate)? = nil, delegateQueue: OperationQueue? = nil
        ) -> URLSession {
            URLSession(configuration: configuration, delegate: delegate, delegateQueue: delegateQueue)
        }

        /// The requests that have come so far, each hop of a redirect for itself, with their bodies in `httpBody`.
        public var requests: [URLRequest] { state.withLock { $0.requests } }

        /// Notes a request with its whole body, and finds its answer.
        func answer(to request: URLRequest) -> Answer {
            let stubs = state.withLock { state in
                state.requests.append(request)
                return state.stubs
            }
            // Order: the program's closures are called without the lock.
            guard let index = stubs.lastIndex(where: { $0.matches(request) }) else {
                let url = request.url.map(ErrorText.withoutPassword) ?? "a request without URL"
                return .failure(
                    LoadFailure.make(
                        .resourceUnavailable, request.url,
                        "No stub of this URLSession.Mock matches \(request.httpMethod ?? "GET") \(url)."))
            }
            return state.withLock { state in
                // Stubs are only ever added, unless all were forgotten meanwhile.
                guard index < state.stubs.count, let first = state.stubs[index].answers.first else {
                    return stubs[index].answers[0]
                }
                if state.stubs[index].answers.count > 1 { state.stubs[index].answers.removeFirst() }
                return first
            }
        }
    }
}

extension URLSession.Mock {
    /// What a request is answered with.
    public struct Answer: Sendable {
        enum Kind: Sendable {
            case response(status: Int, headers: [String: String], body: Data)
            case failure(any Error)
            case redirect(URL, status: Int)
            case closure(@Sendable (URLRequest) throws -> Answer)
            case silence
        }

        let kind: Kind
        private(set) var delay = Duration.zero

        private init(_ kind: Kind) { self.kind = kind }

        /// A response. Its Content-Length is that of the body unless it is given.
        public static func response(
            status: Int = 200, headers: [String: String] = [:], body: Data = Data()
        ) -> Answer {
            Answer(.response(status: status, headers: headers, body: body))
        }

        /// A response whose body is text in UTF-8.
        public static func text(_ text: String, status: Int = 200, headers: [String: String] = [:]) -> Answer {
            let hasType = headers.keys.contains { $0.lowercased() == "content-type" }
            let type = hasType ? [:] : ["Content-Type": "text/plain; charset=utf-8"]
            return .response(
                status: status, headers: headers.merging(type) { given, _ in given }, body: Data(text.utf8))
        }

        /// A load that fails with this error, of whichever domain.
        public static func failure(_ error: any Error) -> Answer { Answer(.failure(error)) }

        /// A redirect, followed by the rules of HTTP unless a delegate says otherwise.
        public static func redirect(to url: URL, status: Int = 302) -> Answer { Answer(.redirect(url, status: status)) }

        /// What the closure makes of the request; an error that it throws is that of the load.
        public static func answering(_ make: @escaping @Sendable (URLRequest) throws -> Answer) -> Answer {
            Answer(.closure(make))
        }

        /// No answer: the load ends by its time-out or when it is cancelled.
        public static var silence: Answer { Answer(.silence) }

        /// A copy of this answer that comes later by so much. No thread waits meanwhile.
        public func delayed(by delay: Duration) -> Answer {
            var answer = self
            answer.delay = Span.bounded(answer.delay + Span.bounded(delay))
            return answer
        }
    }
}

extension URLSessionConfiguration {
    /// Ours: answers all loads in place of servers, files and custom protocols; nil, the default, answers nothing.
    public var mock: URLSession.Mock? {
        get { value(\.mock) }
        set { assign(\.mock, newValue) }
    }
}
