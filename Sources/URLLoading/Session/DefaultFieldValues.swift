// The values of fields that every request gets when the program sets none: the program's name,
// and the user's languages.

import Foundation
import URLLoadingWire

/// The value of Accept-Language (B5.17).
package enum AcceptLanguage {
    /// For the environment in which the process was started.
    static let ofEnvironment = value(environment: languageVariables)

    // Measured: making a dictionary of the whole environment took a tenth of what a first request costs.
    private static var languageVariables: [String: String] {
        var found: [String: String] = [:]
        for name in ["LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE"] {
            if let value = getenv(name) { found[name] = String(cString: value) }
        }
        return found
    }

    /// The user's languages with falling weights, from the variables of POSIX and of gettext in their order.
    package static func value(environment: [String: String]) -> String {
        let locale =
            ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "C"
        // gettext's rule: in the C locale LANGUAGE is ignored.
        let isC = tag(locale) == nil
        let list = isC ? "" : (environment["LANGUAGE"] ?? "")
        var tags = list.split(separator: ":").compactMap { tag(String($0)) }
        if tags.isEmpty, let tag = tag(locale) { tags = [tag] }

        var languages: [String] = []
        for (index, tag) in tags.enumerated() {
            if !languages.contains(tag) { languages.append(tag) }
            // A region's language follows once no further tag of that language does.
            let base = String(tag.prefix { $0 != "-" })
            let comesAgain = tags.dropFirst(index + 1).contains { $0.prefix { $0 != "-" } == base }
            if !comesAgain, !languages.contains(base) { languages.append(base) }
        }
        if languages.isEmpty { languages = ["en"] }
        return languages.prefix(6).enumerated()
            .map { $0.offset == 0 ? $0.element : "\($0.element);q=0.\(10 - $0.offset)" }
            .joined(separator: ",")
    }

    /// `de_AT.UTF-8@euro` as `de-AT`; `nil` for C, POSIX and what is no language.
    private static func tag(_ locale: String) -> String? {
        let name = locale.prefix { $0 != "." && $0 != "@" }
        let parts = name.split(separator: "_").flatMap { $0.split(separator: "-") }.map(String.init)
        guard let language = parts.first, (2...3).contains(language.utf8.count),
            parts.allSatisfy({ $0.utf8.count <= 8 && $0.utf8.allSatisfy(isLetterOrDigit) })
        else { return nil }
        return ([language.lowercased()] + parts.dropFirst()).joined(separator: "-")
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}

/// The value of User-Agent (B5.20).
package enum UserAgent {
    /// For this process.
    static let ofProcess = value(processName: ProcessInfo.processInfo.processName)

    /// For a process of that name. Nothing is said about the system: a server has no use for it, an attacker has.
    package static func value(processName: String) -> String {
        "\(encoded(processName)) URLLoading/\(URLSession.libraryVersion)"
    }

    /// A product name or version: bytes that are not allowed in one are percent-encoded (RFC 9110 §10.1.5).
    private static func encoded(_ text: String) -> String {
        // Bytes, not Foundation's sets of characters: this is a part of what a program's first request waits for.
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        for byte in text.utf8 {
            if Tokens.isTokenByte(byte), byte != UInt8(ascii: "%") {
                result.append(byte)
            } else {
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return result.isEmpty ? "unknown" : String(decoding: result, as: UTF8.self)
    }
}
