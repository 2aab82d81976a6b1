// Dictionaries and lists of proxies, and which setting wins (behaviour 13). The rules themselves are tested with
// URLLoadingPolicy, the environment with fetch.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer

@Suite("Settings for proxies")
struct ProxySettingsTests {
    @Test("B1.9: by default there is no dictionary, no list and no resolver, and the environment counts")
    func defaults() {
        for configuration in [URLSessionConfiguration.default, .ephemeral] {
            #expect(configuration.connectionProxyDictionary == nil)
            #expect(configuration.proxyConfigurations.isEmpty)
            #expect(configuration.proxyResolver == nil)
            #expect(configuration.usesProxyEnvironment)
            #expect(configuration.unixSocketPath == nil)
            #expect(configuration.localAddress == nil)
            #expect(configuration.networkInterface == nil)
        }
    }

    @Test("B1.4: a copied configuration has every setting for proxies and connections")
    func copies() throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = ["HTTPEnable": 1]
        configuration.proxyConfigurations = [try #require(ProxyConfiguration(url: "proxy.test:1"))]
        configuration.proxyResolver = { _ in [.direct] }
        configuration.usesProxyEnvironment = false
        configuration.unixSocketPath = "/run/x"
        configuration.localAddress = "127.0.0.1"
        configuration.networkInterface = "lo"
        let copy = try #require(configuration.copy() as? URLSessionConfiguration)
        #expect(copy.connectionProxyDictionary as? [String: Int] == ["HTTPEnable": 1])
        #expect(copy.proxyConfigurations.map(\.description) == ["http://proxy.test:1"])
        #expect(copy.proxyResolver != nil)
        #expect(!copy.usesProxyEnvironment)
        #expect(copy.unixSocketPath == "/run/x")
        #expect(copy.localAddress == "127.0.0.1")
        #expect(copy.networkInterface == "lo")
        copy.connectionProxyDictionary = nil
        #expect(configuration.connectionProxyDictionary != nil)
    }

    @Test("B13.5, B13.13: http goes to the proxy of the dictionary, whose keys and values are Foundation's or Swift's")
    func dictionaryForms() async throws {
        try await ProxiedSite.run { site in
            let port = site.proxy.port
            let forms: [[AnyHashable: Any]] = [
                ["HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": port],
                ["HTTPEnable": 0.5, "HTTPProxy": "127.0.0.1", "HTTPPort": port],
                ["HTTPEnable": true, "HTTPProxy": "127.0.0.1", "HTTPPort": UInt16(clamping: port)],
                [
                    NSString("HTTPEnable"): NSNumber(value: 1), NSString("HTTPProxy"): NSString("127.0.0.1"),
                    NSString("HTTPPort"): NSNumber(value: port),
                ],
                [
                    kCFNetworkProxiesHTTPEnable: 1, kCFStreamPropertyHTTPProxyHost: "127.0.0.1",
                    kCFStreamPropertyHTTPProxyPort: "\(port)",
                ],
                [
                    kCFNetworkProxiesHTTPEnable as String: NSNumber(value: true),
                    kCFNetworkProxiesHTTPProxy as String: "localhost", kCFNetworkProxiesHTTPPort as String: port,
                    "SomethingElse": Date(),
                ],
            ]
            for (number, form) in forms.enumerated() {
                let session = site.session { $0.connectionProxyDictionary = form }
                let url = try site.url("/\(number)")
                #expect(try await session.text(url) == "/\(number) of origin.test:\(site.server.port)")
            }
            #expect(site.proxy.asks.map(\.kind) == Array(repeating: .forward, count: forms.count))
            #expect(site.proxy.asks.first?.target == "http://origin.test:\(site.server.port)/0")
        }
    }

    @Test("B13.15: https goes through the proxy's tunnel")
    func tunnel() async throws {
        try await ProxiedSite.run(tls: true) { site in
            let text = try await site.session().text(site.url())
            #expect(text == "/hello of origin.test:\(site.server.port)")
            #expect(site.proxy.asks.map(\.kind) == [.connect])
            #expect(site.proxy.asks.first?.target == "origin.test:\(site.server.port)")
        }
    }

    @Test(
        "B13.5, B13.26: the SOCKS proxy of the dictionary, which looks names up, in each version",
        arguments: [
            ("kCFStreamSocketSOCKSVersion4", LoopbackProxy.Ask.Kind.socks4), ("kCFStreamSocketSOCKSVersion5", .socks5),
        ])
    func socks(version: String, kind: LoopbackProxy.Ask.Kind) async throws {
        try await ProxiedSite.run { site in
            let session = site.session {
                $0.connectionProxyDictionary = [
                    kCFNetworkProxiesSOCKSEnable: 1, kCFNetworkProxiesSOCKSProxy: "127.0.0.1",
                    kCFNetworkProxiesSOCKSPort: site.proxy.port, kCFStreamPropertySOCKSVersion: version,
                ]
            }
            let text = try await session.text(site.url())
            #expect(text == "/hello of origin.test:\(site.server.port)")
            #expect(site.proxy.asks.map(\.kind) == [kind])
            #expect(site.proxy.asks.first?.target == "origin.test:\(site.server.port)")
        }
    }

