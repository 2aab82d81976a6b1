// The tables of docs/fetch.md: the options by section, and how each relates to curl's.

/// Writes tables in Markdown.
enum ManualTables {
    /// A table for each section.
    static var options: String {
        OptionTable.sections.map { section in
            "## \(section.title)\n\n| option | what it does |\n|---|---|\n"
                + section.rules.map { "| `\(cell($0.spelling))` | \(cell($0.text)) |\n" }.joined()
        }.joined(separator: "\n")
    }

    /// Every option of curl's that is known here, in the order of the alphabet, and whether it is the same.
    static var curl: String {
        let known = OptionTable.all.compactMap { rule -> (String, String)? in
            switch rule.likeness {
            case .ours: nil
            case .same: (rule.word, "| `\(cell(rule.spelling))` | same |")
            case .different(let what): (rule.word, "| `\(cell(rule.spelling))` | different: \(cell(what)) |")
            }
        }
        let refused = RefusedOption.all.map { option in
            (
                option.word,
                "| `\((option.letter.map { "-\($0), " } ?? "") + "--\(option.word)")` | not there: \(cell(option.reason)) |"
            )
        }
        return "| curl's option | here |\n|---|---|\n"
            + (known + refused).sorted { $0.0 < $1.0 }.map { $0.1 + "\n" }.joined()
    }

    /// A bar would end the cell, in code as well.
    private static func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }
}
