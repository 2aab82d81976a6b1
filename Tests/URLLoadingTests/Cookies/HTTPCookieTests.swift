// HTTPCookie: properties, header fields (behaviour 8.1, 8.2).

import Foundation
import Testing
import URLLoading

@Suite("HTTPCookie")
struct HTTPCookieTests {
    private static let url = URL(filePath: "/")
    private static func site(_ text: String = "https://example.com/") -> URL { URL(string: text) ?? url }

    private func cookie(_ more: [HTTPCookiePropertyKey: Any] = [:]) throws -> HTTPCookie {
        let properties: [HTTPCookiePropertyKey: Any] = [.name: "a", .value: "1", .domain: "example.com", .path: "/"]
        return try #require(HTTPCookie(properties: properties.merging(more) { $1 }))
    }

    private func parsed(_ field: String, _ url: String = "https://example.com/") -> [HTTPCookie] {
        HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": field], for: Self.site(url))
    }

    @Test("B8.1: name, value, and domain or origin are needed; the path is / where it is left out")
    func construction() throws {
        let cookie = try #require(HTTPCookie(properties: [.name: "a", .value: "1", .domain: "example.com"]))
        #expect((cookie.name, cookie.value, cookie.domain, cookie.path) == ("a", "1", "example.com", "/"))
        #expect(cookie.version == 0 && !cookie.isSecure && !cookie.isHTTPOnly && cookie.isSessionOnly)
        #expect(cookie.comment == nil && cookie.commentURL == nil && cookie.portList == nil)
        let whole: [HTTPCookiePropertyKey: Any] = [.name: "a", .value: "1", .domain: "example.com", .path: "/"]
        for key in [HTTPCookiePropertyKey.name, .value, .domain] {
            var part = whole
            part[key] = nil
            #expect(HTTPCookie(properties: part) == nil)
        }
        #expect(HTTPCookie(properties: [:]) == nil)
        #expect(HTTPCookie(properties: whole.merging([.domain: ""]) { $1 }) == nil)
        #expect(HTTPCookie(properties: whole.merging([.domain: ".\u{1}"]) { $1 }) == nil)
        #expect(HTTPCookie(properties: whole.merging([.name: ""]) { $1 }) == nil)
        #expect(HTTPCookie(properties: whole.merging([.name: [1]]) { $1 }) == nil)
        #expect(try self.cookie([.path: "x"]).path == "/")
    }

    @Test(
        "B8.1: characters that no field may hold make no cookie", arguments: ["\r\n", "\n", "\0", "a\u{1}", "\u{7F}"])
    func controls(text: String) {
        for key in [HTTPCookiePropertyKey.name, .value, .domain] {
            var properties: [HTTPCookiePropertyKey: Any] = [.name: "a", .value: "1", .domain: "example.com"]
            properties[key] = "x" + text
            #expect(HTTPCookie(properties: properties) == nil)
        }
    }

    @Test("B8.2: the domain wins over the origin URL; without one the origin's host is the domain")
    func origin() throws {
        let url = Self.site("https://Origin.example:8443/x")
        #expect(try cookie([.originURL: url]).domain == "example.com")
        for origin in [url as Any, url.absoluteString as Any, NSURL(string: url.absoluteString) as Any] {
            let cookie = try #require(HTTPCookie(properties: [.name: "a", .value: "1", .originURL: origin]))
            #expect(cookie.domain == "origin.example")
        }
        #expect(HTTPCookie(properties: [.name: "a", .value: "1", .originURL: "no host"]) == nil)
    }

    @Test("B8.3: version 0 goes by Expires, version 1 by Max-Age")
    func versions() throws {
        let date = Date(timeIntervalSinceNow: 3600)
        let both: [HTTPCookiePropertyKey: Any] = [.expires: date, .maximumAge: "60"]
        #expect(try cookie(both).expiresDate == date)
        #expect(try cookie(both.merging([.version: "0"]) { $1 }).expiresDate == date)
        let byAge = try #require(try cookie(both.merging([.version: "1"]) { $1 }).expiresDate)
        #expect(abs(byAge.timeIntervalSinceNow - 60) < 30)
        #expect(try cookie([.maximumAge: "60"]).expiresDate == nil)
        #expect(try cookie([.version: 1, .expires: date]).expiresDate == nil)
        #expect(try cookie([.version: 1]).version == 1)
        #expect(try cookie([.version: "2"]).version == 0)
        let text = try cookie([.expires: "Wed, 01 Jan 2020 12:30:00 GMT"])
        #expect(text.expiresDate == Date(timeIntervalSince1970: 1_577_881_800))
    }

