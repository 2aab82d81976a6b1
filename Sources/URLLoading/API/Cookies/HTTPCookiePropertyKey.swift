// The names of a cookie's properties.

import Foundation

/// A key of a cookie's properties.
public struct HTTPCookiePropertyKey: RawRepresentable, Hashable, Sendable {
    /// The key's text.
    public let rawValue: String

    /// A key of that text.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    /// A key of that text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The name.
    public static let name = HTTPCookiePropertyKey("Name")
    /// The value.
    public static let value = HTTPCookiePropertyKey("Value")
    /// The URL that the cookie is from, as `URL` or text; its host counts where there is no domain (B8.2).
    public static let originURL = HTTPCookiePropertyKey("OriginURL")
    /// "0" or "1".
    public static let version = HTTPCookiePropertyKey("Version")
    /// The host, or with a leading dot the domain (B8.13).
    public static let domain = HTTPCookiePropertyKey("Domain")
    /// The path; "/" where it is left out.
    public static let path = HTTPCookiePropertyKey("Path")
    /// Whether the cookie travels over TLS only; any text but a no counts as yes (B8.6).
    public static let secure = HTTPCookiePropertyKey("Secure")
    /// When it ends, as `Date` or text; for version 0 only (B8.3).
    public static let expires = HTTPCookiePropertyKey("Expires")
    /// What it is for.
    public static let comment = HTTPCookiePropertyKey("Comment")
    /// A URL that says what it is for, as `URL` or text.
    public static let commentURL = HTTPCookiePropertyKey("CommentURL")
    /// Whether it ends with the program (B8.4).
    public static let discard = HTTPCookiePropertyKey("Discard")
    /// How many seconds it lives; for version 1 only (B8.3).
    public static let maximumAge = HTTPCookiePropertyKey("Max-Age")
    /// The ports it is sent to, as text such as "80,8080".
    public static let port = HTTPCookiePropertyKey("Port")
    /// What it does with requests that another site has caused.
    public static let sameSitePolicy = HTTPCookiePropertyKey("SameSite")
    /// Whether a script has set it: it then takes the place of no cookie that scripts may not see.
    public static let setByJavaScript = HTTPCookiePropertyKey("SetInJavaScript")

    /// Not among Apple's names; without it a cookie could not be made again from its properties (B8.8, B8.10).
    static let httpOnly = HTTPCookiePropertyKey("HttpOnly")
    /// When the cookie was first kept, in seconds since 2001.
    static let created = HTTPCookiePropertyKey("Created")
}

/// What a cookie does with requests that another site has caused.
public struct HTTPCookieStringPolicy: RawRepresentable, Hashable, Sendable {
    /// The policy's text.
    public let rawValue: String

    /// A policy of that text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The cookie goes with navigations only.
    public static let sameSiteLax = HTTPCookieStringPolicy(rawValue: "lax")
    /// The cookie never goes with requests that another site has caused.
    public static let sameSiteStrict = HTTPCookieStringPolicy(rawValue: "strict")
}
