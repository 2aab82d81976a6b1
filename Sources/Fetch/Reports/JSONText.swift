// Texts as JSON has them, and whether something is JSON. Pure.

import Foundation

/// Texts as JSON has them.
enum JSONText {
    /// Whether it is a value of JSON's, of any kind.
    static func isValue(_ data: Data) -> Bool {
        (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil
    }

    /// In quotes; what would steer a terminal is written by its number.
    static func string(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where VisibleText.steers(scalar):
                for unit in String(scalar).utf16 { result += String(format: "\\u%04x", unit) }
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
