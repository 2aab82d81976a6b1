// Proxies read out of text (B13.12), and answers of proxy auto-configuration (B13.31).

import Testing
import URLLoadingTestSupport

@testable import URLLoadingPolicy

@Suite struct ProxyTextTests {
    /// A proxy in words that show everything but credentials, and those behind it.
    private func words(_ proxy: ProxyServer) -> String {
        let credentials = proxy.credentials.map { " as \($0.user)/\($0.password)" } ?? ""
        return proxy.description + credentials
    }

    @Test(
        "B13.12: every form of a proxy's URL",
        arguments: [
            ("http://proxy.test:8080", "http://proxy.test:8080"), ("http://proxy.test:8080/", "http://proxy.test:8080"),
            ("proxy.test:3128", "http://proxy.test:3128"), ("proxy.test", "http://proxy.test:80"),
            ("http://proxy.test", "http://proxy.test:80"), ("https://proxy.test", "https://proxy.test:443"),
            ("https://proxy.test:8443", "https://proxy.test:8443"), ("socks4://proxy.test", "socks4://proxy.test:1080"),
            ("socks4a://proxy.test", "socks4a://proxy.test:1080"), ("socks5://proxy.test", "socks5://proxy.test:1080"),
            ("socks5h://proxy.test:9050", "socks5h://proxy.test:9050"),
            ("SOCKS5H://Proxy.TEST", "socks5h://proxy.test:1080"),
            ("socks://proxy.test", "socks5h://proxy.test:1080"), ("127.0.0.1:1", "http://127.0.0.1:1"),
            ("[::1]:3128", "http://[::1]:3128"), ("http://[2001:DB8::1]", "http://[2001:db8::1]:80"),
            ("  http://proxy.test:1 \n", "http://proxy.test:1"), ("http://proxy.test:1?q#f", "http://proxy.test:1"),
            ("http://proxy.test:", "http://proxy.test:80"), ("localhost", "http://localhost:80"),
            ("unix:8080", "http://unix:8080"),
        ])
    func forms(text: String, expected: String) throws {
        #expect(words(try ProxyServer.read(text, source: "x")) == expected)
    }

    @Test(
        "B13.12: user information is credentials, with percent-encoding or without",
        arguments: [
            ("http://user:secret@proxy.test:1", "http://proxy.test:1 as user/secret"),
            ("user:secret@proxy.test:1", "http://proxy.test:1 as user/secret"),
            ("http://user@proxy.test:1", "http://proxy.test:1 as user/"),
            ("http://user:@proxy.test:1", "http://proxy.test:1 as user/"),
            ("http://us%40er:p%3Aw%2F%25@proxy.test:1", "http://proxy.test:1 as us@er/p:w/%"),
            ("http://user:100%@proxy.test:1", "http://proxy.test:1 as user/100%"),
            ("http://user:a:b@proxy.test:1", "http://proxy.test:1 as user/a:b"),
            ("http://user:a@b@proxy.test:1", "http://proxy.test:1 as user/a@b"),
            ("socks5://%C3%BCser:secret@proxy.test", "socks5://proxy.test:1080 as üser/secret"),
            ("http://@proxy.test:1", "http://proxy.test:1"),
        ])
    func credentials(text: String, expected: String) throws {
        #expect(words(try ProxyServer.read(text, source: "x")) == expected)
    }

    @Test(
        "Proxies on UNIX-domain sockets",
        arguments: [
            ("unix:/run/proxy.sock", "http:/run/proxy.sock"), ("unix:///run/proxy.sock", "http:/run/proxy.sock"),
            ("http+unix://%2Frun%2Fproxy.sock", "http:/run/proxy.sock"),
            ("socks5h+unix:///run/socks", "socks5h:/run/socks"), ("socks5://localhost/run/socks", "socks5:/run/socks"),
            ("socks5h://user:pw@localhost/run/my%20socks", "socks5h:/run/my socks as user/pw"),
            ("socks5://localhost/", "socks5://localhost:1080"), ("http://localhost/run/x", "http://localhost:80"),
        ])
    func sockets(text: String, expected: String) throws {
        #expect(words(try ProxyServer.read(text, source: "x")) == expected)
    }

