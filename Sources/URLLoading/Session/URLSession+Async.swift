// Loads that are awaited. Without any delegate nothing passes through a queue: the call is resumed from the loop.
//
// `nonisolated(nonsending)`: the functions run where their caller does. Each change of executor costs a task a look at
// its preferences, behind a lock, and a caller on the main actor two thread changes.

import Foundation

extension URLSession {
    /// Loads a request; an HTTP status such as 404 does not throw (B1.88). Cancelling the surrounding task cancels the
    /// transfer and throws `URLError.cancelled` (B1.89).
    public nonisolated(nonsending) func data(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        let task = core.makeTask(request, outlet: .awaiting, delegate: delegate, session: self)
        if task.usesRelay { task.tell(.createTask) { $0.urlSession($1, didCreateTask: $2) } }
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                task.start(resuming: .data(continuation))
            }
        } onCancel: {
            task.cancel()
        }
    }

    /// Loads a URL; an HTTP status such as 404 does not throw (B1.88). Cancelling the surrounding task cancels the
    /// transfer and throws `URLError.cancelled` (B1.89).
    public nonisolated(nonsending) func data(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await data(for: URLRequest(url: url), delegate: delegate)
    }

    /// Sends a file as the request's body, read while it is sent, and loads the response; the request's own body is
    /// ignored (B11.4, B11.5).
    public nonisolated(nonsending) func upload(
        for request: URLRequest, fromFile fileURL: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await upload(request, body: .file(fileURL), delegate: delegate)
    }

    /// Sends data as the request's body and loads the response; the request's own body is ignored (B11.4).
    public nonisolated(nonsending) func upload(
        for request: URLRequest, from bodyData: Data, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await upload(request, body: .data(bodyData), delegate: delegate)
    }

    private nonisolated(nonsending) func upload(
        _ request: URLRequest, body: TaskBody, delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (Data, URLResponse) {
        let task = core.makeTask(request, body: body, outlet: .awaiting, delegate: delegate, session: self)
        if task.usesRelay { task.tell(.createTask) { $0.urlSession($1, didCreateTask: $2) } }
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                task.start(resuming: .data(continuation))
            }
        } onCancel: {
            task.cancel()
        }
    }

    /// Saves the body of a response in a file, which the caller keeps or removes (B1.91); an HTTP status such as 404 does
    /// not throw. Cancelling the surrounding task cancels the transfer and throws `URLError.cancelled`.
    public nonisolated(nonsending) func download(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        let task = core.makeTask(request, outlet: .file(.awaiting), delegate: delegate, session: self)
        if task.usesRelay { task.tell(.createTask) { $0.urlSession($1, didCreateTask: $2) } }
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                task.start(resuming: .file(continuation))
            }
        } onCancel: {
            task.cancel()
        }
    }

    /// Saves the body of a response in a file, which the caller keeps or removes (B1.91); an HTTP status such as 404 does
    /// not throw. Cancelling the surrounding task cancels the transfer and throws `URLError.cancelled`.
    public nonisolated(nonsending) func download(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await download(for: URLRequest(url: url), delegate: delegate)
    }
}
