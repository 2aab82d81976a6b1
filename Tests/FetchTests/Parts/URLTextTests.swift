// URLs as they are typed: without a scheme, with braces and brackets.

import Foundation
import Testing
import URLLoadingFetch

@Suite("fetch: URLs as they are typed")
struct URLTextTests {
    @Test(
        "Braces and brackets stand for several URLs, the last choice first to change",
        arguments: [
            ("a{b,c}d", ["abd", "acd"]), ("[1-3]", ["1", "2", "3"]), ("[08-10]", ["08", "09", "10"]),
            ("[a-c]", ["a", "b", "c"]), ("[0-10:5]", ["0", "5", "10"]), ("[a-e:2]", ["a", "c", "e"]),
            ("{x,y}[1-2]", ["x1", "x2", "y1", "y2"]), ("{a}", ["a"]), ("{,b}", ["", "b"]), ("\\{a\\}", ["{a}"]),
            ("{a\\,b,c}", ["a,b", "c"]), ("http://[::1]:80/[1-2]", ["http://[::1]:80/1", "http://[::1]:80/2"]),
            ("[fe80::1%25lo]", ["[fe80::1%25lo]"]), ("", [""]), ("[3-3]", ["3"]), ("a\\b", ["a\\b"]),
        ])
    func patterns(text: String, urls: [String]) throws {
        let pattern = try URLPattern(text)
        #expect(pattern.expansions.map(\.text) == urls && pattern.count == urls.count)
    }

    @Test(
        "What is no choice is refused with 3, and so are too many URLs",
        arguments: [
            "[1-", "[3-1]", "[a-1]", "{a", "a}", "[1-2-3]", "[]", "{a{b}}", "[1-2:0]", "[1-2:x]", "[-]", "[ä-ö]",
            "[1-100001]", "[1-1000][1-1000]", "[1-99999999999999999999]", "{a[1-2]}", "[0-999999999999999]",
        ])
    func wrongPatterns(text: String) {
        let error = #expect(throws: UsageError.self) { try URLPattern(text) }
        #expect(error?.code == .badURL)
    }

    @Test("What was chosen stands in the names of files")
    func names() throws {
        #expect(URLPattern.fill("a#1-#2#3#0#x#", with: ["x", "y"]) == "ax-y#3#0#x#")
        #expect(URLPattern.fill("#10", with: ["x"]) == "#10" && URLPattern.fill("", with: []) == "")
        guard case .fetch(let groups) = try CommandLineReading.read(["-o", "f#1", "http://a/{x,y}", "http://b/"]) else {
            return
        }
        #expect(groups[0].targets.map(\.output) == [.file("fx"), .file("fy"), nil])
        guard case .fetch(let plain) = try CommandLineReading.read(["-g", "http://a/{x,y}"]) else { return }
        #expect(plain[0].targets.count == 1)
        guard case .fetch(let mixed) = try CommandLineReading.read(["-o", "f", "http://a/", "-O", "http://b/"]) else {
            return
        }
        #expect(mixed[0].targets.map(\.output) == [.file("f"), .remoteName])
        guard case .fetch(let all) = try CommandLineReading.read(["-O", "http://a/", "http://b/"]) else { return }
        #expect(all[0].targets.map(\.output) == [.remoteName, .remoteName])
    }

    @Test(
        "A URL without a scheme is http at home and https elsewhere",
        arguments: [
            ("example.com", "https://example.com", true),
            ("example.com:8443/a?b", "https://example.com:8443/a?b", true),
            ("example.com:80/a", "http://example.com:80/a", false),
            ("localhost:8080/a", "http://localhost:8080/a", false),
            ("app.localhost", "http://app.localhost", false), (":8080/a", "http://localhost:8080/a", false),
            (":/a", "http://localhost/a", false), (":", "http://localhost", false),
            (":80?x", "http://localhost:80?x", false),
            ("127.1.2.3", "http://127.1.2.3", false), ("192.168.1.1/x", "http://192.168.1.1/x", false),
            ("172.32.0.1", "https://172.32.0.1", true), ("172.31.0.1", "http://172.31.0.1", false),
            ("[::1]:80/", "http://[::1]:80/", false), ("[fd00::1]", "http://[fd00::1]", false),
            ("[2001:db8::1]", "https://[2001:db8::1]", true), ("//example.com/a", "https://example.com/a", true),
            ("me:secret@example.com/a", "https://me:secret@example.com/a", true),
            ("http://example.com", "http://example.com", false), ("HTTPS://a/", "HTTPS://a/", false),
            ("file:/etc/hosts", "file:/etc/hosts", false), ("data:,x", "data:,x", false),
            ("example.com?u=http://b/", "https://example.com?u=http://b/", true),
        ])
    func guesses(text: String, url: String, mayBePlain: Bool) throws {
        let reading = try URLGuess.read(text)
        #expect(reading.url.absoluteString == url && reading.mayBePlain == mayBePlain)
    }

