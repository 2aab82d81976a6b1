// One option: how it is spelled, what help, manual and completions say of it, and what it does to the
// options. Knows no order.

/// Why a command line is not understood.
package struct UsageError: Error, Equatable {
    /// One sentence, without a capital and without a full stop.
    package let message: String
    /// What could be done about it, as a sentence of the same kind.
    package var advice: String?
    /// What the command ends with.
    package let code: ExitCode

    init(_ message: String, advice: String? = nil, code: ExitCode = .usage) {
        self.message = message
        self.advice = advice
        self.code = code
    }
}

/// An option of the command.
package struct OptionRule: Sendable {
    typealias Switch = @Sendable (inout Options, Bool) throws(UsageError) -> Void
    typealias Reader = @Sendable (inout Options, String) throws(UsageError) -> Void

    /// What it does, and to what.
    enum Effect: Sendable {
        /// Switches something on, or off where it is spelled `--no-WORD`.
        case flag(Switch)
        case value(Reader)
        /// Changes how the rest of the command line is read.
        case reading(Reading)
    }

    /// What changes how the rest is read, or ends it.
    enum Reading: Sendable {
        case help, version, generate, url, next, config
        /// Counts only as the first word of all, where it was taken already.
        case ignoringDefaultConfig
    }

    /// The letter behind a single hyphen, if it has one.
    package let letter: Character?
    /// The word behind two hyphens.
    package let word: String
    /// What stands behind it; nil for a flag.
    package let argument: OptionArgument?
    /// What it does, as a short phrase in Markdown.
    package let summary: String
    let effect: Effect

    /// What else should be known, in the manual only, in Markdown.
    private(set) package var more = ""
    /// Whether `--help` shows it, which is one screen.
    private(set) package var isCommon = false
    /// How it relates to curl's.
    private(set) package var likeness = CurlLikeness.same
    /// Whether it counts for all URLs, also for those behind and before `--next`.
    private(set) var isGlobal = false
    /// Whether `--no-WORD` undoes it.
    private(set) package var isNegatable = false

    private init(
        _ letter: Character?, _ word: String, _ argument: OptionArgument?, _ summary: String, _ effect: Effect
    ) {
        self.letter = letter
        self.word = word
        self.argument = argument
        self.summary = summary
        self.effect = effect
    }

    /// All texts of it in the manual.
    package var text: String { more.isEmpty ? summary : summary + "; " + more }
}

/// What stands behind an option.
package struct OptionArgument: Sendable {
    /// Of what kind it is, for completions.
    package enum Kind: Sendable, Equatable {
        case text
        case file
        case folder
        case oneOf([String])
    }

    /// Its name in the manual, in capitals.
    package let name: String
    /// What it has to be, as "needs …" goes on.
    package let needs: String
    /// Of what kind it is.
    package let kind: Kind
    /// Whether the option may stand without it.
    package var isOptional = false
    /// Whether it is read from a file with the rest of the command line where it is `@` and a name.
    var mayBeInFile = false

    static func text(_ name: String, _ needs: String) -> OptionArgument {
        OptionArgument(name: name, needs: needs, kind: .text)
    }

    static func textOrFile(_ name: String, _ needs: String) -> OptionArgument {
        OptionArgument(name: name, needs: needs, kind: .text, mayBeInFile: true)
    }

    static func file(_ name: String = "FILE", _ needs: String = "a file") -> OptionArgument {
        OptionArgument(name: name, needs: needs, kind: .file)
    }

    static func folder(_ name: String = "FOLDER", _ needs: String = "a folder") -> OptionArgument {
        OptionArgument(name: name, needs: needs, kind: .folder)
    }

    static func oneOf(_ name: String, _ words: [String]) -> OptionArgument {
        OptionArgument(name: name, needs: "one of " + words.joined(separator: ", "), kind: .oneOf(words))
    }
}

/// How an option relates to curl's of the same name.
package enum CurlLikeness: Sendable, Equatable {
    case same
    /// curl has it, and it does something else there: what is different here.
    case different(String)
    /// curl has none of that name.
    case ours
}

// MARK: - The makers of rules

extension OptionRule {
    /// A flag that does more than to set a switch, and that nothing undoes.
    static func flag(
        _ letter: Character?, _ word: String, _ summary: String,
        _ set: @escaping @Sendable (inout Options) -> Void
    ) -> OptionRule {
        OptionRule(letter, word, nil, summary, .flag { options, _ in set(&options) })
    }

    /// A flag that sets a switch, which `--no-WORD` unsets.
    static func flag(
        _ letter: Character?, _ word: String, _ path: any WritableKeyPath<Options, Bool> & Sendable, _ summary: String
    ) -> OptionRule {
        var rule = OptionRule(letter, word, nil, summary, .flag { options, isOn in options[keyPath: path] = isOn })
        rule.isNegatable = true
        return rule
    }

    /// An option whose value is read in a way of its own.
    static func value(
        _ letter: Character?, _ word: String, _ argument: OptionArgument, _ summary: String,
        _ reader: @escaping Reader
    ) -> OptionRule {
        OptionRule(letter, word, argument, summary, .value(reader))
    }

    /// An option whose value is any text but an empty one.
    static func text(
        _ letter: Character?, _ word: String, _ argument: OptionArgument, _ summary: String,
        _ store: @escaping @Sendable (inout Options, String) -> Void
    ) -> OptionRule {
        reading(letter, word, argument, summary, { $0.isEmpty ? nil : $0 }, store)
    }

    /// An option whose value is something that can be read from its text.
    static func reading<Value>(
        _ letter: Character?, _ word: String, _ argument: OptionArgument, _ summary: String,
        _ read: @escaping @Sendable (String) -> Value?, _ store: @escaping @Sendable (inout Options, Value) -> Void
    ) -> OptionRule {
        value(letter, word, argument, summary) { (options, text) throws(UsageError) in
            guard let value = read(text) else {
                // Not what was given: it may be a secret.
                throw UsageError("--\(word) needs \(argument.needs)")
            }
            store(&options, value)
        }
    }

    /// An option that changes how the rest is read.
    static func reading(
        _ letter: Character?, _ word: String, _ argument: OptionArgument?, _ summary: String, _ reading: Reading
    ) -> OptionRule {
        OptionRule(letter, word, argument, summary, .reading(reading))
    }

    // MARK: What else is said of a rule

    func more(_ text: String) -> OptionRule { changed { $0.more = text } }

    var common: OptionRule { changed { $0.isCommon = true } }

    var ours: OptionRule { changed { $0.likeness = .ours } }

    func different(_ what: String) -> OptionRule { changed { $0.likeness = .different(what) } }

    var global: OptionRule { changed { $0.isGlobal = true } }

    private func changed(_ change: (inout OptionRule) -> Void) -> OptionRule {
        var rule = self
        change(&rule)
        return rule
    }
}
