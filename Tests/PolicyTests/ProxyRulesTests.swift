// Which way a URL takes under an environment, a dictionary and a list of proxies (behaviour 13).

import Testing

@testable import URLLoadingPolicy

/// The ways in words: proxies, "direct", "ask" or "unusable".
private func words(_ ways: ProxyWays) -> [String] {
    switch ways {
    case .direct: ["direct"]
    case .routes(let routes): routes.map { $0.proxy.map { "\($0)" } ?? "direct" }
    case .automatic: ["ask"]
    case .unusable: ["unusable"]
    }
}

private let one = ["http_proxy": "one.test:1"]

@Suite struct ProxyEnvironmentTests {
    private func way(
        _ environment: [String: String], _ traffic: ProxyTraffic, host: String = "a.test", port: Int = 80
    ) -> String {
        words(ProxyRules(environment: environment).ways(for: traffic, host: host, port: port)).joined(separator: " ")
    }

    @Test(
        "B13.2: each scheme has its variable; lower case wins, and HTTP_PROXY is ignored",
        arguments: [
            ([:], .http, "direct"),
            (one, .http, "http://one.test:1"), (one, .https, "direct"), (one, .ftp, "direct"),
            (["HTTP_PROXY": "one.test:1"], .http, "direct"),
            (["https_proxy": "two.test:2"], .https, "http://two.test:2"),
            (["https_proxy": "two.test:2"], .http, "direct"),
            (["HTTPS_PROXY": "two.test:2"], .https, "http://two.test:2"),
            (["https_proxy": "two.test:2", "HTTPS_PROXY": "three.test:3"], .https, "http://two.test:2"),
            (["ftp_proxy": "two.test:2"], .ftp, "http://two.test:2"),
            (["FTP_PROXY": "two.test:2"], .ftp, "http://two.test:2"),
            (["ftp_proxy": "two.test:2", "FTP_PROXY": "x:1"], .ftp, "http://two.test:2"),
            (["all_proxy": "all.test:9"], .http, "http://all.test:9"),
            (["all_proxy": "all.test:9"], .https, "http://all.test:9"),
            (["ALL_PROXY": "socks5://all.test"], .ftp, "socks5://all.test:1080"),
            (["all_proxy": "all.test:9", "ALL_PROXY": "x:1"], .stream, "http://all.test:9"),
            (["all_proxy": "all.test:9", "http_proxy": "one.test:1"], .http, "http://one.test:1"),
            (["all_proxy": "all.test:9", "http_proxy": "one.test:1"], .https, "http://all.test:9"),
            (["all_proxy": "all.test:9", "HTTP_PROXY": "one.test:1"], .http, "http://all.test:9"),
            (["http_proxy": ""], .http, "direct"),
            (["http_proxy": " ", "all_proxy": "all.test:9"], .http, "http://all.test:9"),
            (["https_proxy": "", "HTTPS_PROXY": "two.test:2"], .https, "http://two.test:2"),
        ] as [([String: String], ProxyTraffic, String)])
    func variables(environment: [String: String], traffic: ProxyTraffic, expected: String) {
        #expect(way(environment, traffic) == expected)
    }

    @Test(
        "B13.7: ws goes where http goes, wss and plain connections where https goes",
        arguments: [
            (.http, "http://one.test:1"), (.webSocket, "http://one.test:1"), (.https, "http://two.test:2"),
            (.secureWebSocket, "http://two.test:2"), (.stream, "http://two.test:2"), (.ftp, "http://three.test:3"),
        ] as [(ProxyTraffic, String)])
    func traffic(traffic: ProxyTraffic, expected: String) {
        let environment = ["http_proxy": "one.test:1", "https_proxy": "two.test:2", "ftp_proxy": "three.test:3"]
        #expect(way(environment, traffic) == expected)
    }

    @Test("B13.9: no_proxy is for every variable, and lower case wins")
    func exceptions() {
        var environment = ["all_proxy": "all.test:9", "http_proxy": "one.test:1", "NO_PROXY": "a.test"]
        #expect(way(environment, .http) == "direct")
        #expect(way(environment, .https) == "direct")
        #expect(way(environment, .https, host: "www.a.test", port: 443) == "direct")
        #expect(way(environment, .http, host: "b.test") == "http://one.test:1")
        environment["no_proxy"] = "b.test:80"
        #expect(way(environment, .http) == "http://one.test:1")
        #expect(way(environment, .http, host: "b.test") == "direct")
        #expect(way(environment, .http, host: "b.test", port: 81) == "http://one.test:1")
    }

