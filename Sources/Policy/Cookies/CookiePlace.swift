// A request as cookies see it: where it goes, and on whose behalf. The questions of RFC 6265bis §5.1 about hosts and
// paths are answered here.
//
// Must not know cookies, and what becomes of the answers.

/// Where a request goes, or where an answer came from.
package struct CookiePlace: Sendable, Equatable {
    /// The host in its normal form, without a trailing dot.
    package let host: String
    /// Whether the host is an address.
    package let isIPLiteral: Bool
    /// The port.
    package let port: Int
    /// Whether what is sent cannot be read on its way: https and wss. A loopback host is no exception (B8.35).
    package let isSecure: Bool
    /// The path as it is sent, without query.
    package let path: String

    /// The place of a request to `origin`; `target` is what its request line says.
    package init(origin: Origin, target: String) {
        host = origin.matchingHost
        isIPLiteral = origin.isIPLiteral
        port = origin.port
        isSecure = origin.scheme.isSecure
        path = Self.path(target)
    }

    /// The place of a URL's parts; nil where the host is none.
    package init?(scheme: String, host: String, port: Int?, path: String) {
        guard let origin = Origin(scheme: .https, host: host) else { return nil }
        self.host = origin.matchingHost
        isIPLiteral = origin.isIPLiteral
        isSecure = ASCII.contains(["https", "wss"], scheme)
        self.port = port ?? (isSecure ? 443 : 80)
        self.path = Self.path(path)
    }

    private static func path(_ target: String) -> String {
        guard target.utf8.first == UInt8(ascii: "/") else { return "/" }
        return String(target.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }) ?? "/"
    }

    /// The path of a cookie that names none (RFC 6265bis §5.1.4, B8.30).
    package var defaultPath: String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// The address that a domain is, as hosts are written; nil for a name.
    package static func address(_ domain: String) -> String? {
        NormalHost(domain).flatMap { $0.isIPLiteral ? $0.text : nil }
    }

    /// Whether the host is `domain` or lies below it (RFC 6265bis §5.1.3); nothing lies below an address (B8.50).
    package func isWithin(domain: String) -> Bool {
        host == domain || !isIPLiteral && Self.isBelow(host, domain)
    }

    /// A name and those that it lies below, so many that no resolver would take more.
    static func upwards(from name: String) -> [String] {
        var names = [name]
        var rest = name[...]
        while names.count < 128, let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[rest.utf8.index(after: dot)...]
            names.append(String(rest))
        }
        return names
    }

    /// Whether a name ends in a dot and another one.
    package static func isBelow(_ name: String, _ domain: String) -> Bool {
        let (name, domain) = (name.utf8, domain.utf8)
        guard !domain.isEmpty, name.count > domain.count else { return false }
        let rest = name.suffix(domain.count + 1)
        return rest.first == UInt8(ascii: ".") && rest.dropFirst().elementsEqual(domain)
    }

    /// Whether a path is at or below another one (RFC 6265bis §5.1.4, B8.51).
    package static func isPath(_ path: String, within folder: String) -> Bool {
        let (path, folder) = (path.utf8, folder.utf8)
        guard path.starts(with: folder) else { return false }
        return path.count == folder.count || folder.last == UInt8(ascii: "/")
            || path.dropFirst(folder.count).first == UInt8(ascii: "/")
    }
}

/// A request as far as cookies care.
package struct CookieContext: Sendable {
    /// Where it goes.
    package let place: CookiePlace
    /// The host of the main document, empty for one that has none; nil where there is no main document.
    package let mainHost: String?
    /// Whether it is the main document itself that is loaded, by whatever redirects.
    package let isTopLevel: Bool
    /// Whether the method only reads (RFC 9110 §9.2.1).
    package let isSafe: Bool

    /// A request to `place` with a method, on behalf of a main document.
    package init(_ place: CookiePlace, mainHost: String? = nil, isTopLevel: Bool = false, method: String = "GET") {
        self.place = place
        self.mainHost = mainHost
        self.isTopLevel = isTopLevel
        isSafe = method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "TRACE"
    }

    /// Whether the main document may see cookies from here: it lies at or below the host that sets them (B8.40, B8.41).
    package var isFirstParty: Bool {
        guard let mainHost else { return true }
        return mainHost == place.host || !place.isIPLiteral && CookiePlace.isBelow(mainHost, place.host)
    }

    /// Whether another site than the main document's is asked (B8.59). The suffixes are wanted only where there are two
    /// hosts to compare.
    package func isCrossSite(_ suffixes: () -> PublicSuffixes) -> Bool {
        guard let mainHost, mainHost != place.host else { return false }
        let suffixes = suffixes()
        return suffixes.site(of: mainHost) != suffixes.site(of: place.host)
    }
}
