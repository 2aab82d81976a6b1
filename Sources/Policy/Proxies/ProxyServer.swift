// A proxy as it was configured: what it speaks, where it is, and with which name and password it is used.
// Behaviour B13.12, B13.13.
//
// Must not know: dictionaries, environment variables, URLs, sockets.

import URLLoadingWire

/// A server through which others are reached.
package struct ProxyServer: Sendable {
    /// What a proxy speaks.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// HTTP: requests for http, CONNECT for everything else.
        case http
        /// HTTP, under TLS between this machine and the proxy.
        case https
        /// SOCKS4; names are looked up here, and only IPv4 can be reached (B13.22).
        case socks4
        /// SOCKS4A; the proxy looks names up (B13.23).
        case socks4a
        /// SOCKS5; names are looked up here (B13.26).
        case socks5
        /// SOCKS5; the proxy looks names up.
        case socks5h

        /// The port of a proxy for which none is said (B13.6).
        package var defaultPort: Int {
            switch self {
            case .http: 80
            case .https: 443
            case .socks4, .socks4a, .socks5, .socks5h: 1080
            }
        }

        /// Whether it speaks HTTP.
        package var isHTTP: Bool { self == .http || self == .https }

        /// Whether it speaks SOCKS5.
        package var isVersion5: Bool { self == .socks5 || self == .socks5h }

        /// Whether names of origins are looked up on this machine.
        package var resolvesHere: Bool { self == .socks4 || self == .socks5 }
    }

    /// What it speaks.
    package let kind: Kind
    /// The UNIX-domain socket on which it listens, in place of host and port.
    package let path: String?
    /// The user name and password for the proxy.
    package var credentials: ProxyCredentials?
    /// Whether requests for http go through tunnels too.
    package var tunnelsAlways = false
    /// Its host and port as an origin of plain http: what pools and resolvers know it by.
    package let endpoint: Origin

    /// A proxy on a host; nil for a host or port that cannot be one.
    package init?(kind: Kind, host: String, port: Int? = nil, credentials: ProxyCredentials? = nil) {
        self.init(kind: kind, host: host, port: port, path: nil, credentials: credentials)
    }

    /// A proxy on a UNIX-domain socket; `host` is the name that its certificate must have where it speaks TLS.
    package init?(kind: Kind, path: String, host: String = "localhost", credentials: ProxyCredentials? = nil) {
        self.init(kind: kind, host: host, port: nil, path: path, credentials: credentials)
    }

    private init?(kind: Kind, host: String, port: Int?, path: String?, credentials: ProxyCredentials?) {
        guard let endpoint = Origin(scheme: .http, host: host, port: port ?? kind.defaultPort) else { return nil }
        self.kind = kind
        self.path = path
        self.credentials = credentials
        self.endpoint = endpoint
    }

    /// Its host in normal form: lower case, without brackets.
    package var host: String { endpoint.host }

    /// Its port.
    package var port: Int { endpoint.port }

    /// Whether requests to origins of a scheme are sent to it as they are, with absolute targets (B13.13); all others
    /// go through tunnels.
    package func forwards(_ scheme: Scheme) -> Bool { kind.isHTTP && scheme == .http && !tunnelsAlways }
}

extension ProxyServer: Hashable {
    package static func == (left: ProxyServer, right: ProxyServer) -> Bool {
        left.endpoint == right.endpoint && left.kind == right.kind && left.tunnelsAlways == right.tunnelsAlways
            // To a file system other bytes are another socket.
            && left.path.hasSameBytes(as: right.path) && left.credentials == right.credentials
    }

    /// Hashes the place; proxies that differ in the rest only are rare.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(endpoint)
    }
}

extension ProxyServer: CustomStringConvertible {
    /// "socks5://proxy.example:1080" or "http:/run/proxy.sock", never with credentials.
    package var description: String {
        if let path { return "\(kind.rawValue):\(path)" }
        return "\(kind.rawValue)://\(endpoint.authority)"
    }
}

/// User name and password for a proxy; printed without either.
package struct ProxyCredentials: Sendable, Hashable {
    /// The user name.
    package let user: String
    /// The password.
    package let password: String

    /// Makes credentials.
    package init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

extension ProxyCredentials: CustomStringConvertible, CustomReflectable {
    /// Says that there are some.
    package var description: String { "(credentials)" }

    /// Shows nothing, to `dump` and debuggers that print either.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
