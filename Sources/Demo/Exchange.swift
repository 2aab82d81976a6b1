// One request of the demonstration and all that is to be known about its answer.

import Foundation
import Synchronization
import URLLoading

/// An answer with its metrics.
struct Exchange: Sendable {
    let url: String
    let status: Int
    let text: String
    let metrics: URLSessionTaskTransactionMetrics?

    init(_ session: URLSession, _ text: String) async throws {
        guard let url = URL(string: text) else { throw Unexpected("\(text) is not a URL") }
        let collector = MetricsCollector()
        let (data, response) = try await session.data(from: url, delegate: collector)
        self.url = text
        status = (response as? HTTPURLResponse)?.statusCode ?? 0
        self.text = String(decoding: data, as: UTF8.self)
        metrics = collector.metrics
    }

    var summary: String {
        "\(status), \(text.utf8.count) bytes, “\(text.trimmingCharacters(in: .whitespacesAndNewlines))”"
    }
}

/// Keeps the metrics of a task.
private final class MetricsCollector: NSObject, URLSessionTaskDelegate {
    private let collected = Mutex<URLSessionTaskTransactionMetrics?>(nil)

    var metrics: URLSessionTaskTransactionMetrics? { collected.withLock { $0 } }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        collected.withLock { $0 = metrics.transactionMetrics.last }
    }
}
