// The metrics of a transfer in words.

import Foundation
import URLLoading

/// Says who answered and where the time went.
struct TimeReport {
    let lines: [String]

    init(_ metrics: URLSessionTaskMetrics) {
        lines =
            metrics.transactionMetrics.flatMap(Self.lines(about:))
            + ["took \(Self.milliseconds(metrics.taskInterval.duration)) in all"]
    }

    private static func lines(about transaction: URLSessionTaskTransactionMetrics) -> [String] {
        var lines: [String] = []
        if let address = transaction.remoteAddress, let port = transaction.remotePort {
            let connection = transaction.isReusedConnection ? "a connection that was open already" : "a new connection"
            let place = transaction.isProxyConnection ? "the proxy \(address) port \(port)" : "\(address) port \(port)"
            lines.append("\(place), by \(connection)\(security(of: transaction))")
        }
        let steps: [(String, Date?, Date?)] = [
            ("look-up", transaction.domainLookupStartDate, transaction.domainLookupEndDate),
            (
                "connect", transaction.connectStartDate,
                transaction.secureConnectionStartDate ?? transaction.connectEndDate
            ),
            ("TLS", transaction.secureConnectionStartDate, transaction.secureConnectionEndDate),
            ("request", transaction.requestStartDate, transaction.requestEndDate),
            ("wait", transaction.requestEndDate, transaction.responseStartDate),
            ("response", transaction.responseStartDate, transaction.responseEndDate),
        ]
        let times = steps.compactMap { name, start, end -> String? in
            guard let start, let end else { return nil }
            return "\(name) \(milliseconds(end.timeIntervalSince(start)))"
        }
        if !times.isEmpty { lines.append(times.joined(separator: ", ")) }
        lines.append(
            "received \(transaction.countOfResponseHeaderBytesReceived) bytes of head and "
                + "\(transaction.countOfResponseBodyBytesReceived) of body, "
                + "\(transaction.countOfResponseBodyBytesAfterDecoding) decoded")
        return lines
    }

    private static func security(of transaction: URLSessionTaskTransactionMetrics) -> String {
        switch transaction.negotiatedTLSProtocolVersion {
        case .TLSv12?: ", TLS 1.2"
        case .TLSv13?: ", TLS 1.3"
        case .some(let version): ", TLS version \(version.rawValue)"
        case nil: ""
        }
    }

    private static func milliseconds(_ seconds: TimeInterval) -> String {
        String(format: "%.1f ms", seconds * 1000)
    }
}
