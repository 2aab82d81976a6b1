// The API of URLCache, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import Testing
import URLLoading

@Suite("The API of URLCache")
struct UrlcacheSurface {
    @Test("URLCache.StoragePolicy: raw values")
    func urlCacheStoragePolicyRawValues() {
        let cases: [(URLCache.StoragePolicy, UInt)] = [
            (URLCache.StoragePolicy.allowed, 0), (URLCache.StoragePolicy.allowedInMemoryOnly, 1),
            (URLCache.StoragePolicy.notAllowed, 2),
        ]
        for (one, rawValue) in cases {
            #expect(one.rawValue == rawValue)
            #expect(URLCache.StoragePolicy(rawValue: rawValue) == one)
        }
    }
}

/// Overrides everything that is open in `URLCache` by what does the same.
/// Safe to share: it has no state of its own.
class OverridingURLCache: URLCache, @unchecked Sendable {
    override class var shared: URLCache {
        get { super.shared }
        set { super.shared = newValue }
    }

    override func cachedResponse(for request: URLRequest) -> CachedURLResponse? { super.cachedResponse(for: request) }

    override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        super.storeCachedResponse(cachedResponse, for: request)
    }

    override func removeCachedResponse(for request: URLRequest) { super.removeCachedResponse(for: request) }

    override func removeAllCachedResponses() { super.removeAllCachedResponses() }

    override func removeCachedResponses(since date: Date) { super.removeCachedResponses(since: date) }

    override var memoryCapacity: Int {
        get { super.memoryCapacity }
        set { super.memoryCapacity = newValue }
    }

    override var diskCapacity: Int {
        get { super.diskCapacity }
        set { super.diskCapacity = newValue }
    }

    override var currentMemoryUsage: Int { super.currentMemoryUsage }

    override var currentDiskUsage: Int { super.currentDiskUsage }

    override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        super.storeCachedResponse(cachedResponse, for: dataTask)
    }

    override func getCachedResponse(
        for dataTask: URLSessionDataTask, completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) { super.getCachedResponse(for: dataTask, completionHandler: completionHandler) }

    override func cachedResponse(for dataTask: URLSessionDataTask) async -> CachedURLResponse? {
        await super.cachedResponse(for: dataTask)
    }

    override func removeCachedResponse(for dataTask: URLSessionDataTask) { super.removeCachedResponse(for: dataTask) }
}

/// Names the API of `URLCache`.
private func urlCacheMembers(of one: URLCache) {
    let _: any (NSObject & Sendable).Type = URLCache.self
    let _: URLCache = URLCache.shared
    let _: () -> URLCache = URLCache.init
    let _: (Int, Int, URL?) -> URLCache = URLCache.init(memoryCapacity:diskCapacity:directory:)
    let _: (URLRequest) -> CachedURLResponse? = one.cachedResponse(for:)
    let _: (CachedURLResponse, URLRequest) -> Void = one.storeCachedResponse(_:for:)
    let _: (URLRequest) -> Void = one.removeCachedResponse(for:)
    let _: () -> Void = one.removeAllCachedResponses
    let _: (Date) -> Void = one.removeCachedResponses(since:)
    let _: ReferenceWritableKeyPath<URLCache, Int> = \.memoryCapacity
    let _: ReferenceWritableKeyPath<URLCache, Int> = \.diskCapacity
    let _: KeyPath<URLCache, Int> = \.currentMemoryUsage
    let _: KeyPath<URLCache, Int> = \.currentDiskUsage
    let _: (CachedURLResponse, URLSessionDataTask) -> Void = one.storeCachedResponse(_:for:)
    let _: (URLSessionDataTask, @escaping @Sendable (CachedURLResponse?) -> Void) -> Void = one.getCachedResponse(
        for:completionHandler:)
    let _: (URLSessionDataTask) async -> CachedURLResponse? = one.cachedResponse(for:)
    let _: (URLSessionDataTask) -> Void = one.removeCachedResponse(for:)
}

/// Names, as far as it is deprecated, the API of `URLCache`.
@available(*, deprecated)
private func urlCacheDeprecatedmembers() {
    let _: (Int, Int, String?) -> URLCache = URLCache.init(memoryCapacity:diskCapacity:diskPath:)
}

/// Names the API of `URLCache.StoragePolicy`.
private func urlCacheStoragePolicyMembers() {
    let _: any Sendable.Type = URLCache.StoragePolicy.self
}
