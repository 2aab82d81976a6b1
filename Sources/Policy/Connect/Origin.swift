// Where a request goes: scheme, host and port, with the host in one normal form so that equal places compare equal.
// It must not know how names are resolved or converted: Unicode names arrive here as A-labels already (B3.18).
// RFC 3986 §3.2.2 for the host, RFC 6874 for zone ids, RFC 9110 §7.2 for the Host field, RFC 6454 for equality.

/// Scheme, host and port of a server.
package struct Origin: Sendable {
    /// How the server is spoken to.
    package let scheme: Scheme
    /// Lower-case A-labels, or an IP literal without brackets and with its zone after a plain `%`.
    ///
    /// A trailing dot of a name is kept: it tells the resolver not to try its search list, and origins with and
    /// without it are two origins.
    package let host: String
    /// The port, the scheme's default filled in.
    package let port: Int
    /// Whether `host` is an IPv4 or IPv6 address.
    package let isIPLiteral: Bool
    /// Measured: hashing the host where the pool looks up its key cost the loop 50 ns a request; here it is paid once,
    /// on the thread that makes the origin.
    private let digest: Int

    /// Makes an origin of a URL's parts: host in any case, IPv6 with or without brackets, zone after `%25` or `%`.
    ///
    /// Nil for an empty or impossible host, non-ASCII names, and ports outside 0…65535 (B14.4).
    package init?(scheme: Scheme, host: String, port: Int? = nil) {
        let port = port ?? scheme.defaultPort
        guard (0...65535).contains(port), let normal = NormalHost(host) else { return nil }
        self.init(scheme, normal.text, port, isIPLiteral: normal.isIPLiteral)
    }

    private init(_ scheme: Scheme, _ host: String, _ port: Int, isIPLiteral: Bool) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.isIPLiteral = isIPLiteral
        var hasher = Hasher()
        hasher.combine(scheme)
        hasher.combine(host)
        hasher.combine(port)
        digest = hasher.finalize()
    }

    /// Makes an origin of a scheme given as text; nil when the scheme is not http or https, or the rest is no origin.
    package init?(scheme: String, host: String, port: Int? = nil) {
        guard let scheme = Scheme(scheme) else { return nil }
        self.init(scheme: scheme, host: host, port: port)
    }

    /// What is spoken to at the same place once there is TLS.
    package var secured: Origin { Origin(.https, host, port, isIPLiteral: isIPLiteral) }

    /// The host as certificates, SNI and the limit per host see it: no trailing dot (B3.17), no zone (B16.12).
    package var matchingHost: String {
        if isIPLiteral { return addressWithoutZone }
        return host.utf8.last == UInt8(ascii: ".") ? String(host.dropLast()) : host
    }

    /// Host and port with the port always given, as CONNECT names its target: IPv6 in brackets, no zone (B13.15).
    package var authority: String {
        let host = isIPLiteral ? addressWithoutZone : host
        return host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// The value of the Host field: IPv6 in brackets, no zone, the port unless it is the default (B5.21, B16.12).
    package var hostField: String {
        var field = isIPLiteral ? addressWithoutZone : host
        if field.utf8.contains(UInt8(ascii: ":")) { field = "[\(field)]" }
        return port == scheme.defaultPort ? field : "\(field):\(port)"
    }

    private var addressWithoutZone: String {
        guard let percent = host.utf8.firstIndex(of: UInt8(ascii: "%")) else { return host }
        return String(host[..<percent])
    }
}

extension Origin: Hashable {
    /// Whether scheme, host and port are the same.
    package static func == (left: Origin, right: Origin) -> Bool {
        left.digest == right.digest && left.port == right.port && left.scheme == right.scheme && left.host == right.host
    }

    /// Hashes scheme, host and port.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(digest)
    }
}

extension Origin: CustomStringConvertible {
    /// `scheme://host:port` with the port always shown.
    package var description: String {
        let isBracketed = host.utf8.contains(UInt8(ascii: ":"))
        return "\(scheme.name)://\(isBracketed ? "[\(host)]" : host):\(port)"
    }
}
