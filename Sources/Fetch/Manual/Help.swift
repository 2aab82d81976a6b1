// What --help shows: one screen of what is used most, everything, a section, or one option.

import URLLoading

/// Texts about the command itself.
package enum Help {
    /// The version of the library, which the command is a part of.
    package static let version = "fetch \(number) (URLLoading)\n"
    /// What servers are told, unless `--user-agent` tells them something else: no system, no kernel.
    static let agent = "fetch/\(number)"
    static let number = URLSession.libraryVersion

    /// The text of a topic; nil for one that there is not.
    package static func text(_ topic: String?) -> String? {
        switch topic {
        case nil: screen
        case "all": OptionTable.sections.map(section).joined(separator: "\n")
        case let topic?:
            if let named = OptionTable.sections.first(where: { $0.name == topic }) {
                section(named)
            } else {
                option(topic)
            }
        }
    }

    /// The names of all topics but options.
    static var topics: [String] { ["all"] + OptionTable.sections.map(\.name) }

    private static var screen: String {
        let lines = OptionTable.all.filter(\.isCommon).map(line)
        return "usage: fetch [options] URL...\n" + lines.joined(separator: "\n")
            + "\nfetch --help all lists all \(OptionTable.all.count) options, fetch --help OPTION tells of one,\n"
            + "fetch --help SECTION: \(topics.dropFirst().joined(separator: ", ")).\n"
    }

    private static func section(_ section: OptionSection) -> String {
        section.title + "\n" + section.rules.map(line).joined(separator: "\n") + "\n"
    }

    private static func option(_ spelling: String) -> String? {
        let word = String(spelling.drop { $0 == "-" })
        guard let rule = OptionTable.all.first(where: { $0.word == word || word.count == 1 && $0.letter == word.first })
        else {
            return RefusedOption.all.first { $0.word == word || word.count == 1 && $0.letter == word.first }
                .map { "There is no --\($0.word): \($0.reason).\n" }
        }
        var text = rule.spelling + "\n    " + rule.text.replacing("`", with: "") + "\n"
        switch rule.likeness {
        case .same: break
        case .ours: text += "    curl has none of this name.\n"
        case .different(let what): text += "    Other than in curl: \(what.replacing("`", with: "")).\n"
        }
        return text
    }

    /// An option in one line of 80 columns, cut where it is longer.
    private static func line(_ rule: OptionRule) -> String {
        let spelling = "  " + (rule.letter == nil ? "    " : "") + rule.spelling
        let room = max(spelling.count + 2, 34)
        let padded = spelling + String(repeating: " ", count: room - spelling.count)
        let line = padded + rule.summary.replacing("`", with: "")
        return line.count <= 80 ? line : line.prefix(79).trimmingSuffix(while: \.isWhitespace) + "…"
    }
}

extension OptionRule {
    /// `-X, --request METHOD`.
    package var spelling: String {
        (letter.map { "-\($0), " } ?? "") + "--\(word)"
            + (argument.map { $0.isOptional ? " [\($0.name)]" : " \($0.name)" } ?? "")
    }
}

extension StringProtocol {
    fileprivate func trimmingSuffix(while predicate: (Character) -> Bool) -> String {
        guard let last = lastIndex(where: { !predicate($0) }) else { return "" }
        return String(self[...last])
    }
}
