// Text of servers, files and arguments made harmless: what would steer a terminal is shown instead of done. Pure.

/// Makes text visible.
package enum VisibleText {
    /// The text with every control character, line separator and change of the writing direction spelled out.
    package static func of(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: steers) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if steers(scalar) { result += name(of: scalar) } else { result.unicodeScalars.append(scalar) }
        }
        return result
    }

    /// C0, DEL, C1, the separators of lines and paragraphs, and everything that is format but shows nothing.
    static func steers(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20..<0x7F: false
        case 0..<0x20, 0x7F..<0xA0: true
        // Directions (trojan-source), separators, interlinear notes, tags.
        case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x206F, 0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F: true
        default: false
        }
    }

    private static func name(of scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\t": return "\\t"
        case "\n": return "\\n"
        case "\r": return "\\r"
        default:
            let digits = String(scalar.value, radix: 16)
            return scalar.value < 0x100
                ? "\\x" + (digits.count < 2 ? "0" : "") + digits : "\\u{\(digits)}"
        }
    }
}

/// How wide text is on a terminal.
package enum TextWidth {
    /// In columns; the text must be visible already.
    package static func columns(_ text: String) -> Int { text.reduce(0) { $0 + columns($1) } }

    /// So much of the text as has room, with an ellipsis where something is missing, and spaces up to the width.
    package static func fit(_ text: String, _ width: Int) -> String {
        let total = columns(text)
        if total <= width { return text + String(repeating: " ", count: width - total) }
        guard width > 0 else { return "" }
        var (result, used) = ("", 0)
        for character in text {
            let next = columns(character)
            if used + next > width - 1 { break }
            result.append(character)
            used += next
        }
        return result + "…" + String(repeating: " ", count: width - 1 - used)
    }

    private static func columns(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        // East Asian wide and emoji, in blocks (Unicode's UAX #11 has the exact list).
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
