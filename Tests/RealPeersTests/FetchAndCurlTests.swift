// fetch beside curl: the same body, status and fields for varied URLs, from nginx and Apache over both protocols, and
// from the LoopbackServer. What cannot be the same is left out and named: the moment of the answer (Date), and what is
// said about the connection (Connection, Keep-Alive), since only fetch asks for one that stays. Dot segments are sent
// as written by fetch, and by curl when told to.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

/// A request in the words of both commands.
private struct Errand: Sendable {
    let path: String
    var options: [String] = []
    /// curl follows redirects only when it is told to, fetch unless it is told not to.
    var follows = false

    init(_ path: String, _ options: String..., follows: Bool = false) {
        self.path = path
        self.options = options
        self.follows = follows
    }

    static let all = paths + methods + conditions

    /// Every fifth under a sanitizer, where each start of the command takes a third of a second.
    static func chosen(overHTTP2: Bool) -> [Errand] {
        let all = all.filter { !(overHTTP2 && $0.hasBody) }
        return Sanitizer.isActive ? stride(from: 0, to: all.count, by: 5).map { all[$0] } : all
    }

    /// A server may answer without reading a body, and then resets the stream. curl 7.88 takes that for a failure (92)
    /// where it comes before the body has been sent, though the answer is whole (RFC 9113 §8.1).
    private var hasBody: Bool { !options.contains("-G") && options.contains { ["-d", "-F", "--json"].contains($0) } }

    /// What URLs can look like.
    private static let paths: [Errand] = [
        Errand("/hello"), Errand("/hello?query"), Errand("/hello?a=b&c=%20d&e=%C3%A4"), Errand("/hello#fragment"),
        Errand("/hello?x#y"), Errand("/a%20b.txt"), Errand("/%C3%A4.txt"), Errand("/%c3%a4.txt"),
        Errand("/100%25.txt"), Errand("/semi;colon"), Errand("/plus+plus"), Errand("/q%3Fmark"), Errand("/%68ello"),
        Errand("/deep/er/file"), Errand("/deep/../hello"), Errand("/./hello"), Errand("/deep/er/./file"),
        Errand("/deep/er/../../hello"), Errand("/hello/."), Errand("/../hello"), Errand("//hello"),
        Errand("/deep//er/file"), Errand("/hello/"), Errand("/missing"), Errand("/missing?x"), Errand("/missing#x"),
        Errand("/empty"), Errand("/empty?"), Errand("/hello?"), Errand("/hello#"), Errand("/hello?#"),
        Errand("/hello?a="), Errand("/hello?=b"), Errand("/hello?a=1&a=2"), Errand("/hello?a;b"),
        Errand("/hello?a/b?c"), Errand("/hello?a=b+c"), Errand("/hello?%22quoted%22"), Errand("/hello?it's"),
        Errand("/hello?u=http://example.com/%23x"), Errand("/hello?@:!$&()*,;="), Errand("/hello?a~b-c_d.e"),
        Errand("/a~b"), Errand("/a-b_c.d"), Errand("/a,b"), Errand("/a;b=c"), Errand("/(a)"), Errand("/a!b"),
        Errand("/it's"), Errand("/a*b"), Errand("/a$b"), Errand("/a&b=c"), Errand("/a:b"), Errand("/a@b"),
        Errand("/%2Fhello"), Errand("/deep%2Fer/file"), Errand("/%7Ea"), Errand("/%41%42%43"), Errand("/%00"),
        Errand("/%FF"), Errand("/hello%0D%0AX-Test:%20x"), Errand("/" + String(repeating: "long/", count: 300)),
        Errand("/hello?" + String(repeating: "long=query&", count: 300)), Errand("/large"), Errand("/long.txt"),
        Errand("/moved"), Errand("/moved", follows: true), Errand("/moved#part", follows: true), Errand("/deep"),
        Errand("/teapot"), Errand("/fields"), Errand(""), Errand("?root"),
    ]

    /// Methods, and what is sent with them.
    private static let methods: [Errand] = [
        Errand("/hello", "-I"), Errand("/large", "-I"), Errand("/missing", "-I"), Errand("/empty", "-I"),
        Errand("/hello?query", "-I"), Errand("/moved", "-I"), Errand("/long.txt", "-I"), Errand("/teapot", "-I"),
        Errand("/hello", "-X", "DELETE"), Errand("/hello", "-X", "OPTIONS"), Errand("/hello", "-X", "PATCH"),
        Errand("/hello", "-X", "MADE-UP"), Errand("/hello", "-d", "a=b"), Errand("/hello", "-d", ""),
        Errand("/missing", "-d", "a=b"), Errand("/hello", "-X", "PUT", "-d", "text"),
        Errand("/hello", "-G", "-d", "a=b%20c"), Errand("/hello?x", "-G", "-d", "a=b"), Errand("/hello", "-F", "a=b"),
        Errand("/hello", "--json", "{}"), Errand("/hello", "-f"), Errand("/missing", "-f"), Errand("/teapot", "-f"),
    ]

