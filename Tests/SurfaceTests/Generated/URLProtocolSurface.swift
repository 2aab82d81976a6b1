// The API of URLProtocol, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Overrides everything that is open in `URLProtocol` by what does the same.
class OverridingURLProtocol: URLProtocol {
    override var client: (any URLProtocolClient)? { super.client }

    override var request: URLRequest { super.request }

    override var cachedResponse: CachedURLResponse? { super.cachedResponse }

    override var task: URLSessionTask? { super.task }

    override class func canInit(with request: URLRequest) -> Bool { super.canInit(with: request) }

    override class func canInit(with task: URLSessionTask) -> Bool { super.canInit(with: task) }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { super.canonicalRequest(for: request) }

    override class func requestIsCacheEquivalent(_ a: URLRequest, to b: URLRequest) -> Bool {
        super.requestIsCacheEquivalent(a, to: b)
    }

    override func startLoading() { super.startLoading() }

    override func stopLoading() { super.stopLoading() }

    override class func property(forKey key: String, in request: URLRequest) -> Any? {
        super.property(forKey: key, in: request)
    }

    override class func setProperty(_ value: Any, forKey key: String, in request: NSMutableURLRequest) {
        super.setProperty(value, forKey: key, in: request)
    }

    override class func removeProperty(forKey key: String, in request: NSMutableURLRequest) {
        super.removeProperty(forKey: key, in: request)
    }

    override class func registerClass(_ protocolClass: AnyClass) -> Bool { super.registerClass(protocolClass) }

    override class func unregisterClass(_ protocolClass: AnyClass) { super.unregisterClass(protocolClass) }
}

/// Names the API of `URLProtocol`.
private func urlProtocolMembers(of one: URLProtocol) {
    let _: NSObject.Type = URLProtocol.self
    let _: (URLRequest, CachedURLResponse?, (any URLProtocolClient)?) -> URLProtocol = URLProtocol.init(
        request:cachedResponse:client:)
    let _: (URLSessionTask, CachedURLResponse?, (any URLProtocolClient)?) -> URLProtocol = URLProtocol.init(
        task:cachedResponse:client:)
    let _: KeyPath<URLProtocol, (any URLProtocolClient)?> = \.client
    let _: KeyPath<URLProtocol, URLRequest> = \.request
    let _: KeyPath<URLProtocol, CachedURLResponse?> = \.cachedResponse
    let _: KeyPath<URLProtocol, URLSessionTask?> = \.task
    let _: (URLRequest) -> Bool = URLProtocol.canInit(with:)
    let _: (URLSessionTask) -> Bool = URLProtocol.canInit(with:)
    let _: (URLRequest) -> URLRequest = URLProtocol.canonicalRequest(for:)
    let _: (URLRequest, URLRequest) -> Bool = URLProtocol.requestIsCacheEquivalent(_:to:)
    let _: () -> Void = one.startLoading
    let _: () -> Void = one.stopLoading
    let _: (String, URLRequest) -> Any? = URLProtocol.property(forKey:in:)
    let _: (Any, String, NSMutableURLRequest) -> Void = URLProtocol.setProperty(_:forKey:in:)
    let _: (String, NSMutableURLRequest) -> Void = URLProtocol.removeProperty(forKey:in:)
    let _: (AnyClass) -> Bool = URLProtocol.registerClass(_:)
    let _: (AnyClass) -> Void = URLProtocol.unregisterClass(_:)
}
