// The API of NSURLConnectionDataDelegate, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading
import URLLoadingLegacy

/// Names the API of `NSURLConnectionDataDelegate`.
private func nsurlConnectionDataDelegateMembers<One: NSURLConnectionDataDelegate>(of one: One) {
    let _: any NSURLConnectionDelegate.Type = One.self
}

/// Names, as far as it is deprecated, the API of `NSURLConnectionDataDelegate`.
@available(*, deprecated)
private func nsurlConnectionDataDelegateDeprecatedmembers<One: NSURLConnectionDataDelegate>(of one: One) {
    let _: (NSURLConnection, URLRequest, URLResponse?) -> URLRequest? = one.connection(_:willSend:redirectResponse:)
    let _: (NSURLConnection, URLResponse) -> Void = one.connection(_:didReceive:)
    let _: (NSURLConnection, Data) -> Void = one.connection(_:didReceive:)
    let _: (NSURLConnection, URLRequest) -> InputStream? = one.connection(_:needNewBodyStream:)
    let _: (NSURLConnection, Int, Int, Int) -> Void = one.connection(
        _:didSendBodyData:totalBytesWritten:totalBytesExpectedToWrite:)
    let _: (NSURLConnection, CachedURLResponse) -> CachedURLResponse? = one.connection(_:willCacheResponse:)
    let _: (NSURLConnection) -> Void = one.connectionDidFinishLoading(_:)
}
