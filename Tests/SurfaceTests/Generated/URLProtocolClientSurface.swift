// The API of URLProtocolClient, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `URLProtocolClient`.
private func urlProtocolClientMembers<One: URLProtocolClient>(of one: One) {
    let _: any (NSObjectProtocol & Sendable).Type = One.self
    let _: (URLProtocol, URLRequest, URLResponse) -> Void = one.urlProtocol(_:wasRedirectedTo:redirectResponse:)
    let _: (URLProtocol, CachedURLResponse) -> Void = one.urlProtocol(_:cachedResponseIsValid:)
    let _: (URLProtocol, URLResponse, URLCache.StoragePolicy) -> Void = one.urlProtocol(
        _:didReceive:cacheStoragePolicy:)
    let _: (URLProtocol, Data) -> Void = one.urlProtocol(_:didLoad:)
    let _: (URLProtocol) -> Void = one.urlProtocolDidFinishLoading(_:)
    let _: (URLProtocol, any Error) -> Void = one.urlProtocol(_:didFailWithError:)
    let _: (URLProtocol, URLAuthenticationChallenge) -> Void = one.urlProtocol(_:didReceive:)
    let _: (URLProtocol, URLAuthenticationChallenge) -> Void = one.urlProtocol(_:didCancel:)
}
