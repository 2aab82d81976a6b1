// Hears what comes of an owner's attempts, and brings it to the owner's queue in order.
//
// Must not know: what is made of it.

import Foundation

/// The delegate of an owner's session.
final class TransferDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
    private weak let owner: TransferOwner?

    init(_ owner: TransferOwner) {
        self.owner = owner
        super.init()
    }

    /// B10.8: redirects are followed.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(owner?.run { $0.redirected(task, to: request, after: response) } ?? request)
    }

    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        owner?.run { $0.waits(task) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let owner else { return completionHandler(.cancelAuthenticationChallenge, nil) }
        owner.run { $0.asked(task, challenge, completionHandler) }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        owner?.run { $0.responded(dataTask, response) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        owner?.run { $0.received(dataTask, data) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        owner?.run { $0.informed(task) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        owner?.run { $0.sent(task, total: totalBytesSent, expected: totalBytesExpectedToSend) }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        owner?.run { $0.wrote(downloadTask, total: totalBytesWritten, expected: totalBytesExpectedToWrite) }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        owner?.run { $0.resumedAt(downloadTask, offset: fileOffset, total: expectedTotalBytes) }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        owner?.run { $0.downloaded(downloadTask, to: location) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        owner?.run { $0.measured(task, metrics) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        owner?.run { $0.ended(task, error) }
    }
}
