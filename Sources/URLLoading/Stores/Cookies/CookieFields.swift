// Cookies in header fields that have been joined to one text, and the place that a `URL` is.
//
// Must not know: storages, sessions. RFC 6265bis §5.6; RFC 9110 §5.3 says why joining was a mistake.

import Foundation
import URLLoadingPolicy
import URLLoadingWire

/// Takes joined fields apart.
enum CookieFields {
    /// The fields that a text was joined from: a comma begins a new one where a token and `=` follow (B8.15), which
    /// they do not in a date, and where the line ends behind it (B8.22).
    static func split(_ text: String) -> [Substring.UTF8View] {
        var fields: [Substring.UTF8View] = []
        var start = text.utf8.startIndex
        for comma in text.utf8.indices where text.utf8[comma] == UInt8(ascii: ",") {
            let next = text.utf8.index(after: comma)
            let rest = text[next...].utf8
            guard let line = lineBehind(rest) ?? (beginsCookie(rest) ? next : nil) else { continue }
            fields.append(text[start..<comma].utf8)
            start = line
        }
        fields.append(text[start...].utf8)
        return fields
    }

    /// Where the next line begins, if nothing else is left of this one.
    private static func lineBehind(_ rest: Substring.UTF8View) -> String.Index? {
        var words = rest.drop(while: Tokens.isWhitespace)
        if words.first == UInt8(ascii: "\r") { words = words.dropFirst() }
        return words.first == UInt8(ascii: "\n") ? words.index(after: words.startIndex) : nil
    }

    private static func beginsCookie(_ rest: Substring.UTF8View) -> Bool {
        let words = rest.drop(while: Tokens.isWhitespace)
        let behind = words.drop(while: Tokens.isTokenByte)
        return behind.first == UInt8(ascii: "=") && behind.startIndex != words.startIndex
    }
}

extension CookiePlace {
    /// The place that a URL names; nil for one without a host.
    package init?(_ url: URL) {
        if let text = try? URLText(url), let origin = try? text.origin(of: url) {
            self.init(origin: origin, target: text.target)
            return
        }
        guard let host = url.host(percentEncoded: false) else { return nil }
        self.init(
            scheme: url.scheme ?? "", host: host, port: url.port, path: url.path(percentEncoded: true))
    }
}

extension CookieContext {
    /// A request to `place` for a main document, of which only the host counts.
    package init(_ place: CookiePlace, mainDocument: URL?, isTopLevel: Bool, method: String) {
        self.init(
            place, mainHost: mainDocument.map { CookiePlace($0)?.host ?? "" }, isTopLevel: isTopLevel, method: method)
    }
}

extension CookiePolicy {
    /// The policy in the words of the API.
    init(_ policy: HTTPCookie.AcceptPolicy) {
        self =
            switch policy {
            case .always: .always
            case .never: .never
            case .onlyFromMainDocumentDomain: .firstParty
            }
    }
}
