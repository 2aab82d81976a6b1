// Resolving Location: the examples of RFC 3986 §5.4 and the statements of chapter 4 about URLs.

import Testing
import URLLoadingPolicy
import URLLoadingWire

@Suite struct RedirectTargetTests {
    private let base = "http://a/b/c/d;p?q"

    @Test(
        "B4.20: the normal examples of RFC 3986 §5.4.1",
        arguments: [
            ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
            (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
            ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
            ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
            ("../../g", "http://a/g"),
        ])
    func normalExamples(reference: String, expected: String) {
        #expect(URIReference(reference).resolved(against: URIReference(base)).text == expected)
    }

    @Test(
        "B4.20: the abnormal examples of RFC 3986 §5.4.2",
        arguments: [
            ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."),
            ("..g", "http://a/b/c/..g"),
            ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
            ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("g#s/./x", "http://a/b/c/g#s/./x"),
            ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"), ("/a//../b", "http://a/a/b"),
            ("//", "http://"),
        ])
    func abnormalExamples(reference: String, expected: String) {
        #expect(URIReference(reference).resolved(against: URIReference(base)).text == expected)
    }

    @Test(
        "B4.20: a base without path gets one", arguments: [("g", "http://a/g"), ("?q", "http://a?q"), ("", "http://a")])
    func emptyBasePath(reference: String, expected: String) {
        #expect(URIReference(reference).resolved(against: URIReference("http://a")).text == expected)
    }

    @Test(
        "B4.20: relative bases and opaque paths are resolved without losing text",
        arguments: [
            ("x", "a", "a"), ("g:x", "y/../z", "g:z"), ("g:", "./a", "g:a"), ("1:b", "c", "c"),
        ])
    func oddBases(base: String, reference: String, expected: String) {
        #expect(URIReference(reference).resolved(against: URIReference(base)).text == expected)
    }

    @Test(
        "B4.20: splitting a reference and joining it gives the same text",
        arguments: [
            "", "http://u:p@h:1/p?q#f", "//h", "?", "#", "?#", "a:b:c", ":b", "1a:b", "/a:b", "a?b:c", "a#b?c",
            "mailto:x@y",
        ])
    func roundTrip(text: String) {
        #expect(URIReference(text).text == text)
    }

    // MARK: Location

    private func target(_ location: String, _ base: String = "http://host:8080/dir/page?q=1") -> String? {
        RedirectTarget.resolve(location: location, against: base)
    }

    @Test(
        "B4.17, B4.18: empty and unusable Locations lead nowhere",
        arguments: [
            "", "   ", "http://", "http:///path", "http:path", "https://host:99999/", "http://host:-1/",
            "http://host:1x/",
            "http://[::1/", "http://[zz]/", "http://a b/", "http://a%zz/", "//", "http://ho[st/", "http://ä b/",
            "http://%C3%A4%20b/", "http://%C3%A4%2Fb/",
            "http://:80/", "http://host:99999999999999999999/", "::::", ":b", "1a:b", "a b:c/d",
        ])
    func unusable(location: String) {
        #expect(target(location) == nil)
    }

    @Test("B4.18: without an absolute base there is no target")
    func noBase() {
        #expect(target("page", "relative") == nil)
    }

    @Test(
        "B4.21: the target's port is its own or the scheme's, never the old one",
        arguments: [
            ("http://host/x", "http://host/x"), ("//host/x", "http://host/x"),
            ("https://host:444/", "https://host:444/"),
            ("/x", "http://host:8080/x"), ("http://host:/x", "http://host:/x"), ("http://u:p@h:1/", "http://u:p@h:1/"),
            ("http://[::1]:81/", "http://[::1]:81/"), ("http://[fe80::1%25eth0]/", "http://[fe80::1%25eth0]/"),
        ])
    func port(location: String, expected: String) {
        #expect(target(location) == expected)
    }

    @Test(
        "B4.22: percent-encoded text stays as it is, raw bytes that no URL may hold are encoded",
        arguments: [
            ("/a%20b?c%3Dd%26e", "http://host:8080/a%20b?c%3Dd%26e"), ("/a b?c d", "http://host:8080/a%20b?c%20d"),
            ("/ü?ü#ü", "http://host:8080/%C3%BC?%C3%BC#%C3%BC"), ("/100%", "http://host:8080/100%25"),
            ("/%4", "http://host:8080/%254"), ("/%zz", "http://host:8080/%25zz"),
            ("/a?x[]=1", "http://host:8080/a?x%5B%5D=1"),
            ("/\"<>\\^`{|}", "http://host:8080/%22%3C%3E%5C%5E%60%7B%7C%7D"),
            ("  /trimmed\t", "http://host:8080/trimmed"),
            ("http://bücher.example/", "http://bücher.example/"),
            ("http://b%C3%BCcher.example/", "http://b%C3%BCcher.example/"), ("/a\u{1}b", "http://host:8080/a%01b"),
        ])
    func encoding(location: String, expected: String) {
        #expect(target(location) == expected)
    }

    @Test(
        "B4.22: of a Location that is not UTF-8 each byte that is not ASCII is encoded as it came",
        arguments: [
            ("/caf\u{E9}?q=\u{E9}#\u{E9}", "http://host:8080/caf%E9?q=%E9#%E9"),
            // Its second segment is UTF-8 by itself.
            ("/\u{C3}\u{A9}/\u{E9}", "http://host:8080/%C3%A9/%E9"),
            ("/%C3%A9 \u{93}x\u{94}", "http://host:8080/%C3%A9%20%93x%94"),
            ("http://caf\u{E9}/", "http://caf%E9/"), ("/caf\u{C3}\u{A9}", "http://host:8080/caf%C3%A9"),
        ])
    func otherBytes(location: String, expected: String) {
        var fields = Fields()
        fields.append("Location", latin1: location)
        fields.append("Location", "/second")
        #expect(fields.reference(.location).flatMap { target($0) } == expected)
        #expect(fields.reference(.contentLocation) == nil)
    }

    @Test(
        "B4.23: the fragment is inherited when the Location has none",
        arguments: [
            ("/x", "http://host/x#top"), ("/x#own", "http://host/x#own"), ("/x#", "http://host/x#"),
            ("https://other/", "https://other/#top"),
        ])
    func fragment(location: String, expected: String) {
        #expect(target(location, "http://host/page#top") == expected)
    }

    @Test(
        "B4.31: other schemes are resolved too, so that they can be refused by name",
        arguments: [
            ("file:///etc/passwd", "file:///etc/passwd"), ("data:,x", "data:,x"), ("ftp://host/", "ftp://host/"),
        ])
    func otherSchemes(location: String, expected: String) {
        #expect(target(location) == expected)
    }
}
