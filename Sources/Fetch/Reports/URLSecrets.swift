// Users and passwords that stand in URLs, wherever a URL stands in a text: Location, Referer, messages. Pure.

/// What stands in front of a host in URLs.
package enum URLSecrets {
    /// What stands in its place.
    package static let mask = "***"

    /// The text, with nothing but a mask in front of the `@` of every authority in it.
    package static func hidden(_ text: String) -> String {
        guard text.utf8.contains(0x40) else { return text }
        var result = ""
        var rest = text.unicodeScalars[...]
        while let slash = rest.firstIndex(of: "/") {
            let next = rest.index(after: slash)
            guard next < rest.endIndex, rest[next] == "/" else {
                result += String(rest[...slash])
                rest = rest[next...]
                continue
            }
            let start = rest.index(after: next)
            result += String(rest[..<start])
            rest = rest[start...]
            // The last one counts: a password may hold another.
            if let at = rest.prefix(while: { !ends.contains($0) }).lastIndex(of: "@") {
                result += mask
                rest = rest[at...]
            }
        }
        return result + String(rest)
    }

    /// What is typed in place of a URL, of which it is not known where its authority is.
    package static func hidden(mistyped text: String) -> String {
        guard let at = text.lastIndex(of: "@") else { return text }
        // A password may hold a slash or another end of an authority: that is often what makes a URL none.
        // An authority begins at slashes at the very beginning, or behind a scheme: any others may be in the password.
        let scheme = text.prefix { $0.isASCII && $0.isLetter }
        let slashes = scheme.isEmpty ? "//" : "://"
        guard text[scheme.endIndex..<at].hasPrefix(slashes) else { return mask + text[at...] }
        return scheme + slashes + mask + text[at...]
    }

    /// The first that is no part of an authority any more.
    private static let ends: Set<Unicode.Scalar> = ["/", "?", "#", "\\", "\"", "<", ">", " ", "\t", "\r", "\n"]
}
