// Delegates that implement every method, once with completion handlers and once as `async`, without a warning that a
// method nearly matches, and are called in all of them.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Delegates in both forms")
struct DelegateFormTests {
    @Test("Every method in its completion-handler form is called")
    func handlers() async throws {
        let delegate = HandlerDelegate()
        try await load(with: delegate)
        #expect(delegate.calls.all == Self.expected)
    }

    @Test("Every method in its async form is called")
    func awaiting() async throws {
        let delegate = AwaitedDelegate()
        try await load(with: delegate)
        #expect(delegate.calls.all == Self.expected)
    }

    private static let expected = [
        "created", "delayed", "stream", "redirect", "sent", "informational", "response", "data", "metrics", "completed",
        "invalid",
    ]

    /// Posts a stream through a redirect, which needs it twice, and ends the session.
    private func load(with delegate: any CallingDelegate) async throws {
        let server = try LoopbackServer.start { request in
            if request.path == "/old" { return ServerResponse.status(307).adding("Location", "/new") }
            var response = ServerResponse.text("here")
            response.informational = [.init(status: 103, fields: .init())]
            return response
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.honorsEarliestBeginDate = true
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        var request = URLRequest(url: try #require(URL(string: server.url("/old"))))
        request.httpMethod = "POST"
        let ended = delegate.calls.ended
        let task = session.uploadTask(withStreamedRequest: request)
        task.earliestBeginDate = Date(timeIntervalSinceNow: 0.2)
        task.resume()
        session.finishTasksAndInvalidate()
        for await _ in ended.stream {}
        await server.stop()
    }
}

/// What delegates note.
final class Calls: Sendable {
    let ended = AsyncStream<Void>.makeStream()
    private let noted = Guarded<[String]>([])

    var all: [String] { noted.withLock { $0 } }

    /// Notes a call once: how often progress and data come is not defined.
    func note(_ call: String) {
        noted.withLock { if !$0.contains(call) { $0.append(call) } }
    }
}

protocol CallingDelegate: URLSessionDataDelegate {
    var calls: Calls { get }
}

private final class HandlerDelegate: NSObject, CallingDelegate {
    let calls = Calls()

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        calls.note("invalid")
        calls.ended.continuation.finish()
    }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        calls.note("created")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        calls.note("redirect")
        completionHandler(request)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        calls.note("stream")
        completionHandler(InputStream(data: Data("body".utf8)))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        calls.note("stream from \(offset)")
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        calls.note("delayed")
        completionHandler(.continueLoading, nil)
    }

    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        calls.note("waiting")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        if task.currentRequest?.url?.path == "/new" { calls.note("sent") }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        calls.note("informational")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        calls.note("metrics")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        calls.note("completed")
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        calls.note("response")
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        calls.note("data")
    }
}

private final class AwaitedDelegate: NSObject, CallingDelegate {
    let calls = Calls()

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        calls.note("invalid")
        calls.ended.continuation.finish()
    }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        calls.note("created")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        calls.note("redirect")
        return request
    }

    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream? {
        calls.note("stream")
        return InputStream(data: Data("body".utf8))
    }

    func urlSession(
        _ session: URLSession, needNewBodyStreamForTask task: URLSessionTask, from offset: Int64
    ) async -> InputStream? {
        calls.note("stream from \(offset)")
        return nil
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?) {
        calls.note("delayed")
        return (.continueLoading, nil)
    }

    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        calls.note("waiting")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        if task.currentRequest?.url?.path == "/new" { calls.note("sent") }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        calls.note("informational")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        calls.note("metrics")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        calls.note("completed")
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
        calls.note("response")
        return .allow
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        calls.note("data")
    }
}
