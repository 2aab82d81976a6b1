// JSON for people: indented and coloured while it comes, without waiting for its end. Pure. What is no
// JSON comes out as it is.

/// Prints JSON piece by piece.
package struct PrettyJSON: Sendable {
    /// Deeper than this nothing is indented further: what is indented grows faster than what comes.
    private static let deepest = 50

    private enum Place {
        case object
        case array
    }

    private let paint: Paint
    /// Whether white space is made anew, or stays as it is.
    private let indents: Bool
    private var places: [Place] = []
    private var isInString = false
    private var isEscaped = false
    /// Whether the next string of an object is the name of a member.
    private var isName = false
    /// Whether a brace or bracket has just opened, so that it may close on the same line.
    private var isOpen = false
    private var isInWord = false
    private var hasValue = false
    /// The first of two bytes of a character that could be a control.
    private var isHeld = false

    /// Prints with these colours, indented or as it comes.
    package init(_ paint: Paint, indents: Bool = true) {
        self.paint = paint
        self.indents = indents
    }

    /// What the next bytes come to.
    package mutating func print(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var output: [UInt8] = []
        for byte in bytes { take(byte, &output) }
        return output
    }

    /// What is left at the end, with a line end.
    package mutating func finish() -> [UInt8] {
        var output: [UInt8] = []
        endWord(&output)
        if isHeld { output.append(0xC2) }
        if isInString { output += paint.end }
        if hasValue, indents { output.append(0x0A) }
        self = PrettyJSON(paint, indents: indents)
        return output
    }

    private mutating func take(_ byte: UInt8, _ output: inout [UInt8]) {
        if isInString { return takeInString(byte, &output) }
        switch byte {
        case 0x20, 0x09, 0x0A, 0x0D:
            endWord(&output)
            if !indents { output.append(byte) }
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            begin(&output)
            output.append(byte)
            places.append(byte == UInt8(ascii: "{") ? .object : .array)
            isName = byte == UInt8(ascii: "{")
            isOpen = true
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            endWord(&output)
            _ = places.popLast()
            if !isOpen { newLine(&output) }
            isOpen = false
            isName = false
            output.append(byte)
        case UInt8(ascii: ","):
            endWord(&output)
            output.append(byte)
            newLine(&output)
            isName = places.last == .object
        case UInt8(ascii: ":"):
            endWord(&output)
            output += indents ? [byte, 0x20] : [byte]
            isName = false
        case UInt8(ascii: "\""):
            begin(&output)
            isInString = true
            output += isName ? paint.name : paint.string
            output.append(byte)
        default:
            if !isInWord {
                begin(&output)
                isInWord = true
                output += isNumber(byte) ? paint.number : paint.word
            }
            put(byte, &output)
        }
    }

    private mutating func takeInString(_ byte: UInt8, _ output: inout [UInt8]) {
        put(byte, &output)
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            isInString = false
            output += paint.end
        }
    }

    /// A byte as it is, but for what would steer a terminal.
    private mutating func put(_ byte: UInt8, _ output: inout [UInt8]) {
        if isHeld {
            isHeld = false
            if (0x80..<0xA0).contains(byte) {
                output += Array("\\u00".utf8) + Self.hex(byte)
                return
            }
            output.append(0xC2)
        }
        switch byte {
        case 0xC2: isHeld = true
        case 0..<0x20, 0x7F: output += Array("\\u00".utf8) + Self.hex(byte)
        default: output.append(byte)
        }
    }

    private static func hex(_ byte: UInt8) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    private func isNumber(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte) }

    /// A value begins: on a line of its own behind an opening brace or bracket, and behind another value at the top.
    private mutating func begin(_ output: inout [UInt8]) {
        endWord(&output)
        if isOpen { newLine(&output) }
        if places.isEmpty, hasValue, indents { output.append(0x0A) }
        isOpen = false
        hasValue = true
    }

    private mutating func endWord(_ output: inout [UInt8]) {
        guard isInWord else { return }
        isInWord = false
        output += paint.end
    }

    private func newLine(_ output: inout [UInt8]) {
        guard indents else { return }
        output.append(0x0A)
        output += [UInt8](repeating: 0x20, count: 2 * min(places.count, Self.deepest))
    }
}
