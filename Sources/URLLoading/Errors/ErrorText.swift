// Text for people: what may stand in it, and where it goes when nobody catches it.

import Foundation

/// Pieces of error texts.
enum ErrorText {
    /// The URL without password (B17.57), for texts; errors carry the URL itself as it was requested.
    static func withoutSecrets(_ url: URL) -> String {
        let text = url.absoluteString
        guard let start = text.range(of: "://")?.upperBound else { return text }
        let rest = text[start...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return text }
        let user = authority[..<at].prefix { $0 != ":" }
        return String(text[..<start] + user + text[at...])
    }

    /// Tells on standard error that the library was used wrongly, where Apple's would stop the program.
    static func reportMisuse(_ message: String) {
        FileHandle.standardError.write(Data("URLLoading: \(message)\n".utf8))
    }
}