    /// Fields that ask for something else than all of it.
    private static let conditions: [Errand] = [
        Errand("/hello", "-r", "0-4"), Errand("/hello", "-r", "0-0"), Errand("/hello", "-r", "-3"),
        Errand("/hello", "-r", "5-"), Errand("/hello", "-r", "0-9999"), Errand("/large", "-r", "1000-1999"),
        Errand("/large", "-r", "999000-"), Errand("/hello", "-r", "9999-"), Errand("/empty", "-r", "0-0"),
        Errand("/long.txt", "--compressed"), Errand("/hello", "--compressed"), Errand("/missing", "--compressed"),
        Errand("/fields", "-H", "X-Test: from here"), Errand("/fields", "-H", "X-Test: a", "-H", "X-Other: b"),
        Errand("/hello", "-H", "If-None-Match: *"), Errand("/hello", "-H", "If-Match: \"other\""),
        Errand("/hello", "-H", "If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT"),
        Errand("/hello", "-H", "If-Unmodified-Since: Thu, 01 Jan 1970 00:00:01 GMT"),
        Errand("/hello", "-r", "0-4", "-H", "If-Range: \"other\""), Errand("/hello", "-A", "somebody"),
        Errand("/hello", "-e", "http://example.com/"), Errand("/hello", "-u", "user:secret"),
        Errand("/hello", "-b", "a=b"),
    ]
}

/// What a command brought.
private struct ErrandResult: Equatable, CustomStringConvertible {
    var exitCode: Int32
    /// The protocol's version and the number.
    var status: String
    var fields: [String]
    var body: [UInt8]

    /// From what `-i` writes: all heads, of which the last is the answer's.
    init(_ run: ChildRun, heads: Int) {
        exitCode = run.exitCode
        var rest = run.output[...]
        var lines: [String] = []
        for _ in 0..<heads {
            lines = []
            while let end = rest.firstIndex(of: 10) {
                let line = String(decoding: rest[..<end], as: UTF8.self).trimmingCharacters(in: ["\r"])
                rest = rest[(end + 1)...]
                if line.isEmpty { break }
                lines.append(line)
            }
        }
        status = lines.first.map { $0.split(separator: " ").prefix(2).joined(separator: " ") } ?? ""
        var values: [String: String] = [:]
        for line in lines.dropFirst() {
            let name = line.prefix { $0 != ":" }.lowercased()
            let value = line.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
            values[name] = values[name].map { "\($0), \(value)" } ?? value
        }
        for name in ["date", "connection", "keep-alive"] { values[name] = nil }
        fields = values.map { "\($0.key): \($0.value)" }.sorted()
        body = Array(rest)
    }

    var description: String {
        "exit \(exitCode), status \(status), \(fields), \(body.count) bytes: \(String(decoding: body.prefix(200), as: UTF8.self))"
    }
}

@Suite("fetch and curl", .enabled(if: Peers.curl != nil, "curl is not installed"))
struct FetchAndCurlTests {
    private static let files: [(name: String, body: [UInt8])] = [
        ("hello", Array("Hello from a file.\n".utf8)), ("empty", []), ("a b.txt", Array("a b\n".utf8)),
        ("ä.txt", Array("umlaut\n".utf8)), ("100%.txt", Array("percent\n".utf8)), ("semi;colon", Array("semi\n".utf8)),
        ("plus+plus", Array("plus\n".utf8)), ("q?mark", Array("mark\n".utf8)), ("deep/er/file", Array("deep\n".utf8)),
        ("long.txt", Array(String(repeating: "the same again, ", count: 4096).utf8)),
        ("large", GeneratedBytes.bytes(1_000_000)),
    ]

