// The tables of docs/performance.md: the text between two marks is replaced, what people wrote around it stays.

import Foundation

/// A run as the generated part of a document.
enum MarkdownReport {
    private static let begin = "<!-- tables: made by Benchmarks --report, do not edit -->"
    private static let end = "<!-- end of tables -->"

    /// Writes the tables into `performance.md` of a directory, and the chart beside it.
    static func write(_ file: ResultFile, _ scenarios: [Scenario], to directory: String) throws {
        let place = URL(fileURLWithPath: directory)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let tables = file.tables(scenarios)
        try Data(BarChart.svg(file, scenarios).utf8).write(to: place.appendingPathComponent("performance.svg"))

        let document = place.appendingPathComponent("performance.md")
        let before = (try? String(contentsOf: document, encoding: .utf8)) ?? "# Performance\n\n\(begin)\n\(end)\n"
        guard let from = before.range(of: begin), let to = before.range(of: end), from.upperBound <= to.lowerBound
        else {
            throw HarnessError("\(document.path) has lost the marks around its tables")
        }
        let body = ([heading(file.setting)] + tables.map(text)).joined(separator: "\n")
        let after = before[..<from.upperBound] + "\n\n" + body + "\n" + before[to.lowerBound...]
        try Data(after.utf8).write(to: document)
    }

    private static func heading(_ setting: ResultFile.Setting) -> String {
        let pinned =
            setting.pinned ? "client and server each on a core of its own" : "client and server on the same core"
        return """
            Measured on \(setting.date): \(setting.processor), \(setting.cores) cores, \(setting.kernel), \
            \(setting.system). Server: \(setting.server); \(pinned). Medians of \(setting.runs) interleaved runs; ± is \
            half the distance of the quartiles.

            ![Processor time against the floor](performance.svg)

            """
    }

    private static func text(_ table: Table) -> String {
        func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }
        let rule = "|---|" + String(repeating: "---:|", count: table.header.count - 1)
        let promises = table.promises.map { promise in
            let mark = promise.isKept.map { $0 ? "kept" : "**not kept**" } ?? "not measured"
            return "- \(promise.text) – \(mark)"
        }
        let title = ["### \(table.scenario.title) (`\(table.scenario.name)`)", ""]
        let gaps = table.gaps.isEmpty ? [] : ["", "Not in the table: \(table.gaps.joined(separator: "; "))."]
        let kept = promises.isEmpty ? [] : [""] + promises
        return (title + [line(table.header), rule] + table.lines.map(line) + gaps + kept + [""]).joined(separator: "\n")
    }
}