    @Test(
        "B13.11: hosts of this machine go through the proxy unless no_proxy names them",
        arguments: [
            "localhost", "127.0.0.1", "::1",
        ])
    func loopback(host: String) {
        #expect(way(one, .http, host: host) == "http://one.test:1")
        #expect(
            way(["http_proxy": "one.test:1", "no_proxy": "localhost,127.0.0.1,::1"], .http, host: host) == "direct")
    }

    @Test("A variable that does not name a proxy fails the loads that it is for, and never sends them past the proxy")
    func unusable() {
        let rules = ProxyRules(environment: ["http_proxy": "http://user:secret@proxy.test:99999", "no_proxy": "b.test"])
        guard case .unusable(let fault) = rules.ways(for: .http, host: "a.test", port: 80) else {
            Issue.record("there is a way")
            return
        }
        #expect(
            fault.description == "The environment variable http_proxy has a port that is no number from 1 to 65535.")
        #expect(rules.ways(for: .http, host: "b.test", port: 80) == .direct)
        #expect(rules.ways(for: .https, host: "a.test", port: 443) == .direct)
    }

    @Test("B13.12: credentials of a variable are kept, and printed nowhere")
    func secrets() throws {
        let rules = ProxyRules(environment: ["http_proxy": "http://user:secret@proxy.test:1"])
        guard case .routes(let routes) = rules.ways(for: .http, host: "a.test", port: 80) else {
            Issue.record("there is no way")
            return
        }
        #expect(routes.first?.proxy?.credentials == ProxyCredentials(user: "user", password: "secret"))
        var dumped = ""
        dump(routes, to: &dumped)
        #expect(!"\(routes) \(rules) \(String(reflecting: rules)) \(dumped)".contains("secret"))
    }

    @Test("B13.2: the names of the variables")
    func names() {
        #expect(!ProxyRules.environmentVariables.contains("HTTP_PROXY"))
        #expect(Set(ProxyRules.environmentVariables).count == 9)
    }
}

@Suite struct ProxyDictionaryTests {
    private typealias Entries = [String: ProxyDictionaryValue]

    private func way(
        _ dictionary: [String: ProxyDictionaryValue], _ traffic: ProxyTraffic = .http, host: String = "a.test"
    ) -> String {
        words(ProxyRules(dictionary: dictionary).ways(for: traffic, host: host, port: 80)).joined(separator: " ")
    }

    private static let http: Entries = [
        "HTTPEnable": .number(1), "HTTPProxy": .text("one.test"), "HTTPPort": .number(1),
    ]
    private static let https: Entries = [
        "HTTPSEnable": .number(1), "HTTPSProxy": .text("two.test"), "HTTPSPort": .number(2),
    ]
    private static let ftp: Entries = ["FTPEnable": .number(1), "FTPProxy": .text("three.test"), "FTPPort": .number(3)]
    private static let socks: Entries = [
        "SOCKSEnable": .number(1), "SOCKSProxy": .text("four.test"), "SOCKSPort": .number(4),
    ]

    private func joined(_ entries: Entries...) -> Entries {
        entries.reduce([:]) { $0.merging($1) { $1 } }
    }

    @Test("B13.4: an empty dictionary names no proxy", arguments: ProxyTraffic.allCases)
    func empty(traffic: ProxyTraffic) {
        #expect(way([:], traffic) == "direct")
    }

    @Test("B13.5, B13.7: each kind of proxy has its keys, and each scheme uses the proxy of its kind")
    func kinds() {
        let all = joined(Self.http, Self.https, Self.ftp, Self.socks)
        #expect(way(all, .http) == "http://one.test:1")
        #expect(way(all, .webSocket) == "http://one.test:1")
        #expect(way(all, .https) == "http://two.test:2")
        #expect(way(all, .secureWebSocket) == "http://two.test:2")
        #expect(way(all, .stream) == "http://two.test:2")
        #expect(way(all, .ftp) == "http://three.test:3")
        #expect(way(Self.http, .https) == "direct", "B13.7: each kind for itself")
        #expect(way(Self.https, .http) == "direct")
    }

