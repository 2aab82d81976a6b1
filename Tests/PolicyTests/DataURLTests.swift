// `data:` URLs as text: what each holds, and which are refused (RFC 2397, behaviour 14.3).

import Testing
import URLLoadingPolicy

@Suite("Data URLs")
struct DataURLTests {
    private static let readable: [(url: String, type: String, charset: String?, content: String)] = [
        ("data:,abc", "text/plain", nil, "abc"),
        ("DATA:,abc", "text/plain", nil, "abc"),
        ("data:,", "text/plain", nil, ""),
        ("data:;base64,", "text/plain", nil, ""),
        ("data:,a%20b%2Cc,d", "text/plain", nil, "a b,c,d"),
        ("data:,a%2", "text/plain", nil, "a%2"),
        ("data:,100%zz", "text/plain", nil, "100%zz"),
        ("data:,a#b", "text/plain", nil, "a"),
        ("data:text/html,<p>", "text/html", nil, "<p>"),
        ("data:;charset=utf-8,abc", "text/plain", "utf-8", "abc"),
        ("data:text/css;charset=UTF-16;charset=utf-8,abc", "text/css", "UTF-16", "abc"),
        ("data:text/plain;colour=green;charset=utf-8;hex,abc", "text/plain", "utf-8", "abc"),
        ("data:application/vnd.example+json;v=1,%7B%7D", "application/vnd.example+json", nil, "{}"),
        ("data:;base64,aGVsbG8=", "text/plain", nil, "hello"),
        ("data:text/plain;BASE64,aGVsbG8", "text/plain", nil, "hello"),
        ("data:;charset=utf-8;Base64,aGVs%62G8%3D", "text/plain", "utf-8", "hello"),
        ("data:;base64,aGVs%0AbG8=", "text/plain", nil, "hello"),
        ("data:;base64;colour=green,aGVsbG8=", "text/plain", nil, "aGVsbG8="),
        ("data:;charset=utf-8;charset=utf-16;image/png,abc", "text/plain", "utf-8", "abc"),
        ("data:;charset,x", "text/plain", nil, "x"),
        ("data:;charset;charset=utf-8,x", "text/plain", "utf-8", "x"),
        ("data:text/plain;,abc", "text/plain", nil, "abc"),
        ("data:;;charset=utf-8,abc", "text/plain", "utf-8", "abc"),
        ("data:;x%20y=z,abc", "text/plain", nil, "abc"),
        ("data:;(x)=z;a/b=c,abc", "text/plain", nil, "abc"),
        ("data:IMAGE/gif,x", "image/gif", nil, "x"),
        ("data:;base64,aG%09Vs%0D%0Ab%0CG8=%20", "text/plain", nil, "hello"),
    ]

    @Test("B14.14, B14.15, B14.16, B14.18, B14.19: what a URL holds", arguments: readable)
    func reading(url: String, type: String, charset: String?, content: String) throws {
        let data = try DataURL(url)
        #expect(data.mimeType == type)
        #expect(data.charset == charset)
        #expect(String(decoding: data.content, as: UTF8.self) == content)
    }

    private static let refused: [(url: String, fault: DataURL.Fault)] = [
        ("data:", .noComma),
        ("data:abc", .noComma),
        ("data:text/plain%2Cabc", .noComma),
        ("data:text/plain#,abc", .noComma),
        ("data:text,abc", .mediaType),
        ("data:text/,abc", .mediaType),
        ("data:/plain,abc", .mediaType),
        ("data:text/plain/x,abc", .mediaType),
        ("data:te%78t/plain,abc", .mediaType),
        ("data:base64,abc", .mediaType),
        ("data:;=utf-8,abc", .parameter),
        ("data:;charset=,abc", .parameter),
        ("data:;charset=utf%2D8,abc", .parameter),
        ("data:;charset=utf-8;charset=%,abc", .parameter),
        ("data:;base64,a", .base64),
        ("data:;base64,a*bc", .base64),
        ("data:;base64,ab%0Bcd", .base64),
        ("data:;base64,ab\u{B}cd", .base64),
        ("data:;base64,aGVsbG8===", .base64),
        ("dat:,abc", .scheme),
        ("", .scheme),
    ]

    @Test("B14.17: what is refused, and why", arguments: refused)
    func refusing(url: String, fault: DataURL.Fault) {
        #expect(throws: fault) { try DataURL(url) }
    }

    @Test("Every byte can be written in either encoding")
    func everyByte() throws {
        let bytes = (0...255).map { UInt8($0) }
        let hex = Array("0123456789abcdef")
        let escaped = bytes.map { "%\(hex[Int($0 >> 4)])\(hex[Int($0 & 15)])" }.joined()
        #expect(try DataURL("data:," + escaped).content == bytes)
        #expect(try DataURL("data:,%41%61%4A%6a").content == Array("AaJj".utf8))
    }

    private static let names: [(path: String, type: String)] = [
        ("/a/page.html", "text/html"), ("/a/IMAGE.PNG", "image/png"), ("notes.txt", "text/plain"),
        ("/a/archive.tar.gz", "application/gzip"), ("/a/data.json", "application/json"),
        ("/a.html/readme", "application/octet-stream"), ("/a/.html", "application/octet-stream"),
        ("/a/x.", "application/octet-stream"), ("/a/x.unheardof", "application/octet-stream"),
        ("", "application/octet-stream"), ("/", "application/octet-stream"),
    ]

    @Test("B14.11: the type of a file is that of its last extension", arguments: names)
    func types(path: String, type: String) {
        #expect(FileTypes.mimeType(ofPath: path) == type)
    }
}
