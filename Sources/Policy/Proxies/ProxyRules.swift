// Which proxies a URL is loaded through. The settings come as plain values: a dictionary with Apple's keys (B13.4 to
// B13.8), variables of the environment (B13.2, B13.9), or a list of proxies with their domains.
//
// Must not know: URLSessionConfiguration, getenv, which object asks a resolver.

/// What is to be carried, as far as proxies are told apart by it.
package enum ProxyTraffic: Sendable, Hashable, CaseIterable {
    case http
    case https
    case webSocket
    case secureWebSocket
    case ftp
    /// A plain connection to a host and port.
    case stream

    /// Whose setting counts: ws goes where http goes, wss and plain connections where https goes (B13.7).
    fileprivate var slot: ProxyRules.Slot {
        switch self {
        case .http, .webSocket: .http
        case .https, .secureWebSocket, .stream: .https
        case .ftp: .ftp
        }
    }
}

extension ProxyTraffic {
    /// What URLs of a scheme carry.
    package init(_ scheme: Scheme) {
        switch scheme {
        case .http: self = .http
        case .https: self = .https
        }
    }
}

/// The ways to a host that the settings name.
package enum ProxyWays: Sendable, Hashable {
    /// Without a proxy.
    case direct
    /// To be tried in this order; never empty.
    case routes([Route])
    /// A resolver has to be asked (B13.30, B13.31).
    case automatic
    /// The setting for it is no proxy. Going without one would send what was not meant to be seen.
    case unusable(ProxyFault)
}

/// The settings of a session about proxies.
package struct ProxyRules: Sendable {
    /// The kinds of proxies that are set apart from each other.
    enum Slot: Sendable, Hashable {
        case http, https, ftp
    }

    /// One proxy of a list.
    package struct Entry: Sendable {
        /// The proxy, or why it is none.
        package let proxy: Result<ProxyServer, ProxyFault>
        /// The hosts that it is for; nil means all. A list that names no host means none: going through a proxy that
        /// was meant for others would show it what it was not meant to see.
        package let matches: ProxyBypass?
        /// The hosts that it is not for.
        package let excludes: ProxyBypass
        /// Whether what comes after it may be tried when it fails.
        package let failsOver: Bool

        /// One proxy of a list.
        package init(
            proxy: Result<ProxyServer, ProxyFault>, matches: ProxyBypass?, excludes: ProxyBypass, failsOver: Bool
        ) {
            self.proxy = proxy
            self.matches = matches
            self.excludes = excludes
            self.failsOver = failsOver
        }
    }

    private var ways: [Slot: ProxyWays] = [:]
    /// For what has no setting of its own.
    private var fallback = ProxyWays.direct
    private var bypass = ProxyBypass()
    private var entries: [Entry]?

    /// No proxy at all.
    package init() {}

    /// Proxies in their order. The first that is for the host is used; those after it, and in the end none, where it
    /// says that it may be passed over.
    package init(entries: [Entry]) {
        self.entries = entries
    }

    /// The ways to a host, in normal form without brackets.
    package func ways(for traffic: ProxyTraffic, host: String, port: Int) -> ProxyWays {
        if let entries { return Self.ways(entries, host: host, port: port) }
        let ways = ways[traffic.slot] ?? fallback
        guard ways != .direct, bypass.covers(host: host, port: port) else { return ways }
        return .direct
    }

    /// The ways to an origin.
    package func ways(to origin: Origin) -> ProxyWays {
        ways(for: ProxyTraffic(origin.scheme), host: origin.matchingHost, port: origin.port)
    }

    private static func ways(_ entries: [Entry], host: String, port: Int) -> ProxyWays {
        var routes: [Route] = []
        for entry in entries {
            guard entry.matches?.covers(host: host, port: port) ?? true,
                !entry.excludes.covers(host: host, port: port)
            else { continue }
            switch entry.proxy {
            case .success(let proxy): routes.append(.proxied(proxy))
            case .failure(let fault): return .unusable(fault)
            }
            if !entry.failsOver { return .routes(routes) }
        }
        return routes.isEmpty ? .direct : .routes(routes + [.direct()])
    }
}

// MARK: The environment

extension ProxyRules {
    /// The variables that are read, in pairs of which the first wins. `HTTP_PROXY` is none: servers that run CGI
    /// programs set it from a field of the request, which any client can send (B13.2).
    package static let environmentVariables = [
        "http_proxy", "https_proxy", "HTTPS_PROXY", "ftp_proxy", "FTP_PROXY", "all_proxy", "ALL_PROXY", "no_proxy",
        "NO_PROXY",
    ]

