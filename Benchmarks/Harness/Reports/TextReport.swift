// Tables for a terminal.

/// A run as plain text.
enum TextReport {
    static func text(_ file: ResultFile, _ scenarios: [Scenario]) -> String {
        let tables = file.tables(scenarios).map(text)
        return ([heading(file.setting)] + tables).joined(separator: "\n")
    }

    private static func heading(_ setting: ResultFile.Setting) -> String {
        let pinned =
            setting.pinned ? "client and server each on a core of its own" : "client and server on the same core"
        return """
            \(setting.processor), \(setting.cores) cores, \(setting.kernel), \(setting.system)
            server: \(setting.server); \(pinned); medians of \(setting.runs) interleaved runs, \(setting.date)

            """
    }

    private static func text(_ table: Table) -> String {
        let all = [table.header] + table.lines
        let widths = table.header.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        let lines = all.map { line in
            line.enumerated().map { column, cell in
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + padding : padding + cell
            }.joined(separator: "  ")
        }
        let promises = table.promises.map { promise in
            let mark = promise.isKept.map { $0 ? "✓" : "✗" } ?? "·"
            return "  \(mark) \(promise.text)"
        }
        let gaps = table.gaps.map { "  – \($0)" }
        return (["\(table.scenario.name) — \(table.scenario.title)"] + lines + gaps + promises + [""])
            .joined(separator: "\n")
    }
}

extension ResultFile {
    /// The tables of the scenarios that were run, in the catalogue's order.
    func tables(_ scenarios: [Scenario]) -> [Table] {
        scenarios.compactMap { scenario in
            entries.first { $0.scenario == scenario.name }.map { Table(scenario, $0, of: entries) }
        }
    }
}
