// The cookie vectors: each is played on a storage of its own, with a clock of its own. The format is described at the
// top of Tests/Vectors/cookies.txt.

import Foundation
import Testing
import URLLoading
import URLLoadingPolicy
import URLLoadingTestSupport

/// One vector.
struct CookieVector: Sendable, CustomTestStringConvertible {
    let title: String
    var lines: [String] = []

    var testDescription: String { title }

    static func load() -> [CookieVector] {
        var vectors: [CookieVector] = []
        for line in VectorText.lines(of: "cookies.txt") ?? [] where !line.isEmpty && !line.hasPrefix("#") {
            if line.hasPrefix("* ") {
                vectors.append(CookieVector(title: String(line.dropFirst(2))))
            } else if !vectors.isEmpty {
                vectors[vectors.count - 1].lines.append(line)
            }
        }
        return vectors
    }
}

@Suite("Cookies through a storage")
struct CookieVectorTests {
    @Test("Vectors of cookies", arguments: CookieVector.load())
    func plays(vector: CookieVector) throws {
        var player = CookiePlayer()
        for line in vector.lines { try player.play(line) }
        try player.end()
    }

    @Test("There are at least 250 vectors")
    func count() {
        #expect(CookieVector.load().count >= 250)
    }
}

/// Plays one vector.
private struct CookiePlayer {
    private let storage: HTTPCookieStorage
    private let now: Guarded<Double>
    private var context: CookieContext?
    private var refusals: [String] = []
    private var sent: String?
    private var listed: [String] = []

    /// 2020-01-01 00:00:00 UTC as Foundation counts.
    private static let beginning = 1_577_836_800 - Date.timeIntervalBetween1970AndReferenceDate

    init() {
        let now = Guarded(Self.beginning)
        self.now = now
        storage = HTTPCookieStorage(CookieStore(clock: { now.value }, suffixes: { .builtIn }))
    }

    mutating func play(_ line: String) throws {
        let body = String(line.dropFirst(2))
        // A refusal has to be expected by the very next line.
        if line.first != "!" { #expect(refusals == [], "refused before: \(line)") }
        switch line.first {
        case "@": storage.cookieAcceptPolicy = try #require(Self.policies[String(body.dropFirst("policy ".count))])
        case ">": context = try request(body).context
        case "<": try receive(body)
        case "~": try receiveMany(body)
        case "!":
            #expect(refusals == [body])
            refusals = []
        case "+": now.change { $0 += Double(body) ?? .nan }
        case "?": try ask(body)
        case "=": #expect(sent == (body == "-" ? nil : Self.text(body)))
        case ":": if body != "-" { listed.append(Self.text(body)) } else { #expect(storage.cookies == []) }
        default: Issue.record("a line that is not understood: \(line)")
        }
    }

    /// Checks that a vector that lists a cookie lists all of them.
    func end() throws {
        #expect(refusals == [])
        guard !listed.isEmpty else { return }
        #expect((storage.cookies ?? []).map(Self.line) == listed)
        for cookie in storage.cookies ?? [] {
            let again = HTTPCookie(properties: try #require(cookie.properties))
            #expect(again == cookie, "B8.8")
        }
    }

    private mutating func receive(_ field: String) throws {
        var refusals: [String] = []
        _ = storage.store.receive(fields: [VectorText.unescape(field)], from: try #require(context)) {
            refusals.append($0.rawValue)
        }
        self.refusals = refusals
    }

    private mutating func receiveMany(_ text: String) throws {
        let words = text.split(separator: " ", maxSplits: 1).map(String.init)
        for number in 0..<(try #require(Int(words[0]))) {
            try receive(words[1].replacingOccurrences(of: "#", with: "\(number)"))
        }
    }

    private mutating func ask(_ text: String) throws {
        let request = try request(text)
        sent = storage.store.field(for: request.context)
        guard request.isPlain else { return }
        let cookies = try #require(storage.cookies(for: request.url), "B8.65")
        #expect(HTTPCookie.requestHeaderFields(with: cookies)["Cookie"] == sent)
    }

    private func request(_ text: String) throws -> (url: URL, context: CookieContext, isPlain: Bool) {
        let words = text.split(separator: " ").map(String.init)
        let url = try #require(URL(string: words[0]))
        func value(_ key: String) -> String? {
            words.dropFirst().first { $0.hasPrefix(key + "=") }.map { String($0.dropFirst(key.count + 1)) }
        }
        let main = value("main").flatMap { URL(string: $0) }
        let context = CookieContext(
            try #require(CookiePlace(url)), mainDocument: main, isTopLevel: words.contains("top"),
            method: value("method") ?? "GET")
        return (url, context, words.count == 1)
    }

    private static let policies: [String: HTTPCookie.AcceptPolicy] = [
        "always": .always, "never": .never, "first": .onlyFromMainDocumentDomain,
    ]

    private static func text(_ text: String) -> String {
        String(decoding: VectorText.unescape(text), as: UTF8.self)
    }

    private static func line(_ cookie: HTTPCookie) -> String {
        var words = ["\(cookie.name)=\(cookie.value)", cookie.domain, cookie.path]
        words.append(cookie.expiresDate.map { "@\(Int64($0.timeIntervalSince1970))" } ?? "session")
        #expect(cookie.isSessionOnly == (cookie.expiresDate == nil), "B8.9")
        if cookie.isSecure { words.append("secure") }
        if cookie.isHTTPOnly { words.append("httponly") }
        if let policy = cookie.properties?[.sameSitePolicy] as? String { words.append(policy) }
        if cookie.version != 0 { words.append("version=\(cookie.version)") }
        if let ports = cookie.portList { words.append("ports=" + ports.map(\.stringValue).joined(separator: ",")) }
        if let comment = cookie.comment { words.append("comment=" + comment) }
        if let url = cookie.commentURL { words.append("commentURL=" + url.absoluteString) }
        return words.joined(separator: " ")
    }
}
