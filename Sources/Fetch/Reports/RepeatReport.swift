// What --repeat says: how long requests took that were made again and again. Pure.

/// Times of many requests.
package struct RepeatReport: Sendable {
    /// One request.
    package struct Sample: Sendable {
        /// Nil where there was no answer.
        package var status: Int?
        /// Seconds until the first byte of the answer; nil where none came.
        package var firstByte: Double?
        /// Seconds in all.
        package var total: Double
        /// Whether a connection was made for it.
        package var hasConnected: Bool
        /// What went wrong; nil for nothing.
        package var failure: String?

        /// A sample as it is.
        package init(status: Int?, firstByte: Double?, total: Double, hasConnected: Bool, failure: String?) {
            self.status = status
            self.firstByte = firstByte
            self.total = total
            self.hasConnected = hasConnected
            self.failure = failure
        }
    }

    private let samples: [Sample]
    /// Seconds that all of them took together.
    private let duration: Double

    /// Samples that were taken within so many seconds.
    package init(_ samples: [Sample], duration: Double) {
        self.samples = samples
        self.duration = duration
    }

    /// The report.
    package var lines: [String] {
        let failures = samples.compactMap(\.failure)
        let rate = duration > 0 ? Double(samples.count) / duration : 0
        var lines = [
            "\(QuantityText.count(samples.count, "request")) in \(QuantityText.duration(duration)), \(QuantityText.number(rate)) a second, "
                + QuantityText.count(samples.count { $0.hasConnected }, "connection") + ", "
                + QuantityText.count(failures.count, "failure")
        ]
        let statuses = Dictionary(grouping: samples.compactMap(\.status), by: \.self).sorted { $0.key < $1.key }
        if !statuses.isEmpty {
            lines.append("status " + statuses.map { "\($0.key): \($0.value.count)" }.joined(separator: ", "))
        }
        for (text, count) in Dictionary(grouping: failures, by: \.self).mapValues(\.count).sorted(by: {
            $0.key < $1.key
        }) {
            lines.append("failure \(QuantityText.count(count, "time")): \(text)")
        }
        let good = samples.filter { $0.failure == nil }
        guard !good.isEmpty else { return lines }
        lines.append("            " + Self.columns.map { Self.right($0.name) }.joined())
        lines.append(row("first byte", good.compactMap(\.firstByte)))
        lines.append(row("in all", good.map(\.total)))
        return lines
    }

    private static let columns: [(name: String, share: Double)] = [
        ("least", 0), ("median", 0.5), ("90 %", 0.9), ("99 %", 0.99), ("most", 1),
    ]

    private func row(_ name: String, _ times: [Double]) -> String {
        let sorted = times.sorted()
        let cells = Self.columns.map { column in
            Self.percentile(sorted, column.share).map(QuantityText.duration) ?? "-"
        }
        return name + String(repeating: " ", count: 12 - name.count) + cells.map(Self.right).joined()
    }

    /// The least of sorted times that so large a share of them does not exceed; nil for no times.
    package static func percentile(_ sorted: [Double], _ share: Double) -> Double? {
        guard !sorted.isEmpty else { return nil }
        let rank = (share * Double(sorted.count)).rounded(.up)
        return sorted[min(sorted.count - 1, max(0, Int(rank) - 1))]
    }

    private static func right(_ text: String) -> String {
        String(repeating: " ", count: max(1, 12 - text.count)) + text
    }
}