    @Test(
        "B13.7: SOCKS alone serves everything; with an entry of its own that one wins", arguments: ProxyTraffic.allCases
    )
    func socks(traffic: ProxyTraffic) {
        #expect(way(Self.socks, traffic) == "socks5h://four.test:4")
        let both = joined(Self.socks, Self.http)
        let isHTTP = traffic == .http || traffic == .webSocket
        #expect(way(both, traffic) == (isHTTP ? "http://one.test:1" : "socks5h://four.test:4"))
    }

    @Test(
        "B13.6: a proxy counts if it is enabled and has a host",
        arguments: [
            (["HTTPEnable": .number(0)], "direct"), (["HTTPEnable": .number(2)], "http://one.test:1"),
            (["HTTPEnable": .text("1")], "http://one.test:1"), (["HTTPEnable": .text("0")], "direct"),
            (["HTTPEnable": .text("yes")], "direct"), (["HTTPEnable": .list(["1"])], "direct"),
            (["HTTPProxy": .text("")], "direct"), (["HTTPProxy": .number(1)], "direct"),
            (["HTTPPort": .text("8080")], "http://one.test:8080"), (["HTTPPort": .number(0)], "unusable"),
            (["HTTPPort": .number(65536)], "unusable"), (["HTTPPort": .number(-1)], "unusable"),
            (["HTTPPort": .text("x")], "unusable"), (["HTTPPort": .list([])], "unusable"),
            (["HTTPProxy": .text("::1")], "http://[::1]:1"), (["HTTPProxy": .text("http://one.test")], "unusable"),
        ] as [([String: ProxyDictionaryValue], String)])
    func conditions(change: [String: ProxyDictionaryValue], expected: String) {
        #expect(way(joined(Self.http, change)) == expected)
    }

    @Test("B13.6: without the switch or the host there is no proxy; without a port it is 80, or 1080 for SOCKS")
    func missing() {
        var entries = Self.http
        entries["HTTPPort"] = nil
        #expect(way(entries) == "http://one.test:80")
        entries["HTTPEnable"] = nil
        #expect(way(entries) == "direct")
        entries = Self.socks
        entries["SOCKSPort"] = nil
        #expect(way(entries) == "socks5h://four.test:1080")
        entries["SOCKSProxy"] = nil
        #expect(way(entries) == "direct")
        entries = Self.https
        entries["HTTPSPort"] = nil
        #expect(way(entries, .https) == "http://two.test:80")
    }

    @Test(
        "B13.5, B13.26: the version of SOCKS; in either the proxy looks names up",
        arguments: [
            (.text("kCFStreamSocketSOCKSVersion4"), "socks4a://four.test:4"),
            (.text("kCFStreamSocketSOCKSVersion5"), "socks5h://four.test:4"), (.number(4), "socks4a://four.test:4"),
            (.number(5), "socks5h://four.test:4"), (.text("4"), "socks4a://four.test:4"),
            (.text("?"), "socks5h://four.test:4"),
        ] as [(ProxyDictionaryValue, String)])
    func socksVersion(value: ProxyDictionaryValue, expected: String) {
        #expect(way(joined(Self.socks, ["kCFStreamPropertySOCKSVersion": value])) == expected)
    }

    @Test("B13.5: credentials of the dictionary are for its proxies, and SOCKS may have its own")
    func credentials() throws {
        let entries = joined(
            Self.http, Self.socks,
            ["kCFProxyUsernameKey": .text("user"), "kCFProxyPasswordKey": .text("secret")])
        func proxy(_ entries: Entries, _ traffic: ProxyTraffic) -> ProxyServer? {
            guard case .routes(let routes) = ProxyRules(dictionary: entries).ways(for: traffic, host: "a.test", port: 1)
            else { return nil }
            return routes.first?.proxy
        }
        #expect(proxy(entries, .http)?.credentials == ProxyCredentials(user: "user", password: "secret"))
        #expect(proxy(entries, .https)?.credentials == ProxyCredentials(user: "user", password: "secret"))
        let own = joined(
            entries,
            ["kCFStreamPropertySOCKSUser": .text("u"), "kCFStreamPropertySOCKSPassword": .text("p")])
        #expect(proxy(own, .http)?.credentials == ProxyCredentials(user: "user", password: "secret"))
        #expect(proxy(own, .https)?.credentials == ProxyCredentials(user: "u", password: "p"))
        #expect(proxy(joined(Self.http, ["kCFProxyPasswordKey": .text("secret")]), .http)?.credentials == nil)
    }

