// The API of URLSessionDataDelegate, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `URLSessionDataDelegate`.
private func urlSessionDataDelegateMembers<One: URLSessionDataDelegate>(of one: One) {
    let _: any URLSessionTaskDelegate.Type = One.self
    let _:
        (URLSession, URLSessionDataTask, URLResponse, @escaping @Sendable (URLSession.ResponseDisposition) -> Void) ->
            Void = one.urlSession(_:dataTask:didReceive:completionHandler:)
    let _: (URLSession, URLSessionDataTask, URLResponse) async -> URLSession.ResponseDisposition = one.urlSession(
        _:dataTask:didReceive:)
    let _: (URLSession, URLSessionDataTask, URLSessionDownloadTask) -> Void = one.urlSession(_:dataTask:didBecome:)
    let _: (URLSession, URLSessionDataTask, URLSessionStreamTask) -> Void = one.urlSession(_:dataTask:didBecome:)
    let _: (URLSession, URLSessionDataTask, Data) -> Void = one.urlSession(_:dataTask:didReceive:)
    let _:
        (URLSession, URLSessionDataTask, CachedURLResponse, @escaping @Sendable (CachedURLResponse?) -> Void) -> Void =
            one.urlSession(_:dataTask:willCacheResponse:completionHandler:)
    let _: (URLSession, URLSessionDataTask, CachedURLResponse) async -> CachedURLResponse? = one.urlSession(
        _:dataTask:willCacheResponse:)
}
