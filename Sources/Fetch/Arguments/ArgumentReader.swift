// Hands out arguments one by one: "--name=value" as a word with its value, "-sSo file" as letters, everything behind
// "--" as it is.

/// The arguments that have not been read yet.
struct ArgumentReader {
    /// One thing on a command line.
    enum Argument: Equatable {
        case operand(String)
        case option(String)
        case letter(Character)
    }

    private var rest: ArraySlice<String>
    /// What stands behind the word's equals sign, or behind the letter in the same argument.
    private var attached: String?
    private var isInBundle = false
    private var takesOperandsOnly = false

    init(_ arguments: [String]) { rest = arguments[...] }

    /// Whether "--word=value" has a value.
    var hasAttachedValue: Bool { attached != nil && !isInBundle }

    mutating func next() -> Argument? {
        if isInBundle, let bundle = attached, !bundle.isEmpty { return nextLetter(of: bundle) }
        attached = nil
        isInBundle = false
        guard let argument = rest.popFirst() else { return nil }
        if takesOperandsOnly || argument == "-" || !argument.hasPrefix("-") { return .operand(argument) }
        if argument == "--" {
            takesOperandsOnly = true
            return next()
        }
        guard argument.hasPrefix("--") else { return nextLetter(of: String(argument.dropFirst())) }
        let word = argument.dropFirst(2)
        guard let equals = word.firstIndex(of: "=") else { return .option(String(word)) }
        attached = String(word[word.index(after: equals)...])
        return .option(String(word[..<equals]))
    }

    /// The value of the option that was read last.
    mutating func value() -> String? {
        defer {
            attached = nil
            isInBundle = false
        }
        if let attached, !(isInBundle && attached.isEmpty) { return attached }
        return rest.popFirst()
    }

    private mutating func nextLetter(of bundle: String) -> Argument? {
        guard let letter = bundle.first else { return nil }
        attached = String(bundle.dropFirst())
        isInBundle = true
        return .letter(letter)
    }
}

/// How alike two words are.
package enum Spelling {
    /// How many letters have to be put in, taken out or replaced to make one of the other (Levenshtein).
    package static func distance(_ one: String, _ other: String) -> Int {
        let letters = Array(other)
        var row = Array(0...letters.count)
        for (number, letter) in one.enumerated() {
            var diagonal = row[0]
            row[0] = number + 1
            for column in letters.indices {
                let substituted = diagonal + (letters[column] == letter ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(substituted, row[column] + 1, diagonal + 1)
            }
        }
        return row[letters.count]
    }
}
