// One transfer's line: name, share, bar, bytes, rate, time left. Pure; the width and all numbers are given.

/// How far a transfer has come.
package struct ProgressFigures: Sendable, Equatable {
    /// What it is called; the code that shows it makes control characters visible.
    package var name: String
    /// Whether the numbers are of what is sent.
    package var isUpload = false
    /// Bytes that are there, those of earlier runs included.
    package var done: Int64 = 0
    /// Bytes in all; nil where that is not known.
    package var total: Int64?
    /// Bytes a second, of late.
    package var rate: Double = 0

    /// A transfer that has not begun.
    package init(name: String) { self.name = name }

    /// From 0 to 1; nil where that is not known.
    package var share: Double? {
        guard let total, total > 0 else { return nil }
        return min(1, max(0, Double(done) / Double(total)))
    }

    /// Seconds; nil where that is not known.
    package var timeLeft: Double? {
        guard let total, total >= done, rate > 0 else { return nil }
        return Double(total - done) / rate
    }
}

/// Draws figures.
package enum ProgressLine {
    /// The line of a terminal that is so wide; never wider than that.
    package static func bar(_ figures: ProgressFigures, width: Int) -> String {
        let name = VisibleText.of(figures.name)
        let numbers = numbers(figures)
        let share = figures.share.map { "\(Int(($0 * 100).rounded(.down)))%" } ?? ""
        let tail = "  " + right(share, 4) + "  " + numbers
        let tailWidth = TextWidth.columns(tail)
        guard width > tailWidth + 8 else { return TextWidth.fit(right(share, 4) + " " + numbers, max(0, width)) }
        let room = width - tailWidth
        let barWidth = room > 30 ? min(40, room / 2) : 0
        let nameWidth = min(max(8, room - barWidth - (barWidth > 0 ? 1 : 0)), max(8, TextWidth.columns(name)))
        let drawing = barWidth > 0 ? " " + self.drawing(figures.share, barWidth) : ""
        return TextWidth.fit(name, nameWidth) + drawing + tail
    }

    /// The line for a file or a pipe: one of few, and without a bar.
    package static func plain(_ figures: ProgressFigures) -> String {
        let share = figures.share.map { " (\(Int(($0 * 100).rounded(.down)))%)" } ?? ""
        return "\(VisibleText.of(figures.name)): \(amount(figures))\(share), \(QuantityText.rate(figures.rate)), "
            + "\(QuantityText.time(figures.timeLeft)) left"
    }

    private static func numbers(_ figures: ProgressFigures) -> String {
        right(amount(figures), 16) + "  " + right(QuantityText.rate(figures.rate), 9) + "  "
            + right(QuantityText.time(figures.timeLeft), 5)
    }

    private static func amount(_ figures: ProgressFigures) -> String {
        let done = (figures.isUpload ? "sent " : "") + QuantityText.bytes(figures.done)
        return figures.total.map { "\(done) of \(QuantityText.bytes($0))" } ?? done
    }

    private static func drawing(_ share: Double?, _ width: Int) -> String {
        let inside = width - 2
        guard let share else { return "[" + String(repeating: "?", count: inside) + "]" }
        let full = Int((share * Double(inside)).rounded(.down))
        let head = full < inside ? ">" : ""
        return "[" + String(repeating: "=", count: full) + head
            + String(repeating: " ", count: inside - full - head.count) + "]"
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - TextWidth.columns(text))) + text
    }
}
