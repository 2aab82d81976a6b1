// Takes a command line apart: words, letters in bundles, values behind them or next to them, files of options, groups
// divided by --next. Reads no file itself.

import Foundation

/// What a command line comes to.
package enum CommandLineReading: Sendable {
    /// One run for each group of URLs.
    case fetch([Options])
    /// The help, of the topic that was named.
    case help(String?)
    case version
    /// The manual or completions in one of their forms.
    case generate(GeneratedText)

    /// Reads a file of options; nil stands for the user's own, whose text is nil where there is none.
    package typealias FileReader = (String?) throws(UsageError) -> String?

    /// Reads the arguments after the command's name.
    package static func read(
        _ arguments: [String], files: @escaping FileReader = { (_) throws(UsageError) in nil }
    ) throws(UsageError) -> CommandLineReading {
        var reading = Reading(files: files)
        let first = arguments.first
        let ignoresDefault = first == "--disable" || first.map { $0.hasPrefix("-q") && !$0.hasPrefix("--") } ?? false
        if !ignoresDefault, let text = try files(nil) { try reading.takeDefaults(text) }
        if let ending = try reading.take(arguments) { return ending }
        return .fetch(try reading.groups())
    }
}

/// The settings that were found so far, in their order.
private struct Reading {
    /// What one option, or one word without hyphens, sets.
    private struct Setting {
        let rule: OptionRule
        let apply: (inout Options) throws(UsageError) -> Void
    }

    /// What stands between two --next.
    private struct Group {
        var settings: [Setting] = []
        var operands: [String] = []
    }

    private let files: CommandLineReading.FileReader
    /// What the user's own file says, for all groups.
    private var defaults: [Setting] = []
    private var all: [Group] = [Group()]
    /// Files of options that name one another would be read for ever.
    private var depth = 0

    init(files: @escaping CommandLineReading.FileReader) { self.files = files }

    mutating func takeDefaults(_ text: String) throws(UsageError) {
        try take(config: text, of: "~/.config/fetch/config")
        // Its options are for all groups, so it has none of its own.
        guard all.count == 1 else {
            throw UsageError("~/.config/fetch/config: --next is for the command line and for --config")
        }
        defaults = all[0].settings
        let operands = all[0].operands
        all = [Group(operands: operands)]
    }

    /// Takes arguments; what ends the reading, if one does.
    mutating func take(_ arguments: [String]) throws(UsageError) -> CommandLineReading? {
        var reader = ArgumentReader(arguments)
        while let argument = reader.next() {
            switch argument {
            case .operand(let text):
                all[all.count - 1].operands.append(text)
            case .option(let word):
                let (rule, isOn) = try OptionTable.rule(word: word)
                if let ending = try take(rule, isOn: isOn, &reader) { return ending }
            case .letter(let letter):
                let rule = try OptionTable.rule(letter: letter)
                if let ending = try take(rule, isOn: true, &reader) { return ending }
            }
        }
        return nil
    }

    private mutating func take(
        _ rule: OptionRule, isOn: Bool, _ reader: inout ArgumentReader
    ) throws(UsageError) -> CommandLineReading? {
        guard let argument = rule.argument else {
            guard !reader.hasAttachedValue else { throw UsageError("--\(rule.word) takes no value") }
            return try take(rule, isOn: isOn, value: nil)
        }
        let value = reader.value()
        guard value != nil || argument.isOptional else { throw UsageError("--\(rule.word) needs \(argument.needs)") }
        return try take(rule, isOn: isOn, value: value)
    }

    private mutating func take(_ rule: OptionRule, isOn: Bool, value: String?) throws(UsageError) -> CommandLineReading?
    {
        switch rule.effect {
        case .flag(let set):
            note(Setting(rule: rule) { (options) throws(UsageError) in try set(&options, isOn) })
        case .value(let read):
            let value = try text(value ?? "", of: rule)
            note(Setting(rule: rule) { (options) throws(UsageError) in try read(&options, value) })
        case .reading(.help): return .help(value)
        case .reading(.version): return .version
        case .reading(.generate):
            guard let text = GeneratedText(rawValue: value ?? "") else {
                throw UsageError("--\(rule.word) needs \(rule.argument?.needs ?? "")")
            }
            return .generate(text)
        case .reading(.url): all[all.count - 1].operands.append(value ?? "")
        case .reading(.next): all.append(Group())
        case .reading(.ignoringDefaultConfig): break
        case .reading(.config):
            let file = value ?? ""
            guard depth < 16 else { throw UsageError("files of options name one another: \(file)") }
            let text = try contents(of: file)
            depth += 1
            try take(config: text, of: file)
            depth -= 1
        }
        return nil
    }

    private mutating func note(_ setting: Setting) { all[all.count - 1].settings.append(setting) }

    // MARK: Files

    private func contents(of file: String) throws(UsageError) -> String {
        guard let text = try files(file) else { throw UsageError("\(file) cannot be read", code: .cannotRead) }
        return text
    }

    /// An option's value, or what stands in its file, without line ends as in curl.
    private func text(_ value: String, of rule: OptionRule) throws(UsageError) -> String {
        guard rule.argument?.mayBeInFile ?? false, value.hasPrefix("@") else { return value }
        return try contents(of: String(value.dropFirst())).split(whereSeparator: \.isNewline).joined()
    }

    private mutating func take(config text: String, of file: String) throws(UsageError) {
        for line in try ConfigFile.lines(text, of: file) {
            do throws(UsageError) {
                try take(fileLine: line)
            } catch {
                // What a file within this one has said stands there already.
                throw UsageError(
                    "\(file), line \(line.number): \(error.message)", advice: error.advice, code: error.code)
            }
        }
    }

    private mutating func take(fileLine line: ConfigFile.Line) throws(UsageError) {
        let rule: OptionRule
        var isOn = true
        if line.name.hasPrefix("--") {
            (rule, isOn) = try OptionTable.rule(word: String(line.name.dropFirst(2)))
        } else if line.name.count == 2, let letter = line.name.last {
            rule = try OptionTable.rule(letter: letter)
        } else {
            throw UsageError("\(line.name) is not one option")
        }
        if case .reading(let reading) = rule.effect, [.help, .version, .generate].contains(reading) {
            throw UsageError("--\(rule.word) is for the command line")
        }
        guard rule.argument != nil || line.value == nil else { throw UsageError("--\(rule.word) takes no value") }
        guard rule.argument == nil || line.value != nil else {
            throw UsageError("--\(rule.word) needs \(rule.argument?.needs ?? "")")
        }
        _ = try take(rule, isOn: isOn, value: line.value)
    }

    // MARK: Groups

    /// The options of each group: what is global counts for all.
    func groups() throws(UsageError) -> [Options] {
        let settings = defaults + all.flatMap(\.settings)
        var common = Options()
        for setting in settings where setting.rule.isGlobal { try setting.apply(&common) }
        var groups: [Options] = []
        for group in all {
            var options = common
            for setting in defaults + group.settings where !setting.rule.isGlobal { try setting.apply(&options) }
            options.operands = group.operands
            try options.settleOperands()
            try OptionConflicts.check(options, isOnly: all.count == 1)
            groups.append(options)
        }
        return groups
    }
}
