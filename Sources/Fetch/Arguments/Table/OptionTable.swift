// All options, found by their spelling. The parts of the table are in the files beside this one, a section each.

/// The table of options.
package enum OptionTable {
    /// The sections, in the order of the manual.
    package static let sections: [OptionSection] = [request, answer, way, trust, reports, command]

    /// Every option.
    package static let all: [OptionRule] = sections.flatMap(\.rules)

    private static let byWord = Dictionary(uniqueKeysWithValues: all.map { ($0.word, $0) })
    private static let byLetter = Dictionary(
        uniqueKeysWithValues: all.compactMap { rule in rule.letter.map { ($0, rule) } })

    /// The option of a word, and whether it is switched on: `--no-WORD` switches off.
    static func rule(word: String) throws(UsageError) -> (rule: OptionRule, isOn: Bool) {
        if let rule = byWord[word] { return (rule, true) }
        if word.hasPrefix("no-"), let rule = byWord[String(word.dropFirst(3))] {
            guard rule.isNegatable else { throw UsageError("--\(rule.word) cannot be undone by --\(word)") }
            return (rule, false)
        }
        if let refused = RefusedOption.all.first(where: { $0.word == word }) { throw refused.error("--\(word)") }
        let near = all.map(\.word).map { (word: $0, distance: Spelling.distance($0, word)) }
            .filter { $0.distance <= max(1, word.count / 3) }
            .min { $0.distance < $1.distance }
        throw UsageError(
            "there is no option --\(word)" + (near.map { "; did you mean --\($0.word)?" } ?? ""),
            advice: near == nil ? "fetch --help all lists them" : nil)
    }

    /// The option of a letter.
    static func rule(letter: Character) throws(UsageError) -> OptionRule {
        if let rule = byLetter[letter] { return rule }
        if let refused = RefusedOption.all.first(where: { $0.letter == letter }) { throw refused.error("-\(letter)") }
        throw UsageError("there is no option -\(letter)", advice: "fetch --help all lists them")
    }
}

/// A section of the manual.
package struct OptionSection: Sendable {
    /// What `--help` calls it, in one word.
    package let name: String
    /// Its title in the manual.
    package let title: String
    /// Its options, in the order of the manual.
    package let rules: [OptionRule]
}
