// What suites about sessions with a cache have in common.

import Foundation
import URLLoading
import URLLoadingLoopbackServer

/// A suite whose sessions have caches in memory.
protocol CachingSuite {}

extension CachingSuite {
    /// A page that is fresh for an hour; each answer says which it is.
    static func fresh(_ visits: Visits) -> LoopbackServer.Router {
        { request in
            visits.note(request)
            return .text("\(visits.count)").adding("Cache-Control", "max-age=3600")
        }
    }

    func session(
        _ cache: URLCache?, _ delegate: (any URLSessionDelegate)? = nil,
        _ change: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        let configuration = URLSessionConfiguration.default
        configuration.httpCookieStorage = nil
        configuration.urlCache = cache
        change(configuration)
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    func memory(_ capacity: Int = 1 << 20) -> URLCache { URLCache(memoryCapacity: capacity, diskCapacity: 0) }

    func request(_ url: URL, _ policy: NSURLRequest.CachePolicy, _ method: String = "GET") -> URLRequest {
        var request = URLRequest(url: url, cachePolicy: policy)
        request.httpMethod = method
        return request
    }
}