    /// What the environment says (B13.2); an empty variable counts as not set.
    package init(environment: [String: String]) {
        func value(_ names: String...) -> (name: String, text: String)? {
            for name in names {
                if let text = environment[name], !text.allSatisfy(\.isWhitespace) { return (name, text) }
            }
            return nil
        }
        func ways(_ setting: (name: String, text: String)?) -> ProxyWays? {
            setting.map { ProxyWays(text: $0.text, source: "The environment variable \($0.name)") }
        }
        self.ways[.http] = ways(value("http_proxy"))
        self.ways[.https] = ways(value("https_proxy", "HTTPS_PROXY"))
        self.ways[.ftp] = ways(value("ftp_proxy", "FTP_PROXY"))
        fallback = ways(value("all_proxy", "ALL_PROXY")) ?? .direct
        if let list = value("no_proxy", "NO_PROXY") { bypass = ProxyBypass(noProxy: list.text) }
    }
}

// MARK: The dictionary

/// A value of a proxy dictionary, whatever class it had.
package enum ProxyDictionaryValue: Sendable, Hashable {
    case number(Int)
    case text(String)
    case list([String])

    /// Whether a key with this value is switched on (B13.6).
    fileprivate var isOn: Bool {
        switch self {
        case .number(let number): number != 0
        case .text(let text): ASCII.decimal(text.utf8).map { $0 != 0 } ?? false
        case .list: false
        }
    }

    fileprivate var text: String? {
        if case .text(let text) = self, !text.isEmpty { text } else { nil }
    }
}

extension ProxyRules {
    /// What a dictionary says; one without entries says that there is no proxy (B13.4).
    package init(dictionary: [String: ProxyDictionaryValue]) {
        let user = dictionary["kCFProxyUsernameKey"]?.text
        let credentials = user.map {
            ProxyCredentials(user: $0, password: dictionary["kCFProxyPasswordKey"]?.text ?? "")
        }
        func ways(_ name: String, _ kind: ProxyServer.Kind, _ credentials: ProxyCredentials?) -> ProxyWays? {
            // B13.6: both the switch and the host.
            guard dictionary["\(name)Enable"]?.isOn == true, let host = dictionary["\(name)Proxy"]?.text else {
                return nil
            }
            return ProxyWays(
                kind: kind, host: host, port: dictionary["\(name)Port"], credentials: credentials, name: name)
        }
        self.ways[.http] = ways("HTTP", .http, credentials)
        self.ways[.https] = ways("HTTPS", .http, credentials)
        self.ways[.ftp] = ways("FTP", .http, credentials)
        // B13.7: SOCKS serves what has no proxy of its own.
        fallback =
            ways("SOCKS", Self.kindOfSOCKS(dictionary), Self.credentialsOfSOCKS(dictionary) ?? credentials)
            ?? .direct
        if dictionary["ProxyAutoConfigEnable"]?.isOn == true || dictionary["ProxyAutoDiscoveryEnable"]?.isOn == true {
            self.ways = [:]
            fallback = .automatic
        }
        var exceptions: [String] = []
        if case .list(let list) = dictionary["ExceptionsList"] { exceptions = list }
        bypass = ProxyBypass(
            exceptions: exceptions, excludesSimpleNames: dictionary["ExcludeSimpleHostnames"]?.isOn ?? false)
    }

    /// B13.26: the proxy looks names up, in either version.
    private static func kindOfSOCKS(_ dictionary: [String: ProxyDictionaryValue]) -> ProxyServer.Kind {
        switch dictionary["kCFStreamPropertySOCKSVersion"] {
        case .number(4), .text("4"), .text("kCFStreamSocketSOCKSVersion4"): .socks4a
        case .number, .text, .list, nil: .socks5h
        }
    }

    private static func credentialsOfSOCKS(_ dictionary: [String: ProxyDictionaryValue]) -> ProxyCredentials? {
        dictionary["kCFStreamPropertySOCKSUser"]?.text.map {
            ProxyCredentials(user: $0, password: dictionary["kCFStreamPropertySOCKSPassword"]?.text ?? "")
        }
    }
}

extension ProxyWays {
    /// Through the proxy of a URL.
    fileprivate init(text: String, source: String) {
        do throws(ProxyFault) {
            self = .routes([.proxied(try ProxyServer.read(text, source: source))])
        } catch {
            self = .unusable(error)
        }
    }

    /// Through a host of a dictionary.
    fileprivate init(
        kind: ProxyServer.Kind, host: String, port: ProxyDictionaryValue?, credentials: ProxyCredentials?, name: String
    ) {
        let number: Int64?
        switch port {
        case nil: number = Int64(kind.defaultPort)
        case .number(let given): number = Int64(given)
        case .text(let text): number = ASCII.decimal(text.utf8)
        case .list: number = nil
        }
        guard let number, (1...65535).contains(number) else {
            self = .unusable(ProxyFault(source: "The key \(name)Port of the proxy dictionary", .badPort))
            return
        }
        let server = ProxyServer(kind: kind, host: host, port: Int(number), credentials: credentials)
        self =
            server.map { .routes([.proxied($0)]) }
            ?? .unusable(ProxyFault(source: "The key \(name)Proxy of the proxy dictionary", .badHost))
    }
}
