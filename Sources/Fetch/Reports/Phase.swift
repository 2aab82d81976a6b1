// The steps of an exchange with their times: what the waterfall draws and the HAR lists.

import Foundation
import URLLoading

/// A step that took some time.
package struct Phase: Sendable, Equatable {
    /// What it is.
    package var name: String
    /// In seconds since whatever the whole began with.
    package var start: Double
    /// In seconds.
    package var duration: Double

    /// A step.
    package init(name: String, start: Double, duration: Double) {
        self.name = name
        self.start = start
        self.duration = duration
    }

    /// The steps that happened, in order, by seconds since `origin` or since the exchange was taken up.
    static func all(_ exchange: URLSessionTaskTransactionMetrics, since origin: Date? = nil) -> [Phase] {
        guard let origin = origin ?? exchange.fetchStartDate else { return [] }
        let steps: [(String, Date?, Date?)] = [
            ("look-up", exchange.domainLookupStartDate, exchange.domainLookupEndDate),
            ("connect", exchange.connectStartDate, exchange.secureConnectionStartDate ?? exchange.connectEndDate),
            ("TLS", exchange.secureConnectionStartDate, exchange.secureConnectionEndDate),
            ("request", exchange.requestStartDate, exchange.requestEndDate),
            ("wait", exchange.requestEndDate, exchange.responseStartDate),
            ("transfer", exchange.responseStartDate, exchange.responseEndDate),
        ]
        return steps.compactMap { name, start, end in
            guard let start, let end else { return nil }
            return Phase(
                name: name, start: max(0, start.timeIntervalSince(origin)),
                duration: max(0, end.timeIntervalSince(start)))
        }
    }
}
