// Which schemes may be used, as --proto says it. Pure.

/// A set of schemes.
package struct SchemeSet: Sendable, Equatable {
    /// What the command can load.
    package static let all: Set<String> = ["http", "https", "ws", "wss", "ftp", "ftps", "file", "data"]
    /// Where a redirect may lead without a word of the user's.
    static let redirects: Set<String> = ["http", "https"]

    private let schemes: Set<String>

    /// Reads a list with commas: `=` is these alone, `+` and nothing add, `-` takes away, `all` is all. Nil for words
    /// that are no schemes, and where nothing is left.
    package init?(_ text: String, changing schemes: Set<String>) {
        var schemes = schemes
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            let mark = item.first.flatMap { "=+-".contains($0) ? $0 : nil }
            let word = item.dropFirst(mark == nil ? 0 : 1).lowercased()
            guard word == "all" || Self.all.contains(word) else { return nil }
            let named = word == "all" ? Self.all : [word]
            switch mark {
            case "=": schemes = named
            case "-": schemes.subtract(named)
            default: schemes.formUnion(named)
            }
        }
        guard !schemes.isEmpty else { return nil }
        self.schemes = schemes
    }

    /// Whether a scheme is one of them.
    package func contains(_ scheme: String?) -> Bool { schemes.contains(scheme?.lowercased() ?? "") }
}
