// Reads Tests/Vectors/cache.txt: sequences of exchanges with a cache between them. The format is described at the top
// of the file. A file that cannot be read, or a line that is not understood, makes a script that says so, and fails.

/// One sequence.
package struct ExchangeScript: Sendable, CustomStringConvertible {
    /// A field's name and its value, dates filled in.
    package struct Field: Sendable, Equatable {
        /// The name.
        package let name: String
        /// The value.
        package let value: String
    }

    /// What a head must show.
    package struct Expectation: Sendable, Equatable {
        /// Fields with their values.
        package var fields: [Field] = []
        /// Names of fields that must not be there.
        package var absent: [String] = []
    }

    /// What must become of a request before it is sent.
    package enum Decision: Sendable, Equatable {
        case load
        case use
        case validate([Field])
        case fail
    }

    /// What the application must see.
    package enum Result: Sendable, Equatable {
        case new(status: Int)
        case stored(status: Int, body: Int?, Expectation)
        case again
    }

    /// One line.
    package enum Step: Sendable, Equatable {
        case policy(String)
        case wait(Int64)
        case request(method: String, url: String, [Field])
        case decision(Decision)
        case answer(status: Int, isComplete: Bool, delay: Int64, [Field])
        case result(Result)
        case stored(url: String, Expectation?)
        case nonsense(String)
    }

    /// What the sequence shows, with the numbers of the statements.
    package var title: String
    /// Its lines in order.
    package var steps: [Step] = []

    package var description: String { title }

    /// The beginning of all sequences: seconds since 1970.
    package static let beginning: Int64 = 1_767_225_600

    /// The sequences of a file in Tests/Vectors.
    ///
    /// `date` writes seconds since 1970 as a date of the form "", "850" or "asctime".
    package static func load(_ file: String, date: (Int64, String) -> String) -> [ExchangeScript] {
        var scripts: [ExchangeScript] = []
        for (number, line) in (VectorText.lines(of: file) ?? []).enumerated() {
            let body = String(line.dropFirst(2))
            if line.isEmpty || line.hasPrefix("#") { continue }
            if line.hasPrefix("* ") {
                scripts.append(ExchangeScript(title: body))
            } else if scripts.isEmpty {
                scripts.append(ExchangeScript(title: file, steps: [.nonsense(line)]))
            } else {
                let filled = withDates(body, date)
                let step = Step(line.prefix(2), filled) ?? .nonsense("\(file):\(number + 1): \(line)")
                scripts[scripts.count - 1].steps.append(step)
            }
        }
        if scripts.isEmpty { scripts.append(ExchangeScript(title: file, steps: [.nonsense("\(file) is empty")])) }
        return scripts
    }

    /// Puts dates for `{n}`, `{850:n}` and `{asctime:n}`.
    private static func withDates(_ text: String, _ date: (Int64, String) -> String) -> String {
        var result = ""
        var rest = text[...]
        while let opening = rest.firstIndex(of: "{"), let closing = rest[opening...].firstIndex(of: "}") {
            let parts = rest[rest.index(after: opening)..<closing].split(separator: ":")
            result += rest[..<opening]
            if let number = parts.last.flatMap({ Int64($0) }) {
                result += date(beginning + number, parts.count > 1 ? String(parts[0]) : "")
            }
            rest = rest[rest.index(after: closing)...]
        }
        return result + rest
    }
}

extension ExchangeScript.Step {
    fileprivate init?(_ mark: Substring, _ text: String) {
        let parts = Self.split(text)
        let words = parts[0].split(separator: " ").map(String.init)
        switch mark {
        case "@ ":
            guard words.count == 2, words[0] == "policy" else { return nil }
            self = .policy(words[1])
        case "+ ":
            guard let seconds = Int64(text) else { return nil }
            self = .wait(seconds)
        case "> ":
            guard words.count == 2 else { return nil }
            self = .request(method: words[0], url: Self.url(words[1]), Self.fields(parts.dropFirst()))
        case "? ":
            guard let decision = Self.decision(text) else { return nil }
            self = .decision(decision)
        case "< ":
            guard let status = words.first.flatMap({ Int($0) }) else { return nil }
            let delay = words.first { $0.hasPrefix("delay=") }.flatMap { Int64($0.dropFirst(6)) }
            self = .answer(
                status: status, isComplete: !words.contains("incomplete"), delay: delay ?? 0,
                Self.fields(parts.dropFirst()))
        case "= ":
            guard let result = Self.result(words, parts.dropFirst()) else { return nil }
            self = .result(result)
        case "! ":
            guard words.count == 2 else { return nil }
            let url = Self.url(words[0])
            self = .stored(url: url, words[1] == "nothing" ? nil : Self.expectation(parts.dropFirst()))
        default: return nil
        }
    }

    private static func decision(_ text: String) -> ExchangeScript.Decision? {
        switch text {
        case "load": .load
        case "use": .use
        case "fail": .fail
        default:
            text.hasPrefix("validate ")
                ? .validate(fields(split(String(text.dropFirst("validate ".count)))[...])) : nil
        }
    }

    private static func result(_ words: [String], _ rest: ArraySlice<String>) -> ExchangeScript.Result? {
        switch (words.first, words.dropFirst().first.flatMap { Int($0) }) {
        case ("again", nil): .again
        case ("new", let status?): .new(status: status)
        case ("stored", let status?):
            .stored(
                status: status, body: words.dropFirst(2).first.flatMap { Int($0.dropFirst()) }, expectation(rest))
        default: nil
        }
    }

    private static func expectation(_ parts: ArraySlice<String>) -> ExchangeScript.Expectation {
        ExchangeScript.Expectation(
            fields: fields(parts.filter { !$0.hasPrefix("!") }[...]),
            absent: parts.filter { $0.hasPrefix("!") }.map { String($0.dropFirst()) })
    }

    private static func fields(_ parts: ArraySlice<String>) -> [ExchangeScript.Field] {
        parts.map { part in
            let name = part.prefix { $0 != ":" }
            let value = part.dropFirst(name.count + 1)
            return ExchangeScript.Field(
                name: String(name), value: String(value.first == " " ? value.dropFirst() : value))
        }
    }

    private static func url(_ text: String) -> String {
        text.hasPrefix("/") ? "http://h.example" + text : text
    }

    /// The parts between ` | `.
    private static func split(_ text: String) -> [String] {
        var parts = [""]
        var rest = text[...]
        while let character = rest.first {
            if rest.hasPrefix(" | ") {
                parts.append("")
                rest = rest.dropFirst(3)
            } else {
                parts[parts.count - 1].append(character)
                rest = rest.dropFirst()
            }
        }
        return parts
    }
}
