// A load, and what its metrics say about the connection.

import Foundation
import URLLoading

/// What came of one load.
struct MeasuredLoad {
    let data: Data
    let response: HTTPURLResponse?
    private let last: URLSessionTaskTransactionMetrics?

    init(_ session: URLSession, _ request: URLRequest, from body: Data? = nil) async throws {
        let (told, continuation) = AsyncStream.makeStream(of: URLSessionTaskMetrics.self)
        // Of handlers it is known at once that they judge no connection, so that the session's serve their tasks.
        let handlers = URLSession.EventHandlers()
        handlers.didFinishCollectingMetrics = { continuation.yield($2) }
        let (data, response) =
            if let body {
                try await session.upload(for: request, from: body, delegate: handlers)
            } else {
                try await session.data(for: request, delegate: handlers)
            }
        self.data = data
        self.response = response as? HTTPURLResponse
        var metrics = told.makeAsyncIterator()
        last = await metrics.next()?.transactionMetrics.last
    }

    init(_ session: URLSession, _ url: URL) async throws {
        try await self.init(session, URLRequest(url: url))
    }

    var text: String { String(decoding: data, as: UTF8.self) }
    var status: Int { response?.statusCode ?? 0 }
    var isProxied: Bool { last?.isProxyConnection ?? false }
    var isReused: Bool { last?.isReusedConnection ?? false }
    /// The port of the other end.
    var port: Int? { last?.remotePort }
    /// The port of this end, by which connections are told apart.
    var localPort: Int? { last?.localPort }
    /// What was spoken, by its name in ALPN.
    var protocolName: String? { last?.networkProtocolName }
}
