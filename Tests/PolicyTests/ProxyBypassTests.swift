// Which hosts are reached without a proxy: `no_proxy`, `ExceptionsList` and ranges of addresses (behaviour 13).

import Testing

@testable import URLLoadingPolicy

@Suite struct ProxyBypassTests {
    @Test(
        "B13.9: no_proxy names hosts and everything below them, whatever the case, with or without a leading dot",
        arguments: [
            ("example.com", "example.com", true), ("example.com", "www.example.com", true),
            ("example.com", "a.b.example.com", true), ("example.com", "notexample.com", false),
            ("example.com", "example.com.evil.test", false), ("example.com", "com", false),
            (".example.com", "example.com", true), (".example.com", "www.example.com", true),
            ("*.example.com", "example.com", true), ("*.example.com", "www.example.com", true),
            ("EXAMPLE.Com", "example.com", true), ("example.com.", "example.com", true),
            ("example.com", "example.com.", true), ("xn--bcher-kva.example", "www.xn--bcher-kva.example", true),
            ("localhost", "localhost", true), ("localhost", "local", false), ("com", "example.com", true),
            ("", "example.com", false), (",,,", "example.com", false), (".", "example.com", false),
            ("exam*", "example.com", false),
        ])
    func names(list: String, host: String, isCovered: Bool) {
        #expect(ProxyBypass(noProxy: list).covers(host: host, port: 80) == isCovered)
    }

    @Test(
        "B13.9: entries stand between commas, with or without blanks, and an invalid one leaves the others in force",
        arguments: [
            "a.test,b.test", "a.test, b.test", " a.test\t,\tb.test ", "a.test b.test", ",a.test,,b.test,",
            "http://no.entry/,a.test,b.test", "no:port,a.test,b.test:", "[::1,a.test,b.test",
            "10.0.0.0/99,a.test,b.test",
            "bücher.example,a.test,b.test",
        ])
    func lists(list: String) {
        let bypass = ProxyBypass(noProxy: list)
        #expect(bypass.covers(host: "a.test", port: 80))
        #expect(bypass.covers(host: "b.test", port: 443) == !list.hasSuffix(":"))
        #expect(!bypass.covers(host: "c.test", port: 80))
        #expect(!bypass.covers(host: "10.0.0.1", port: 80))
    }

    @Test("B13.9: * alone matches every host", arguments: ["example.com", "localhost", "127.0.0.1", "::1"])
    func everyHost(host: String) {
        #expect(ProxyBypass(noProxy: "*").covers(host: host, port: 80))
        #expect(ProxyBypass(noProxy: " * ").covers(host: host, port: 443))
        #expect(ProxyBypass(noProxy: "a.test,*").covers(host: host, port: 443))
        #expect(!ProxyBypass(noProxy: "").covers(host: host, port: 80))
    }

    @Test(
        "B13.9: addresses and ranges are compared as numbers, and names are never looked up",
        arguments: [
            ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.2", false), ("127.0.0.1", "localhost", false),
            ("::1", "::1", true), ("::1", "0:0:0:0:0:0:0:1", true), ("0::0:1", "::1", true), ("::1", "::2", false),
            ("fe80::1", "fe80::1%eth0", true), ("2001:DB8::1", "2001:db8::1", true), ("[::1]", "::1", true),
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("10.1.2.3/8", "10.9.9.9", true),
            ("192.168.4.0/22", "192.168.7.255", true), ("192.168.4.0/22", "192.168.8.0", false),
            ("0.0.0.0/0", "8.8.8.8", true), ("0.0.0.0/0", "::1", false), ("1.2.3.4/32", "1.2.3.4", true),
            ("1.2.3.4/32", "1.2.3.5", false), ("10.0.0.0/33", "10.0.0.1", false), ("10.0.0.0/x", "10.0.0.1", false),
            ("10.0.0.0/", "10.0.0.1", false), ("fe80::/10", "febf::1", true), ("fe80::/10", "fec0::1", false),
            ("2001:db8::/32", "2001:db8:1::1", true), ("2001:db8::/32", "2001:db9::1", false), ("::/0", "::1", true),
            ("::/0", "1.2.3.4", false), ("::1/128", "::1", true), ("::1/129", "::1", false),
            ("10.0.0.1", "::ffff:10.0.0.1", true), ("::ffff:10.0.0.0/104", "10.1.2.3", true),
            ("::ffff:10.0.0.0/95", "10.1.2.3", false), ("10.0.0.0/8", "::ffff:a00:1", true),
            ("169.254/16", "169.254.7.7", true), ("169.254/16", "169.253.7.7", false), ("10/8", "10.3.3.3", true),
            ("127.0.0.1", "127.1", false), ("127.0.0.0/8", "127.0.0.01", false), ("127.0.0.1", "2130706433", false),
            ("1", "10.0.0.1", false), ("0.1", "10.0.0.1", false), ("10.0.0.0/8", "10.example.com", false),
        ])
    func addresses(list: String, host: String, isCovered: Bool) {
        #expect(ProxyBypass(noProxy: list).covers(host: host, port: 80) == isCovered)
    }

