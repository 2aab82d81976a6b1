// What a session tells its delegate, and an async call its own, about download tasks.

import Foundation

/// Is told about the files of download tasks.
@preconcurrency
public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    /// The whole body is in a file, whatever the response's status was (B1.102). The file is removed when this returns:
    /// move or open it before (B9.2, B9.3).
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)

    /// More of the body has been written: new bytes, the sum so far, and the expected length or −1 (B9.8).
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)

    /// A download that was made from resume data goes on behind what there was: so many bytes, and the expected length
    /// or −1 (B9.27). Comes once, and not where the load had to start over.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64)
}

extension URLSessionDownloadDelegate {
    /// Does nothing.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        downloadTask.core.probe.noteMissing(.writeData, of: self)
    }

    /// Does nothing.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        downloadTask.core.probe.noteMissing(.resumeAtOffset, of: self)
    }
}
