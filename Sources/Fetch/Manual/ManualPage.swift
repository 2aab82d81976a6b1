// The manual page, made of the table of options, the exit codes, the variables of --write-out and
// the prose beside this file.

import Foundation

/// Writes the page in roff.
enum ManualPage {
    static var text: String {
        ([head] + OptionTable.sections.map(section) + ManualProse.sections.map(prose) + [exitCodes, examples, seeAlso])
            .joined()
    }

    private static var head: String {
        """
        .TH FETCH 1 "" "URLLoading \(Help.number)" "User Commands"
        .SH NAME
        fetch \\- get what is behind URLs
        .SH SYNOPSIS
        .B fetch
        .RI [ options ]
        .IR URL ...
        .SH DESCRIPTION
        \(roff(ManualProse.description))

        """
    }

    private static func section(_ section: OptionSection) -> String {
        ".SH \(section.title.uppercased())\n"
            + section.rules.map { ".TP\n.B \(code($0.spelling))\n\(roff($0.text))\n" }.joined()
    }

    private static func prose(_ section: ManualProse.Section) -> String {
        ".SH \(section.title.uppercased())\n" + section.paragraphs.map(roff).joined(separator: "\n.PP\n") + "\n"
    }

    private static var exitCodes: String {
        ".SH EXIT STATUS\n\(roff(ManualProse.exitStatus))\n"
            + ExitCode.allCases.map { ".TP\n.B \($0.rawValue)\n\(roff($0.meaning))\n" }.joined()
    }

    private static var examples: String {
        ".SH EXAMPLES\n.EX\n" + ManualProse.examples.map { code($0) + "\n" }.joined() + ".EE\n"
    }

    private static let seeAlso = ".SH SEE ALSO\n.BR curl (1)\n"

    // MARK: Markdown as roff

    /// Prose: what stands between backticks is bold.
    static func roff(_ markdown: String) -> String {
        var result = ""
        for (number, part) in markdown.split(separator: "`", omittingEmptySubsequences: false).enumerated() {
            result += number.isMultiple(of: 2) ? escaped(part) : "\\fB\(code(part))\\fP"
        }
        // A line that begins so would be a request of roff's.
        return result.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(".") || $0.hasPrefix("'") ? "\\&" + $0 : String($0) }.joined(separator: "\n")
    }

    /// What is typed: hyphens that can be copied, quotes that are straight.
    private static func code(_ text: some StringProtocol) -> String {
        var result = escaped(text)
        for (character, name) in [("-", "\\-"), ("'", "\\(aq"), ("^", "\\(ha"), ("~", "\\(ti")] {
            result = result.replacingOccurrences(of: character, with: name)
        }
        return result
    }

    private static func escaped(_ text: some StringProtocol) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "\\": "\\e"
            case "\0"..."\u{7F}": String(scalar)
            default: "\\[u" + String(format: "%04X", scalar.value) + "]"
            }
        }.joined()
    }
}