    @Test(
        "Text that is not a proxy is an error that names the setting and does not show its text",
        arguments: [
            ("", .notAURL), ("   ", .notAURL), ("http://a b", .notAURL), ("ftp://proxy.test", .unknownScheme),
            ("gopher+unix:///x", .unknownScheme), ("://proxy.test", .unknownScheme), ("http://", .badHost),
            ("http:///path", .badHost), ("http://:8080", .badHost), ("http://exa<mple", .badHost), ("unix:/", .badHost),
            ("http+unix://relative", .badHost), ("http+unix://", .badHost), ("http://[::1", .badHost),
            ("http://[::z]", .badHost), ("http://user:secret@", .badHost),
            ("http://proxy.test:0", .badPort), ("http://proxy.test:65536", .badPort),
            ("http://proxy.test:8o", .badPort),
            ("http://user:secret@proxy.test:x", .badPort), ("proxy.test:-1", .badPort),
        ] as [(String, ProxyFault.Reason)])
    func faults(text: String, reason: ProxyFault.Reason) {
        let fault = #expect(throws: ProxyFault.self) { try ProxyServer.read(text, source: "The variable") }
        #expect(fault == ProxyFault(source: "The variable", reason))
        #expect(fault?.description.hasPrefix("The variable ") == true)
        #expect(fault?.description.contains("secret") == false)
    }

    @Test(
        "B13.31: a list of proxies is read in its order, with DIRECT",
        arguments: [
            ("DIRECT", ["direct"]), ("direct", ["direct"]), ("PROXY a.test:8080", ["http://a.test:8080"]),
            ("PROXY a.test:8080; SOCKS b.test; DIRECT", ["http://a.test:8080", "socks5h://b.test:1080", "direct"]),
            ("PROXY a.test:1;PROXY b.test:2;", ["http://a.test:1", "http://b.test:2"]),
            ("HTTPS a.test", ["https://a.test:443"]),
            ("HTTP a.test:1; SOCKS4 b.test", ["http://a.test:1", "socks4a://b.test:1080"]),
            ("  SOCKS5   [::1]:9050  ", ["socks5h://[::1]:9050"]),
        ])
    func answers(text: String, expected: [String]) throws {
        let routes = try Route.list(answer: text, source: "x")
        #expect(routes.map { $0.proxy.map { "\($0)" } ?? "direct" } == expected)
    }

    @Test(
        "An answer that is not a list of proxies is a fault, not a way past the proxy",
        arguments: ["", ";", "PROXY", "PROXY a b", "DIRECT a", "a.test:8080", "PROXY a:x", "SOCKS6 a", "DIRECT; PROXY"])
    func badAnswers(text: String) {
        #expect(throws: ProxyFault.self) { try Route.list(answer: text, source: "x") }
    }

    @Test("Whatever a text holds, reading it as a proxy or as an entry never traps", arguments: [UInt64(1), 2, 3])
    func anyText(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let pieces = [
            "http", "socks5h", "+unix", "://", ":", "/", "@", "[", "]", "%", "%2F", ".", "*", ",", " ", ";", "?", "#",
            "::",
            "1", "255", "65536", "ffff", "10.0.0.0", "/8", "a.test", "-", "\u{0}", "é", "DIRECT", "PROXY ", "\n",
        ]
        for _ in 0..<Sanitizer.share(of: 5_000) {
            let count = Int.random(in: 0...8, using: &random)
            let text = (0..<count).map { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] }.joined()
            if let proxy = try? ProxyServer.read(text, source: "x") { #expect((0...65535).contains(proxy.port)) }
            if let routes = try? Route.list(answer: text, source: "x") { #expect(!routes.isEmpty) }
            let bypass = ProxyBypass(noProxy: text)
            _ = bypass.covers(host: text, port: 80)
            _ = ProxyBypass(exceptions: [text], excludesSimpleNames: true).covers(host: "a.test", port: 80)
        }
    }
}
