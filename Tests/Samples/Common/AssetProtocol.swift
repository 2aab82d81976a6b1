// docs/custom-protocols.md: a scheme of a program's own.

import Foundation
import URLLoading

/// Loads "asset:NAME" from a table in memory.
final class AssetProtocol: URLProtocol {
    private static let assets = ["greeting": "hello"]

    override class func canInit(with request: URLRequest) -> Bool {
        request.url?.scheme == "asset"
    }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let url = request.url, let text = Self.assets[String(url.absoluteString.dropFirst(6))] else {
            client?.urlProtocol(self, didFailWithError: URLError(.fileDoesNotExist))
            return
        }
        let response = URLResponse(
            url: url, mimeType: "text/plain", expectedContentLength: text.utf8.count, textEncodingName: "utf-8")
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data(text.utf8))
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}

/// A session that knows the scheme.
public func assetSession() -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.protocolClasses = [AssetProtocol.self]
    return URLSession(configuration: configuration)
}