    @Test(
        "B13.10: an entry with a port is for that port",
        arguments: [
            ("a.test:8080", "a.test", 8080, true), ("a.test:8080", "a.test", 80, false),
            ("a.test:8080", "www.a.test", 8080, true), ("127.0.0.1:8080", "127.0.0.1", 8080, true),
            ("127.0.0.1:8080", "127.0.0.1", 80, false), ("[::1]:8080", "::1", 8080, true),
            ("[::1]:8080", "::1", 80, false), ("*:8080", "a.test", 8080, true), ("*:8080", "a.test", 80, false),
            ("10.0.0.0/8:8080", "10.1.1.1", 8080, true), ("10.0.0.0/8:8080", "10.1.1.1", 80, false),
            ("a.test:0", "a.test", 0, false), ("a.test:65536", "a.test", 65536, false),
            ("a.test:http", "a.test", 80, false),
            ("a.test:-1", "a.test", 80, false), ("::1:8080", "::1", 8080, false),
        ])
    func ports(list: String, host: String, port: Int, isCovered: Bool) {
        #expect(ProxyBypass(noProxy: list).covers(host: host, port: port) == isCovered)
    }

    @Test("B13.11: loopback is nothing special", arguments: ["localhost", "127.0.0.1", "::1"])
    func loopback(host: String) {
        #expect(!ProxyBypass(noProxy: "").covers(host: host, port: 80))
        #expect(!ProxyBypass(noProxy: "a.test").covers(host: host, port: 80))
    }

    @Test(
        "B13.8: exceptions are exact hosts, *.domain, .domain, patterns, addresses and ranges",
        arguments: [
            ("example.com", "example.com", true), ("example.com", "www.example.com", false),
            ("*.example.com", "www.example.com", true), ("*.example.com", "a.b.example.com", true),
            ("*.example.com", "example.com", false), (".example.com", "www.example.com", true),
            (".example.com", "example.com", false), (".example.com", "badexample.com", false),
            ("*.local", "printer.local", true), ("*.local", "local", false), ("192.168.*", "192.168.3.4", true),
            ("192.168.*", "192.169.3.4", false), ("in*er.test", "inner.test", true),
            ("in*er.test", "inner.tests", false),
            ("*a*b*c", "xxaxxbxxc", true), ("*a*b*c", "xxaxxcxxb", false), ("*a*b*c", "abcabd", false),
            ("*aab", "aaaab", true), ("**", "anything", true), ("*", "anything", true),
            ("127.0.0.1", "127.0.0.1", true),
            ("::1", "::1", true), ("169.254/16", "169.254.1.1", true), ("10.0.0.0/8", "10.1.1.1", true),
            ("Example.COM", "example.com", true), ("example.com.", "example.com", true), ("", "example.com", false),
            ("example.com:8080", "example.com", false),
        ])
    func exceptions(entry: String, host: String, isCovered: Bool) {
        let bypass = ProxyBypass(exceptions: ["other.test", entry], excludesSimpleNames: false)
        #expect(bypass.covers(host: host, port: 80) == isCovered)
        #expect(bypass.covers(host: "other.test", port: 80))
    }

    @Test(
        "B13.8: simple host names are those without a dot; addresses are not among them",
        arguments: [
            ("intranet", true), ("localhost", true), ("intranet.", true), ("www.example.com", false),
            ("127.0.0.1", false), ("::1", false),
        ])
    func simpleNames(host: String, isSimple: Bool) {
        #expect(ProxyBypass(exceptions: [], excludesSimpleNames: true).covers(host: host, port: 80) == isSimple)
        #expect(!ProxyBypass(exceptions: [], excludesSimpleNames: false).covers(host: host, port: 80))
    }

    @Test("A pattern of many stars is compared in no more than its length times the host's")
    func hostilePattern() {
        let pattern = String(repeating: "a*", count: 500) + "b"
        let bypass = ProxyBypass(exceptions: [pattern], excludesSimpleNames: false)
        #expect(!bypass.covers(host: String(repeating: "a", count: 2_000), port: 80))
    }
}
