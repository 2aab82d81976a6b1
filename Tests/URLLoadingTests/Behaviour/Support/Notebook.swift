// A delegate that writes down what it is told and can be made to do things from inside each call.

import Foundation
import URLLoading
import URLLoadingTestSupport

/// A delegate's call.
enum Call: String, Sendable, CaseIterable {
    case redirect, response, data, metrics, completed, invalid
}

/// Writes every call down, in order, and runs `act` inside each of them.
final class Notebook: NSObject, URLSessionDataDelegate, Sendable {
    let ended = Signal()
    let invalidated = Signal()
    private let notes = Guarded<(calls: [Call], error: (any Error)?, bytes: Int, metrics: URLSessionTaskMetrics?)>(
        ([], nil, 0, nil))
    private let act: @Sendable (Call, URLSession, URLSessionTask?) -> Void
    private let answers: Bool

    /// A notebook; with `answers` false it never answers a question.
    init(
        answers: Bool = true, act: @escaping @Sendable (Call, URLSession, URLSessionTask?) -> Void = { _, _, _ in }
    ) {
        self.act = act
        self.answers = answers
    }

    /// The calls in order; several `data` in a row are one.
    var calls: [Call] { notes.withLock { $0.calls } }
    /// The error of the last completion.
    var error: (any Error)? { notes.withLock { $0.error } }
    /// How much of the body came.
    var byteCount: Int { notes.withLock { $0.bytes } }
    /// The metrics that came last.
    var metrics: URLSessionTaskMetrics? { notes.withLock { $0.metrics } }

    private func note(_ call: Call) {
        notes.withLock { if call != .data || $0.calls.last != .data { $0.calls.append(call) } }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        note(.redirect)
        act(.redirect, session, task)
        if answers { completionHandler(request) }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        note(.response)
        act(.response, session, dataTask)
        if answers { completionHandler(.allow) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        notes.withLock { $0.bytes += data.count }
        note(.data)
        act(.data, session, dataTask)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        notes.withLock { $0.metrics = metrics }
        note(.metrics)
        act(.metrics, session, task)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        notes.withLock { $0.error = error }
        note(.completed)
        act(.completed, session, task)
        ended.fire()
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        note(.invalid)
        act(.invalid, session, nil)
        invalidated.fire()
    }
}
