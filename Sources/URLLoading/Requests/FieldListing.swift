// The fields of a response as its description shows them: in Foundation's form of a dictionary of lists, by name, and
// without secrets.

import URLLoadingPolicy

/// Writes the fields of a description.
enum FieldListing {
    /// The fields in braces, one below the other.
    static func of(_ fields: [String: String]) -> String {
        guard !fields.isEmpty else { return "{\n}" }
        let lines = fields.sorted { $0.key < $1.key }.map { name, value in
            "    \(quoted(name)) =     (\n        \(quoted(shown(value, of: name)))\n    );\n"
        }
        return "{\n\(lines.joined())}"
    }

    /// Descriptions go to logs, and what stands in these fields opens accounts.
    private static func shown(_ value: String, of name: String) -> String {
        let isChallenge = name.lowercased().hasSuffix("-authenticate")
        if RedirectRules.isCredential(name) && !isChallenge || isCookie(name) { return "(not shown)" }
        return ErrorText.withoutPasswords(value)
    }

    private static func isCookie(_ name: String) -> Bool { name.lowercased().hasPrefix("set-cookie") }

    /// As property lists have it: in quotes, unless it is letters and digits only.
    private static func quoted(_ text: String) -> String {
        if !text.isEmpty, text.utf8.allSatisfy(isLetterOrDigit) { return text }
        let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        var result = [quote]
        result.reserveCapacity(text.utf8.count + 2)
        for unit in text.utf16 {
            switch unit {
            case 0x22: result += [backslash, quote]
            case 0x5C: result += [backslash, backslash]
            case 0x20...0x7E: result.append(UInt8(truncatingIfNeeded: unit))
            default:
                let digits = String(unit, radix: 16)
                result += "\\U\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)".utf8
            }
        }
        result.append(quote)
        return String(decoding: result, as: UTF8.self)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}
