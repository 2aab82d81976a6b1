// The face of a cookie: what it says is a `Cookie`'s, which cannot change.
//
// Must not know: storages, requests and answers beyond their header fields.

import Foundation
import URLLoadingPolicy

/// A cookie.
open class HTTPCookie: NSObject, @unchecked Sendable {
    // Safe to share: set once, before another thread has the object.
    private(set) var cookie: Cookie

    /// Whose cookies a storage takes from answers.
    public enum AcceptPolicy: UInt, Sendable {
        /// The cookies of all sites.
        case always = 0
        /// No cookies are taken.
        case never = 1
        /// The cookies of the main document's domain.
        case onlyFromMainDocumentDomain = 2
    }

    /// Makes a cookie of its properties; nil without name, value, and domain or origin (B8.1), and where name or value
    /// hold control characters, which no header field may.
    public init?(properties: [HTTPCookiePropertyKey: Any]) {
        guard let cookie = Cookie(properties: properties, now: Date.timeIntervalSinceReferenceDate) else { return nil }
        self.cookie = cookie
        super.init()
    }

    // Convenience, so that every designated initialiser is public: otherwise subclasses in other modules would not
    // inherit `init(properties:)`. What it begins with is a cookie, so it makes one.
    convenience init?(_ cookie: Cookie) {
        self.init(properties: [.name: "-", .value: "", .domain: "-"])
        self.cookie = cookie
    }

    /// What makes an equal cookie (B8.8).
    open var properties: [HTTPCookiePropertyKey: Any]? { cookie.properties }

    /// The cookies of a response's fields, Set-Cookie in any case; fields that were joined by commas are taken apart
    /// again (B8.15). Whether the URL's host may set them is asked when they are stored (B8.32).
    @discardableResult
    open class func cookies(withResponseHeaderFields headerFields: [String: String], for URL: URL) -> [HTTPCookie] {
        guard let place = CookiePlace(URL) else { return [] }
        let now = Date.timeIntervalSinceReferenceDate
        return headerFields.filter { FieldText.sameName($0.key, "Set-Cookie") }.sorted { $0.key < $1.key }
            .flatMap { CookieFields.split($0.value) }.compactMap { SetCookie($0) }
            .compactMap { HTTPCookie(Cookie($0, from: place, now: now)) }
    }

    /// A Cookie field of the cookies in their order (B8.12).
    @discardableResult
    open class func requestHeaderFields(with cookies: [HTTPCookie]) -> [String: String] {
        guard !cookies.isEmpty else { return [:] }
        return ["Cookie": cookies.map { $0.name + "=" + $0.value }.joined(separator: "; ")]
    }

    /// 0 for Netscape's kind, 1 for that of RFC 2965.
    open var version: Int { cookie.version }

    /// The name.
    open var name: String { cookie.name }

    /// The value.
    open var value: String { cookie.value }

    /// When it ends; nil for one that ends with the program.
    open var expiresDate: Date? { cookie.expires.map { Date(timeIntervalSinceReferenceDate: $0) } }

    /// Whether it ends with the program, since it has no date (B8.9).
    open var isSessionOnly: Bool { cookie.expires == nil }

    /// The host it goes to; with a leading dot also all below it (B8.13).
    open var domain: String { cookie.isHostOnly ? cookie.domain : "." + cookie.domain }

    /// The path at and below which it is sent.
    open var path: String { cookie.path }

    /// Whether it travels over TLS only.
    open var isSecure: Bool { cookie.isSecure }

    /// Whether scripts may not see it; only a header field can say so (B8.10).
    open var isHTTPOnly: Bool { cookie.isHTTPOnly }

    /// What it is for.
    open var comment: String? { cookie.comment }

    /// A URL that says what it is for.
    open var commentURL: URL? { cookie.commentURL.flatMap { URL(string: $0) } }

    /// The ports it is sent to; nil for any.
    open var portList: [NSNumber]? { cookie.ports?.map { NSNumber(value: $0) } }

    /// What it does with requests that another site has caused; nil where it says nothing (B8.11).
    open var sameSitePolicy: HTTPCookieStringPolicy? {
        switch cookie.sameSite {
        case .strict: .sameSiteStrict
        case .lax: .sameSiteLax
        case .unrestricted, nil: nil
        }
    }

    /// Whether both say the same; when they were made does not count.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? HTTPCookie else { return false }
        return cookie.isSame(as: other.cookie)
    }

    open override var hash: Int { cookie.identity.hashValue }

    /// All of it, the value included, as on Apple's platforms.
    open override var description: String {
        var parts = [
            "version:\(version)", "name:\(name)", "value:\(value)",
            "expiresDate:\(expiresDate.map { "\($0)" } ?? "(null)")", "sessionOnly:\(Self.word(isSessionOnly))",
            "domain:\(domain)", "path:\(path)", "isSecure:\(Self.word(isSecure))",
            "isHTTPOnly:\(Self.word(isHTTPOnly))",
        ]
        if let sameSitePolicy { parts.append("sameSite:\(sameSitePolicy.rawValue)") }
        if let portList { parts.append("portList:\(portList.map(\.stringValue).joined(separator: ","))") }
        return "<\(type(of: self)) \(parts.joined(separator: " "))>"
    }

    private static func word(_ flag: Bool) -> String { flag ? "TRUE" : "FALSE" }
}
