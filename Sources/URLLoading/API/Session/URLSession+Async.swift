// Loads that are awaited. Without any delegate nothing passes through a queue: the call is resumed from the loop.

import Foundation

extension URLSession {
    /// Loads a request; an HTTP status such as 404 does not throw (B1.88). Cancelling the surrounding task cancels the
    /// transfer and throws `URLError.cancelled` (B1.89).
    public func data(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        if let interceptors { return try await InterceptedLoad.data(self, interceptors, request, delegate) }
        return try await run(awaited(NewTask(request, outlet: .whole(.awaiting), delegate: delegate))) { .data($0) }
    }

    /// Loads a URL; an HTTP status such as 404 does not throw (B1.88). Cancelling the surrounding task cancels the
    /// transfer and throws `URLError.cancelled` (B1.89).
    public func data(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        if let interceptors {
            return try await InterceptedLoad.data(self, interceptors, URLRequest(url: url), delegate)
        }
        // Measured: by way of the other form it would be one more asynchronous call.
        return try await run(awaited(NewTask(URLRequest(url: url), outlet: .whole(.awaiting), delegate: delegate))) {
            .data($0)
        }
    }

    /// Loads a request; an HTTP status such as 404 does not throw (B1.88). Cancelling the surrounding task cancels the
    /// transfer and throws `URLError.cancelled` (B1.89).
    ///
    /// A form of its own, as on Apple's platforms: a default argument meets no requirement of a protocol.
    public func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        // Measured: by way of the other form it would be one more asynchronous call.
        if let interceptors { return try await InterceptedLoad.data(self, interceptors, request, nil) }
        return try await run(awaited(NewTask(request, outlet: .whole(.awaiting), delegate: nil))) { .data($0) }
    }

    /// Loads a URL; an HTTP status such as 404 does not throw (B1.88). Cancelling the surrounding task cancels the
    /// transfer and throws `URLError.cancelled` (B1.89).
    public func data(from url: URL) async throws -> (Data, URLResponse) {
        if let interceptors { return try await InterceptedLoad.data(self, interceptors, URLRequest(url: url), nil) }
        return try await run(awaited(NewTask(URLRequest(url: url), outlet: .whole(.awaiting), delegate: nil))) {
            .data($0)
        }
    }

    /// Sends a file as the request's body, read while it is sent, and loads the response; the request's own body is
    /// ignored (B11.4, B11.5).
    public func upload(
        for request: URLRequest, fromFile fileURL: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        let body = TaskBody.file(fileURL)
        if let interceptors {
            return try await InterceptedLoad.data(self, interceptors, request, body: body, delegate)
        }
        return try await run(awaited(NewTask(request, body: body, outlet: .whole(.awaiting), delegate: delegate))) {
            .data($0)
        }
    }

    /// Sends data as the request's body and loads the response; the request's own body is ignored (B11.4).
    public func upload(
        for request: URLRequest, from bodyData: Data, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        let body = TaskBody.data(bodyData)
        if let interceptors {
            return try await InterceptedLoad.data(self, interceptors, request, body: body, delegate)
        }
        return try await run(awaited(NewTask(request, body: body, outlet: .whole(.awaiting), delegate: delegate))) {
            .data($0)
        }
    }

    /// Sends a file as the request's body, read while it is sent, and loads the response; the request's own body is
    /// ignored (B11.4, B11.5).
    public func upload(for request: URLRequest, fromFile fileURL: URL) async throws -> (Data, URLResponse) {
        try await upload(for: request, fromFile: fileURL, delegate: nil)
    }

    /// Sends data as the request's body and loads the response; the request's own body is ignored (B11.4).
    public func upload(for request: URLRequest, from bodyData: Data) async throws -> (Data, URLResponse) {
        try await upload(for: request, from: bodyData, delegate: nil)
    }

    /// Sends the request's own body, as an upload, and loads the response.
    func upload(ofRequest request: URLRequest, delegate: (any URLSessionTaskDelegate)?) async throws -> (
        Data, URLResponse
    ) {
        if let interceptors {
            return try await InterceptedLoad.data(self, interceptors, request, kind: .upload, delegate)
        }
        let new = NewTask(request, outlet: .whole(.awaiting), kind: .upload, delegate: delegate)
        return try await run(awaited(new)) { .data($0) }
    }

    /// Goes on with an upload and loads the response.
    public func upload(
        resumeFrom resumeData: Data, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        let (upload, request) = ResumedUpload.read(resumeData)
        let new = NewTask(request, body: .resuming(upload), outlet: .whole(.awaiting), delegate: delegate)
        return try await run(awaited(new)) { .data($0) }
    }

    /// Saves the body of a response in a file, which the caller keeps or removes (B1.91); an HTTP status such as 404
    /// does not throw. Cancelling the surrounding task cancels the transfer and throws `URLError.cancelled`.
    public func download(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        if let interceptors { return try await InterceptedLoad.file(self, interceptors, request, delegate) }
        return try await run(awaited(NewTask(request, outlet: .file(.awaiting), delegate: delegate))) { .file($0) }
    }

    /// Saves the body of a response in a file, which the caller keeps or removes (B1.91); an HTTP status such as 404
    /// does not throw. Cancelling the surrounding task cancels the transfer and throws `URLError.cancelled`.
    public func download(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        let request = URLRequest(url: url)
        if let interceptors { return try await InterceptedLoad.file(self, interceptors, request, delegate) }
        return try await run(awaited(NewTask(request, outlet: .file(.awaiting), delegate: delegate))) { .file($0) }
    }

    /// Goes on with a download and saves it in a file, which the caller keeps or removes (B1.91). Data that cannot be
    /// read throw `URLError.unsupportedURL`.
    public func download(
        resumeFrom resumeData: Data, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await run(awaited(NewTask(resuming: resumeData, outlet: .awaiting, delegate: delegate))) { .file($0) }
    }

    /// The interceptors between async calls and their loads; nil for none.
    var interceptors: SessionInterceptors? { core.settings.interceptors }

    /// Makes a task whose end is awaited. Measured: where the call below makes it, what is wanted
    /// of it is kept to the end.
    func awaited(_ new: borrowing NewTask) -> TaskCore { core.makeTask(new, session: self) }

    /// Runs a task to its end; cancelling the surrounding task cancels it. On the caller's executor: each change costs
    /// a look at what the surrounding task prefers, behind a lock.
    nonisolated(nonsending) func run<Result>(
        _ task: TaskCore,
        resuming kind: (UnsafeContinuation<Result, any Error>) -> TaskContinuation
    ) async throws -> Result {
        task.telling.tellMaking()
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { task.driver.start(resuming: kind($0)) }
        } onCancel: {
            task.driver.cancel()
        }
    }
}
