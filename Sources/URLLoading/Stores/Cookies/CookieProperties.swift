// A cookie from and to the dictionary of properties that Apple's API knows (behaviour 8.1).
//
// Must not know: storages, header fields.

import Foundation
import URLLoadingPolicy

extension Cookie {
    /// Reads properties; nil where something that has to be there is not.
    init?(properties: [HTTPCookiePropertyKey: Any], now: Double) {
        let values = PropertyReader(properties)
        guard let name = values.text(.name), !name.isEmpty, Cookie.isText(name), let value = values.text(.value),
            Cookie.isText(value), let place = values.place
        else { return nil }
        let path = values.text(.path) ?? "/"
        self.init(
            name: name, value: value, domain: place.domain, isHostOnly: place.isHostOnly,
            path: path.utf8.first == UInt8(ascii: "/") && Cookie.isText(path) ? path : "/",
            created: values.seconds(.created) ?? now)
        version = values.text(.version) == "1" ? 1 : 0
        expires = values.end(version: version, now: now)
        isSecure = values.isTrue(.secure)
        isFromScript = values.isTrue(.setByJavaScript)
        isHTTPOnly = !isFromScript && values.isTrue(.httpOnly)
        sameSite = values.sameSite
        ports = values.ports(version: version)
        comment = values.text(.comment)
        commentURL = values.text(.commentURL)
    }

    /// What makes an equal cookie.
    var properties: [HTTPCookiePropertyKey: Any] {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .domain: isHostOnly ? domain : "." + domain, .path: path,
            .version: "\(version)", .created: created,
        ]
        if let expires {
            properties[.expires] = Date(timeIntervalSinceReferenceDate: expires)
            if version == 1 { properties[.maximumAge] = "\(Int64(min(max(0, expires - created), 1e15)))" }
        } else {
            properties[.discard] = "TRUE"
        }
        if isSecure { properties[.secure] = "TRUE" }
        if isHTTPOnly { properties[.httpOnly] = "TRUE" }
        if isFromScript { properties[.setByJavaScript] = "TRUE" }
        if let sameSite { properties[.sameSitePolicy] = sameSite.rawValue }
        if let ports { properties[.port] = ports.map { "\($0)" }.joined(separator: ",") }
        if let comment { properties[.comment] = comment }
        if let url = commentURL.flatMap({ URL(string: $0) }) { properties[.commentURL] = url }
        return properties
    }
}

/// Reads a dictionary whose values may be anything.
private struct PropertyReader {
    private let properties: [HTTPCookiePropertyKey: Any]

    init(_ properties: [HTTPCookiePropertyKey: Any]) {
        self.properties = properties
    }

    /// What is text, a number or a URL, as text (B8.7).
    func text(_ key: HTTPCookiePropertyKey) -> String? {
        switch properties[key] {
        case let text as String: text
        case let text as any StringProtocol: text.description
        case let text as NSString: String(describing: text)
        case let flag as Bool: flag ? "1" : "0"
        case let number as NSNumber: number.stringValue
        case let number as any BinaryInteger: "\(number)"
        case let url as URL: url.absoluteString
        case let url as NSURL: url.absoluteString
        case let policy as HTTPCookieStringPolicy: policy.rawValue
        default: nil
        }
    }

    /// Whether a property says yes (B8.6).
    func isTrue(_ key: HTTPCookiePropertyKey) -> Bool {
        guard let text = text(key)?.lowercased() else { return false }
        return !["", "0", "no", "false"].contains(text)
    }

    func seconds(_ key: HTTPCookiePropertyKey) -> Double? {
        let seconds = (properties[key] as? Double) ?? text(key).flatMap { Double($0) }
        return seconds.flatMap { $0.isFinite ? $0 : nil }
    }

    /// The domain, or the origin's host (B8.2, B8.13).
    var place: (domain: String, isHostOnly: Bool)? {
        if let domain = text(.domain), !domain.isEmpty {
            let isHostOnly = !domain.hasPrefix(".")
            let name = (isHostOnly ? domain : String(domain.dropFirst())).lowercased()
            guard Cookie.isText(name) else { return nil }
            // A dot alone has nothing below it: a cookie that no host gets.
            if name.isEmpty { return (domain, true) }
            if let address = CookiePlace.address(name) { return (address, true) }
            return (name, isHostOnly)
        }
        guard let url = text(.originURL).flatMap({ URL(string: $0) }), let place = CookiePlace(url) else { return nil }
        return (place.host, true)
    }

    /// B8.3, B8.4, B8.9: version 0 has a date, version 1 an age.
    func end(version: Int, now: Double) -> Double? {
        if isTrue(.discard) { return nil }
        let date = (properties[.expires] as? Date).flatMap { $0.timeIntervalSinceReferenceDate.isFinite ? $0 : nil }
        // A dictionary that a cookie made says both, and means the date.
        if version == 1, date == nil || properties[.created] == nil { return seconds(.maximumAge).map { now + $0 } }
        if let date { return date.timeIntervalSinceReferenceDate }
        return text(.expires).flatMap { CookieDate.seconds($0.utf8) }.map(Cookie.moment)
    }

    /// B8.11; `none` is kept though it does not show.
    var sameSite: CookieSameSite? {
        text(.sameSitePolicy).flatMap { CookieSameSite(rawValue: $0.lowercased()) }
    }

    func ports(version: Int) -> [Int]? {
        let list = (properties[.port] as? [Any])?.map { "\($0)" }.joined(separator: ",") ?? text(.port)
        return list.flatMap { CookiePorts.read($0, version: version) }
    }
}
