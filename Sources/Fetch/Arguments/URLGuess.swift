// What a URL that was typed in a hurry means: `example.com`, `localhost:8080/a`, `:8080/a`. Pure.

import Foundation

/// URLs as people type them.
package enum URLGuess {
    /// A URL, and whether https was only a guess.
    package struct Reading: Sendable, Equatable {
        package let url: URL
        /// Whether nothing said https, so that http may be meant.
        package let mayBePlain: Bool
    }

    /// Reads a text; `scheme` is what one without a scheme has, nil for http at hosts of this machine and of private
    /// networks, and https elsewhere.
    package static func read(_ text: String, scheme: String? = nil) throws(UsageError) -> Reading {
        let colon = text.firstIndex(of: ":")
        let word = text[..<(colon ?? text.startIndex)].lowercased()
        if text.contains("://"), let colon, text[colon...].hasPrefix("://"), isScheme(word) {
            return Reading(url: try url(text, as: text), mayBePlain: false)
        }
        if ["file", "data"].contains(word) { return Reading(url: try url(text, as: text), mayBePlain: false) }
        // A slash is missing: no host has the name of a scheme, and a port without digits.
        if let colon, SchemeSet.all.contains(word), text[colon...].hasPrefix(":/") { throw mistake(text) }
        if let rest = local(text) {
            return Reading(url: try url("\(scheme ?? "http")://localhost\(rest)", as: text), mayBePlain: false)
        }
        let bare = text.hasPrefix("//") ? String(text.dropFirst(2)) : text
        let authority = bare.prefix { !"/?#".contains($0) }
        guard let host = host(of: authority) else { throw mistake(text) }
        let isPlain = isPrivate(host.name) || host.port == 80
        let guessed = scheme ?? (isPlain ? "http" : "https")
        return Reading(url: try url("\(guessed)://\(bare)", as: text), mayBePlain: scheme == nil && !isPlain)
    }

    /// What stands behind `localhost` where the text begins with a port or a path behind a colon.
    private static func local(_ text: String) -> Substring? {
        guard text.hasPrefix(":") else { return nil }
        let rest = text.dropFirst()
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        let behind = rest.dropFirst(digits.count)
        guard behind.isEmpty || "/?#".contains(behind.first ?? " ") else { return nil }
        return digits.isEmpty ? behind : text[...]
    }

    private static func isScheme(_ word: String) -> Bool {
        word.first?.isLetter ?? false
            && word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }

    /// Name and port of an authority; nil for what can be none.
    private static func host(of authority: Substring) -> (name: String, port: Int?)? {
        let place = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        if place.hasPrefix("[") {
            guard let end = place.firstIndex(of: "]") else { return nil }
            let behind = place[place.index(after: end)...]
            guard behind.isEmpty || behind.hasPrefix(":") else { return nil }
            return (String(place[...end]), Int(behind.dropFirst()))
        }
        let parts = place.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, let name = parts.first, let first = name.first,
            first.isLetter || first.isNumber || first == "_"
        else { return nil }
        if parts.count == 2, !parts[1].isEmpty {
            guard let port = Int(parts[1]), (0...65535).contains(port) else { return nil }
            return (String(name), port)
        }
        return (String(name), nil)
    }

    /// Whether a host is on this machine or in a network of its own, where https is rare.
    package static func isPrivate(_ host: String) -> Bool {
        let host = host.lowercased()
        if host == "localhost" || host.hasSuffix(".localhost") { return true }
        if host.hasPrefix("[") { return isPrivateIPv6(String(host.dropFirst().dropLast().prefix { $0 != "%" })) }
        var address = in_addr()
        guard inet_pton(AF_INET, host, &address) == 1 else { return false }
        let bytes = withUnsafeBytes(of: &address) { Array($0) }
        switch (bytes[0], bytes[1]) {
        case (0, _), (10, _), (127, _), (169, 254), (172, 16...31), (192, 168): return true
        default: return false
        }
    }

    private static func isPrivateIPv6(_ text: String) -> Bool {
        var address = in6_addr()
        guard inet_pton(AF_INET6, text, &address) == 1 else { return false }
        let bytes = withUnsafeBytes(of: &address) { Array($0) }
        let isLoopback = bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
        return isLoopback || bytes[0] & 0xFE == 0xFC || bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
    }

    private static func url(_ text: String, as typed: String) throws(UsageError) -> URL {
        guard let url = URL(string: text), url.scheme != nil else { throw mistake(typed) }
        return url
    }

    private static func mistake(_ text: String) -> UsageError {
        let shown = URLSecrets.hidden(mistyped: text)
        return UsageError(
            text.isEmpty ? "an empty text is not a URL" : "\(shown) is not a URL",
            advice: text.hasPrefix("/") || text.hasPrefix(".")
                ? "a file of this machine is file:// and its path" : "it should look like https://example.com/path",
            code: .badURL)
    }
}