    /// Runs all errands at one server by both commands, and compares.
    private func compare(_ base: String, _ way: [String] = []) async throws -> Int {
        let curl = try #require(Peers.curl)
        let clean = Dictionary(
            uniqueKeysWithValues: ["http_proxy", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"].map {
                ($0, String?.none)
            })
        let errands = Errand.chosen(overHTTP2: !way.isEmpty)
        for errand in errands {
            let url = base + errand.path
            let ours = ErrandResult(
                try await ChildRun.run(
                    "fetch", (errand.follows ? [] : ["--no-redirects"]) + ["-s", "-i"] + way + errand.options + [url],
                    changing: clean), heads: errand.follows ? 2 : 1)
            let theirs = ErrandResult(
                try await ChildRun.run(
                    curl, (errand.follows ? ["-L"] : []) + ["-qsgi", "--path-as-is"] + way + errand.options + [url],
                    changing: clean), heads: errand.follows ? 2 : 1)
            #expect(ours == theirs, "\(errand.options) \(url)\n  fetch: \(ours)\n  curl:  \(theirs)")
            #expect(ours.status.hasPrefix(way.isEmpty ? "HTTP/1.1 " : "HTTP/2 ") || ours.exitCode != 0)
        }
        return errands.count
    }

    private func fill(_ directory: PeerDirectory) throws {
        try FileManager.default.createDirectory(
            atPath: directory.path + "/www/deep/er", withIntermediateDirectories: true)
        for file in Self.files {
            let path = "\(directory.path)/www/\(file.name)"
            try Data(file.body).write(to: URL(fileURLWithPath: path))
            // Apache's tag of a file that is younger than a second is another one soon.
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_600_000_000)], ofItemAtPath: path)
        }
    }

    @Test(
        "fetch and curl get the same body, status and fields from nginx",
        .enabled(if: Peers.nginx != nil, "nginx is not installed"))
    func nginx() async throws {
        let nginx = try await Nginx()
        try fill(nginx.directory)
        #expect(try await compare("http://127.0.0.1:\(nginx.plain)") >= (Sanitizer.isActive ? 20 : 100))
    }

    @Test(
        "fetch and curl get the same body, status and fields from Apache",
        .enabled(if: Peers.apache != nil, "apache2 is not installed"))
    func apache() async throws {
        let apache = try await Apache()
        try fill(apache.directory)
        #expect(try await compare("http://127.0.0.1:\(apache.port)") >= (Sanitizer.isActive ? 20 : 100))
    }

    /// The options by which both commands speak HTTP/2 with a peer.
    private func overHTTP2(_ directory: PeerDirectory) throws -> [String] {
        try directory.write(directory.anchor, to: "anchor.pem")
        return ["--http2", "--cacert", directory.path + "/anchor.pem"]
    }

    @Test(
        "fetch and curl get the same body, status and fields from nginx over HTTP/2",
        .enabled(if: Peers.nginx != nil, "nginx is not installed"))
    func nginxHTTP2() async throws {
        let nginx = try await Nginx()
        try fill(nginx.directory)
        #expect(
            try await compare("https://127.0.0.1:\(nginx.http2)", overHTTP2(nginx.directory))
                >= (Sanitizer.isActive ? 20 : 100))
    }

    @Test(
        "fetch and curl get the same body, status and fields from Apache over HTTP/2",
        .enabled(if: Peers.apache != nil, "apache2 is not installed"))
    func apacheHTTP2() async throws {
        let apache = try await Apache()
        try fill(apache.directory)
        #expect(
            try await compare("https://127.0.0.1:\(apache.http2)", overHTTP2(apache.directory))
                >= (Sanitizer.isActive ? 20 : 100))
    }

    @Test("fetch and curl get the same body, status and fields from the LoopbackServer, from odd answers too")
    func loopback() async throws {
        let server = try LoopbackServer.start { request in
            let echo = "\(request.method) \(request.target) \(request.fields.first("X-Test") ?? "")\n"
            switch request.path {
            case "/moved": return ServerResponse.text("moved", status: 302).adding("Location", "/hello")
            case "/empty": return .status(204)
            case "/missing": return .text(echo, status: 404)
            case "/teapot": return .text("short and stout", status: 418)
            case "/large": return .generated(length: 1_000_000, framing: .chunked)
            case "/deep": return .generated(length: 100_000, framing: .untilClose)
            case "/fields":
                return ServerResponse.text(echo).adding("X-One", "1").adding("X-One", "2").adding("X-Empty", "")
            case "/long.txt":
                let text = ServerResponse.text(String(repeating: "the same again, ", count: 4096))
                return request.accepts(coding: "gzip") ? text.compressed() : text
            default: return .text(echo)
            }
        }
        #expect(try await compare(server.url("")) >= (Sanitizer.isActive ? 20 : 100))
        await server.stop()
    }
}
