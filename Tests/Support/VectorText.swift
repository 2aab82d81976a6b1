// The text of the vector files in Tests/Vectors: their lines, and the notation for bytes that no line could hold.
//
// Must not know what a line means.

import URLLoadingSystem

/// The text a vector file is made of.
package enum VectorText {
    /// The lines of a file in Tests/Vectors; nil where it cannot be read.
    package static func lines(of file: String) -> [String]? {
        ProjectFiles.text(of: "Tests/Vectors/" + file)?.split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
    }

    /// Bytes from `\r \n \t \0 \\ \xNN` and `\{text*count}`.
    package static func unescape(_ text: some StringProtocol) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escape = rest.popFirst() else {
                bytes.append(byte)
                continue
            }
            switch escape {
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "0"): bytes.append(0)
            case UInt8(ascii: "x"):
                bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
                rest = rest.dropFirst(2)
            case UInt8(ascii: "{"):
                let group = rest.prefix { $0 != UInt8(ascii: "}") }
                rest = rest.dropFirst(group.count + 1)
                let parts = String(decoding: group, as: UTF8.self).split(separator: "*")
                let repeated = unescape(parts.dropLast().joined(separator: "*"))
                for _ in 0..<(Int(parts.last ?? "") ?? 0) { bytes += repeated }
            default: bytes.append(escape)
            }
        }
        return bytes
    }

    /// The text of bytes in the notation that `unescape` reads, so that events compare as text.
    package static func escape(_ bytes: some Sequence<UInt8>) -> String {
        var text = ""
        for byte in bytes {
            switch byte {
            case 0x0D: text += "\\r"
            case 0x0A: text += "\\n"
            case 0x09: text += "\\t"
            case 0: text += "\\0"
            case 0x5C: text += "\\\\"
            case 0x20..<0x7F: text.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                text += "\\x" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return text
    }

    /// The text of a string's UTF-8 in this notation.
    package static func escape(_ text: String) -> String { escape(text.utf8) }
}
