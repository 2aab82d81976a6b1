// The API of NSURLConnectionDownloadDelegate, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading
import URLLoadingLegacy

/// Names the API of `NSURLConnectionDownloadDelegate`.
private func nsurlConnectionDownloadDelegateMembers<One: NSURLConnectionDownloadDelegate>(of one: One) {
    let _: any NSURLConnectionDelegate.Type = One.self
}

/// Names, as far as it is deprecated, the API of `NSURLConnectionDownloadDelegate`.
@available(*, deprecated)
private func nsurlConnectionDownloadDelegateDeprecatedmembers<One: NSURLConnectionDownloadDelegate>(of one: One) {
    let _: (NSURLConnection, Int64, Int64, Int64) -> Void = one.connection(
        _:didWriteData:totalBytesWritten:expectedTotalBytes:)
    let _: (NSURLConnection, Int64, Int64) -> Void = one.connectionDidResumeDownloading(
        _:totalBytesWritten:expectedTotalBytes:)
    let _: (NSURLConnection, URL) -> Void = one.connectionDidFinishDownloading(_:destinationURL:)
}
