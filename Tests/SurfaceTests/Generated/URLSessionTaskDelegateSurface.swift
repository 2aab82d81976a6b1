// The API of URLSessionTaskDelegate, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `URLSessionTaskDelegate`.
private func urlSessionTaskDelegateMembers<One: URLSessionTaskDelegate>(of one: One) {
    let _: any URLSessionDelegate.Type = One.self
    let _: (URLSession, URLSessionTask) -> Void = one.urlSession(_:didCreateTask:)
    let _:
        (
            URLSession, URLSessionTask, URLRequest,
            @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
        ) -> Void = one.urlSession(_:task:willBeginDelayedRequest:completionHandler:)
    let _: (URLSession, URLSessionTask, URLRequest) async -> (URLSession.DelayedRequestDisposition, URLRequest?) = one
        .urlSession(_:task:willBeginDelayedRequest:)
    let _: (URLSession, URLSessionTask) -> Void = one.urlSession(_:taskIsWaitingForConnectivity:)
    let _:
        (URLSession, URLSessionTask, HTTPURLResponse, URLRequest, @escaping @Sendable (URLRequest?) -> Void) -> Void =
            one.urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)
    let _: (URLSession, URLSessionTask, HTTPURLResponse, URLRequest) async -> URLRequest? = one.urlSession(
        _:task:willPerformHTTPRedirection:newRequest:)
    let _:
        (
            URLSession, URLSessionTask, URLAuthenticationChallenge,
            @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) -> Void = one.urlSession(_:task:didReceive:completionHandler:)
    let _:
        (URLSession, URLSessionTask, URLAuthenticationChallenge) async -> (
            URLSession.AuthChallengeDisposition, URLCredential?
        ) = one.urlSession(_:task:didReceive:)
    let _: (URLSession, URLSessionTask, @escaping @Sendable (InputStream?) -> Void) -> Void = one.urlSession(
        _:task:needNewBodyStream:)
    let _: (URLSession, URLSessionTask) async -> InputStream? = one.urlSession(_:needNewBodyStreamForTask:)
    let _: (URLSession, URLSessionTask, Int64, @escaping @Sendable (InputStream?) -> Void) -> Void = one.urlSession(
        _:task:needNewBodyStreamFrom:completionHandler:)
    let _: (URLSession, URLSessionTask, Int64) async -> InputStream? = one.urlSession(_:needNewBodyStreamForTask:from:)
    let _: (URLSession, URLSessionTask, Int64, Int64, Int64) -> Void = one.urlSession(
        _:task:didSendBodyData:totalBytesSent:totalBytesExpectedToSend:)
    let _: (URLSession, URLSessionTask, HTTPURLResponse) -> Void = one.urlSession(
        _:task:didReceiveInformationalResponse:)
    let _: (URLSession, URLSessionTask, URLSessionTaskMetrics) -> Void = one.urlSession(_:task:didFinishCollecting:)
    let _: (URLSession, URLSessionTask, (any Error)?) -> Void = one.urlSession(_:task:didCompleteWithError:)
}
