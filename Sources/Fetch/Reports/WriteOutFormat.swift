// --write-out: a text of the user's with numbers in it, for scripts. The names are curl's. The text is read with the
// rest of the command line, so that an unknown name is a mistake and not an empty place.

/// A text with variables.
package struct WriteOutFormat: Sendable {
    private enum Piece: Sendable {
        case text(String)
        case variable(WriteOutVariable)
        case field(String)
    }

    /// Where a part of the text goes.
    package enum Stream: Sendable, Equatable {
        case output
        case errors
    }

    private let pieces: [Piece]

    /// Reads a text; `%%` is a percent sign, `\n`, `\r` and `\t` are what they are in C, `%header{name}` is a field.
    package init(_ text: String) throws(UsageError) {
        var pieces: [Piece] = []
        var plain = ""
        var rest = text[...]
        while let character = rest.popFirst() {
            if character == "\\", let next = rest.popFirst() {
                plain += ["n": "\n", "r": "\r", "t": "\t"][next] ?? "\\\(next)"
            } else if character == "%", rest.hasPrefix("%") {
                rest.removeFirst()
                plain += "%"
            } else if character == "%", rest.hasPrefix("{") || rest.hasPrefix("header{"),
                let end = rest.firstIndex(of: "}"),
                let start = rest.firstIndex(of: "{")
            {
                let name = String(rest[rest.index(after: start)..<end])
                if !plain.isEmpty { pieces.append(.text(plain)) }
                plain = ""
                pieces.append(rest.hasPrefix("header") ? .field(name) : .variable(try Self.variable(name)))
                rest = rest[rest.index(after: end)...]
            } else {
                plain.append(character)
            }
        }
        if !plain.isEmpty { pieces.append(.text(plain)) }
        self.pieces = pieces
    }

    private static func variable(_ name: String) throws(UsageError) -> WriteOutVariable {
        if let variable = WriteOutVariable(rawValue: name) { return variable }
        let near = WriteOutVariable.allCases.min {
            Spelling.distance($0.rawValue, name) < Spelling.distance($1.rawValue, name)
        }
        throw UsageError("--write-out knows no %{\(name)}" + (near.map { "; did you mean %{\($0.rawValue)}?" } ?? ""))
    }

    /// The text with everything in its place, in the parts that go to one output and then the other. What comes from a
    /// server cannot steer those that are terminals; elsewhere it is as it came.
    package func parts(
        _ values: any WriteOutSource, terminals: Set<Stream>
    ) -> [(stream: Stream, text: String)] {
        var parts: [(stream: Stream, text: String)] = [(.output, "")]
        func append(visibly text: String) {
            let last = parts.count - 1
            parts[last].text += terminals.contains(parts[last].stream) ? VisibleText.of(text) : text
        }
        for piece in pieces {
            switch piece {
            case .variable(.onError) where !values.isFailure: return parts.filter { !$0.text.isEmpty }
            case .variable(.onError): break
            case .variable(.standardOutput): parts.append((.output, ""))
            case .variable(.standardError): parts.append((.errors, ""))
            case .variable(.newline): parts[parts.count - 1].text += "\n"
            case .variable(.json): parts[parts.count - 1].text += WriteOutJSON.values(values)
            case .variable(.headerJSON): parts[parts.count - 1].text += WriteOutJSON.fields(values.fields)
            case .variable(let variable): append(visibly: values.value(of: variable) ?? "")
            case .field(let name): append(visibly: values.field(name))
            case .text(let text): parts[parts.count - 1].text += text
            }
        }
        return parts.filter { !$0.text.isEmpty }
    }
}

/// What variables are taken from.
package protocol WriteOutSource {
    /// A variable's value; nil where there is none.
    func value(of variable: WriteOutVariable) -> String?
    /// A field of the answer; empty where there is none.
    func field(_ name: String) -> String
    /// The fields of the answer in their order.
    var fields: [HeaderField] { get }
    /// Whether the transfer has failed.
    var isFailure: Bool { get }
}
