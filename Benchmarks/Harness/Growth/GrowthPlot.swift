// What one costs against how many there are, a panel for each series. Both axes are logarithms: what costs as much at
// every size is a level line, and what grows with the square of its number rises by a decade for each decade.

import Foundation

/// Draws results as SVG.
enum GrowthPlot {
    private static let columns = 3
    private static let (panelWidth, panelHeight): (Double, Double) = (300, 190)
    private static let (left, right, top, bottom): (Double, Double, Double, Double) = (50, 12, 42, 24)

    static func svg(_ results: [GrowthResult]) -> String {
        let drawn = results.filter { !$0.costsOfOne.isEmpty }
        let rows = (drawn.count + columns - 1) / columns
        let shapes = drawn.enumerated().flatMap { index, result in
            panel(result, x: Double(index % columns) * panelWidth, y: Double(index / columns) * panelHeight)
        }
        return SVG.picture(width: Double(columns) * panelWidth, height: Double(rows) * panelHeight, shapes)
    }

    private static func panel(_ result: GrowthResult, x: Double, y: Double) -> [String] {
        let points = result.costsOfOne.filter { $0.size > 0 && $0.instructions > 0 }
        guard let first = points.first, let last = points.last else { return [] }
        let colour = result.isProportional ? "#1971c2" : "#d9480f"
        let across = Axis(
            first.size == last.size
                ? [Double(first.size) / 2, Double(last.size) * 2]
                : [Double(first.size), Double(last.size)], from: x + left, to: x + panelWidth - right)
        let up = Axis(
            points.map(\.instructions), atLeast: 2, from: y + panelHeight - bottom, to: y + top)
        let slope = result.slope.map { "slope \(GrowthReport.signed($0))" } ?? ""
        let places = points.map { (x: across.place(Double($0.size)), y: up.place($0.instructions)) }
        return [
            SVG.text(result.name, x: x + left, y: y + 16, size: 11, isBold: true),
            SVG.text(slope, x: x + left, y: y + 31, size: 10, colour: colour),
        ]
            + up.decades.flatMap { value in
                [
                    SVG.line(
                        from: (x + left, up.place(value)), to: (x + panelWidth - right, up.place(value)),
                        colour: "#dee2e6"),
                    SVG.text(
                        GrowthReport.power(value), x: x + left - 5, y: up.place(value) + 3, size: 9, anchor: .end),
                ]
            }
            + points.map { point in
                SVG.text(
                    GrowthReport.size(point.size), x: across.place(Double(point.size)),
                    y: y + panelHeight - bottom + 13,
                    size: 9, anchor: .middle)
            }
            + [SVG.curve(places, colour: colour)] + places.map { SVG.dot(x: $0.x, y: $0.y, colour: colour) }
    }

    /// A logarithmic axis between two places.
    private struct Axis {
        private let least: Double
        private let most: Double
        private let from: Double
        private let to: Double

        /// An axis for some values; with `atLeast` it goes from a whole decade to a whole decade,
        /// and has so many of them.
        init(_ values: [Double], atLeast decades: Double? = nil, from: Double, to: Double) {
            let logarithms = values.map { log10($0) }
            var (least, most) = (logarithms.min() ?? 0, logarithms.max() ?? 1)
            if let decades {
                (least, most) = (least.rounded(.down), most.rounded(.up))
                while most - least < decades {
                    if (most - least).truncatingRemainder(dividingBy: 2) == 0 { most += 1 } else { least -= 1 }
                }
            }
            (self.least, self.most, self.from, self.to) = (least, most, from, to)
        }

        func place(_ value: Double) -> Double { from + (to - from) * (log10(value) - least) / (most - least) }

        /// The powers of ten on it.
        var decades: [Double] { stride(from: least.rounded(.up), through: most, by: 1).map { pow(10, $0) } }
    }
}
