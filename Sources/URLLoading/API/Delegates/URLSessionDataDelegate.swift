// What a session tells its delegate, and a task its own, about data tasks.

import Foundation

/// Is told about the responses and bodies of data tasks.
@preconcurrency
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    /// The response's head is complete. The body waits until the handler is called (B1.31).
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)

    /// The response's head is complete. The body waits until this returns.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition

    /// The delegate's answer was `.becomeDownload`: the same transfer goes on as a download task, and the data task
    /// tells nothing more (B1.68).
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask)

    /// The delegate's answer was `.becomeStream`: the connection goes on as a stream task, which reads what follows the
    /// response's head as it comes, and the data task tells nothing more (B1.70).
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask)

    /// The next bytes of the body, decoded.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)

    /// The response is complete and about to be stored in the cache: the handler takes it as it is, another in its
    /// place, or `nil` to store nothing (B7.89). The end of the task waits until the handler is called.
    ///
    /// Not for what comes from the cache, nor in sessions with an ephemeral configuration (B7.88, B7.94).
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void)

    /// The response is complete and about to be stored in the cache: returns it as it is, another in its place, or
    /// `nil` to store nothing (B7.89). The end of the task waits until this returns.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse?
}

extension URLSessionDataDelegate {
    /// Asks the `async` form.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if dataTask.core.noteMissingHandlerForm(.response, of: self) { return }
        Task { completionHandler(await urlSession(session, dataTask: dataTask, didReceive: response)) }
    }

    /// Asks the form with a handler; without one, goes on.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
        if dataTask.core.asyncProbe.noteMissing(.responseAsync, of: self) { return .allow }
        return await HandlerFormCall.ask(.response, of: self, about: dataTask.core, unanswered: .cancel) { reply in
            urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: reply)
        } ?? .allow
    }

    /// Does nothing.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
    ) {
        dataTask.core.probe.noteMissing(.becomeDownload, of: self)
    }

    /// Does nothing.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
    ) {
        dataTask.core.probe.noteMissing(.becomeStream, of: self)
    }

    /// Does nothing.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        dataTask.core.probe.noteMissing(.data, of: self)
    }

    /// Asks the `async` form.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        if dataTask.core.noteMissingHandlerForm(.storing, of: self) { return }
        Task {
            completionHandler(await urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse))
        }
    }

    /// Asks the form with a handler; without one, stores the response as it is.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse? {
        if dataTask.core.asyncProbe.noteMissing(.storingAsync, of: self) { return proposedResponse }
        return await HandlerFormCall.ask(.storing, of: self, about: dataTask.core, unanswered: nil) { reply in
            urlSession(
                session, dataTask: dataTask, willCacheResponse: proposedResponse, completionHandler: reply)
        } ?? proposedResponse
    }
}
