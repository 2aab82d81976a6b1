// One exchange of a task as it is remembered for the metrics.

import Foundation
import URLLoadingEngine
import URLLoadingWire

/// One exchange, for the metrics.
struct TransactionRecord: Sendable {
    let request: URLRequest
    let sentFields: Fields?
    let response: URLResponse?
    let timeline: Timeline
    var source = URLSessionTaskMetrics.ResourceFetchType.networkLoad
    /// When things happened in another process, whose clock the timeline has not.
    var foreignDates: Dates?

    /// Apart, since hardly any record has them.
    final class Dates: Sendable {
        let dates: TransactionDates

        init(_ dates: TransactionDates) { self.dates = dates }
    }

    init(request: URLRequest, sentFields: Fields?, response: URLResponse?, timeline: Timeline) {
        self.request = request
        self.sentFields = sentFields
        self.response = response
        self.timeline = timeline
    }

    /// An answer that a cache had (B7.98).
    init(of stored: CachedURLResponse, for request: URLRequest?) {
        self.init(
            request: request ?? URLRequest(RequestValues()), sentFields: nil, response: stored.response,
            timeline: .atHand(bodyBytes: Int64(stored.data.count)))
        source = .localCache
    }

    /// The exchange in which a server confirmed what is stored (B7.98).
    func confirming(_ stored: CachedURLResponse) -> TransactionRecord {
        var record = TransactionRecord(
            request: request, sentFields: sentFields, response: stored.response, timeline: timeline)
        record.source = .localCache
        return record
    }
}
