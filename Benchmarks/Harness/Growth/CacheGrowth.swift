// A cache in memory with many answers in it.

import Foundation
import URLLoading

/// Caches of one size.
struct CacheGrowth {
    let size: Int
    private let body = Data(repeating: 0x78, count: 1_024)

    init(size: Int) { self.size = size }

    /// So many answers stored, in caches that begin empty and end with as many as the size says.
    func store(_ times: Int) throws {
        for _ in 0..<(times / size) {
            let cache = unlimited
            try fill(cache, 0..<size)
            try expect(cache.currentMemoryUsage >= size * body.count)
        }
    }

    /// So many answers found.
    func find(_ times: Int) throws {
        let cache = unlimited
        try fill(cache, 0..<size)
        for number in 0..<times {
            try expect(cache.cachedResponse(for: request(number &* 7_919 % size)) != nil)
        }
    }

    /// So many answers stored, each in the place of the oldest.
    func storeInFull(_ times: Int) throws {
        let cache = unlimited
        try fill(cache, 0..<size)
        cache.memoryCapacity = cache.currentMemoryUsage
        try fill(cache, size..<(size + times))
        try expect(cache.currentMemoryUsage <= cache.memoryCapacity)
    }

    private var unlimited: URLCache { URLCache(memoryCapacity: .max / 2, diskCapacity: 0, directory: nil) }

    private func fill(_ cache: URLCache, _ numbers: Range<Int>) throws {
        let fields = ["Cache-Control": "max-age=3600", "Content-Type": "text/plain", "ETag": "\"v\""]
        for number in numbers {
            let request = try request(number)
            guard let url = request.url,
                let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields)
            else { throw HarnessError("no answer could be made") }
            cache.storeCachedResponse(CachedURLResponse(response: response, data: body), for: request)
        }
    }

    /// Numbers have as many digits each, so that none costs more than another.
    private func request(_ number: Int) throws -> URLRequest {
        guard let url = URL(string: "http://example.org/answers/\(1_000_000 + number)") else {
            throw HarnessError("no URL could be made")
        }
        return URLRequest(url: url)
    }

    private func expect(_ condition: Bool) throws {
        if !condition { throw HarnessError("the cache has not what was stored") }
    }
}
