// docs/growth.md: what was counted about growth, as a table, and the plot beside it.

import Foundation

/// Results for readers.
enum GrowthReport {
    /// Writes `growth.md` and `growth.svg` into a directory; of the page only the part between its marks.
    static func write(_ results: [GrowthResult], to directory: String) throws {
        let place = URL(fileURLWithPath: directory)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try Data(GrowthPlot.svg(results).utf8).write(to: place.appendingPathComponent("growth.svg"))
        let table = MarkdownTable.text(
            header: ["what costs", "from", "to", "at the smallest", "at the largest", "slope", "last step", ""],
            results.map(row))
        try MarkedPart(name: "growth", page: place.appendingPathComponent("growth.md"))
            .write("![What one costs against how many there are](growth.svg)\n\n" + table)
    }

    private static func row(_ result: GrowthResult) -> [String] {
        let costs = result.costsOfOne
        guard let first = result.points.first, let least = costs.first, let last = costs.last else {
            return ["`\(result.name)`: \(result.title)", "–", "–", "–", "–", "–", "–", ""]
        }
        // Where all were counted at once, what is there without them is worth knowing, too.
        let base =
            result.cost == .ofAll
            ? " (and \(Figures.short(first.instructions)) for the whole of \(size(first.size)))" : ""
        return [
            "`\(result.name)`: \(result.title)", size(least.size), size(last.size),
            Figures.short(least.instructions) + base, Figures.short(last.instructions),
            result.slope.map(signed) ?? "–", result.lastSlope.map(signed) ?? "–",
            result.isProportional ? "" : "**more than its work**",
        ]
    }

    /// A slope with its sign.
    static func signed(_ slope: Double) -> String {
        let rounded = (slope * 100).rounded() / 100
        return rounded == 0 ? "0.00" : String(format: "%+.2f", rounded).replacingOccurrences(of: "-", with: "−")
    }

    /// A size as people say it: sizes that are powers of two are those of bodies.
    static func size(_ size: Int) -> String {
        switch size {
        case 1 << 30: "1 GiB"
        case 1 << 20, 32 << 20: "\(size >> 20) MiB"
        case 1 << 10, 32 << 10: "\(size >> 10) KiB"
        case ..<10_000: "\(size)"
        default: Figures.short(Double(size))
        }
    }

    /// A power of ten for an axis.
    static func power(_ value: Double) -> String {
        switch value {
        case ..<0.999: String(format: "%g", value)
        case ..<1_000: String(format: "%.0f", value)
        case ..<1_000_000: String(format: "%.0f k", value / 1_000)
        default: String(format: "%.0f M", value / 1_000_000)
        }
    }
}
