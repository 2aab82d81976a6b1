// The results of a run as tables: a line for each group, and a line for each chapter of the behaviour statements.
//
// Must not know: how cases run.

/// Makes the tables.
enum Table {
    /// By groups, with a last line of sums.
    static func byGroup(_ results: [CaseResult]) -> String {
        text(by: "group", parts(of: results) { [$0.group] } + [(name: "all", results: results)])
    }

    /// By chapters. A case that proves statements of several counts in each, one that proves none in no line.
    static func byChapter(_ results: [CaseResult]) -> String {
        text(by: "chapter", parts(of: results, by: \.chapters).sorted { place(of: $0.name) < place(of: $1.name) })
    }

    /// HTTP/2's chapters come behind the others.
    private static func place(of chapter: String) -> Int {
        Int(chapter) ?? 1000 + (Int(chapter.dropFirst()) ?? 0)
    }

    private typealias Part = (name: String, results: [CaseResult])

    /// The results of each name, in the order in which the names come first.
    private static func parts(of results: [CaseResult], by names: (ConformanceCase) -> [String]) -> [Part] {
        var parts: [Part] = []
        for result in results {
            for name in names(result.conformanceCase) {
                if let index = parts.firstIndex(where: { $0.name == name }) {
                    parts[index].results.append(result)
                } else {
                    parts.append((name, [result]))
                }
            }
        }
        return parts
    }

    private static func text(by what: String, _ parts: [Part]) -> String {
        let rows =
            [[what, "cases", "passed", "failed", "not supported", "expected", "seconds"]]
            + parts.map { row($0.name, $0.results) }
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
