// A table in Markdown.

/// Rows of cells under a header: the first column is text, the others are numbers.
enum MarkdownTable {
    static func text(header: [String], _ rows: [[String]]) -> String {
        let rule = "|---|" + String(repeating: "---:|", count: header.count - 1)
        return ([line(header), rule] + rows.map(line)).joined(separator: "\n") + "\n"
    }

    private static func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }
}
