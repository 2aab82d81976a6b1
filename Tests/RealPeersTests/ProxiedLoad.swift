// A load through a proxy, and what its metrics say about the connection.

import Foundation
import URLLoading

/// What came of one load.
struct ProxiedLoad {
    let text: String
    let status: Int
    let isProxied: Bool
    let port: Int?
    let isReused: Bool

    init(_ session: URLSession, _ request: URLRequest) async throws {
        let (told, continuation) = AsyncStream.makeStream(of: URLSessionTaskMetrics.self)
        // Of handlers it is known at once that they judge no connection, so that the session's serve their tasks.
        let handlers = URLSession.EventHandlers()
        handlers.didFinishCollectingMetrics = { continuation.yield($2) }
        let (data, response) = try await session.data(for: request, delegate: handlers)
        text = String(decoding: data, as: UTF8.self)
        status = (response as? HTTPURLResponse)?.statusCode ?? 0
        var metrics = told.makeAsyncIterator()
        let last = await metrics.next()?.transactionMetrics.last
        isProxied = last?.isProxyConnection ?? false
        port = last?.remotePort
        isReused = last?.isReusedConnection ?? false
    }

    init(_ session: URLSession, _ url: URL) async throws {
        try await self.init(session, URLRequest(url: url))
    }
}
