// The code of the article on performance.

import Foundation
import URLLoading

final class Meter: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        for transaction in metrics.transactionMetrics {
            guard let start = transaction.fetchStartDate, let end = transaction.responseEndDate else { continue }
            let kept = transaction.isReusedConnection ? "kept" : "new"
            print("\(kept) connection, \(end.timeIntervalSince(start)) s")
        }
    }
}
