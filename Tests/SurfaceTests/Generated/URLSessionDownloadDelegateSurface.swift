// The API of URLSessionDownloadDelegate, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `URLSessionDownloadDelegate`.
private func urlSessionDownloadDelegateMembers<One: URLSessionDownloadDelegate>(of one: One) {
    let _: any URLSessionTaskDelegate.Type = One.self
    let _: (URLSession, URLSessionDownloadTask, URL) -> Void = one.urlSession(_:downloadTask:didFinishDownloadingTo:)
    let _: (URLSession, URLSessionDownloadTask, Int64, Int64, Int64) -> Void = one.urlSession(
        _:downloadTask:didWriteData:totalBytesWritten:totalBytesExpectedToWrite:)
    let _: (URLSession, URLSessionDownloadTask, Int64, Int64) -> Void = one.urlSession(
        _:downloadTask:didResumeAtOffset:expectedTotalBytes:)
}
