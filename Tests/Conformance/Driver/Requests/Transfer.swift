// One request while it runs: keeps what the package tells about it, cancels where it was asked to, and answers when the
// package says that it is over. Driver protocol, section 4.

import Foundation
import Synchronization
import URLLoading

/// The delegate of one task.
final class Transfer: NSObject, URLSessionDataDelegate {
    private let options: RequestOptions
    private let redirects: RedirectPolicy
    private let body: PieceSource?
    private let start = ContinuousClock.now
    private let record: Mutex<TransferRecord>
    private let completion: @Sendable (TransferRecord) -> Void

    /// `completion` is called once, when the task has ended.
    init(
        options: RequestOptions, redirects: RedirectPolicy, body: PieceSource?,
        completion: @escaping @Sendable (TransferRecord) -> Void
    ) {
        self.options = options
        self.redirects = redirects
        self.body = body
        self.completion = completion
        record = Mutex(TransferRecord(mostBodyBytes: options.mostBodyBytes, keepsChunks: options.reportsChunks))
    }

    // MARK: What the package tells

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        switch redirects {
        case .stop:
            completionHandler(nil)
        case .follow:
            let redirect = TransferRecord.Redirect(status: response.statusCode, from: response.url, to: request.url)
            record.withLock { $0.redirects.append(redirect) }
            completionHandler(request)
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        record.withLock { $0.informational.append(response) }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        record.withLock { $0.response = response }
        if options.cancelAfterBytes == 0 { dataTask.cancel() }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let elapsed = (ContinuousClock.now - start).milliseconds
        let length = record.withLock { record in
            record.add(data, at: elapsed)
            return record.bodyLength
        }
        if let limit = options.cancelAfterBytes, length >= limit { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        record.withLock { $0.metrics = metrics }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        body?.giveUp()
        completion(
            record.withLock { record in
                record.error = error.map(TransferError.init)
                return record
            })
    }
}

extension Duration {
    /// Whole milliseconds.
    var milliseconds: Int64 {
        let parts = components
        return parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000
    }
}
