// Schemes, hosts and what is made of them.

import Testing
import URLLoadingPolicy

@Suite struct OriginTests {
    @Test("B14.3: schemes are case-insensitive, and only http and https are ours")
    func schemes() {
        #expect(Scheme("http") == .http)
        #expect(Scheme("HTTPS") == .https)
        for other in ["", "httpx", "ftp", "ws", "http ", "ħttp"] { #expect(Scheme(other) == nil) }
        #expect(Scheme.http.name == "http" && Scheme.https.name == "https")
        #expect(Scheme.http.defaultPort == 80 && Scheme.https.defaultPort == 443)
        #expect(!Scheme.http.isSecure && Scheme.https.isSecure)
        #expect(Origin(scheme: "gopher", host: "a") == nil)
    }

    @Test(
        "B14.4: without a usable host or with a port out of range there is no origin",
        arguments: [
            "", ".", "a b", "a/b", "a?b", "a#b", "a@b", "a\\b", "a\u{0}b", "a\r\nb", "a%00b", "a%2", "a%zz",
            "bücher.example",
            "[", "]", "[]", "[::1", "::1]", "[::g]", "[1.2.3.4]", "a..", "[fe80::1%]", "[fe80::1%25]x", "a[b", "a:b",
            "%C3%BC",
            "[fe80::1%25a b]", "[fe80::1%%]", "[v1.x]",
        ])
    func unusableHosts(host: String) {
        #expect(Origin(scheme: .http, host: host) == nil)
    }

    @Test("B14.4: ports", arguments: [(-1, false), (0, true), (65_535, true), (65_536, false), (999_999, false)])
    func ports(port: Int, isUsable: Bool) {
        #expect((Origin(scheme: .http, host: "a", port: port) != nil) == isUsable)
    }

    @Test("B3.17: names compare in lower case; a trailing dot is kept for the resolver and ignored in matching")
    func names() throws {
        let plain = try #require(Origin(scheme: .https, host: "Example.COM"))
        #expect(plain.host == "example.com" && plain.matchingHost == "example.com" && !plain.isIPLiteral)
        let rooted = try #require(Origin(scheme: .https, host: "example.com."))
        #expect(rooted.host == "example.com." && rooted.matchingHost == "example.com")
        #expect(plain == Origin(scheme: "HTTPS", host: "example.com", port: 443))
        #expect(plain != rooted)
        #expect(Set([plain, try #require(Origin(scheme: .https, host: "EXAMPLE.com"))]).count == 1)
        #expect(plain != Origin(scheme: .http, host: "example.com", port: 443))
        #expect(plain != Origin(scheme: .https, host: "example.com", port: 444))
        #expect(try #require(Origin(scheme: .http, host: "ex%61mple.com")).host == "example.com")
        #expect(try #require(Origin(scheme: .http, host: "a_b-c.d~!$&'()*+,;=")).host == "a_b-c.d~!$&'()*+,;=")
    }

    @Test(
        "B3.22: IPv4 literals are four decimal numbers, all else is a name",
        arguments: [
            ("127.0.0.1", true), ("255.255.255.255", true), ("127.0.0.1.", true), ("256.0.0.1", false),
            ("1.2.3", false),
            ("1.2.3.4.5", false), ("01.2.3.4", false), ("1.2.3.0x4", false), ("1..2.3", false), ("1.2.3.4a", false),
            ("0.0.0.0", true), ("1.2.3.00004", false),
        ])
    func ipv4(host: String, isLiteral: Bool) throws {
        let origin = try #require(Origin(scheme: .http, host: host))
        #expect(origin.isIPLiteral == isLiteral)
        if isLiteral { #expect(!origin.host.hasSuffix(".")) }
    }

    @Test(
        "B16.12: IPv6 literals, bracketed or not",
        arguments: [
            "::", "::1", "1::", "fe80::1", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "::ffff:1.2.3.4",
            "1:2:3:4:5:6:1.2.3.4", "2001:DB8::A", "1::8", "64:ff9b::192.0.2.33",
        ])
    func ipv6(address: String) throws {
        for host in [address, "[\(address)]"] {
            let origin = try #require(Origin(scheme: .http, host: host))
            #expect(origin.isIPLiteral)
            #expect(origin.host == address.lowercased())
            #expect(origin.hostField == "[\(address.lowercased())]")
        }
    }

    @Test(
        "B16.12: what only looks like IPv6 is refused",
        arguments: [
            ":", ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "12345::", "::1.2.3", "1.2.3.4::",
            "::1.2.3.4:5",
            "1:2:3:4:5:6:7:8::", ":1:2:3:4:5:6:7", "1:2:3:4:5:6:7:", "1:2:3:4:5:6:7:1.2.3.4", "::256.1.1.1", "1:::2",
            "::1:",
        ])
    func notIPv6(address: String) {
        #expect(Origin(scheme: .http, host: "[\(address)]") == nil)
    }

    @Test(
        "B16.12: a zone is kept for connecting and not sent in Host",
        arguments: [
            ("[fe80::1%25eth0]", "fe80::1%eth0"), ("fe80::1%eth0", "fe80::1%eth0"),
            ("[FE80::1%25Eth0]", "fe80::1%Eth0"),
            ("[fe80::1%25]", "fe80::1%25"), ("[fe80::1%25%65th0]", "fe80::1%eth0"),
        ])
    func zones(host: String, expected: String) throws {
        let origin = try #require(Origin(scheme: .http, host: host, port: 8080))
        #expect(origin.host == expected)
        #expect(origin.matchingHost == "fe80::1")
        #expect(origin.hostField == "[fe80::1]:8080")
    }

    @Test(
        "B5.21: Host is the URL's host, with the port unless it is the default",
        arguments: [
            ("http", "example.com", nil, "example.com"), ("http", "example.com", 80, "example.com"),
            ("http", "example.com", 443, "example.com:443"), ("https", "example.com", 443, "example.com"),
            ("https", "Example.com.", 8443, "example.com.:8443"), ("http", "127.0.0.1", 8080, "127.0.0.1:8080"),
            ("https", "[::1]", nil, "[::1]"), ("https", "[::1]", 1, "[::1]:1"),
        ] as [(String, String, Int?, String)])
    func hostField(scheme: String, host: String, port: Int?, expected: String) throws {
        #expect(try #require(Origin(scheme: scheme, host: host, port: port)).hostField == expected)
    }

    @Test("B17.2: an origin describes itself with its port")
    func description() throws {
        #expect(try #require(Origin(scheme: .http, host: "a.example")).description == "http://a.example:80")
        #expect(try #require(Origin(scheme: .https, host: "::1", port: 1)).description == "https://[::1]:1")
    }
}
