// A cookie as it is kept and sent: everything that a Set-Cookie field left open has been filled in.
//
// Must not know where it is kept. Times are arguments, nothing here asks for one; they are seconds since 2001, as
// Foundation counts them, since in any other count a date would not come back as exactly what it was.

import URLLoadingWire

/// One cookie.
package struct Cookie: Sendable, Equatable {
    /// The name, never empty.
    package var name: String
    /// The value.
    package var value: String
    /// The host or domain, lower-case, without a leading dot.
    package var domain: String
    /// Whether only the very host gets it, and not those below it as well.
    package var isHostOnly: Bool
    /// The path at and below which it is sent; begins with a slash.
    package var path: String
    /// Whether the path was given, not made from the request's.
    package var hasOwnPath = true
    /// When it ends; nil for one that ends with the program.
    package var expires: Double?
    /// When it was first kept.
    package var created: Double
    /// Whether it travels over TLS only.
    package var isSecure = false
    /// Whether scripts may not see it.
    package var isHTTPOnly = false
    /// Whether a script has set it.
    package var isFromScript = false
    /// What it does with requests that another site has caused.
    package var sameSite: CookieSameSite?
    /// 0 for Netscape's kind, 1 for that of RFC 2965.
    package var version = 0
    /// The ports it is sent to; nil for any.
    package var ports: [Int]?
    /// What it is for, in words.
    package var comment: String?
    /// What it is for, at a URL.
    package var commentURL: String?

    /// A cookie with nothing but what each one has.
    package init(
        name: String, value: String, domain: String, isHostOnly: Bool, path: String, expires: Double? = nil,
        created: Double
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.isHostOnly = isHostOnly
        self.path = path
        self.expires = expires
        self.created = created
    }

    /// What a field means in an answer from `place`; whether the place may say so is not asked here (B8.32).
    package init(_ field: SetCookie, from place: CookiePlace, now: Double) {
        // B8.13: nothing lies below an address.
        let address = field.domain.flatMap { CookiePlace.address($0) }
        self.init(
            name: field.name, value: field.value, domain: address ?? field.domain ?? place.host,
            isHostOnly: field.domain == nil || address != nil,
            path: field.path ?? place.defaultPath, expires: Self.end(of: field, now: now), created: now)
        hasOwnPath = field.path != nil
        isSecure = field.isSecure
        isHTTPOnly = field.isHTTPOnly
        sameSite = field.sameSite
        version = field.version
        ports = field.ports
        comment = field.comment
        commentURL = field.commentURL
    }

    /// Max-Age wins over Expires (B8.28), and nothing lasts longer than 400 days (B8.29).
    private static func end(of field: SetCookie, now: Double) -> Double? {
        if field.isDiscarded, field.maximumAge.map({ $0 > 0 }) ?? true { return nil }
        let end =
            field.maximumAge.map { $0 > 0 ? now + Double($0) : -.greatestFiniteMagnitude }
            ?? field.expires.map { moment($0) }
        return end.map { min($0, now + longestLife) }
    }

    /// A date that was read, as cookies count time.
    package static func moment(_ secondsSince1970: Int64) -> Double { Double(secondsSince1970) - 978_307_200 }

    /// RFC 6265bis §5.5, in seconds.
    private static let longestLife: Double = 400 * 86_400

    /// Whether it has ended.
    package func isExpired(_ now: Double) -> Bool {
        if let expires { expires <= now } else { false }
    }

    /// Texts are compared by their bytes: to a server another form of the same letters is another value.
    package static func == (left: Cookie, right: Cookie) -> Bool {
        left.has(right.identity) && left.value.hasSameBytes(as: right.value) && left.hasOwnPath == right.hasOwnPath
            && left.expires == right.expires && left.created == right.created && left.isSecure == right.isSecure
            && left.isHTTPOnly == right.isHTTPOnly && left.isFromScript == right.isFromScript
            && left.sameSite == right.sameSite && left.version == right.version && left.ports == right.ports
            && left.comment.hasSameBytes(as: right.comment) && left.commentURL.hasSameBytes(as: right.commentURL)
    }

    /// What makes it this cookie, so that another one takes its place (B8.62).
    package struct Identity: Sendable, Hashable {
        /// The name.
        package let name: String
        /// The host or domain.
        package let domain: String
        /// Whether it is the host only.
        package let isHostOnly: Bool
        /// The path.
        package let path: String

        package static func == (left: Identity, right: Identity) -> Bool {
            left.isHostOnly == right.isHostOnly && left.name.hasSameBytes(as: right.name)
                && left.path.hasSameBytes(as: right.path) && left.domain.hasSameBytes(as: right.domain)
        }

        /// Hashes the texts by their bytes: an answer may bring very many forms of one name.
        package func hash(into hasher: inout Hasher) {
            hasher.combine(bytesOf: name)
            hasher.combine(bytesOf: path)
            hasher.combine(bytesOf: domain)
        }
    }

    /// What it is found by.
    package var identity: Identity {
        Identity(name: name, domain: domain, isHostOnly: isHostOnly, path: path)
    }

    /// Whether that is its identity, which is not made for this.
    package func has(_ identity: Identity) -> Bool {
        isHostOnly == identity.isHostOnly && name.hasSameBytes(as: identity.name)
            && path.hasSameBytes(as: identity.path) && domain.hasSameBytes(as: identity.domain)
    }

    /// Whether both are equal but for the time when they were first kept.
    package func isSame(as other: Cookie) -> Bool {
        var other = other
        other.created = created
        other.hasOwnPath = hasOwnPath
        return self == other
    }

    /// Whether a text may be a name or a value: without control characters, which no field may hold.
    package static func isText(_ text: String) -> Bool {
        !text.utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }
    }
}

extension Cookie: CustomStringConvertible {
    /// Where it belongs and its name; a value may be a secret and does not belong into a log by accident.
    package var description: String { "\(isHostOnly ? "" : ".")\(domain)\(path) \(name)" }
}
