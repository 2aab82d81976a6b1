// The API of URLSessionDelegate, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `URLSessionDelegate`.
private func urlSessionDelegateMembers<One: URLSessionDelegate>(of one: One) {
    let _: any (NSObjectProtocol & Sendable).Type = One.self
    let _: (URLSession, (any Error)?) -> Void = one.urlSession(_:didBecomeInvalidWithError:)
    let _:
        (
            URLSession, URLAuthenticationChallenge,
            @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) -> Void = one.urlSession(_:didReceive:completionHandler:)
    let _: (URLSession, URLAuthenticationChallenge) async -> (URLSession.AuthChallengeDisposition, URLCredential?) = one
        .urlSession(_:didReceive:)
    let _: (URLSession) -> Void = one.urlSessionDidFinishEvents(forBackgroundURLSession:)
}
