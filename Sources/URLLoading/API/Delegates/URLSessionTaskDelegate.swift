// What a session tells its delegate, and a task its own, about every kind of task.
//
// Each method that waits for an answer may be implemented with a completion handler or as `async`. The loader asks
// the first form; its default stands for "not implemented" and makes the loader ask the second.

import Foundation

/// Is told about the life of tasks.
@preconcurrency
public protocol URLSessionTaskDelegate: URLSessionDelegate {
    /// A task was made. The only message that comes on the thread that made the task, before the making method
    /// returns (B1.30).
    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask)

    /// The date of `earliestBeginDate` has come. Call the handler with what to do; a new request is used only with
    /// `.useNewRequest`, and must be given then (B6.23). The task waits until the handler is called.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void)

    /// The date of `earliestBeginDate` has come. Return what to do, and the new request for `.useNewRequest`.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?)

    /// There is no way to the host and the task waits for one; at most once per task, and only in sessions with
    /// `waitsForConnectivity` (B6.16).
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)

    /// The server redirects. Call the handler with the request to go on with, or with `nil` to take the redirect
    /// itself as the response (B4.2, B4.3). The task waits until then.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)

    /// The server redirects. Return the request to go on with, or `nil` to take the redirect itself as the response.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest?

    /// The server asks for credentials, or shows its own certificate where the delegate has no
    /// `urlSession(_:didReceive:completionHandler:)` (B2.2, B2.4). Call the handler, at any time from any thread; the
    /// task waits until then.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)

    /// The server asks for credentials, or shows its own certificate where the delegate has no
    /// `urlSession(_:didReceive:)`. Return what is to be done.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)

    /// A stream for the request's body is needed: the first of a streamed upload, and another one for each further
    /// sending. Call the handler with a stream that is not open yet; without one the task ends with
    /// `URLError.requestBodyStreamExhausted`, or after a lost connection with the loss. The task waits until then.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void)

    /// A stream for the request's body is needed. Return one that is not open yet.
    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream?

    /// A stream for the request's body from `offset` on is needed; also asked, from 0, of a delegate that does not
    /// implement the form without offset. Call the handler with a stream that is not open yet.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void)

    /// A stream for the request's body from `offset` on is needed. Return one that is not open yet.
    func urlSession(
        _ session: URLSession, needNewBodyStreamForTask task: URLSessionTask, from offset: Int64
    ) async -> InputStream?

    /// Part of the request's body has been sent.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64)

    /// A 1xx response other than 100 and 101 came (B5.41).
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse)

    /// Everything that was measured; comes once, before the task's last message (B1.75).
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)

    /// The task has ended; its last message (B1.71). An HTTP status such as 404 is not an error (B1.72).
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

extension URLSessionTaskDelegate {
    /// Does nothing.
    public func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        task.core.probe.noteMissing(.createTask, of: self)
    }

    /// Asks the `async` form.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        if task.core.noteMissingHandlerForm(.delayed, of: self) { return }
        Task {
            let (disposition, next) = await urlSession(session, task: task, willBeginDelayedRequest: request)
            completionHandler(disposition, next)
        }
    }

    /// Asks the form with a handler; without one, goes on with the request as it is.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?) {
        if task.core.asyncProbe.noteMissing(.delayedAsync, of: self) { return (.continueLoading, nil) }
        return await HandlerFormCall.ask(.delayed, of: self, about: task.core, unanswered: (.cancel, nil)) { reply in
            urlSession(
                session, task: task, willBeginDelayedRequest: request, completionHandler: { reply(($0, $1)) })
        } ?? (.continueLoading, nil)
    }

    /// Does nothing.
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        task.core.probe.noteMissing(.waiting, of: self)
    }

    /// Asks the `async` form.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        if task.core.noteMissingHandlerForm(.redirect, of: self) { return }
        Task {
            completionHandler(
                await urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: request))
        }
    }

    /// Asks the form with a handler; without one, follows the redirect.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        if task.core.asyncProbe.noteMissing(.redirectAsync, of: self) { return request }
        return await HandlerFormCall.ask(.redirect, of: self, about: task.core, unanswered: nil) { reply in
            urlSession(
                session, task: task, willPerformHTTPRedirection: response, newRequest: request,
                completionHandler: reply)
        } ?? request
    }

    /// Asks the `async` form.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        if task.core.noteMissingHandlerForm(.taskChallenge, of: self) { return }
        Task {
            let (disposition, credential) = await urlSession(session, task: task, didReceive: challenge)
            completionHandler(disposition, credential)
        }
    }

    /// Asks the form with a handler; without one, leaves it to default handling.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        if task.core.asyncProbe.noteMissing(.taskChallengeAsync, of: self) { return (.performDefaultHandling, nil) }
        return await HandlerFormCall.ask(
            .taskChallenge, of: self, about: task.core, unanswered: (.cancelAuthenticationChallenge, nil)
        ) { reply in
            urlSession(session, task: task, didReceive: challenge, completionHandler: { reply(($0, $1)) })
        } ?? (.performDefaultHandling, nil)
    }

    /// Asks the `async` form.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        if task.core.noteMissingHandlerForm(.bodyStream, of: self) { return }
        Task { completionHandler(await urlSession(session, needNewBodyStreamForTask: task)) }
    }

    /// Asks the form with a handler; without one, for a stream from 0 on.
    public func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream? {
        if task.core.asyncProbe.noteMissing(.bodyStreamAsync, of: self) { return nil }
        let stream = await HandlerFormCall.ask(.bodyStream, of: self, about: task.core, unanswered: nil) { reply in
            urlSession(session, task: task, needNewBodyStream: { reply($0.map { LentObject($0) }) })
        }
        if let stream { return stream?.object }
        // Nil within that call: the method with an offset asks for this one.
        guard let call = HandlerFormCall(.bodyStreamAsync, of: self, about: task.core) else { return nil }
        return await call.run {
            await urlSession(session, needNewBodyStreamForTask: task, from: 0).map { LentObject($0) }
        }?.object
    }

    /// Asks the `async` form.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        if task.core.noteMissingHandlerForm(.bodyStreamFrom, of: self) { return }
        Task { completionHandler(await urlSession(session, needNewBodyStreamForTask: task, from: offset)) }
    }

    /// Asks the form with a handler; without one, supplies none.
    public func urlSession(
        _ session: URLSession, needNewBodyStreamForTask task: URLSessionTask, from offset: Int64
    ) async -> InputStream? {
        if task.core.asyncProbe.noteMissing(.bodyStreamFromAsync, of: self) { return nil }
        let stream = await HandlerFormCall.ask(.bodyStreamFrom, of: self, about: task.core, unanswered: nil) { reply in
            urlSession(
                session, task: task, needNewBodyStreamFrom: offset,
                completionHandler: { reply($0.map { LentObject($0) }) })
        }
        return stream??.object
    }

    /// Does nothing.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        task.core.probe.noteMissing(.sendBodyData, of: self)
    }

    /// Does nothing.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        task.core.probe.noteMissing(.informationalResponse, of: self)
    }

    /// Does nothing.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        task.core.probe.noteMissing(.metrics, of: self)
    }

    /// Does nothing.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        task.core.probe.noteMissing(.complete, of: self)
    }
}
