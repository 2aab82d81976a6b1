// Whose word counts about the ways of a session's requests: a UNIX-domain socket, a resolver, a list of proxies, the
// dictionary or the environment, in this order.
//
// Must not know: what dictionary and environment mean (that is `ProxyRules`), how a resolver is asked.

import Foundation
import URLLoadingPolicy

/// A session's settings about proxies, read when it is made (B13.3).
struct SessionProxies: Sendable {
    /// The program's resolver, for hosts where the rules ask one.
    let resolver: URLSessionConfiguration.ProxyResolver?
    /// The UNIX-domain socket that all connections go to, if any.
    let socketPath: String?
    private let rules: ProxyRules

    init(_ values: ConfigurationValues) {
        socketPath = values.unixSocketPath
        resolver = values.proxyResolver
        rules = Self.rules(values)
    }

    private static func rules(_ values: ConfigurationValues) -> ProxyRules {
        let dictionary = values.connectionProxyDictionary.values?.mapValues(withHostsInASCII)
        if values.proxyResolver != nil {
            // B13.31: in place of a script; the exceptions of the dictionary go past both.
            return ProxyRules(dictionary: (dictionary ?? [:]).merging(["ProxyAutoConfigEnable": .number(1)]) { $1 })
        }
        if !values.proxyConfigurations.isEmpty {
            return ProxyRules(entries: values.proxyConfigurations.map(\.entry))
        }
        if let dictionary { return ProxyRules(dictionary: dictionary) }
        guard values.usesProxyEnvironment else { return ProxyRules() }
        var variables = values.proxyEnvironment ?? proxyVariables
        for name in ["no_proxy", "NO_PROXY"] { variables[name] = variables[name]?.withHostsInASCII }
        return ProxyRules(environment: variables)
    }

    /// Lists are of hosts.
    private static func withHostsInASCII(_ value: ProxyDictionaryValue) -> ProxyDictionaryValue {
        guard case .list(let hosts) = value else { return value }
        return .list(hosts.map(\.withHostsInASCII))
    }

    /// Whether the program itself says which proxies there are, and not the environment that it runs in.
    static func areThePrograms(_ values: ConfigurationValues) -> Bool {
        values.proxyResolver != nil || !values.proxyConfigurations.isEmpty
            || values.connectionProxyDictionary.values != nil
    }

    /// The variables one by one: a dictionary of the whole environment would cost more than all of this.
    private static var proxyVariables: [String: String] {
        var found: [String: String] = [:]
        for name in ProxyRules.environmentVariables {
            if let value = getenv(name) { found[name] = String(cString: value) }
        }
        return found
    }

    /// Whether all connections go to a UNIX-domain socket, for which no name is looked up.
    var usesSocket: Bool { socketPath != nil }

    /// The ways to an origin.
    func ways(to origin: Origin) -> ProxyWays {
        if let socketPath { return .routes([.direct(overridePath: socketPath)]) }
        return rules.ways(to: origin)
    }

    /// The ways to an FTP server.
    func ways(toFTP server: Origin) -> ProxyWays {
        rules.ways(for: .ftp, host: server.matchingHost, port: server.port)
    }

    /// A URL as a resolver sees it: no user information and no fragment; for TLS nothing that TLS would hide.
    static func subject(_ url: URL) -> URL {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return url }
        parts.user = nil
        parts.password = nil
        parts.fragment = nil
        if ["https", "wss"].contains(parts.scheme?.lowercased()) {
            parts.path = "/"
            parts.query = nil
        }
        return parts.url ?? url
    }
}
