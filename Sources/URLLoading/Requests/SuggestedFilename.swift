// The name under which a body may be saved (B5.64–B5.70): from Content-Disposition (RFC 6266), else from the URL.
// The result is one path component and never leads elsewhere.

import Foundation

/// Finds a safe file name for a response.
enum SuggestedFilename {
    /// The first candidate that is a usable name, else "Unknown" (B5.65).
    static func make(contentDisposition: String?, url: URL?) -> String? {
        if let contentDisposition, let name = fromDisposition(contentDisposition) { return name }
        if let name = url?.lastPathComponent, name != "/", let safe = sanitised(name) { return safe }
        return "Unknown"
    }

    private static func fromDisposition(_ text: String) -> String? {
        let disposition = ParameterisedValue(text)
        if let name = disposition.parameter("filename*").flatMap(decodedExtendedValue).flatMap(sanitised) {
            return name
        }
        return disposition.parameter("filename").flatMap(sanitised)
    }

    /// Replaces slashes, drops control characters and what is too long; `nil` for what cannot be a name (B5.68).
    private static func sanitised(_ name: String) -> String? {
        var result = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            if scalar == "/" {
                result.append("_")
            } else if scalar.properties.generalCategory != .control {
                result.append(scalar)
            }
        }
        let text = fitting(String(result))
        return text.unicodeScalars.allSatisfy(\.properties.isWhitespace) || text == "." || text == ".." ? nil : text
    }

    /// The name cut between two characters to what Linux's file systems take; its ending stays.
    private static func fitting(_ name: String) -> String {
        guard name.utf8.count > longestName else { return name }
        let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) ?? name.endIndex
        let ending = name[dot...]
        guard ending.utf8.count <= longestEnding else { return String(beginning(of: name[...], longestName)) }
        return String(beginning(of: name[..<dot], longestName - ending.utf8.count)) + ending
    }

    /// As many characters as have no more than so many bytes.
    private static func beginning(of text: Substring, _ mostBytes: Int) -> Substring {
        // Forward: the way back from one flag to the one before it goes through all that precede it.
        var left = mostBytes
        return text.prefix { character in
            left -= character.utf8.count
            return left >= 0
        }
    }

    /// Of bytes, as Linux's file systems have it.
    private static let longestName = 255
    /// Of bytes, its dot included; what is longer behind a dot is no ending but text. Picked by feel.
    private static let longestEnding = 32

    /// Decodes `UTF-8''na%C3%AFve` (RFC 8187 §3.2); `nil` when the charset is another or an escape is broken (B5.67).
    private static func decodedExtendedValue(_ text: String) -> String? {
        let parts = text.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = percentDecoded(parts[2].utf8) else { return nil }
        switch parts[0].lowercased() {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: return nil
        }
    }

    private static func percentDecoded(_ text: Substring.UTF8View) -> [UInt8]? {
        var result: [UInt8] = []
        var iterator = text.makeIterator()
        while let byte = iterator.next() {
            guard byte == 0x25 else {
                result.append(byte)
                continue
            }
            guard let high = iterator.next().flatMap(hexDigit), let low = iterator.next().flatMap(hexDigit) else {
                return nil
            }
            result.append(high << 4 | low)
        }
        return result
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}