    @Test("B13.4: an empty dictionary means no proxy")
    func empty() async throws {
        try await ProxiedSite.run { site in
            let session = site.session {
                $0.usesProxyEnvironment = true
                $0.connectionProxyDictionary = [:]
            }
            let url = try site.server.at("/hello")
            #expect(try await session.text(url) == "/hello of 127.0.0.1:\(site.server.port)")
            #expect(site.proxy.asks.isEmpty)
        }
    }

    @Test("B13.8: exceptions go past the proxy, and a redirect to one chooses anew")
    func exceptions() async throws {
        let router: LoopbackServer.Router = { request in
            request.path == "/away"
                ? ServerResponse.status(302).adding("Location", "http://127.0.0.1:\(request.query ?? "")/here")
                : ProxiedSite.describing(request)
        }
        try await ProxiedSite.run(router: router) { site in
            var dictionary = site.dictionary
            dictionary[kCFNetworkProxiesExceptionsList] = ["127.0.0.1"]
            let session = site.session { $0.connectionProxyDictionary = dictionary }
            let url = try site.url("/away?\(site.server.port)")
            #expect(try await session.text(url) == "/here of 127.0.0.1:\(site.server.port)")
            #expect(site.proxy.asks.map(\.target) == [url.absoluteString])
        }
    }

    @Test(
        "B12.17, B12.20, B12.25: metrics say that a proxy was used, and its address; CONNECT is no transaction",
        arguments: [false, true])
    func metrics(tls: Bool) async throws {
        try await ProxiedSite.run(tls: tls) { site in
            let all = Guarded<[URLSessionTaskTransactionMetrics]>([])
            let delegate = RecordingDelegate(onMetrics: { _, metrics in
                all.change { $0 += metrics.transactionMetrics }
            })
            let proxied = site.session(delegate: delegate)
            for _ in 1...2 { _ = try await proxied.data(from: site.url()) }
            let direct = site.session(delegate: delegate) { _ in }
            _ = try await direct.data(from: site.server.at("/"))
            proxied.invalidateAndCancel()
            direct.invalidateAndCancel()
            #expect(all.value.map(\.isProxyConnection) == [true, true, false])
            #expect(all.value.map(\.remotePort) == [site.proxy.port, site.proxy.port, site.server.port])
            #expect(all.value.map(\.remoteAddress) == ["127.0.0.1", "127.0.0.1", "127.0.0.1"])
            #expect(all.value.map(\.isReusedConnection) == [false, true, false])
            // A proxy that forwards is spoken to over HTTP/1.1.
            let name = tls ? ProtocolUnderTest.name : "http/1.1"
            #expect(all.value.prefix(2).allSatisfy { $0.networkProtocolName == name })
            #expect(all.value.last?.networkProtocolName == ProtocolUnderTest.name)
        }
    }

