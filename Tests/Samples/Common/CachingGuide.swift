// The code of docs/caching.md, which SampleTests looks for here block by block.

import Foundation
import URLLoading

/// A configuration with a cache of its own, which takes what is stored whatever its age.
public func cachingConfiguration(_ folder: URL) -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.default  // its urlCache is URLCache.shared
    configuration.urlCache = URLCache(memoryCapacity: 4 << 20, diskCapacity: 50 << 20, directory: folder)
    configuration.requestCachePolicy = .returnCacheDataElseLoad
    return configuration
}

/// Stores by hand, and finds what was stored.
public func store(_ data: Data, _ response: URLResponse, for request: URLRequest, in folder: URL) -> Data? {
    let cache = URLCache(memoryCapacity: 4 << 20, diskCapacity: 50 << 20, directory: folder)
    cache.storeCachedResponse(CachedURLResponse(response: response, data: data), for: request)
    let stored = cache.cachedResponse(for: request)  // whatever its age
    return stored?.data
}
