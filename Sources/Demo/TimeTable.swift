// Where the time of some requests went, as a table.

import Foundation
import URLLoading

/// Prints the phases of transactions side by side.
enum TimeTable {
    static func print(_ rows: [(name: String, metrics: URLSessionTaskTransactionMetrics??)]) {
        Swift.print("5  Where the time went, in milliseconds (– where there was nothing to do)")
        let columns = ["request", "look-up", "connect", "TLS", "send", "wait", "receive", "in all"]
        Swift.print("   " + columns.map(cell).joined())
        for (name, metrics) in rows {
            guard let metrics = metrics ?? nil else { continue }
            Swift.print("   " + ([cell(name)] + durations(of: metrics).map(cell)).joined())
        }
        Swift.print("")
    }

    private static func durations(of metrics: URLSessionTaskTransactionMetrics) -> [String] {
        let tcpEnd = metrics.secureConnectionStartDate ?? metrics.connectEndDate
        return [
            milliseconds(metrics.domainLookupStartDate, metrics.domainLookupEndDate),
            milliseconds(metrics.connectStartDate, tcpEnd),
            milliseconds(metrics.secureConnectionStartDate, metrics.secureConnectionEndDate),
            milliseconds(metrics.requestStartDate, metrics.requestEndDate),
            milliseconds(metrics.requestEndDate, metrics.responseStartDate),
            milliseconds(metrics.responseStartDate, metrics.responseEndDate),
            milliseconds(metrics.fetchStartDate, metrics.responseEndDate),
        ]
    }

    private static func milliseconds(_ start: Date?, _ end: Date?) -> String {
        guard let start, let end else { return "–" }
        return String(format: "%.2f", end.timeIntervalSince(start) * 1000)
    }

    private static func cell(_ text: String) -> String {
        String(repeating: " ", count: max(10 - text.count, 1)) + text
    }
}