    @Test(
        "proxyConfigurations win over the dictionary; a host that no configuration matches is reached without a proxy")
    func configurations() async throws {
        try await ProxiedSite.run { site in
            var proxy = ProxyConfiguration(
                httpCONNECTProxy: .hostPort(
                    host: "127.0.0.1", port: try #require(NWEndpoint.Port("\(site.proxy.port)"))))
            proxy.matchDomains = ["test"]
            proxy.excludedDomains = ["direct.test"]
            let configure = { (configuration: URLSessionConfiguration) in
                configuration.connectionProxyDictionary = ["HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": 1]
                configuration.proxyConfigurations = [proxy]
                configuration.hostOverrides = ["direct.test": "127.0.0.1"]
            }
            let port = site.server.port
            #expect(try await site.session(configure).text(site.url()) == "/hello of origin.test:\(port)")
            #expect(site.proxy.asks.map(\.kind) == [.connect], "CONNECT for every scheme")
            let url = try site.url(host: "direct.test")
            #expect(try await site.session(configure).text(url) == "/hello of direct.test:\(port)")
            let literal = try site.server.at("/")
            #expect(try await site.session(configure).text(literal) == "/ of 127.0.0.1:\(port)")
            #expect(site.proxy.asks.count == 1)
        }
    }

    @Test("A SOCKS5 proxy of a ProxyConfiguration, with a credential")
    func socksConfiguration() async throws {
        try await ProxiedSite.run(proxy: { $0.socksCredentials = ("me", "secret") }) { site in
            let port = try #require(NWEndpoint.Port(rawValue: UInt16(clamping: site.proxy.port)))
            var proxy = ProxyConfiguration(socksv5Proxy: .hostPort(host: NWEndpoint.Host("127.0.0.1"), port: port))
            proxy.applyCredential(username: "me", password: "secret")
            let session = site.session { $0.proxyConfigurations = [proxy] }
            #expect(try await session.text(site.url()) == "/hello of origin.test:\(site.server.port)")
            #expect(site.proxy.asks.map(\.kind) == [.socks5])
        }
    }

    @Test("A proxy that is not there is passed over if it allows failover; else the load fails")
    func failover() async throws {
        try await ProxiedSite.run { site in
            var dead = try #require(ProxyConfiguration(url: "http://127.0.0.1:1"))
            let url = try site.server.at("/")
            let strict = site.session { $0.proxyConfigurations = [dead] }
            #expect(await strict.failure(url)?.code == .cannotConnectToHost)
            dead.allowFailover = true
            let text = "/ of 127.0.0.1:\(site.server.port)"
            let lenient = site.session { $0.proxyConfigurations = [dead] }
            #expect(try await lenient.text(url) == text)
            #expect(site.proxy.asks.isEmpty)
            let live = try #require(ProxyConfiguration(url: site.proxyURL))
            let either = site.session { $0.proxyConfigurations = [dead, live] }
            #expect(try await either.text(url) == text)
            #expect(site.proxy.asks.count == 1)
        }
    }

    @Test("A body from data or a stream is sent whole by the way that works after a proxy that is passed over")
    func failoverWithBody() async throws {
        try await ProxiedSite.run(router: { .echo($0) }) { site in
            var dead = try #require(ProxyConfiguration(url: "http://127.0.0.1:1"))
            dead.allowFailover = true
            let session = site.session { $0.proxyConfigurations = [dead] }
            var request = URLRequest(url: try site.server.at("/"))
            request.httpMethod = "POST"
            request.httpBodyStream = InputStream(data: Data(repeating: 0x79, count: 100_000))
            #expect(try await session.data(for: request).0.count == 100_000)
            request.httpBody = Data(repeating: 0x78, count: 100_000)
            #expect(try await session.data(for: request).0 == request.httpBody)
            session.invalidateAndCancel()
        }
    }

    @Test(
        "A proxy dictionary that cannot be used makes loads fail with its name, and no load goes past the proxy",
        arguments: [
            ["HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": 0.5],
            ["HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": 0] as [String: any Sendable],
            ["HTTPEnable": 1, "HTTPProxy": "http://user:secret@proxy.test", "HTTPPort": 1],
        ])
    func unusable(dictionary: [String: any Sendable]) async throws {
        try await ProxiedSite.run { site in
            let url = try site.server.at("/")
            let error = await site.session { $0.connectionProxyDictionary = dictionary }.failure(url)
            #expect(error?.code == .cannotConnectToHost && error?.failingURL == url)
            #expect(error?.localizedDescription.contains("of the proxy dictionary") == true)
            #expect(error.map { "\($0) \($0.userInfo)" }?.contains("secret") == false)
            #expect(site.server.stats.connectionsAccepted == 0)
        }
    }

    @Test("Loads fail where a ProxyConfiguration cannot be used", arguments: [0, 1, 2])
    func unusableConfiguration(form: Int) async throws {
        let proxies = [
            ProxyConfiguration(httpCONNECTProxy: .hostPort(host: "", port: 1)),
            ProxyConfiguration(socksv5Proxy: .hostPort(host: "proxy.test", port: 0)),
            ProxyConfiguration(httpCONNECTProxy: .unix(path: ""), tlsOptions: .init()),
        ]
        try await ProxiedSite.run { site in
            let url = try site.server.at("/")
            let error = await site.session { $0.proxyConfigurations = [proxies[form]] }.failure(url)
            #expect(error?.code == .cannotConnectToHost)
            #expect(error?.localizedDescription.contains("ProxyConfiguration") == true)
            #expect(site.server.stats.connectionsAccepted == 0)
        }
    }

    @Test("A ProxyConfiguration's description has its scheme, host and port only")
    func description() throws {
        var proxy = try #require(ProxyConfiguration(url: "https://user:secret@proxy.test"))
        proxy.applyCredential(username: "other", password: "secret")
        var dumped = ""
        dump(proxy, to: &dumped)
        let all = "\(proxy) \(String(reflecting: proxy)) \(dumped) \([proxy])"
        #expect("\(proxy)" == "https://proxy.test:443")
        #expect(!all.contains("secret") && !all.contains("other"))
        #expect(ProxyConfiguration(url: "ftp://proxy.test") == nil)
        #expect("\(ProxyConfiguration(httpCONNECTProxy: .hostPort(host: "", port: 1)))" == "no proxy")
    }

    @Test("A port is made of a number or of a service's name")
    func ports() {
        #expect(NWEndpoint.Port("8080")?.rawValue == 8080 && NWEndpoint.Port("HTTPS") == .https)
        #expect(NWEndpoint.Port("65536") == nil && NWEndpoint.Port("x") == nil && NWEndpoint.Port("") == nil)
        #expect(NWEndpoint.Port.http.rawValue == 80 && NWEndpoint.Port.socks == 1080)
        #expect(NWEndpoint.Port(rawValue: 0)?.rawValue == 0)
        let one = NWEndpoint.hostPort(host: "a.test", port: 1)
        #expect(one == .hostPort(host: NWEndpoint.Host("a.test"), port: 1) && one != .unix(path: "/a"))
    }
}
