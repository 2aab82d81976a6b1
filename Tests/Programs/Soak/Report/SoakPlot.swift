// The samples of a soak as a picture: one panel for each of what was looked at, one above the other over the same time.

import Foundation

/// Draws samples as SVG.
enum SoakPlot {
    private struct Panel: Sendable {
        let title: String
        let colour: String
        /// Nil where it could not be looked at; a panel without a value is left out.
        let value: @Sendable (Sample) -> Double?
    }

    private static let panels = [
        Panel(title: "resident memory, MiB", colour: "#1f6feb") { Double($0.residentKiB) / 1024 },
        Panel(title: "memory in use, MiB", colour: "#0a7ea4") { sample in sample.inUseKiB.map { Double($0) / 1024 } },
        Panel(title: "descriptors", colour: "#a5480d") { Double($0.descriptors) },
        Panel(title: "threads", colour: "#6e40c9") { Double($0.threads) },
        Panel(title: "requests ended, thousands", colour: "#1a7f37") { Double($0.requests) / 1000 },
        Panel(title: "faults injected, thousands", colour: "#cf222e") { Double($0.faults) / 1000 },
    ]

    static func svg(_ samples: [Sample]) -> String {
        let panels = panels.filter { panel in samples.contains { panel.value($0) != nil } }
        let height = Self.top + Double(panels.count) * (Self.panelHeight + Self.gap)
        var text = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(height))" \
            font-family="sans-serif" font-size="12">
            <rect width="100%" height="100%" fill="#ffffff"/>

            """
        for (index, panel) in panels.enumerated() {
            text += draw(panel, samples, top: Self.top + Double(index) * (Self.panelHeight + Self.gap))
        }
        return text + "</svg>\n"
    }

    private static func draw(_ panel: Panel, _ samples: [Sample], top: Double) -> String {
        let last = max(1, samples.last?.seconds ?? 1)
        let most = ceiling(samples.compactMap(panel.value).max() ?? 1)
        let (left, right, bottom) = (Self.left, Self.width - 20, top + Self.panelHeight)
        func x(_ seconds: Double) -> Double { left + (right - left) * seconds / last }
        func y(_ value: Double) -> Double { bottom - Self.panelHeight * value / most }
        var text =
            "<text x=\"\(number(left))\" y=\"\(number(top - 6))\" fill=\"\(panel.colour)\">\(panel.title)</text>\n"
        for part in [0, 0.5, 1] {
            let line = number(y(most * part))
            text += "<path d=\"M\(number(left)) \(line)H\(number(right))\" stroke=\"#d0d7de\"/>"
            text += "<text x=\"\(number(left - 6))\" y=\"\(number(y(most * part) + 4))\" text-anchor=\"end\">"
            text += "\(label(most * part))</text>\n"
        }
        for part in 0...6 {
            let seconds = last * Double(part) / 6
            text += "<text x=\"\(number(x(seconds)))\" y=\"\(number(bottom + 15))\" text-anchor=\"middle\" "
            text += "fill=\"#57606a\">\(time(seconds, of: last))</text>\n"
        }
        let points = samples.compactMap { sample in
            panel.value(sample).map { "\(number(x(sample.seconds))),\(number(y($0)))" }
        }.joined(separator: " ")
        return text + "<polyline fill=\"none\" stroke=\"\(panel.colour)\" stroke-width=\"1.5\" points=\"\(points)\"/>\n"
    }

    /// The next number that reads well.
    private static func ceiling(_ value: Double) -> Double {
        guard value > 0 else { return 1 }
        let magnitude = pow(10, floor(log10(value)))
        return ([1, 2, 3, 4, 6, 8, 10].first { $0 * magnitude >= value } ?? 10) * magnitude
    }

    private static func label(_ value: Double) -> String {
        value == value.rounded() ? "\(Int(value))" : "\((value * 100).rounded() / 100)"
    }

    private static func time(_ seconds: Double, of last: Double) -> String {
        last < 600 ? "\(Int(seconds.rounded())) s" : "\(Int((seconds / 60).rounded())) min"
    }

    private static func number(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }

    private static let (width, left, top): (Double, Double, Double) = (760, 60, 30)
    private static let (panelHeight, gap): (Double, Double) = (110, 45)
}
