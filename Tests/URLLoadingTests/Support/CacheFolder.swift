// A directory for a cache, gone with its owner, and entries whose bodies tell which they are: the same that the program
// the program `cache` stores.

import Foundation
import Testing
import URLLoading

/// A directory that is gone with its object.
final class CacheFolder: Sendable {
    let url: URL

    init() {
        url = FileManager.default.temporaryDirectory.appending(
            path: "urlloading-cache-\(UUID().uuidString)", directoryHint: .isDirectory)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var path: String { url.path(percentEncoded: false) }

    /// The names of the entries' files.
    var entries: [String] {
        names.filter { $0.utf8.count == 32 }
    }

    /// All names.
    var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? []
    }

    func cache(memory: Int = 0, disk: Int = 64 << 20) -> URLCache {
        URLCache(memoryCapacity: memory, diskCapacity: disk, directory: url)
    }

    /// The permissions of a file in it, or its own.
    func mode(_ name: String = "") throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path + name)
        return try #require((attributes[.posixPermissions] as? NSNumber)?.intValue)
    }
}

/// Requests and responses to be stored by hand.
enum Stored {
    static func request(_ url: String, _ fields: [String: String] = [:], method: String = "GET") throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    static func response(
        _ url: String, _ body: String = "body", fields: [String: String] = [:],
        policy: URLCache.StoragePolicy = .allowed, userInfo: [AnyHashable: Any]? = nil
    ) throws -> CachedURLResponse {
        let url = try #require(URL(string: url))
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields))
        return CachedURLResponse(
            response: response, data: Data(body.utf8), userInfo: userInfo, storagePolicy: policy)
    }

    static func store(_ url: String, _ body: String = "body", in cache: URLCache) throws {
        cache.storeCachedResponse(try response(url, body), for: try request(url))
    }
}
