// The `#if` directives of a file, as a list. Which of their conditions matter is not known here.

/// One `#if` with everything up to its `#endif`.
struct Conditional {
    /// What stands between two of its directives.
    struct Clause {
        /// Without blanks. Nil for `#else`.
        let condition: String?
        /// The line of the directive that begins it.
        let line: Int
        /// Its lines, from the one behind its directive to the one before the next.
        fileprivate(set) var body: Range<Int>
    }

    fileprivate(set) var clauses: [Clause]
    /// Whether it stands in no other one.
    let isOutermost: Bool

    /// Its lines, from `#if` to before `#endif`.
    var lines: Range<Int> { (clauses.first?.line ?? 0)..<(clauses.last?.body.upperBound ?? 0) }

    /// Whether one of its conditions speaks of this.
    func mentions(_ word: String) -> Bool { clauses.contains { $0.condition?.contains(word) == true } }

    /// Those of a file, in the order of their ends. Nil where one has no end, or an end has no beginning.
    static func all(in code: [String]) -> [Conditional]? {
        var open: [Conditional] = []
        var closed: [Conditional] = []
        for (line, text) in code.enumerated() {
            guard let (word, condition) = directive(text) else { continue }
            if word == "#if" {
                let clause = Clause(condition: condition, line: line, body: line + 1..<line + 1)
                open.append(Conditional(clauses: [clause], isOutermost: open.isEmpty))
                continue
            }
            guard var conditional = open.popLast(), let last = conditional.clauses.indices.last else { return nil }
            conditional.clauses[last].body = conditional.clauses[last].line + 1..<line
            if word == "#endif" {
                closed.append(conditional)
            } else {
                let next = Clause(
                    condition: word == "#else" ? nil : condition, line: line, body: line + 1..<line + 1)
                conditional.clauses.append(next)
                open.append(conditional)
            }
        }
        return open.isEmpty ? closed : nil
    }

    /// The directive of a line, and its condition without blanks.
    private static func directive(_ text: String) -> (word: String, condition: String)? {
        let text = text.drop { $0 == " " || $0 == "\t" }
        guard text.hasPrefix("#") else { return nil }
        let word = text.prefix { $0 == "#" || $0.isLetter }
        guard ["#if", "#elseif", "#else", "#endif"].contains(word) else { return nil }
        return (String(word), text.dropFirst(word.count).filter { !$0.isWhitespace })
    }
}
