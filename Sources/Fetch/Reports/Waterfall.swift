// Where the time went, drawn: a bar for each step of each exchange, all on one axis of time. The drawing is pure.

import Foundation
import URLLoading

/// The exchanges of a task and their steps.
package struct Waterfall: Sendable {
    /// One exchange.
    package struct Exchange: Sendable {
        /// Method, URL, status and protocol.
        package var title: String
        /// Its steps.
        package var phases: [Phase]

        /// An exchange.
        package init(title: String, phases: [Phase]) {
            self.title = title
            self.phases = phases
        }
    }

    private let exchanges: [Exchange]
    private let total: Double

    /// Exchanges that took so many seconds in all.
    package init(_ exchanges: [Exchange], total: Double) {
        self.exchanges = exchanges
        self.total = total
    }

    init(_ metrics: URLSessionTaskMetrics) {
        let origin = metrics.taskInterval.start
        self.init(
            metrics.transactionMetrics.map { exchange in
                let status = (exchange.response as? HTTPURLResponse).map { " \($0.statusCode)" } ?? ""
                let url = exchange.request.url.map(ResumeNote.name) ?? ""
                let version = ProtocolText.name(exchange).map { ", \($0)" } ?? ""
                let source =
                    switch exchange.resourceFetchType {
                    case .localCache: ", from the cache"
                    default: exchange.isReusedConnection ? ", on an open connection" : ""
                    }
                return Exchange(
                    title: "\(exchange.request.httpMethod ?? "GET") \(url)\(status)\(version)\(source)",
                    phases: Phase.all(exchange, since: origin))
            }, total: metrics.taskInterval.duration)
    }

    /// The drawing, no line wider than the width.
    package func lines(width: Int) -> [String] {
        let (nameWidth, timeWidth) = (10, 10)
        let axis = min(100, width - nameWidth - timeWidth - 3)
        var lines: [String] = []
        for exchange in exchanges {
            lines.append(fitting(exchange.title, width))
            for phase in exchange.phases {
                let time = QuantityText.duration(phase.duration)
                let label = "  " + TextWidth.fit(phase.name, nameWidth - 2)
                let number = String(repeating: " ", count: max(0, timeWidth - time.count)) + time
                lines.append(
                    axis >= 10 ? label + number + " |" + bar(phase, axis) + "|" : fitting(label + number, width))
            }
        }
        lines.append(fitting("in all \(QuantityText.duration(total))", width))
        return lines
    }

    private func fitting(_ text: String, _ width: Int) -> String {
        let text = VisibleText.of(text)
        return TextWidth.columns(text) <= width ? text : TextWidth.fit(text, max(1, width))
    }

    /// At least one mark for each step, however short, and none outside the axis.
    private func bar(_ phase: Phase, _ axis: Int) -> String {
        func column(_ time: Double) -> Int {
            guard total > 0, time.isFinite else { return 0 }
            return Int(min(Double(axis), max(0, time / total * Double(axis))).rounded())
        }
        let first = min(axis - 1, column(phase.start))
        let end = min(axis, max(first + 1, column(phase.start + phase.duration)))
        return String(repeating: " ", count: first) + String(repeating: "#", count: end - first)
            + String(repeating: " ", count: axis - end)
    }
}
