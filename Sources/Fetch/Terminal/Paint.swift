// The colours of what people read. Pure.

/// What is written in front of and behind a coloured text; nothing where there are no colours.
package struct Paint: Sendable, Equatable {
    /// The name of a member or of a field.
    let name: [UInt8]
    let string: [UInt8]
    let number: [UInt8]
    /// `true`, `false`, `null`, and what is no JSON.
    let word: [UInt8]
    let good: [UInt8]
    let other: [UInt8]
    let bad: [UInt8]
    let end: [UInt8]

    /// Colours, or none.
    package init(isOn: Bool) {
        func code(_ number: Int) -> [UInt8] { isOn ? Array("\u{1B}[\(number)m".utf8) : [] }
        name = code(34)
        string = code(32)
        number = code(36)
        word = code(35)
        good = code(32)
        other = code(33)
        bad = code(31)
        end = code(0)
    }

    /// A head with the status and the names of its fields in colours; of text that is visible already.
    func head(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            if line.hasPrefix("HTTP/") { return wrap(line, status(line)) }
            guard let colon = line.firstIndex(of: ":") else { return String(line) }
            return wrap(line[..<colon], name) + line[colon...]
        }.joined(separator: "\n")
    }

    /// A line of a comparison: what was there, and what is there in its place.
    func difference(_ line: String) -> String {
        switch line.first {
        case "-": wrap(line[...], bad)
        case "+": wrap(line[...], good)
        default: line
        }
    }

    private func status(_ line: Substring) -> [UInt8] {
        switch line.split(separator: " ").dropFirst().first?.first {
        case "4", "5": bad
        case "2": good
        default: other
        }
    }

    private func wrap(_ text: Substring, _ code: [UInt8]) -> String {
        String(decoding: code, as: UTF8.self) + text + String(decoding: end, as: UTF8.self)
    }
}