    @Test("B13.8: exceptions and simple names go past every proxy of the dictionary")
    func exceptions() {
        let entries = joined(
            Self.http, Self.socks,
            ["ExceptionsList": .list(["*.local", "10.0.0.0/8"]), "ExcludeSimpleHostnames": .number(1)])
        for host in ["printer.local", "10.1.2.3", "intranet"] {
            #expect(way(entries, .http, host: host) == "direct")
            #expect(way(entries, .https, host: host) == "direct")
        }
        #expect(way(entries, .http, host: "a.test") == "http://one.test:1")
        #expect(way(joined(Self.http, ["ExceptionsList": .text("a.test")])) == "http://one.test:1", "no list")
    }

    @Test(
        "B13.30: automatic configuration is a question to a resolver, whatever else is set, but for exceptions",
        arguments: ["ProxyAutoConfigEnable", "ProxyAutoDiscoveryEnable"])
    func automatic(key: String) {
        let entries = joined(
            Self.http, Self.https, Self.socks, [key: .number(1), "ExceptionsList": .list(["b.test"])])
        for traffic in ProxyTraffic.allCases { #expect(way(entries, traffic) == "ask") }
        #expect(way(entries, .http, host: "b.test") == "direct")
        #expect(way(joined(Self.http, [key: .number(0)])) == "http://one.test:1")
    }
}

@Suite struct ProxyListTests {
    private func entry(
        _ text: String, matches: [String]? = nil, excludes: [String] = [], failsOver: Bool = false
    ) throws -> ProxyRules.Entry {
        ProxyRules.Entry(
            proxy: .success(try ProxyServer.read(text, source: "x")), matches: matches.map { ProxyBypass(domains: $0) },
            excludes: ProxyBypass(domains: excludes), failsOver: failsOver)
    }

    private func way(_ entries: [ProxyRules.Entry], _ host: String) -> String {
        words(ProxyRules(entries: entries).ways(for: .https, host: host, port: 443)).joined(separator: " ")
    }

    @Test("A host uses the first proxy whose domains hold it; other hosts use none")
    func domains() throws {
        let entries = [
            try entry("one:1", matches: ["corp.test"], excludes: ["open.corp.test"]),
            try entry("socks5h://two:2", matches: ["other.test", "corp.test"]),
        ]
        #expect(way(entries, "corp.test") == "http://one:1")
        #expect(way(entries, "www.corp.test") == "http://one:1")
        #expect(way(entries, "open.corp.test") == "socks5h://two:2")
        #expect(way(entries, "other.test") == "socks5h://two:2")
        #expect(way(entries, "elsewhere.test") == "direct")
        #expect(way([try entry("one:1")], "anywhere.test") == "http://one:1")
        #expect(way([], "anywhere.test") == "direct")
    }

    @Test(
        "A proxy whose domains cannot be understood is for no host",
        arguments: [[], [""], [" "], ["."], ["*."], ["a/b"], ["a.test:x"], ["corp.test:0", ""]])
    func noDomains(domains: [String]) throws {
        let entries = [try entry("one:1", matches: domains), try entry("two:2", matches: ["corp.test"])]
        for host in ["a.test", "127.0.0.1"] { #expect(way(entries, host) == "direct") }
        #expect(way(entries, "corp.test") == "http://two:2")
    }

    @Test("After a proxy that may be passed over the next one is tried, and after the last one the direct way")
    func failover() throws {
        let (one, two) = (try entry("one:1", failsOver: true), try entry("two:2", failsOver: true))
        #expect(way([one], "a.test") == "http://one:1 direct")
        #expect(way([one, two], "a.test") == "http://one:1 http://two:2 direct")
        #expect(way([one, try entry("two:2")], "a.test") == "http://one:1 http://two:2")
        #expect(way([try entry("two:2"), one], "a.test") == "http://two:2")
        let broken = ProxyRules.Entry(
            proxy: .failure(ProxyFault(source: "x", .badHost)), matches: nil, excludes: ProxyBypass(), failsOver: true)
        #expect(way([broken, one], "a.test") == "unusable")
        #expect(way([one, broken], "a.test") == "unusable")
    }
}
