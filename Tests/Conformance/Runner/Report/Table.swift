// The results of a run as a table, a line for each group.
//
// Must not know: how cases run.

/// Makes the table.
enum Table {
    /// The table as text, with a last line of sums.
    static func text(_ results: [CaseResult]) -> String {
        var groups: [(name: String, results: [CaseResult])] = []
        for result in results {
            let name = result.conformanceCase.group
            if let index = groups.firstIndex(where: { $0.name == name }) {
                groups[index].results.append(result)
            } else {
                groups.append((name, [result]))
            }
        }
        var rows = [["group", "cases", "passed", "failed", "not supported", "expected", "seconds"]]
        for group in groups { rows.append(row(group.name, group.results)) }
        rows.append(row("all", results))
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { column, text in
                let space = String(repeating: " ", count: widths[column] - text.count)
                return column == 0 ? text + space : space + text
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    private static func row(_ name: String, _ results: [CaseResult]) -> [String] {
        let tenths = results.reduce(Duration.zero) { $0 + $1.duration } / .milliseconds(100)
        return [
            name, "\(results.count)", "\(count(.passed, results))", "\(results.count { $0.outcome.isBad })",
            "\(count(.unsupported, results))", "\(count(.failedAsExpected, results))",
            "\(Int(tenths) / 10).\(Int(tenths) % 10)",
        ]
    }

    private static func count(_ outcome: Outcome, _ results: [CaseResult]) -> Int {
        results.count { $0.outcome == outcome }
    }
}
