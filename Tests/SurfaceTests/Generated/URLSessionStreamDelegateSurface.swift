// The API of URLSessionStreamDelegate, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `URLSessionStreamDelegate`.
private func urlSessionStreamDelegateMembers<One: URLSessionStreamDelegate>(of one: One) {
    let _: any URLSessionTaskDelegate.Type = One.self
    let _: (URLSession, URLSessionStreamTask) -> Void = one.urlSession(_:readClosedFor:)
    let _: (URLSession, URLSessionStreamTask) -> Void = one.urlSession(_:writeClosedFor:)
    let _: (URLSession, URLSessionStreamTask) -> Void = one.urlSession(_:betterRouteDiscoveredFor:)
    let _: (URLSession, URLSessionStreamTask, InputStream, OutputStream) -> Void = one.urlSession(
        _:streamTask:didBecome:outputStream:)
}
