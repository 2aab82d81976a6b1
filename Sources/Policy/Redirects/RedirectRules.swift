// Which redirects are followed, and what the next request is made of: behaviour chapter 4, RFC 9110 §15.4. It must
// not know tasks, delegates or `URL`; it answers questions about statuses, methods, field names and URL text, and the
// caller builds the request. The URL itself is resolved by `RedirectTarget`.

/// Decides about redirects.
package enum RedirectRules {
    /// Redirects followed for one task; the next one fails with −1007 (B4.13, B4.15).
    package static let maximumRedirects = 20

    /// Bytes of a followed response's body that are read to keep its connection; beyond that it is closed (B4.33).
    package static let discardedBodyLimit = 64 * 1024

    /// Whether one more redirect may be followed after this many.
    package static func mayFollow(afterRedirects count: Int) -> Bool {
        count < maximumRedirects
    }

    /// Whether a response with this status and a usable Location is a redirect (B4.6); all others are delivered.
    package static func isRedirect(status: Int) -> Bool {
        switch status {
        // 305 and 306 are dead letters in RFC 9110; Darwin follows them like the others (B4.7).
        case 301, 302, 303, 305, 306, 307, 308: true
        default: false
        }
    }

    // MARK: Method and body

    /// What the next request does with the method and the body.
    package struct Change: Sendable, Equatable {
        /// The method of the next request.
        package let method: String
        /// Whether the body is sent again; if not, the fields that describe it go too (B4.11).
        package let keepsBody: Bool

        /// Makes a change.
        package init(method: String, keepsBody: Bool) {
            self.method = method
            self.keepsBody = keepsBody
        }
    }

    /// The method and body that follow a redirect status (B4.8 to B4.10).
    package static func change(status: Int, method: String) -> Change {
        switch (status, method) {
        case (301, "POST"), (302, "POST"), (303, _): Change(method: "GET", keepsBody: false)
        default: Change(method: method, keepsBody: true)
        }
    }

    // MARK: Fields

    /// What a hop changes besides the URL, as far as fields depend on it.
    package struct Hop: Sendable, Equatable {
        /// Whether the body is sent again.
        package let keepsBody: Bool
        /// Whether scheme, host or port differ (B4.27).
        package let isCrossOrigin: Bool
        /// Whether it leads from https to http (B4.29, B4.30).
        package let isDowngrade: Bool

        /// A hop between two origins.
        package init(keepsBody: Bool, from: Origin, to: Origin) {
            self.keepsBody = keepsBody
            isCrossOrigin = from != to
            isDowngrade = from.scheme.isSecure && !to.scheme.isSecure
        }

        /// A hop to somewhere that is no http origin.
        package init(keepsBody: Bool, leavingHTTPFrom from: Origin) {
            self.keepsBody = keepsBody
            isCrossOrigin = true
            isDowngrade = from.scheme.isSecure
        }
    }

    /// Whether the next request keeps a field that the application had set on the last one.
    ///
    /// Fields that the loader added itself (computed cookies among them, B4.32) are not asked about: they are made
    /// anew for each request.
    package static func keepsField(_ name: String, over hop: Hop) -> Bool {
        if ASCII.contains(computedFields, name) { return false }
        if !hop.keepsBody, ASCII.contains(contentFields, name) { return false }
        if hop.isCrossOrigin, isCredential(name) { return false }
        if hop.isDowngrade, ASCII.isEqual(name, "Referer") { return false }
        return true
    }

    /// Whether a field's value is a secret of one origin: by its name, or by what such names end in.
    package static func isCredential(_ name: String) -> Bool {
        if ASCII.contains(credentialFields, name) { return true }
        let name = String(decoding: name.utf8.map(ASCII.lowercase), as: UTF8.self)
        return credentialEndings.contains { name.hasSuffix($0) } || name.hasPrefix("x-") && name.hasSuffix("-key")
    }

    /// Belong to the old connection or the old target: never carried over (B4.26).
    private static let computedFields = [
        "Host", "Content-Length", "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding",
        "Upgrade", "HTTP2-Settings",
    ]

    /// Describe a body that is not sent again (B4.11, RFC 9110 §15.4 item 2).
    private static let contentFields = [
        "Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "Content-Range",
        "Content-Disposition", "Content-MD5", "Content-Digest", "Repr-Digest", "Digest", "Last-Modified", "Expect",
    ]

    /// Meant for one origin only (B4.27): the registered ones, and unregistered ones in common use for secrets.
    private static let credentialFields = [
        "Authorization", "Proxy-Authorization", "Cookie", "Cookie2", "WWW-Authenticate", "Proxy-Authenticate", "DPoP",
        "Token", "Authentication",
    ]

    /// The many names that services have given to their secrets: X-Auth-Token, X-Api-Key, Client-Secret, and so on.
    private static let credentialEndings = [
        "-authorization", "-token", "-secret", "-password", "-cookie", "apikey", "api-key", "access-key",
        "subscription-key",
    ]

    // MARK: Schemes

    /// What a target's scheme allows.
    package enum SchemeVerdict: Sendable, Equatable {
        /// http or https: the next hop.
        case follow
        /// Never because a server said so: −1002 (B4.31).
        case refuse
        /// Only if something in the session is registered for the scheme, else −1002.
        case onlyIfHandled
    }

    /// Whether a redirect from http or https may lead to a scheme (B4.31).
    package static func verdict(onScheme scheme: String) -> SchemeVerdict {
        if Scheme(scheme) != nil { return .follow }
        return ASCII.contains(localSchemes, scheme) ? .refuse : .onlyIfHandled
    }

    /// Their content is on this machine or in the URL itself: a server must not be able to choose it.
    private static let localSchemes = ["file", "data", "about", "blob", "javascript"]
}
