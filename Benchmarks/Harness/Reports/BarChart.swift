// A picture of a run: the processor time of each client as a multiple of the floor's, for the scenarios
// that a reader sees first.

/// Horizontal bars as SVG.
enum BarChart {
    private static let left = 170.0
    private static let width = 860.0
    /// What stands behind the longest bar has room here.
    private static let right = 210.0
    private static let barHeight = 11.0
    private static let gap = 3.0
    /// Longer bars are cut and say so.
    private static let most = 8.0

    private static let colours: [String: String] = [
        Contestant.ours: "#d9480f", "floor": "#adb5bd", "hyper": "#5c940d", "reqwest": "#74b816",
        "libcurl-multi": "#1971c2", "go": "#0c8599", "foundation-networking": "#7048e8",
        OutsideRun.client: "#e599f7",
    ]

    static func svg(_ headlines: [Headline]) -> String {
        var shapes: [String] = []
        var y = 20.0
        for headline in headlines {
            shapes.append(SVG.text(headline.scenario.title, x: 8, y: y + 9, size: 12, isBold: true))
            y += 18
            for cost in headline.costs {
                shapes += bar(cost, unit: headline.scenario.unit.symbol, y: y)
                y += barHeight + gap
            }
            y += 12
        }
        let grid = stride(from: 1.0, through: most, by: 1).flatMap { ratio in
            let x = left + ratio * scaleOfOne
            return [
                SVG.line(from: (x, 14), to: (x, y), colour: "#dee2e6"),
                SVG.text("\(Int(ratio)) ×", x: x - 6, y: 10, size: 9),
            ]
        }
        return SVG.picture(width: width, height: y, grid + shapes)
    }

    private static var scaleOfOne: Double { (width - left - right) / most }

    private static func bar(_ cost: Headline.Cost, unit: String, y: Double) -> [String] {
        let length = min(cost.ratios.upperBound, most) * scaleOfOne
        let cut = cost.ratios.upperBound > most ? " (bar cut)" : ""
        let cpu = cost.cpu.map { "\(Figures.short($0)) \(unit)" } ?? "in another run"
        return [
            SVG.text(Headline.title(of: cost.client), x: 16, y: y + 9, size: 10),
            SVG.bar(x: left, y: y, width: length, height: barHeight, colour: colours[cost.client] ?? "black"),
            SVG.text("\(cost.multiple) · \(cpu)\(cut)", x: left + length + 4, y: y + 9, size: 9),
        ]
    }
}
