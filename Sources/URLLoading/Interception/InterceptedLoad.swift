// An `async` call in a session with interceptors: the request goes through them, what they ask for is loaded, each time
// by a task of its own, and what they answer is given to the caller in the form that it has asked for.
//
// Must not know: how a task loads.

import Foundation
import Synchronization

/// One call of the program's, and as many loads as its interceptors want.
final class InterceptedLoad: Sendable {
    /// How loads bring their bodies, and what they send.
    private enum Form: Sendable {
        case data(TaskBody, TaskKind)
        case file
        case bytes
    }

    let session: URLSession
    private let interceptors: SessionInterceptors
    private let form: Form
    private let delegate: (any URLSessionTaskDelegate)?
    private let state = Mutex(State())

    private struct State: Sendable {
        /// The requests that were sent with a stream, which can be read once.
        var streamed: [URLRequest] = []
        /// The task of the last answer whose body is still to come.
        var task: URLSessionDataTask?

        /// Whether this one was.
        func hasSent(_ stream: InputStream) -> Bool { streamed.contains { $0.values.httpBodyStream === stream } }
    }

    private init(
        _ session: URLSession, _ interceptors: SessionInterceptors, _ form: Form,
        _ delegate: (any URLSessionTaskDelegate)?
    ) {
        self.session = session
        self.interceptors = interceptors
        self.form = form
        self.delegate = delegate
    }

    // MARK: Calls

    /// A whole body.
    static func data(
        _ session: URLSession, _ interceptors: SessionInterceptors, _ request: URLRequest, body: TaskBody = .request,
        kind: TaskKind? = nil, _ delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (Data, URLResponse) {
        let load = InterceptedLoad(session, interceptors, .data(body, kind ?? body.kind), delegate)
        let answer = try await load.begin(request)
        return (try await answer.body.collected(), answer.response)
    }

    /// A file, which is the caller's.
    static func file(
        _ session: URLSession, _ interceptors: SessionInterceptors, _ request: URLRequest,
        _ delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (URL, URLResponse) {
        let load = InterceptedLoad(session, interceptors, .file, delegate)
        let answer = try await load.begin(request)
        if case .file(let file) = answer.body.source { return (file.letGo(), answer.response) }
        let folder = session.core.settings.downloadFolder
        return (try await AnswerFile.write(answer.body.source, in: folder, of: request.url), answer.response)
    }

    /// A body that is still to come.
    static func bytes(
        _ session: URLSession, _ interceptors: SessionInterceptors, _ request: URLRequest,
        _ delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (URLSession.AsyncBytes, URLResponse) {
        let load = InterceptedLoad(session, interceptors, .bytes, delegate)
        let answer = try await load.begin(request)
        if case .feed(let feed) = answer.body.source { return (URLSession.AsyncBytes(.feed(feed)), answer.response) }
        let task = load.state.withLock { $0.task } ?? URLSessionDataTask(core: .detached())
        return (URLSession.AsyncBytes(.answer(answer.body.source, task)), answer.response)
    }

    // MARK: Steps

    private func begin(_ request: URLRequest) async throws -> URLSession.InterceptedAnswer {
        defer { closeUnsentStream(of: request) }
        // B1.90.
        if Task.isCancelled { throw LoadFailure.cancelled(request.url) }
        return try await answer(request, by: interceptors.first)
    }

    /// Asks the interceptor at a position; behind the last, the network.
    func answer(_ request: URLRequest, by position: Int) async throws -> URLSession.InterceptedAnswer {
        if interceptors.isEnd(position) { return try await load(request) }
        return try await interceptors.intercept(request, self, at: position)
    }

    private func load(_ request: URLRequest) async throws -> URLSession.InterceptedAnswer {
        switch form {
        case .data(let body, let kind):
            if case .request = body { try takeStream(of: request) }
            let new = NewTask(request, body: body, outlet: .whole(.awaiting), kind: kind, delegate: delegate)
            let (data, response) = try await session.run(session.awaited(new)) { .data($0) }
            return URLSession.InterceptedAnswer(response, body: .init(.data(data)))
        case .file:
            try takeStream(of: request)
            let new = NewTask(request, outlet: .file(.awaiting), delegate: delegate)
            let (url, response) = try await session.run(session.awaited(new)) { .file($0) }
            return URLSession.InterceptedAnswer(response, body: .init(.file(AnswerFile(url, isOwned: true))))
        case .bytes:
            try takeStream(of: request)
            let feed = session.makeFeed(request, scope: .body, delegate: delegate)
            state.withLock { $0.task = feed.task }
            let response = try await feed.start()
            return URLSession.InterceptedAnswer(response, body: .init(.feed(feed)))
        }
    }

    /// B5.35: where the interceptors have let no task have the body, no task's end closes it.
    private func closeUnsentStream(of request: URLRequest) {
        guard let stream = request.values.httpBodyStream, !state.withLock({ $0.hasSent(stream) }) else { return }
        request.values.closeUnopenedPair()
    }

    /// A stream is sent once, unless it is one that can be had again (B5.94, B5.97).
    private func takeStream(of request: URLRequest) throws {
        guard let stream = request.values.httpBodyStream, request.values.madeStream?.isRenewable != true else { return }
        let isNew = state.withLock { state in
            guard !state.hasSent(stream) else { return false }
            state.streamed.append(request)
            return true
        }
        if isNew { return }
        throw LoadFailure.bodyStreamExhausted(
            request.url,
            "An interceptor has given the chain another request whose body is a stream that was sent before.")
    }
}
