// Chapter 4 as tables: statuses, methods, fields, schemes and the limit.

import Testing
import URLLoadingPolicy

@Suite struct RedirectRulesTests {
    @Test("B4.6: 301, 302, 303, 305, 306, 307 and 308 are followed, every other status is delivered")
    func statuses() {
        let followed = (0...999).filter { RedirectRules.isRedirect(status: $0) }
        #expect(followed == [301, 302, 303, 305, 306, 307, 308])
    }

    @Test("B4.8: 301 and 302 turn POST into GET and nothing else", arguments: [301, 302])
    func movedAndFound(status: Int) {
        #expect(RedirectRules.change(status: status, method: "POST") == .init(method: "GET", keepsBody: false))
        for method in ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "post"] {
            #expect(RedirectRules.change(status: status, method: method) == .init(method: method, keepsBody: true))
        }
    }

    @Test("B4.9: 303 makes every method GET", arguments: ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"])
    func seeOther(method: String) {
        #expect(RedirectRules.change(status: 303, method: method) == .init(method: "GET", keepsBody: false))
    }

    @Test("B4.10: 305 to 308 keep method and body", arguments: [305, 306, 307, 308])
    func temporaryAndPermanent(status: Int) {
        for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"] {
            #expect(RedirectRules.change(status: status, method: method) == .init(method: method, keepsBody: true))
        }
    }

    @Test("B4.13: twenty redirects are followed, the twenty-first is not")
    func limit() {
        #expect((0..<30).filter { RedirectRules.mayFollow(afterRedirects: $0) } == Array(0..<20))
    }

    @Test("B4.33: 64 KiB of a followed response's body are read away")
    func discardLimit() {
        #expect(RedirectRules.discardedBodyLimit == 65_536)
    }

    // MARK: Fields

    private func hop(
        _ from: String = "https://a.example", _ to: String = "https://a.example", keepsBody: Bool = true
    ) throws -> RedirectRules.Hop {
        return RedirectRules.Hop(keepsBody: keepsBody, from: try origin(from), to: try origin(to))
    }

    private func origin(_ url: String) throws -> Origin {
        let parts = URIReference(url)
        let authority = (parts.authority ?? "").split(separator: ":")
        let port = authority.count > 1 ? Int(authority[1]) : nil
        return try #require(Origin(scheme: parts.scheme ?? "", host: String(authority.first ?? ""), port: port))
    }

    static let contentFields = [
        "Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "content-type", "Content-Digest",
    ]

    @Test("B4.11: fields that describe the body go with it", arguments: contentFields)
    func fieldsOfTheBody(name: String) throws {
        #expect(!RedirectRules.keepsField(name, over: try hop(keepsBody: false)))
        #expect(RedirectRules.keepsField(name, over: try hop(keepsBody: true)))
    }

    static let computedFields = [
        "Host", "Content-Length", "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding",
        "Upgrade", "host", "CONTENT-LENGTH",
    ]

    @Test("B4.26: Host, Content-Length and hop-by-hop fields never go along", arguments: computedFields)
    func fieldsOfTheConnection(name: String) throws {
        #expect(!RedirectRules.keepsField(name, over: try hop()))
    }

    static let credentialFields = [
        "Authorization", "Proxy-Authorization", "Cookie", "authorization", "COOKIE", "X-API-Key", "X-Auth-Token",
        "DPoP", "apikey", "X-Goog-Api-Key", "Private-Token", "X-Vault-Token", "Ocp-Apim-Subscription-Key", "X-Auth-Key",
        "X-Client-Secret", "X-Forwarded-Authorization", "Token",
    ]

    @Test(
        "B4.27: credentials stay within the origin: other host, port or scheme lose them", arguments: credentialFields)
    func credentials(name: String) throws {
        #expect(RedirectRules.keepsField(name, over: try hop()))
        #expect(RedirectRules.keepsField(name, over: try hop("https://a.example", "https://A.EXAMPLE:443")))
        let elsewhere = [
            "https://b.example", "https://sub.a.example", "https://a.example:8443", "http://a.example",
            "http://a.example:443",
        ]
        for target in elsewhere {
            #expect(!RedirectRules.keepsField(name, over: try hop("https://a.example", target)), "\(target)")
        }
        #expect(!RedirectRules.keepsField(name, over: try hop("http://a.example", "https://a.example")))
        let origin = try #require(Origin(scheme: .https, host: "a.example"))
        #expect(!RedirectRules.keepsField(name, over: .init(keepsBody: true, leavingHTTPFrom: origin)))
    }

    @Test("B4.29: Referer is kept, but not from https to http")
    func referer() throws {
        #expect(RedirectRules.keepsField("Referer", over: try hop("https://a.example", "https://b.example")))
        #expect(RedirectRules.keepsField("Referer", over: try hop("http://a.example", "http://b.example")))
        #expect(RedirectRules.keepsField("Referer", over: try hop("http://a.example", "https://a.example")))
        #expect(!RedirectRules.keepsField("referer", over: try hop("https://a.example", "http://a.example")))
    }

    @Test(
        "B4.25: other fields of the application go along everywhere", arguments: ["Accept", "X-Custom", "User-Agent"])
    func customFields(name: String) throws {
        #expect(
            RedirectRules.keepsField(name, over: try hop("https://a.example", "http://b.example", keepsBody: false)))
    }

    // MARK: Schemes

    @Test("B4.31: only http and https are followed; local content is refused; other schemes need a registered handler")
    func schemes() {
        for scheme in ["http", "https", "HTTP", "hTTps"] {
            #expect(RedirectRules.verdict(onScheme: scheme) == .follow)
        }
        for scheme in ["file", "FILE", "data", "about", "javascript", "blob"] {
            #expect(RedirectRules.verdict(onScheme: scheme) == .refuse)
        }
        for scheme in ["ftp", "custom", "httpx", ""] {
            #expect(RedirectRules.verdict(onScheme: scheme) == .onlyIfHandled)
        }
    }
}