    @Test("B8.4: Discard makes a session cookie, and so does version 1 without Max-Age")
    func discard() throws {
        let date = Date(timeIntervalSinceNow: 3600)
        #expect(try cookie([.expires: date, .discard: "TRUE"]).isSessionOnly)
        #expect(try !cookie([.expires: date, .discard: "FALSE"]).isSessionOnly)
        #expect(try cookie([.version: "1", .maximumAge: 60, .discard: true]).isSessionOnly)
        #expect(try cookie([.version: "1"]).isSessionOnly)
        #expect(try !cookie([.version: "1", .maximumAge: 60]).isSessionOnly)
    }

    @Test("B8.5: version 0 keeps the first port; nil is any port")
    func ports() throws {
        #expect(try cookie([.port: "80,8080"]).portList == [80])
        #expect(try cookie([.port: "\"80,8080\"", .version: "1"]).portList == [80, 8080])
        #expect(try cookie([.port: 443]).portList == [443])
        #expect(try cookie([.port: [80, 443], .version: "1"]).portList == [80, 443])
        #expect(try cookie([.port: "none"]).portList == nil)
        #expect(try cookie().portList == nil)
    }

    @Test("B8.6: any text but FALSE, NO and 0 makes a cookie secure")
    func secure() throws {
        for yes in ["TRUE", "true", "YES", "1", "secure", "FALSEHOOD"] { #expect(try cookie([.secure: yes]).isSecure) }
        for no in ["FALSE", "false", "NO", "0", ""] { #expect(try !cookie([.secure: no]).isSecure) }
        #expect(try cookie([.secure: true]).isSecure && cookie([.secure: NSNumber(value: 1)]).isSecure)
        #expect(try !cookie([.secure: false]).isSecure && !cookie().isSecure)
    }

    @Test("B8.7: name and value are anything like text")
    func substrings() throws {
        let whole = "name=value"
        let cookie = try cookie([.name: whole.prefix(4), .value: whole.suffix(5)])
        #expect((cookie.name, cookie.value) == ("name", "value"))
        let other = try self.cookie([.name: NSString(string: "n"), .value: NSString(string: "v")])
        #expect((other.name, other.value) == ("n", "v"))
    }

    @Test("B8.8: the properties make an equal cookie, everything included")
    func properties() throws {
        let all: [HTTPCookiePropertyKey: Any] = [
            .domain: ".example.com", .path: "/x", .secure: "TRUE", .comment: "c", .commentURL: Self.site(),
            .port: "80", .sameSitePolicy: HTTPCookieStringPolicy.sameSiteLax,
            .expires: Date(timeIntervalSinceNow: 3600.123456789),
        ]
        for more in [all, all.merging([.version: "1", .maximumAge: "3600"]) { $1 }, [.setByJavaScript: "TRUE"], [:]] {
            let cookie = try cookie(more)
            let properties = try #require(cookie.properties)
            let again = try #require(HTTPCookie(properties: properties))
            #expect(again == cookie && again.hash == cookie.hash && again.isEqual(cookie))
            #expect(again.expiresDate == cookie.expiresDate && again.portList == cookie.portList)
            for (key, value) in more where [.name, .path, .comment].contains(key) {
                #expect(cookie.properties?[key] as? String == value as? String)
            }
        }
        #expect(try cookie() != cookie([.value: "2"]) && cookie() != cookie([.path: "/x"]))
        #expect(try cookie() != cookie([.domain: ".example.com"]) && cookie() != cookie([.secure: "TRUE"]))
        #expect(try !cookie().isEqual("a=1"))
    }

    @Test("B8.9: a session cookie is one without an end")
    func sessionOnly() throws {
        #expect(try cookie().isSessionOnly && cookie().expiresDate == nil)
        let lasting = try cookie([.expires: Date(timeIntervalSinceNow: 60)])
        #expect(!lasting.isSessionOnly && lasting.expiresDate != nil)
    }

    @Test("B8.10: HttpOnly is set by a field; the properties have no key for it")
    func httpOnly() throws {
        let cookie = try #require(parsed("a=1; HttpOnly").first)
        #expect(cookie.isHTTPOnly)
        let properties = try #require(cookie.properties)
        #expect(HTTPCookie(properties: properties)?.isHTTPOnly == true, "B8.8")
        #expect(
            try cookie.properties?[HTTPCookiePropertyKey("HttpOnly")] as? String == "TRUE" && !self.cookie().isHTTPOnly)
    }

    @Test("B8.11: SameSite is strict, lax or nothing")
    func sameSite() throws {
        #expect(try cookie([.sameSitePolicy: HTTPCookieStringPolicy.sameSiteStrict]).sameSitePolicy == .sameSiteStrict)
        #expect(try cookie([.sameSitePolicy: "LAX"]).sameSitePolicy == .sameSiteLax)
        #expect(try cookie([.sameSitePolicy: "none"]).sameSitePolicy == nil)
        #expect(try cookie([.sameSitePolicy: "other"]).sameSitePolicy == nil)
        #expect(HTTPCookieStringPolicy.sameSiteLax.rawValue == "lax")
    }

    @Test("B8.12: one Cookie field in the given order, none for no cookies")
    func requestFields() throws {
        let cookies = [try cookie([.name: "b"]), try cookie(), try cookie([.name: "c", .value: ""])]
        #expect(HTTPCookie.requestHeaderFields(with: cookies) == ["Cookie": "b=1; a=1; c="])
        #expect(HTTPCookie.requestHeaderFields(with: []) == [:])
    }

    @Test(
        "B8.13: domains are in lower case; one from a field begins with a dot, which means all hosts below, an address never"
    )
    func domains() throws {
        #expect(try cookie([.domain: "Swift.ORG"]).domain == "swift.org")
        #expect(try cookie([.domain: ".Swift.ORG"]).domain == ".swift.org")
        #expect(parsed("a=1; Domain=Example.com").first?.domain == ".example.com")
        #expect(parsed("a=1; Domain=.example.com").first?.domain == ".example.com")
        #expect(parsed("a=1", "https://EXAMPLE.com/").first?.domain == "example.com")
        #expect(parsed("a=1; Domain=192.168.0.1", "http://192.168.0.1/").first?.domain == "192.168.0.1")
        #expect(parsed("a=1", "http://[::1]/").first?.domain == "::1")
    }

    @Test("B8.13: an address has no dot, from a field or from properties; a dot alone is a domain that holds no host")
    func addresses() throws {
        for domain in ["1.2.3.4", ".1.2.3.4"] {
            #expect(parsed("a=1; Domain=\(domain)").first?.domain == "1.2.3.4")
            #expect(try cookie([.domain: domain]).domain == "1.2.3.4")
        }
        for domain in ["[::1]", ".[::1]", "::1"] {
            #expect(parsed("a=1; Domain=\(domain)", "http://[::1]/").first?.domain == "::1")
            #expect(try cookie([.domain: domain]).domain == "::1")
        }
        let dot = try cookie([.domain: "."])
        let properties = try #require(dot.properties)
        #expect(dot.domain == "." && HTTPCookie(properties: properties) == dot)
        let storage = HTTPCookieStorage()
        storage.setCookie(dot)
        #expect(storage.cookies(for: Self.site()) == [])
    }

    @Test("B8.22: a comma at the end of a line separates two fields")
    func lines() {
        let text = "a=1; Domain=swift.org; Secure,\nb=2; Expires=Wed, 01 Jan 2020 12:30:00 GMT, \r\n c=3; HttpOnly,\n"
        let cookies = parsed(text)
        #expect(cookies.map(\.name) == ["a", "b", "c"] && cookies.map(\.value) == ["1", "2", "3"])
        #expect(cookies.first?.isSecure == true && cookies.last?.isHTTPOnly == true)
        #expect(cookies.dropFirst().first?.expiresDate == Date(timeIntervalSince1970: 1_577_881_800))
        #expect(parsed("a=1\nb=2").isEmpty && parsed("a=1, \nb; c,\nd=4").map(\.name) == ["a", "d"])
    }

    @Test("B8.15: joined fields are taken apart at commas before a token and an equals sign, and only there")
    func joined() {
        let two = parsed("a=1; Path=/, b=2; Domain=example2.com; Path=/x")
        #expect(two.map(\.name) == ["a", "b"] && two.map(\.path) == ["/", "/x"])
        #expect(parsed("a=1,b=2,\tc=3").map(\.value) == ["1", "2", "3"])
        let dates = parsed("a=1; Expires=Wed, 01 Jan 2020 12:30:00 GMT, b=2; Expires=Thu, 02-Jan-2020 12:30:00 GMT")
        #expect(dates.map(\.name) == ["a", "b"])
        #expect(dates.first?.expiresDate == Date(timeIntervalSince1970: 1_577_881_800))
        #expect(dates.last?.expiresDate == Date(timeIntervalSince1970: 1_577_968_200))
        #expect(parsed("a=1, 2, 3").map(\.value) == ["1, 2, 3"])
        #expect(parsed("a=1, b c=2").map(\.value) == ["1, b c=2"])
        #expect(parsed("a=1, =2").map(\.value) == ["1, =2"])
        #expect(parsed("a=1,").map(\.value) == ["1,"])
        #expect(parsed(",").isEmpty && parsed(", a=1").map(\.name) == ["a"])
    }

    @Test("B8.15: the name Set-Cookie may be in any case; other fields are ignored")
    func names() {
        let url = Self.site()
        let fields = ["set-cookie": "a=1", "Cookie": "b=2", "Set-Cookie2": "c=3", "X": "d=4"]
        #expect(HTTPCookie.cookies(withResponseHeaderFields: fields, for: url).map(\.name) == ["a"])
        #expect(HTTPCookie.cookies(withResponseHeaderFields: [:], for: url).isEmpty)
        #expect(HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": "a=1"], for: Self.url).isEmpty)
    }

    @Test(
        "B8.20 to B8.22: fields that make no cookie",
        arguments: ["", "a", "=1", " =1", ";a=1", "a; Path=/", "a=1\u{1}", "a=\r\n1"])
    func none(field: String) {
        #expect(parsed(field).isEmpty)
    }

    @Test("B8.30: without a usable Path the cookie's path is the folder of the request")
    func paths() {
        #expect(parsed("a=1", "https://example.com/x/y?z=/1/2").first?.path == "/x")
        #expect(parsed("a=1; Path=x", "https://example.com/x/y").first?.path == "/x")
        #expect(parsed("a=1", "https://example.com").first?.path == "/")
    }

    @Test("B8.32: the parser accepts foreign domains, and storages refuse them")
    func foreign() {
        let cookies = parsed("a=1; Domain=example2.com; Secure", "http://example.com/")
        #expect(cookies.first?.domain == ".example2.com" && cookies.first?.isSecure == true)
        let storage = HTTPCookieStorage()
        storage.setCookies(cookies, for: Self.site("https://example.com/"), mainDocumentURL: nil)
        #expect(storage.cookies == [])
        storage.setCookies(cookies, for: Self.site("https://example2.com/"), mainDocumentURL: nil)
        #expect(storage.cookies?.count == 1)
    }

    @Test("A subclass's own value is the one that is sent")
    func subclass() throws {
        // Safe to share: it has no state of its own.
        final class Loud: HTTPCookie, @unchecked Sendable {
            override var value: String { super.value.uppercased() }
        }
        let cookie = try #require(Loud(properties: [.name: "a", .value: "x", .domain: "example.com"]))
        #expect(HTTPCookie.requestHeaderFields(with: [cookie]) == ["Cookie": "a=X"])
    }

    @Test("The description holds every property")
    func description() throws {
        let cookie = try cookie([.sameSitePolicy: "lax", .port: "80"])
        for part in [
            "name:a", "value:1", "domain:example.com", "path:/", "sessionOnly:TRUE", "sameSite:lax", "portList:80",
        ] {
            #expect(cookie.description.contains(part))
        }
    }
}
