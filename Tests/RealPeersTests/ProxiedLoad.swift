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
        let keeper = MetricsKeeper()
        let (data, response) = try await session.data(for: request, delegate: keeper)
        text = String(decoding: data, as: UTF8.self)
        status = (response as? HTTPURLResponse)?.statusCode ?? 0
        let last = await keeper.metrics?.transactionMetrics.last
        isProxied = last?.isProxyConnection ?? false
        port = last?.remotePort
        isReused = last?.isReusedConnection ?? false
    }

    init(_ session: URLSession, _ url: URL) async throws {
        try await self.init(session, URLRequest(url: url))
    }
}

/// Keeps the metrics of one task.
private final class MetricsKeeper: NSObject, URLSessionTaskDelegate, Sendable {
    private let stream: AsyncStream<URLSessionTaskMetrics>
    private let continuation: AsyncStream<URLSessionTaskMetrics>.Continuation

    override init() {
        (stream, continuation) = AsyncStream.makeStream(of: URLSessionTaskMetrics.self)
        super.init()
    }

    /// The metrics, once they have come.
    var metrics: URLSessionTaskMetrics? {
        get async {
            for await metrics in stream { return metrics }
            return nil
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        continuation.yield(metrics)
    }
}
