// URLs with more than one meaning, as curl has them: {one,two}, [1-10], [001-100], [a-z], [0-100:10]. Pure.

import Foundation

/// A text that stands for one URL or for many.
package struct URLPattern: Sendable, Equatable {
    private enum Piece: Sendable, Equatable {
        case text(String)
        /// Braces or brackets: one of these.
        case choice([String])
    }

    /// More URLs than this are a slip of the finger.
    package static let most = 100_000

    private let pieces: [Piece]

    /// A text that stands for itself.
    package init(literal text: String) { pieces = [.text(text)] }

    /// Reads a text. A backslash in front of a brace or bracket takes its meaning away; an IPv6
    /// address in brackets has none.
    package init(_ text: String) throws(UsageError) {
        var reader = URLPatternReader(text)
        var (pieces, plain) = ([Piece](), "")
        while let part = try reader.next() {
            switch part {
            case .character(let character): plain.append(character)
            case .choice(let texts):
                if !plain.isEmpty { pieces.append(.text(plain)) }
                plain = ""
                pieces.append(.choice(texts))
            }
        }
        if !plain.isEmpty || pieces.isEmpty { pieces.append(.text(plain)) }
        self.pieces = pieces
        guard count != nil else {
            throw UsageError("\(text) stands for more than \(Self.most) URLs", code: .badURL)
        }
    }

    /// How many URLs it stands for; nil for too many.
    package var count: Int? {
        pieces.reduce(1 as Int?) { product, piece in
            guard let product, case .choice(let texts) = piece else { return product }
            let (result, overflows) = product.multipliedReportingOverflow(by: texts.count)
            return overflows || result > Self.most ? nil : result
        }
    }

    /// The texts that it stands for, the last choice first to change, with what was chosen in each.
    package var expansions: [(text: String, chosen: [String])] {
        pieces.reduce([("", [])]) { results, piece in
            switch piece {
            case .text(let text): results.map { ($0.0 + text, $0.1) }
            case .choice(let texts): results.flatMap { result in texts.map { (result.0 + $0, result.1 + [$0]) } }
            }
        }
    }

    /// The name of a file with `#1`, `#2` … replaced by what was chosen; a number that nothing was
    /// chosen for stays as it is.
    package static func fill(_ name: String, with chosen: [String]) -> String {
        var (result, rest) = ("", name[...])
        while let character = rest.popFirst() {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard character == "#", let number = Int(digits), number >= 1, number <= chosen.count else {
                result.append(character)
                continue
            }
            result += chosen[number - 1]
            rest = rest.dropFirst(digits.count)
        }
        return result
    }
}

/// Takes a pattern apart.
private struct URLPatternReader {
    enum Part {
        case character(Character)
        case choice([String])
    }

    private let whole: String
    private var rest: Substring

    init(_ text: String) {
        whole = text
        rest = text[...]
    }

    mutating func next() throws(UsageError) -> Part? {
        guard let character = rest.popFirst() else { return nil }
        switch character {
        case "\\" where rest.first.map("{}[]".contains) ?? false:
            return .character(rest.removeFirst())
        case "{": return .choice(try set())
        case "[":
            if let end = rest.firstIndex(of: "]"), Self.isAddress(rest[..<end]) { return .character("[") }
            return .choice(try range())
        case "}": throw mistake("a } without its {")
        default: return .character(character)
        }
    }

    /// What stands between braces, divided by commas.
    private mutating func set() throws(UsageError) -> [String] {
        var (texts, text) = ([String](), "")
        while let character = rest.popFirst() {
            switch character {
            case "\\" where rest.first.map("{}[],".contains) ?? false: text.append(rest.removeFirst())
            case ",":
                texts.append(text)
                text = ""
            case "}": return texts + [text]
            case "{", "[": throw mistake("a choice within another one")
            default: text.append(character)
            }
        }
        throw mistake("a { without its }")
    }

    /// What stands between brackets: two numbers or two letters, and perhaps a step.
    private mutating func range() throws(UsageError) -> [String] {
        guard let end = rest.firstIndex(of: "]") else { throw mistake("a [ without its ]") }
        let text = rest[..<end]
        rest = rest[rest.index(after: end)...]
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        let step = parts.count == 2 ? Self.number(parts[1]) : parts.count == 1 ? 1 : nil
        guard ends.count == 2, let step, step > 0 else { throw badRange(text) }
        if let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last {
            guard (last - first) / step < URLPattern.most else {
                throw UsageError("[\(text)] stands for more than \(URLPattern.most) URLs", code: .badURL)
            }
            // A number that begins with a zero says how wide all are.
            let width = ends[0].hasPrefix("0") ? ends[0].count : 0
            return stride(from: first, through: last, by: step).map { number in
                let digits = String(number)
                return String(repeating: "0", count: max(0, width - digits.count)) + digits
            }
        }
        guard let first = Self.letter(ends[0]), let last = Self.letter(ends[1]), first <= last else {
            throw badRange(text)
        }
        return stride(from: Int(first), through: Int(last), by: step).map { String(UnicodeScalar(UInt8($0))) }
    }

    private static func number(_ text: Substring) -> Int? {
        text.allSatisfy { $0.isASCII && $0.isNumber } && text.count <= 15 ? Int(text) : nil
    }

    private static func letter(_ text: Substring) -> UInt8? {
        guard text.utf8.count == 1, let letter = text.utf8.first, text.allSatisfy({ $0.isLetter }) else { return nil }
        return letter
    }

    /// Whether it is an IPv6 address as URLs have it, perhaps with an interface behind a percent sign.
    private static func isAddress(_ text: Substring) -> Bool {
        var bytes = in6_addr()
        return inet_pton(AF_INET6, String(text.prefix { $0 != "%" }), &bytes) == 1
    }

    private func badRange(_ text: Substring) -> UsageError {
        mistake("[\(text)], which is no range such as [1-10], [a-z] or [0-100:10]")
    }

    private func mistake(_ what: String) -> UsageError {
        UsageError(
            "\(URLSecrets.hidden(mistyped: whole)) has \(what)",
            advice: "with --globoff braces and brackets stand for themselves", code: .badURL)
    }
}
