// Which cookies are taken from an answer and which go with a request: RFC 6265bis §5.7 and §5.8.3, behaviour 8.3 and
// 8.4. What needs the other cookies is `CookieJar`'s.
//
// Must not know where cookies are kept, and where the policy is from.

/// Why a cookie is not taken.
package enum CookieRefusal: String, Error, Sendable, CaseIterable {
    /// It is for a domain that the host is not in (B8.31).
    case foreignDomain
    /// It is for a public suffix, or for all above one (B8.33).
    case publicSuffix
    /// It is Secure and came over a plain connection (B8.34).
    case insecureOrigin
    /// It would hide a Secure one, and came over a plain connection (B8.34).
    case hidesSecure
    /// It is not what its name's prefix promises (B8.36).
    case brokenPrefix
    /// It says SameSite=None and is not Secure (B8.37).
    case sameSiteNone
    /// It says SameSite=Strict or Lax and came with an answer to another site's request.
    case crossSite
    /// A script wants to change what scripts may not see.
    case hiddenFromScripts
    /// The policy takes nothing (B8.39).
    case never
    /// The policy takes nothing from third parties (B8.40).
    case thirdParty
}

/// Whose cookies are taken.
package enum CookiePolicy: Sendable {
    /// The cookies of all sites.
    case always
    /// No cookies are taken.
    case never
    /// Those of the main document's domain.
    case firstParty
}

/// Judges cookies by themselves.
package enum CookieRules {
    /// Whether a policy takes cookies from an answer.
    package static func refusal(_ policy: CookiePolicy, of context: CookieContext) -> CookieRefusal? {
        switch policy {
        case .always: nil
        case .never: .never
        case .firstParty: context.isFirstParty ? nil : .thirdParty
        }
    }

    /// Whether a cookie is taken from an answer; one for a public suffix that is the host itself
    /// becomes the host's only.
    package static func refusal(
        _ cookie: inout Cookie, from context: CookieContext, suffixes: () -> PublicSuffixes
    ) -> CookieRefusal? {
        let place = context.place
        if cookie.isHostOnly ? cookie.domain != place.host : !place.isWithin(domain: cookie.domain) {
            return .foreignDomain
        }
        if !cookie.isHostOnly, suffixes().isTooWide(cookie.domain, for: place.host) {
            guard cookie.domain == place.host else { return .publicSuffix }
            cookie.isHostOnly = true
        }
        if cookie.isSecure, !place.isSecure { return .insecureOrigin }
        if breaksPrefix(cookie) { return .brokenPrefix }
        switch cookie.sameSite {
        case .unrestricted: if !cookie.isSecure { return .sameSiteNone }
        case .strict, .lax: if !context.isTopLevel, context.isCrossSite(suffixes) { return .crossSite }
        case nil: break
        }
        return nil
    }

    /// RFC 6265bis §4.1.3: what the name says about the cookie must be true.
    private static func breaksPrefix(_ cookie: Cookie) -> Bool {
        let name = String(decoding: cookie.name.utf8.prefix(9), as: UTF8.self)
        if ASCII.isEqual(name, "__Secure-") { return !cookie.isSecure }
        guard ASCII.isEqual(String(decoding: name.utf8.prefix(7), as: UTF8.self), "__Host-") else { return false }
        return !cookie.isSecure || !cookie.isHostOnly || !cookie.hasOwnPath || cookie.path != "/"
    }

    /// Whether a cookie goes with a request (B8.50 to B8.54, B8.59).
    package static func isSent(
        _ cookie: Cookie, with context: CookieContext, now: Double, suffixes: () -> PublicSuffixes
    ) -> Bool {
        let place = context.place
        guard cookie.isHostOnly ? cookie.domain == place.host : place.isWithin(domain: cookie.domain),
            !cookie.isSecure || place.isSecure, !cookie.isExpired(now),
            CookiePlace.isPath(place.path, within: cookie.path),
            cookie.ports.map({ $0.contains(place.port) }) ?? true
        else { return false }
        return isSent(cookie.sameSite, with: context, suffixes: suffixes)
    }

    /// Whether a cookie of that kind goes with a request, wherever it leads.
    package static func isSent(
        _ sameSite: CookieSameSite?, with context: CookieContext, suffixes: () -> PublicSuffixes
    ) -> Bool {
        switch sameSite {
        case nil, .unrestricted: true
        case .lax: context.isTopLevel && context.isSafe || !context.isCrossSite(suffixes)
        case .strict: !context.isCrossSite(suffixes)
        }
    }
}
