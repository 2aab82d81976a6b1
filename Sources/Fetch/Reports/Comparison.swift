// What --compare says: two answers side by side, the fields and lines of the body in which they
// differ, and their times. Pure.

import Foundation

/// Two answers.
package struct Comparison: Sendable {
    /// One of them.
    package struct Side: Sendable {
        package var url: String
        /// The status line.
        package var status: String
        package var fields: [HeaderField]
        /// Nil where it was longer than what is kept.
        package var body: Data?
        package var length: Int64
        /// Seconds until the first byte, and in all.
        package var firstByte: Double
        package var total: Double

        /// A side as it is.
        package init(
            url: String, status: String, fields: [HeaderField], body: Data?, length: Int64, firstByte: Double,
            total: Double
        ) {
            self.url = url
            self.status = status
            self.fields = fields
            self.body = body
            self.length = length
            self.firstByte = firstByte
            self.total = total
        }
    }

    /// More lines than this are not set against each other: that would take as long as their product.
    private static let mostLines = 3000
    private static let mostShown = 200

    private let one: Side
    private let other: Side

    /// Compares two answers.
    package init(_ one: Side, _ other: Side) {
        self.one = one
        self.other = other
    }

    /// Whether status, fields and body are the same.
    package var isSame: Bool { one.status == other.status && fieldLines.isEmpty && bodyIsSame == true }

    /// The report: lines with `-` are of the first, with `+` of the second.
    package var lines: [String] {
        var lines = ["--- \(one.url)", "+++ \(other.url)"]
        lines += one.status == other.status ? ["  \(one.status)"] : ["- \(one.status)", "+ \(other.status)"]
        lines += fieldLines
        lines.append(bodySummary)
        lines += bodyLines
        lines.append("first byte \(times(one.firstByte, other.firstByte)), in all \(times(one.total, other.total))")
        return lines
    }

    private func times(_ one: Double, _ other: Double) -> String {
        "\(QuantityText.duration(one)) and \(QuantityText.duration(other))"
    }

    // MARK: Fields

    /// Fields that only one has, or that have other values, by name.
    private var fieldLines: [String] {
        let (mine, others) = (Self.values(one.fields), Self.values(other.fields))
        return Set(mine.keys).union(others.keys).sorted().flatMap { name -> [String] in
            let (left, right) = (mine[name] ?? [], others[name] ?? [])
            guard left != right else { return [] }
            return left.map { "- \(name): \($0)" } + right.map { "+ \(name): \($0)" }
        }
    }

    private static func values(_ fields: [HeaderField]) -> [String: [String]] {
        Dictionary(grouping: fields) { $0.name.lowercased() }
            .mapValues { $0.map { SecretFields.shown($0.name, $0.value) } }
    }

    // MARK: Bodies

    private var bodyIsSame: Bool? {
        guard let mine = one.body, let others = other.body else { return one.length == other.length ? nil : false }
        return mine == others
    }

    private var bodySummary: String {
        let length = QuantityText.bytes(one.length)
        switch bodyIsSame {
        case true?: return "  the bodies are the same, \(length)"
        case false?: return "  the bodies differ, \(length) and \(QuantityText.bytes(other.length))"
        case nil: return "  the bodies are both \(length), too long to be compared"
        }
    }

    private var bodyLines: [String] {
        guard bodyIsSame == false, let mine = one.body.flatMap(Self.text), let others = other.body.flatMap(Self.text)
        else { return [] }
        guard mine.count <= Self.mostLines, others.count <= Self.mostLines else {
            let line = zip(mine, others).prefix { $0 == $1 }.count
            return ["  from line \(line + 1) on"]
        }
        let changes = others.difference(from: mine)
        let all = changes.removals.map { Self.line($0, "-") } + changes.insertions.map { Self.line($0, "+") }
        let sorted = all.sorted { ($0.offset, $0.mark == "-" ? 0 : 1) < ($1.offset, $1.mark == "-" ? 0 : 1) }
        let shown = sorted.prefix(Self.mostShown).map { "\($0.mark) \($0.text)" }
        return shown + (sorted.count > shown.count ? ["  and \(sorted.count - shown.count) lines more"] : [])
    }

    private static func line(
        _ change: CollectionDifference<Substring>.Change, _ mark: String
    ) -> (offset: Int, mark: String, text: Substring) {
        switch change {
        case .insert(let offset, let text, _), .remove(let offset, let text, _): (offset, mark, text)
        }
    }

    /// The lines of a text, of JSON as it is printed for people; nil for what is no text.
    private static func text(_ body: Data) -> [Substring]? {
        var data = body
        if JSONText.isValue(body) {
            var printer = PrettyJSON(Paint(isOn: false))
            data = Data(printer.print(body) + printer.finish())
        }
        guard let text = String(data: data, encoding: .utf8), !data.contains(0) else { return nil }
        return text.split(separator: "\n", omittingEmptySubsequences: false)
    }
}
