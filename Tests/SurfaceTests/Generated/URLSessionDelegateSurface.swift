// The API of URLSessionDelegate, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `URLSessionDelegate`.
private func urlSessionDelegateMembers<One: URLSessionDelegate>(of one: One) {
    let _: any (NSObjectProtocol & Sendable).Type = One.self
    let _: (URLSession, (any Error)?) -> Void = one.urlSession(_:didBecomeInvalidWithError:)
}
