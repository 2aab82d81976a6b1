// One option: how it is spelled, whether it takes a value, and what it does to the options. Knows no order.

/// Why a command line is not understood.
package struct UsageError: Error, Equatable {
    /// One sentence, without a capital and without a full stop.
    package let message: String

    init(_ message: String) { self.message = message }
}

/// An option of the command.
package struct OptionRule: Sendable {
    typealias Flag = @Sendable (inout Options) -> Void
    typealias Reader = @Sendable (inout Options, String) throws(UsageError) -> Void

    /// What it does, and to what.
    enum Effect: Sendable {
        case flag(Flag)
        case value(needs: String, Reader)
    }

    /// The letter behind a single hyphen, if it has one.
    package let letter: Character?
    /// The word behind two hyphens.
    package let word: String
    let effect: Effect

    /// The options that are spelled so; none where nothing is.
    static func flag(_ letter: Character?, _ word: String, _ flag: @escaping Flag) -> OptionRule {
        OptionRule(letter: letter, word: word, effect: .flag(flag))
    }

    /// An option whose value is read; `needs` says of what kind it has to be.
    static func value(
        _ letter: Character?, _ word: String, _ needs: String, _ reader: @escaping Reader
    ) -> OptionRule {
        OptionRule(letter: letter, word: word, effect: .value(needs: needs, reader))
    }

    /// An option whose value is any text but an empty one.
    static func text(
        _ letter: Character?, _ word: String, _ needs: String,
        _ store: @escaping @Sendable (inout Options, String) -> Void
    ) -> OptionRule {
        value(letter, word, needs) { (options, text) throws(UsageError) in
            if text.isEmpty { throw UsageError("--\(word) needs \(needs)") }
            store(&options, text)
        }
    }

    /// An option whose value is something that can be read from its text; `needs` says of what kind it has to be.
    static func reading<Value>(
        _ letter: Character?, _ word: String, _ needs: String, _ read: @escaping @Sendable (String) -> Value?,
        _ store: @escaping @Sendable (inout Options, Value) -> Void
    ) -> OptionRule {
        value(letter, word, needs) { (options, text) throws(UsageError) in
            guard let value = read(text) else { throw UsageError("--\(word) needs \(needs)") }
            store(&options, value)
        }
    }
}
