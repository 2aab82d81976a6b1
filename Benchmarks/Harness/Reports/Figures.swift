// Medians, spreads and the writing of numbers.

import Foundation

/// Several runs' worth of one figure.
struct Figures {
    private let sorted: [Double]

    /// Nil without values.
    init?(_ values: [Double]) {
        if values.isEmpty { return nil }
        sorted = values.sorted()
    }

    var median: Double {
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    /// Half the distance of the quartiles, in percent of the median.
    var spread: Double {
        guard median != 0, sorted.count > 1 else { return 0 }
        return (quantile(0.75) - quantile(0.25)) / 2 / median * 100
    }

    private func quantile(_ share: Double) -> Double {
        let place = share * Double(sorted.count - 1)
        let lower = Int(place)
        let upper = min(lower + 1, sorted.count - 1)
        return sorted[lower] + (sorted[upper] - sorted[lower]) * (place - Double(lower))
    }

    /// A number with about three significant digits.
    static func short(_ value: Double) -> String {
        switch abs(value) {
        case 0: "0"
        case ..<0.995: trimmed(String(format: "%.3f", value))
        case ..<9.995: String(format: "%.2f", value)
        case ..<99.95: String(format: "%.1f", value)
        case ..<9_999.5: String(format: "%.0f", value)
        default: grouped(value)
        }
    }

    /// A number with about two significant digits.
    static func brief(_ value: Double) -> String {
        abs(value) < 9.95 ? String(format: "%.1f", value) : grouped(value)
    }

    private static func trimmed(_ text: String) -> String {
        text.hasSuffix("0") ? String(text.dropLast()) : text
    }

    private static func grouped(_ value: Double) -> String {
        var digits = String(format: "%.0f", value)
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        return ([digits] + groups).joined(separator: ",")
    }
}

extension Scenario.Unit {
    /// The unit of the processor time.
    var symbol: String {
        switch self {
        case .request: "µs a request"
        case .gibibyte: "s a GiB"
        case .transfer: "s"
        case .process: "ms a process"
        }
    }

    /// The unit of the rate.
    var rateSymbol: String {
        switch self {
        case .request: "requests/s"
        case .gibibyte, .transfer: "MiB/s"
        case .process: "processes/s"
        }
    }
}
