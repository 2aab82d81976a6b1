// The parts of cookie handling by themselves: dates, suffixes, the file's form, a jar's limits (behaviour chapter 8).

import Testing
import URLLoadingPolicy
import URLLoadingTestSupport

@Suite("Cookies as values")
struct CookieTests {
    private let now: Double = 1_000_000

    private func place(_ host: String, path: String = "/", scheme: String = "https") throws -> CookiePlace {
        try #require(CookiePlace(scheme: scheme, host: host, port: nil, path: path))
    }

    /// A name and those above it.
    private func names(from host: String) -> [String] {
        let labels = host.split(separator: ".")
        return labels.indices.map { labels[$0...].joined(separator: ".") }
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

    @Test("B8.33: nothing at or above a host's suffix is for a cookie")
    func wideDomains() throws {
        let suffixes = PublicSuffixes.builtIn
        let hosts = [
            ("me.s3.amazonaws.com", "s3.amazonaws.com"), ("a.b.kobe.jp", "b.kobe.jp"), ("x.city.kobe.jp", "kobe.jp"),
            ("a.me.github.io", "github.io"), ("www.example.co.uk", "co.uk"), ("a.unknown", "unknown"),
        ]
        for (host, suffix) in hosts {
            #expect(suffixes.suffix(of: host) == suffix)
            for domain in names(from: host) {
                let isTooWide = domain.count <= suffix.count
                #expect(suffixes.isTooWide(domain, for: host) == isTooWide, "\(domain) for \(host)")
                var cookie = try cookie("a=1;Domain=\(domain)", from: host)
                let refusal = CookieRules.refusal(
                    &cookie, from: CookieContext(try place(host)), suffixes: { suffixes })
                #expect(refusal == (isTooWide ? .publicSuffix : nil))
            }
        }
        // A host that is itself a suffix may set a cookie for itself alone.
        for host in ["s3.amazonaws.com", "amazonaws.com", "kobe.jp", "github.io"] {
            var cookie = try cookie("a=1;Domain=\(host)", from: host)
            let refusal = CookieRules.refusal(&cookie, from: CookieContext(try place(host)), suffixes: { suffixes })
            #expect(refusal == nil && cookie.isHostOnly == suffixes.isPublicSuffix(host))
        }
    }

    @Test("B8.33: the built-in rules are all of a list's: first and last ones, stars, exceptions, other alphabets")
    func builtInRules() {
        let suffixes = PublicSuffixes.builtIn
        let known = [
            "com.ac", "x.0emm.com", "org.zw", "x.kobe.jp", "x.ck", "xn--55qx5d.cn",
            "s3.dualstack.us-east-1.amazonaws.com",
            "blogspot.com", "pvt.k12.ma.us",
        ]
        for suffix in known {
            #expect(suffixes.isPublicSuffix(suffix), "\(suffix)")
            #expect(suffixes.suffix(of: "a.b.\(suffix)") == suffix)
            #expect(suffixes.site(of: "a.b.\(suffix)") == "b.\(suffix)")
        }
        for name in ["www.ck", "city.kobe.jp", "amazonaws.com", "example.com", "k12", "ma", "x.y.0emm.com"] {
            #expect(suffixes.isPublicSuffix(name) == !name.contains("."), "\(name)")
        }
        for odd in ["", ".", "..", ".com", "com.", "=,;", "*.ck", "!www.ck", String(repeating: "ck.", count: 9_000)] {
            #expect(suffixes.suffix(of: odd).count <= odd.count)
        }
    }

    @Test("B8.33: the built-in rules and a list say the same of the names of each rule")
    func rulesOfList() throws {
        // The rules of the table, in the form of a list.
        let entries = PublicSuffixTable.text.description.split(separator: ";")
        var rules: [String] = []
        for entry in entries {
            let parts = entry.split(separator: "=")
            for label in parts[1].split(separator: ",") {
                rules.append(label.hasPrefix("!") ? "!\(label.dropFirst()).\(parts[0])" : "\(label).\(parts[0])")
            }
        }
        #expect(rules.count > 5_000)
        let list = try #require(PublicSuffixes(list: rules.joined(separator: "\n").utf8))
        for place in stride(from: 0, to: rules.count, by: Sanitizer.isActive ? 10 : 1) {
            let rule = rules[place]
            let name = rule.drop { "!*.".contains($0) }
            for asked in ["\(name)", "a.\(name)", "0.a.\(name)", "\(name.dropFirst())", "\(name)x"] {
                #expect(PublicSuffixes.builtIn.suffix(of: asked) == list.suffix(of: asked), "\(asked)")
            }
        }
    }

    @Test("B8.59: public suffixes are asked for only where SameSite has two hosts to compare")
    func unaskedSuffixes() throws {
        let here = try place("www.example.com")
        var asked = 0
        for (mainHost, expected) in [(nil, 0), ("www.example.com", 0), ("example.com", 1), ("other.test", 1)] {
            for field in ["a=1;SameSite=Lax", "a=1;SameSite=Strict"] {
                let context = CookieContext(here, mainHost: mainHost)
                let suffixes = {
                    asked += 1
                    return PublicSuffixes.builtIn
                }
                let isSameSite = mainHost != "other.test"
                var cookie = try cookie(field, from: here.host)
                asked = 0
                let refusal = CookieRules.refusal(&cookie, from: context, suffixes: suffixes)
                #expect(refusal == (isSameSite ? nil : .crossSite) && asked == expected)
                asked = 0
                let isSent = CookieRules.isSent(cookie, with: context, now: now, suffixes: suffixes)
                #expect(isSent == isSameSite && asked == expected)
            }
        }
    }

    @Test("B8.34: a hidden Secure cookie is found without going through all that a jar holds")
    func hiddenSecure() throws {
        var jar = CookieJar(limits: CookieLimits(inDomain: 1_000, inAll: 1_000, crowd: 1_000))
        for number in 0..<600 {
            // Half of them of one name and for one domain, each for another path.
            let field = number % 2 == 0 ? "a=1;Secure;Path=/\(number)/x" : "n\(number)=1;Secure;Domain=example.test"
            jar.store(try cookie(field, from: "w\(number % 4).example.test"), now: now)
        }
        let context = CookieContext(try place("www.example.test", scheme: "http"))
        let before = jar.secureSteps
        var refused = 0
        for number in 0..<300 {
            var isChanged = false
            let path = number % 3 == 0 ? "/\(number * 2)/x/y" : "/free"
            let cookie = try cookie("a=2;Domain=example.test;Path=\(path)", from: "www.example.test")
            let refusal = jar.receive(
                cookie, from: context, now: now, suffixes: { .builtIn }, isChanged: &isChanged)
            #expect((refusal == .hidesSecure) == (number % 3 == 0))
            refused += refusal == .hidesSecure ? 1 : 0
        }
        #expect(refused == 100)
        #expect(jar.secureSteps - before < 300 * 20)
    }

    @Test("B8.62: a Secure cookie that replaces itself is hidden as before, and costs nothing to be found")
    func secureAgain() throws {
        var jar = CookieJar()
        let context = CookieContext(try place("www.example.com", scheme: "http"))
        func hides(_ field: String) throws -> Bool {
            var copy = jar
            var isChanged = false
            return copy.receive(
                try cookie(field, from: "www.example.com"), from: context, now: now, suffixes: { .builtIn },
                isChanged: &isChanged) == .hidesSecure
        }
        jar.store(try cookie("a=1;Secure", from: "www.example.com"), now: now)
        let kept = jar.secureSteps
        #expect(kept > 0)
        for number in 0..<5 {
            #expect(jar.store(try cookie("a=x\(number);Secure", from: "www.example.com"), now: now))
        }
        #expect(try jar.secureSteps == kept && hides("a=2;Domain=example.com"))
        for _ in 0..<2 { jar.store(try cookie("a=2", from: "www.example.com"), now: now) }
        #expect(try !hides("a=3;Domain=example.com"))
        for _ in 0..<2 { jar.store(try cookie("a=3;Secure", from: "www.example.com"), now: now) }
        #expect(try hides("a=4;Domain=example.com"))
        jar.remove(since: -.infinity)
        #expect(try !hides("a=4;Domain=example.com"))
    }

    @Test("B8.34: what hides a Secure cookie, by name, domain and path; what has gone is not hidden")
    func hidesSecure() throws {
        var jar = CookieJar()
        let secure = try cookie("a=1;Secure;Domain=b.example.com;Path=/x/", from: "c.b.example.com")
        func hides(_ field: String, _ host: String = "c.b.example.com") throws -> Bool {
            var copy = jar
            var isChanged = false
            let context = CookieContext(try place(host, scheme: "http"))
            return copy.receive(
                try cookie(field, from: host), from: context, now: now, suffixes: { .builtIn }, isChanged: &isChanged)
                == .hidesSecure
        }
        for _ in 0..<2 { jar.store(secure, now: now) }
        for domain in ["example.com", "b.example.com", "c.b.example.com"] {
            for path in ["/x/", "/x/y", "/x/y/"] { #expect(try hides("a=2;Domain=\(domain);Path=\(path)")) }
            for path in ["/", "/x", "/xy", "/y/x/"] { #expect(try !hides("a=2;Domain=\(domain);Path=\(path)")) }
            #expect(try !hides("b=2;Domain=\(domain);Path=/x/"))
        }
        #expect(try !hides("a=2;Path=/x/", "d.example.com"))
        // Many paths are looked up by the new one's.
        for number in 0..<20 { jar.store(try cookie("a=1;Secure;Path=/n\(number)/p", from: "b.example.com"), now: now) }
        #expect(try hides("a=2;Path=/n7/p", "b.example.com") && hides("a=2;Path=/n7/p/q/r", "b.example.com"))
        #expect(try !hides("a=2;Path=/n7", "b.example.com") && !hides("a=2;Path=/n7/pq", "b.example.com"))
        #expect(try hides("a=2;Path=/x/y", "b.example.com"))
        var plain = secure
        plain.isSecure = false
        jar.store(plain, now: now)
        #expect(try !hides("a=2;Path=/x/y", "b.example.com"))
        jar.remove(since: -.infinity)
        #expect(try !hides("a=2;Path=/n7/p", "b.example.com"))
    }

    @Test("B8.33: text that is not a list is refused; the built-in rules know the common suffixes")
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

    @Test("B8.68: a change that is not among the cookies any more makes no room in their file")
    func room() throws {
        let cookies = [try cookie("a=" + String(repeating: "a", count: 100)), try cookie("b=1")]
        let limit = CookieFile.encode([cookies[1]]).count
        // Longer than all that is too much, and over.
        let ended = try cookie("c=" + String(repeating: "c", count: 1000))
        let (text, leftOut) = CookieFile.encode(cookies, atMost: limit, new: cookies + [ended])
        #expect(CookieFile.decode(text) == [cookies[1]] && leftOut == [cookies[0].identity])
    }

    @Test("B8.30, B8.51: a path begins with a slash, also where a mark behind it makes one character of both")
    func markedPath() throws {
        let path = "/\u{301}a"
        let cookie = try cookie("a=1; Path=" + path)
        #expect(cookie.path == path && cookie.hasOwnPath)
        #expect(CookieFile.decode(CookieFile.encode([cookie])) == [cookie])
        #expect(CookiePlace.isPath(path + "/b", within: path) && CookiePlace.isPath(path, within: "/"))
    }

    @Test("B8.69: whichever byte of a file is changed, no invalid cookie comes of it")
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

    @Test("B8.55, B8.56: the field has the cookies of all domains and paths in order, and a jar's copy keeps its own")
    func sentField() throws {
        var jar = CookieJar(limits: CookieLimits(inDomain: 6, inAll: 100, crowd: 50))
        let context = CookieContext(try place("c.b.example.com", path: "/x/y"))
        func field(_ jar: inout CookieJar) -> String? {
            jar.field(for: context, now: now, suffixes: { .builtIn })
        }
        #expect(field(&jar) == nil)
        let fields = [
            "up=1;Domain=example.com", "deep=2;Domain=b.example.com;Path=/x/y", "own=3", "path=4;Path=/x",
            "empty=;Path=/x", "u=ä;Domain=b.example.com", "other=7;Path=/z", "last=8;Path=/x/",
        ]
        for field in fields { jar.store(try cookie(field, from: "c.b.example.com"), now: now) }
        var older = try cookie("older=9", from: "c.b.example.com")
        older.created -= 1
        jar.store(older, now: now)
        var copy = jar
        let expected = "deep=2; last=8; path=4; empty=; older=9; up=1; own=3; u=ä"
        for _ in 0..<2 { #expect(field(&copy) == expected) }
        let cookies = copy.cookies(for: context, now: now, suffixes: { .builtIn })
        #expect(cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ") == expected)
        // The host has six, of which `other` was never sent; in the jar that sent none, `own` is the oldest.
        let more = try cookie("more=10", from: "c.b.example.com")
        copy.store(more, now: now)
        jar.store(more, now: now)
        #expect(Set(copy.all(now).map(\.name)).subtracting(jar.all(now).map(\.name)) == ["own"])
        #expect(Set(jar.all(now).map(\.name)).subtracting(copy.all(now).map(\.name)) == ["other"])
    }

    @Test("B8.72: a cookie that is one too many takes the least wanted one's place, and both are told to others")
    func pushedOut() throws {
        var jar = CookieJar(limits: CookieLimits(inDomain: 3, inAll: 100, crowd: 50), recordsTouched: true)
        func put(_ field: String) throws -> [String] {
            _ = jar.takeTouched()
            jar.store(try cookie(field), now: now)
            return jar.takeTouched().map(\.name).sorted()
        }
        let context = CookieContext(try place("example.com"))
        func sent() -> [String] {
            jar.cookies(for: context, now: now, suffixes: { .builtIn }).map(\.name)
        }
        for field in ["a=1", "b=1;Secure;Path=/x", "c=1"] { _ = try put(field) }
        // Uses the others, so that the Secure one is the one that was used least lately.
        #expect(sent() == ["a", "c"])
        #expect(try put("d=1") == ["a", "d"] && jar.count == 3)
        #expect(try put("d=2") == ["d"] && jar.count == 3)
        #expect(try put("e=1;Secure") == ["c", "e"] && put("f=1;Secure") == ["d", "f"])
        #expect(jar.all(now).map(\.name) == ["b", "e", "f"])
        // All the others are Secure: what is new has no place itself.
        #expect(try put("g=1") == ["g"] && jar.count == 3)
        #expect(try put("h=1;Secure") == ["b", "h"] && sent() == ["e", "f", "h"])
    }

    @Test("B8.68: what goes is told to others, also where changes that no one has asked for are forgotten")
    func forgottenChanges() throws {
        var jar = CookieJar(limits: CookieLimits(inDomain: 2, inAll: 2, crowd: 2), recordsTouched: true)
        let kept = try cookie("kept=1")
        jar.store(kept, now: now)
        _ = jar.takeTouched()
        // Eight for each place that there is.
        for number in 0..<16 {
            let other = try cookie("n\(number)=1")
            #expect(jar.store(other, now: now) && jar.remove(other.identity))
        }
        #expect(jar.touched.count == 16)
        #expect(jar.remove(kept.identity) && !jar.remove(kept.identity))
        #expect(jar.touched == [kept.identity] && jar.isEmpty)
    }

    @Test("B8.34: a cookie that a script sets does not replace one that scripts may not see")
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
