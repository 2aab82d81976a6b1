// Two delegates that write down the same calls in the same words: one with the completion-handler form of every method
// that waits for an answer, one with the `async` form.

import Foundation
import URLLoading

/// What both delegates do.
final class Scribe: Sendable {
    typealias Hook = @Sendable (_ call: String, URLSession, URLSessionTask) -> Void

    let transcript = Transcript()
    private let name: String
    private let hook: Hook
    let redirect: @Sendable (URLRequest) -> URLRequest?
    let disposition: URLSession.ResponseDisposition
    let delayed: @Sendable (URLRequest) -> (URLSession.DelayedRequestDisposition, URLRequest?)
    let stream: @Sendable () -> InputStream?

    /// `hook` runs inside each call, with the call's first word.
    init(
        name: String = "", disposition: URLSession.ResponseDisposition = .allow,
        redirect: @escaping @Sendable (URLRequest) -> URLRequest? = { $0 },
        delayed: @escaping @Sendable (URLRequest) -> (URLSession.DelayedRequestDisposition, URLRequest?) = { _ in
            (.continueLoading, nil)
        },
        stream: @escaping @Sendable () -> InputStream? = { nil },
        hook: @escaping Hook = { _, _, _ in }
    ) {
        self.name = name
        self.disposition = disposition
        self.redirect = redirect
        self.delayed = delayed
        self.stream = stream
        self.hook = hook
    }

    convenience init(_ hook: @escaping Hook) { self.init(hook: hook) }

    /// The forms in which a delegate may implement the methods that wait for an answer.
    enum Form: CaseIterable, Sendable { case handler, async }

    /// A delegate of that form which writes into this scribe's transcript.
    func delegate(_ form: Form) -> any URLSessionDataDelegate {
        switch form {
        case .handler: HandlerScribe(self)
        case .async: AsyncScribe(self)
        }
    }

    func note(_ call: String, _ detail: String, _ session: URLSession, _ task: URLSessionTask) {
        transcript.note("\(name)\(call)\(detail.isEmpty ? "" : " ")\(detail)")
        hook(call, session, task)
    }

    func redirected(_ response: HTTPURLResponse, _ request: URLRequest) -> String {
        "\(response.statusCode) \(request.httpMethod ?? "") \(request.url?.path ?? "")"
    }

    func data(_ data: Data, _ session: URLSession, _ task: URLSessionTask) {
        transcript.note(data: data, as: "\(name)data")
        hook("data", session, task)
    }

    func completed(_ error: (any Error)?, _ session: URLSession, _ task: URLSessionTask) {
        note("complete", Transcript.text(error), session, task)
        transcript.completed.fire()
    }

    func invalidated(_ error: (any Error)?) {
        transcript.note("\(name)invalid \(Transcript.text(error))")
        transcript.invalidated.fire()
    }
}

/// Answers through completion handlers.
private final class HandlerScribe: NSObject, URLSessionDataDelegate {
    let scribe: Scribe

    init(_ scribe: Scribe) { self.scribe = scribe }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { scribe.invalidated(error) }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        scribe.note("created", "\(task.taskIdentifier)", session, task)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        scribe.note("delayed", request.url?.path ?? "", session, task)
        let (disposition, next) = scribe.delayed(request)
        completionHandler(disposition, next)
    }

    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        scribe.note("waiting", "", session, task)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        scribe.note("redirect", scribe.redirected(response, request), session, task)
        completionHandler(scribe.redirect(request))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        scribe.note("stream", "", session, task)
        completionHandler(scribe.stream())
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        scribe.note("sent", "\(totalBytesSent) of \(totalBytesExpectedToSend)", session, task)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        scribe.note("informational", "\(response.statusCode)", session, task)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        scribe.note("response", "\((response as? HTTPURLResponse)?.statusCode ?? 0)", session, dataTask)
        completionHandler(scribe.disposition)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        scribe.data(data, session, dataTask)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        scribe.note("metrics", "\(metrics.transactionMetrics.count)", session, task)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        scribe.completed(error, session, task)
    }
}

/// Answers by returning.
private final class AsyncScribe: NSObject, URLSessionDataDelegate {
    let scribe: Scribe

    init(_ scribe: Scribe) { self.scribe = scribe }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { scribe.invalidated(error) }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        scribe.note("created", "\(task.taskIdentifier)", session, task)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?) {
        scribe.note("delayed", request.url?.path ?? "", session, task)
        return scribe.delayed(request)
    }

    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        scribe.note("waiting", "", session, task)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        scribe.note("redirect", scribe.redirected(response, request), session, task)
        return scribe.redirect(request)
    }

    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream? {
        scribe.note("stream", "", session, task)
        return scribe.stream()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        scribe.note("sent", "\(totalBytesSent) of \(totalBytesExpectedToSend)", session, task)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        scribe.note("informational", "\(response.statusCode)", session, task)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
        scribe.note("response", "\((response as? HTTPURLResponse)?.statusCode ?? 0)", session, dataTask)
        return scribe.disposition
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        scribe.data(data, session, dataTask)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        scribe.note("metrics", "\(metrics.transactionMetrics.count)", session, task)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        scribe.completed(error, session, task)
    }
}
