// A picture of a run: for each scenario the processor time of each client as a multiple of the floor's.

/// Horizontal bars as SVG.
enum BarChart {
    private static let left = 230.0
    private static let width = 920.0
    /// What stands behind the longest bar has room here.
    private static let right = 210.0
    private static let barHeight = 11.0
    private static let gap = 3.0
    /// Longer bars are cut and say so.
    private static let most = 8.0

    private static let colours: [String: String] = [
        "urlloading": "#d9480f", "floor": "#adb5bd", "hyper": "#5c940d", "reqwest": "#74b816",
        "libcurl-multi": "#1971c2",
        "libcurl-easy": "#4dabf7", "curl": "#4dabf7", "go": "#0c8599", "foundation-networking": "#7048e8",
    ]

    static func svg(_ file: ResultFile, _ scenarios: [Scenario]) -> String {
        var shapes: [String] = []
        var y = 20.0
        for scenario in scenarios {
            guard let entry = file.entries.first(where: { $0.scenario == scenario.name }) else { continue }
            let rows = entry.rows.filter { colours[$0.name] != nil }.compactMap { row in
                Figures(row.samples.map(\.cpu)).map { (row.name, $0.median) }
            }
            guard let floor = rows.first(where: { $0.0 == "floor" })?.1, floor > 0 else { continue }
            shapes.append(label(scenario.title, x: 8, y: y + 9, size: 12, weight: "bold"))
            y += 18
            for (name, cpu) in rows {
                shapes += bar(name, ratio: cpu / floor, cpu: "\(Figures.short(cpu)) \(scenario.unit.symbol)", y: y)
                y += barHeight + gap
            }
            y += 12
        }
        let grid = stride(from: 1.0, through: most, by: 1).map { ratio in
            let x = left + ratio * scaleOfOne
            return ##"<line x1="\##(x)" y1="14" x2="\##(x)" y2="\##(y)" stroke="#dee2e6" stroke-width="1"/>"##
                + label("\(Int(ratio)) ×", x: x - 6, y: 10, size: 9)
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(y)" font-family="sans-serif">
            <rect width="\(width)" height="\(y)" fill="white"/>
            \((grid + shapes).joined(separator: "\n"))
            </svg>

            """
    }

    private static var scaleOfOne: Double { (width - left - right) / most }

    private static func bar(_ name: String, ratio: Double, cpu: String, y: Double) -> [String] {
        let length = min(ratio, most) * scaleOfOne
        let cut = ratio > most ? " (bar cut)" : ""
        let colour = colours[name] ?? "black"
        return [
            label(name, x: 16, y: y + 9, size: 10),
            #"<rect x="\#(left)" y="\#(y)" width="\#(length)" height="\#(barHeight)" fill="\#(colour)"/>"#,
            label("\(Figures.short(ratio)) × · \(cpu)\(cut)", x: left + length + 4, y: y + 9, size: 9),
        ]
    }

    private static func label(
        _ text: String, x: Double, y: Double, size: Int, weight: String = "normal"
    ) -> String {
        ##"<text x="\##(x)" y="\##(y)" font-size="\##(size)" font-weight="\##(weight)" fill="#212529">\##(text)</text>"##
    }
}
