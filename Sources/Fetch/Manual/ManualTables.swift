// The tables of docs/fetch.md and docs/fetch-and-curl.md: the options by section, and how each relates to curl's.

/// Writes tables in Markdown.
enum ManualTables {
    /// A table for each section.
    static var options: String {
        OptionTable.sections.map { section in
            "## \(section.title)\n\n| option | what it does |\n|---|---|\n"
                + section.rules.map { "| `\(cell($0.spelling))` | \(cell($0.text)) |\n" }.joined()
        }.joined(separator: "\n")
    }

    /// Every option of curl's that is known here, in the order of the alphabet: the same ones, and a table each of
    /// those that are different and of those that are not there.
    static var curl: String {
        let known = OptionTable.all.sorted { $0.word < $1.word }
        let same = known.filter { $0.likeness == .same }.map { "`\($0.spelling)`" }
        let different = known.compactMap { rule -> String? in
            guard case .different(let what) = rule.likeness else { return nil }
            return "| `\(cell(rule.spelling))` | \(cell(what)) |\n"
        }
        let refused = RefusedOption.all.sorted { $0.word < $1.word }.map { option in
            "| `\((option.letter.map { "-\($0), " } ?? "") + "--\(option.word)")` | \(cell(option.reason)) |\n"
        }
        return "The same: " + same.joined(separator: ", ") + ".\n\n| different | how |\n|---|---|\n"
            + different.joined()
            + "\n| not there | why, and what to use |\n|---|---|\n" + refused.joined()
    }

    /// A bar would end the cell, in code as well.
    private static func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }
}
