// Delegates that write down every call they get, in order, and can be told how to answer.

import Foundation
import URLLoading
import URLLoadingTestSupport

/// What delegates write down.
final class Transcript: Sendable {
    let completed = Signal()
    let invalidated = Signal()
    private let lines = Guarded<[String]>([])
    private let bytes = Guarded<(first: Data, count: Int)>((Data(), 0))

    func note(_ line: String) { lines.withLock { $0.append(line) } }

    func note(data: Data, as line: String = "data") {
        bytes.withLock { bytes in
            bytes.count += data.count
            if bytes.first.count < 65_536 { bytes.first.append(data) }
        }
        // How a body is cut into pieces is not defined, so all pieces in a row are one line.
        lines.withLock { if $0.last != line { $0.append(line) } }
    }

    /// Every call in order; several data calls in a row are one.
    var calls: [String] { lines.withLock { $0 } }

    /// The beginning of the body as it was delivered.
    var body: String { bytes.withLock { String(decoding: $0.first, as: UTF8.self) } }
    var byteCount: Int { bytes.withLock { $0.count } }

    static func text(_ error: (any Error)?) -> String {
        guard let error else { return "nil" }
        return (error as? URLError).map { "\($0.code.rawValue)" } ?? "\(error)"
    }
}

/// Implements every method of a data delegate, in the completion-handler form.
final class RecordingDelegate: NSObject, URLSessionDataDelegate {
    let transcript = Transcript()
    let name: String
    private let onResponse:
        @Sendable (URLSessionDataTask, @escaping @Sendable (URLSession.ResponseDisposition) -> Void) -> Void
    private let onData: @Sendable (URLSessionDataTask) -> Void
    private let onRedirect: @Sendable (URLRequest, @escaping @Sendable (URLRequest?) -> Void) -> Void
    private let onMetrics: @Sendable (URLSessionTask, URLSessionTaskMetrics) -> Void

    init(
        name: String = "",
        onResponse:
            @escaping @Sendable (URLSessionDataTask, @escaping @Sendable (URLSession.ResponseDisposition) -> Void) ->
            Void = { $1(.allow) },
        onData: @escaping @Sendable (URLSessionDataTask) -> Void = { _ in },
        onRedirect: @escaping @Sendable (URLRequest, @escaping @Sendable (URLRequest?) -> Void) -> Void = { $1($0) },
        onMetrics: @escaping @Sendable (URLSessionTask, URLSessionTaskMetrics) -> Void = { _, _ in }
    ) {
        self.name = name
        self.onResponse = onResponse
        self.onData = onData
        self.onRedirect = onRedirect
        self.onMetrics = onMetrics
    }

    private func note(_ line: String) { transcript.note(name + line) }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        note("invalid \(Transcript.text(error))")
        transcript.invalidated.fire()
    }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        note("created \(task.taskIdentifier)")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        note("redirect \(response.statusCode) \(request.httpMethod ?? "") \(request.url?.path ?? "")")
        onRedirect(request, completionHandler)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        note("sent \(totalBytesSent) of \(totalBytesExpectedToSend)")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        note("informational \(response.statusCode)")
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
        onResponse(dataTask, completionHandler)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transcript.note(data: data)
        onData(dataTask)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        note("metrics \(metrics.transactionMetrics.count)")
        onMetrics(task, metrics)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note("complete \(Transcript.text(error))")
        transcript.completed.fire()
    }
}

/// Implements the methods that wait for an answer in their `async` form.
final class AsyncDelegate: NSObject, URLSessionDataDelegate {
    let transcript = Transcript()
    private let disposition: URLSession.ResponseDisposition

    init(disposition: URLSession.ResponseDisposition = .allow) {
        self.disposition = disposition
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        transcript.note("async redirect \(response.statusCode)")
        return request
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
        transcript.note("async response")
        return disposition
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transcript.note(data: data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transcript.note("complete \(Transcript.text(error))")
        transcript.completed.fire()
    }
}

/// Implements nothing but the end.
final class SilentDelegate: NSObject, URLSessionDataDelegate {
    let transcript = Transcript()

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transcript.note("complete \(Transcript.text(error))")
        transcript.completed.fire()
    }
}