    @Test("--proto-default says what a URL without a scheme has")
    func usualScheme() throws {
        #expect(try URLGuess.read("example.com", scheme: "http").url.absoluteString == "http://example.com")
        #expect(try !URLGuess.read("example.com", scheme: "https").mayBePlain)
        #expect(try URLGuess.read(":80", scheme: "https").url.absoluteString == "https://localhost:80")
    }

    @Test(
        "What is no URL is refused with 3",
        arguments: [
            "", "/a", "./a", "a:b", "http:/a/", "HTTPS:/a", "a:99999", "mailto:a:b", ".a", "[::1", "?x", "-a", ":x",
        ])
    func noURLs(text: String) {
        let error = #expect(throws: UsageError.self) { try URLGuess.read(text) }
        #expect(error?.code == .badURL && error?.advice != nil)
    }

    @Test("--proto knows =, + and -, and nothing but schemes")
    func schemes() {
        #expect(
            OptionValue.schemes("=https")?.contains("http") == false
                && OptionValue.schemes("=https")?.contains("HTTPS") == true)
        #expect(
            OptionValue.schemes("-ftp,-ftps")?.contains("ftp") == false
                && OptionValue.schemes("-ftp")?.contains("ws") == true)
        #expect(OptionValue.schemes("-all,https")?.contains("https") == true && OptionValue.schemes("-all") == nil)
        #expect(OptionValue.schemes("=gopher") == nil && OptionValue.schemes("") == nil)
        #expect(
            OptionValue.redirectSchemes("+ftp")?.contains("ftp") == true
                && OptionValue.redirectSchemes("=all")?.contains("file") == true)
    }

    @Test("Bytes have curl's units, and no number is too large")
    func bytes() {
        #expect(OptionValue.bytes("10") == 10 && OptionValue.bytes("2k") == 2048 && OptionValue.bytes("1G") == 1 << 30)
        #expect(OptionValue.bytes("9999999T") == nil && OptionValue.bytes("-1") == nil && OptionValue.bytes("k") == nil)
        #expect(OptionValue.rate("0") == nil && OptionValue.rate("1M") == 1 << 20 && OptionValue.bytes("") == nil)
    }

    @Test("Text is encoded as forms are")
    func encoding() {
        #expect(OptionValue.encodedPiece("a b") == .encoded(name: nil, .text("a b")))
        #expect(OptionValue.encodedPiece("n=a=b") == .encoded(name: "n", .text("a=b")))
        #expect(OptionValue.encodedPiece("=a") == .encoded(name: nil, .text("a")))
        #expect(
            OptionValue.encodedPiece("n@f") == .encoded(name: "n", .file("f"))
                && OptionValue.encodedPiece("@f") == .encoded(name: nil, .file("f")))
        #expect(OptionValue.queryPiece("+a b") == .text("a b"))
        #expect(QueryText.form(Data("a b/ä~-._&=".utf8)) == "a+b%2F%C3%A4~-._%26%3D")
    }

    @Test("Dates of --time-cond")
    func dates() {
        let day = Date(timeIntervalSince1970: 1_795_824_000)
        for text in [
            "2026-11-28", "20261128", "28 Nov 2026", "Sat, 28 Nov 2026 00:00:00 GMT", "2026-11-28 00:00",
            "2026-11-28T01:00:00+01:00",
        ] {
            #expect(RequestConditions.date(in: text) == day, "\(text)")
        }
        #expect(RequestConditions.date(in: "soon") == nil && RequestConditions.date(in: "2026-13-01") == nil)
        #expect(HTTPDate.text(day) == "Sat, 28 Nov 2026 00:00:00 GMT")
        // RFC 9110 §5.6.7 has these three.
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            #expect(HTTPDate.read(text) == Date(timeIntervalSince1970: 784_111_777), "\(text)")
        }
    }
}
