// The parts of cookie handling by themselves: dates, suffixes, the file's form, a jar's limits (behaviour chapter 8).

import LoadingPolicy
import Testing

@Suite("Cookies as values")
struct CookieTests {
    private let now: Double = 1_000_000

    private func place(_ host: String, path: String = "/", scheme: String = "https") throws -> CookiePlace {
        try #require(CookiePlace(scheme: scheme, host: host, port: nil, path: path))
    }

    private func cookie(_ field: String, from host: String = "example.com") throws -> Cookie {
        Cookie(try #require(SetCookie(Array(field.utf8))), from: try place(host), now: now)
    }

    @Test("B8.27: a date's parts, whatever their order")
    func dates() {
        #expect(CookieDate.seconds("Thu, 01 Jan 1970 00:00:00 GMT".utf8) == 0)
        #expect(CookieDate.seconds("Sun, 06 Nov 1994 08:49:37 GMT".utf8) == 784_111_777)
        #expect(CookieDate.seconds("Sunday, 06-Nov-94 08:49:37 GMT".utf8) == 784_111_777)
        #expect(CookieDate.seconds("Sun Nov  6 08:49:37 1994".utf8) == 784_111_777)
        #expect(CookieDate.seconds("31 Dec 1969 23:59:59".utf8) == -1)
        #expect(CookieDate.seconds("01 Mar 2000 00:00:00".utf8) == 951_868_800)
        #expect(CookieDate.seconds("29 Feb 1900 00:00:00".utf8) == nil)
        #expect(CookieDate.seconds("01 Jan 1601 00:00:00".utf8) == -11_644_473_600)
        #expect(CookieDate.seconds(String(repeating: "9", count: 100_000).utf8) == nil)
    }

    @Test("B8.33: suffixes by a list: plain rules, stars, exceptions, other alphabets")
    func suffixes() throws {
        let filler = (0..<100).map { "filler\($0)" }
        let text = (filler + ["com", "// a comment", "co.uk some words", "*.ck", "!www.ck", "公司.cn", "COM.AU", ""])
            .joined(separator: "\r\n")
        let list = try #require(PublicSuffixes(list: text.utf8))
        for suffix in ["com", "co.uk", "a.ck", "xn--55qx5d.cn", "com.au", "unknown", "uk"] {
            #expect(list.isPublicSuffix(suffix), "\(suffix)")
        }
        for name in ["example.com", "a.co.uk", "www.ck", "b.a.ck", "a.xn--55qx5d.cn", "", "a.unknown"] {
            #expect(!list.isPublicSuffix(name), "\(name)")
        }
        #expect(list.site(of: "a.b.example.com") == "example.com" && list.site(of: "example.com") == "example.com")
        #expect(list.site(of: "www.a.co.uk") == "a.co.uk" && list.site(of: "co.uk") == "co.uk")
        #expect(list.site(of: "x.www.ck") == "www.ck" && list.site(of: "10.0.0.1") == "10.0.0.1")
        #expect(list.site(of: "::1") == "::1" && list.site(of: "") == "" && list.site(of: "localhost") == "localhost")
        let long = String(repeating: "a.", count: 50_000) + "com"
        #expect(!list.isPublicSuffix(long) && list.site(of: long) == "a.com")
    }

    @Test("B8.33: what is no list is none; the built-in rules know the common ones")
    func noList() {
        #expect(PublicSuffixes(list: "".utf8) == nil && PublicSuffixes(list: "com\norg\n".utf8) == nil)
        #expect(PublicSuffixes(list: [UInt8](repeating: 0xFF, count: 10_000)) == nil)
        for suffix in ["com", "co.uk", "com.br", "github.io", "x.ck"] {
            #expect(PublicSuffixes.builtIn.isPublicSuffix(suffix))
        }
        #expect(!PublicSuffixes.builtIn.isPublicSuffix("example.co.uk"))
    }

    @Test(
        "B8.33: labels of other alphabets are found by their ASCII form (RFC 3492 §7.1)",
        arguments: [
            ("ليهمابتكلموشعربي؟", "xn--egbpdaj6bu4bxfgehfvwxn"), ("他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"),
            ("3年b組金八先生", "xn--3b-ww4c5e180e575a65lsy2b"), ("bücher", "xn--bcher-kva"),
        ])
    func punycode(label: String, ascii: String) throws {
        let rules = (0..<100).map { "filler\($0)" } + ["\(label).example"]
        let list = try #require(PublicSuffixes(list: rules.joined(separator: "\n").utf8))
        #expect(list.isPublicSuffix(ascii + ".example"))
    }

    @Test("B8.69: cookies come back from their file's form as they were")
    func file() throws {
        var full = try cookie(
            "a=%\t\"ü;Domain=example.com;Path=/x%;Secure;HttpOnly;SameSite=Lax;Max-Age=60;Comment=a\tb")
        full.commentURL = "http://example.com/"
        full.ports = [80, 8080]
        full.version = 1
        full.created += 0.123456789
        var script = try cookie("b=")
        script.isFromScript = true
        for cookies in [[], [full], [full, script]] {
            #expect(CookieFile.decode(CookieFile.encode(cookies)) == cookies)
        }
        let bytes = CookieFile.encode([full, script])
        for end in bytes.indices { #expect(CookieFile.decode(Array(bytes[..<end])) == nil, "torn at \(end)") }
    }

    @Test("B8.69: no byte that is changed in a file makes a cookie that could not be one")
    func changedFile() throws {
        let bytes = CookieFile.encode([try cookie("name=value;Max-Age=60")])
        for index in bytes.indices {
            for byte in [UInt8(0), 0x09, 0x0A, 0x25, 0x39, 0xFF] {
                var changed = bytes
                changed[index] = byte
                for cookie in CookieFile.decode(changed) ?? [] {
                    #expect(!cookie.name.isEmpty && Cookie.isText(cookie.name) && Cookie.isText(cookie.value))
                    #expect(cookie.path.hasPrefix("/") && cookie.created.isFinite)
                }
            }
        }
    }

    @Test("B8.72: too many altogether: ended ones, then the insecure of crowded domains, then those, then any")
    func crowds() throws {
        var jar = CookieJar(limits: CookieLimits(inDomain: 100, inAll: 10, crowd: 2))
        func fill(_ field: String, _ host: String) throws { jar.store(try cookie(field, from: host), now: now) }
        try fill("old=1", "alone.test")
        try fill("secure=1;Secure", "crowd.test")
        for number in 0..<7 { try fill("c\(number)=1", "crowd.test") }
        try fill("ends=1;Max-Age=5", "alone.test")
        #expect(jar.count == 10)
        jar.store(try cookie("new=1", from: "new.test"), now: now + 5)
        #expect(jar.count == 10 && jar.all(now).allSatisfy { $0.name != "ends" })
        for number in 0..<6 {
            jar.store(try cookie("n\(number)=1", from: "n\(number).test"), now: now)
            #expect(jar.all(now).contains { $0.name == "old" } && jar.all(now).contains { $0.name == "secure" })
        }
        #expect(jar.count == 10)
    }

    @Test("B8.34: what a script sets takes the place of nothing that scripts may not see")
    func scripts() throws {
        var jar = CookieJar()
        var isChanged = false
        let context = CookieContext(try place("example.com"))
        func receive(_ cookie: Cookie) -> CookieRefusal? {
            jar.receive(cookie, from: context, now: now, suffixes: { .builtIn }, isChanged: &isChanged)
        }
        #expect(receive(try cookie("a=1;HttpOnly")) == nil && isChanged)
        var other = try cookie("a=2")
        other.isFromScript = true
        isChanged = false
        #expect(receive(other) == .hiddenFromScripts && !isChanged)
        #expect(receive(try cookie("a=3")) == nil)
        #expect(receive(other) == nil)
    }

    @Test("A cookie's description hides its value")
    func description() throws {
        #expect(try !"\(cookie("a=secret"))".contains("secret"))
        let field = try #require(SetCookie(Array("a=secret".utf8)))
        #expect(!"\(field)".contains("secret"))
    }
}
