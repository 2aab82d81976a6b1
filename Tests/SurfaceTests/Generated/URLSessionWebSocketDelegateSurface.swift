// The API of URLSessionWebSocketDelegate, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `URLSessionWebSocketDelegate`.
private func urlSessionWebSocketDelegateMembers<One: URLSessionWebSocketDelegate>(of one: One) {
    let _: any URLSessionTaskDelegate.Type = One.self
    let _: (URLSession, URLSessionWebSocketTask, String?) -> Void = one.urlSession(_:webSocketTask:didOpenWithProtocol:)
    let _: (URLSession, URLSessionWebSocketTask, URLSessionWebSocketTask.CloseCode, Data?) -> Void = one.urlSession(
        _:webSocketTask:didCloseWith:reason:)
}
