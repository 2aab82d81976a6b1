// One proxy of a session, in the words of Network framework (iOS 17): which server, for which hosts, and whether loads
// may go on without it.
//
// Must not know: which proxy a request takes (that is `ProxyRules`).

import URLLoadingPolicy

/// A proxy and the hosts that it is for.
public struct ProxyConfiguration: Sendable {
    /// The proxy, or why there is none.
    private(set) var server: Result<ProxyServer, ProxyFault>

    private var match: [String] = []
    private var excluded: [String] = []
    private var mayFail = false

    /// The domains that the proxy is for, with everything below them, in the form of entries of `no_proxy`; empty means
    /// all. What cannot be understood names no host, so that the proxy is for none where there is nothing else.
    public var matchDomains: [String] {
        get { match }
        set { match = newValue }
    }

    /// The domains that the proxy is not for, in the form of `matchDomains`.
    public var excludedDomains: [String] {
        get { excluded }
        set { excluded = newValue }
    }

    /// Whether the next proxy of the list that is for the host, and after the last one none, is tried when this one
    /// fails.
    public var allowFailover: Bool {
        get { mayFail }
        set { mayFail = newValue }
    }

    /// An HTTP proxy that is asked for a tunnel with CONNECT, for http too; under TLS with it if options are given.
    public init(httpCONNECTProxy: NWEndpoint, tlsOptions: NWProtocolTLS.Options? = nil) {
        server = Self.server(tlsOptions == nil ? .http : .https, httpCONNECTProxy)
        change { $0.tunnelsAlways = true }
    }

    /// A SOCKS5 proxy, which looks names up (B13.26).
    public init(socksv5Proxy: NWEndpoint) {
        server = Self.server(.socks5h, socksv5Proxy)
    }

    init(_ server: Result<ProxyServer, ProxyFault>) {
        self.server = server
    }

    /// Sets the user name and password for the proxy.
    public mutating func applyCredential(username: String, password: String) {
        change { $0.credentials = ProxyCredentials(user: username, password: password) }
    }

    private mutating func change(_ body: (inout ProxyServer) -> Void) {
        guard case .success(var proxy) = server else { return }
        body(&proxy)
        server = .success(proxy)
    }

    private static func server(
        _ kind: ProxyServer.Kind, _ endpoint: NWEndpoint
    ) -> Result<ProxyServer, ProxyFault> {
        let proxy: ProxyServer?
        switch endpoint {
        case .hostPort(.name(let host), let port):
            guard port.rawValue != 0 else { return .failure(ProxyFault(source: source, .badPort)) }
            proxy = ProxyServer(kind: kind, host: host, port: Int(port.rawValue))
        case .unix(let path):
            proxy = path.isEmpty ? nil : ProxyServer(kind: kind, path: path)
        }
        guard let proxy else { return .failure(ProxyFault(source: source, .badHost)) }
        return .success(proxy)
    }

    private static let source = "A ProxyConfiguration of the session"

    /// The entry of a session's list.
    var entry: ProxyRules.Entry {
        ProxyRules.Entry(
            proxy: server,
            matches: matchDomains.isEmpty ? nil : ProxyBypass(domains: matchDomains.map(\.withHostsInASCII)),
            excludes: ProxyBypass(domains: excludedDomains.map(\.withHostsInASCII)), failsOver: allowFailover)
    }
}
