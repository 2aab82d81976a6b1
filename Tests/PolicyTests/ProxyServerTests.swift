// Proxies as values: their names, their places in the pool, and what is never printed.

import Testing
import URLLoadingPolicy

@Suite struct ProxyServerTests {
    @Test("B13.6, B13.12: each kind has its port, and hosts are in normal form")
    func places() throws {
        let ports: [ProxyServer.Kind: Int] = [
            .http: 80, .https: 443, .socks4: 1080, .socks4a: 1080, .socks5: 1080, .socks5h: 1080,
        ]
        for kind in ProxyServer.Kind.allCases {
            let proxy = try #require(ProxyServer(kind: kind, host: "Proxy.Example"))
            #expect(proxy.port == ports[kind] && proxy.host == "proxy.example")
            #expect("\(proxy)" == "\(kind.rawValue)://proxy.example:\(proxy.port)")
        }
        let literal = try #require(ProxyServer(kind: .http, host: "[2001:DB8::1]", port: 3128))
        #expect(literal.host == "2001:db8::1" && "\(literal)" == "http://[2001:db8::1]:3128")
        let socket = try #require(ProxyServer(kind: .socks5h, path: "/run/tor.sock"))
        #expect("\(socket)" == "socks5h:/run/tor.sock")
        for bad in ["", "a b", "a/b", "[::1"] { #expect(ProxyServer(kind: .http, host: bad) == nil) }
        #expect(ProxyServer(kind: .http, host: "a", port: 65_536) == nil)
    }

    @Test("B17.57: credentials of a proxy are printed by nothing")
    func secrecy() throws {
        let credentials = ProxyCredentials(user: "alice", password: "sesame")
        let proxy = try #require(ProxyServer(kind: .socks5, host: "proxy.test", credentials: credentials))
        var dumped = ""
        dump(Route.proxied(proxy), to: &dumped)
        for text in ["\(proxy)", "\(credentials)", String(reflecting: proxy), String(reflecting: credentials), dumped] {
            #expect(!text.contains("sesame") && !text.contains("alice"))
        }
    }

    @Test("B13.33: plain requests share a proxy's connections, tunnels those of their origin, and proxies share none")
    func poolKeys() throws {
        let proxy = try #require(ProxyServer(kind: .http, host: "proxy.test", port: 3128))
        let other = try #require(ProxyServer(kind: .http, host: "other.test", port: 3128))
        let socks = try #require(ProxyServer(kind: .socks5, host: "proxy.test", port: 3128))
        let plain = try #require(Origin(scheme: .http, host: "one.test"))
        let plainToo = try #require(Origin(scheme: .http, host: "two.test"))
        let secure = try #require(Origin(scheme: .https, host: "one.test"))
        let secureToo = try #require(Origin(scheme: .https, host: "two.test"))
        func key(_ origin: Origin, _ proxy: ProxyServer) -> PoolKey { PoolKey(toReach: origin, by: .proxied(proxy)) }

        #expect(key(plain, proxy) == key(plainToo, proxy))
        #expect(key(plain, proxy).isForwarding)
        #expect(key(secure, proxy) != key(secureToo, proxy))
        #expect(!key(secure, proxy).isForwarding)
        #expect(key(plain, proxy) != key(plain, other))
        #expect(key(secure, proxy) != key(secure, other))
        #expect(key(plain, socks) != key(plainToo, socks), "SOCKS is always a tunnel")
        #expect(!key(plain, socks).isForwarding)
        #expect(PoolKey(toReach: plain, by: .direct()) == PoolKey(origin: plain))
        // The proxy itself as an origin: its requests are forwarded too, and a tunnel to it is none of these.
        #expect(key(proxy.endpoint, proxy).isForwarding)
        let itself = try #require(Origin(scheme: .https, host: "proxy.test", port: 3128))
        #expect(key(itself, proxy) != key(plain, proxy))
    }

    @Test("B16.2: connections through a proxy are kept apart by the credentials for the proxy")
    func credentialsInKeys() throws {
        let origin = try #require(Origin(scheme: .https, host: "one.test"))
        let keys = try ["alice", "bob"].map { user in
            let proxy = ProxyServer(
                kind: .socks5, host: "proxy.test", credentials: ProxyCredentials(user: user, password: "x"))
            return PoolKey(toReach: origin, by: .proxied(try #require(proxy)))
        }
        #expect(keys[0] != keys[1])
    }

    @Test("B13.15: the target of CONNECT always has a port, IPv6 its brackets and no zone")
    func authority() throws {
        for (host, port, expected) in [
            ("Example.com", nil, "example.com:443"), ("example.com", 8443, "example.com:8443"),
            ("[::1]", nil, "[::1]:443"), ("[fe80::1%25eth0]", nil, "[fe80::1]:443"), ("127.0.0.1", 1, "127.0.0.1:1"),
        ] as [(String, Int?, String)] {
            #expect(try #require(Origin(scheme: .https, host: host, port: port)).authority == expected)
        }
    }
}
