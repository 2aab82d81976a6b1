// Secrets and origins: what servers are sent behind a redirect, and what the process writes about all of it. The client
// is a program of its own, which prints everything that it is told.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

/// Everything that the client is given to keep. None of them is in another.
private enum Secret {
    static let password = "Tr0ub4dor-server"
    static let proxyPassword = "Tr0ub4dor-proxy"
    static let bearer = "Tr0ub4dor-bearer"
    static let cookie = "Tr0ub4dor-cookie"
    static let basic = Data("me:\(password)".utf8).base64EncodedString()
    static let proxyBasic = Data("me:\(proxyPassword)".utf8).base64EncodedString()

    /// The secrets that stand in a text, in the clear or as Basic writes them.
    static func found(in text: String) -> [String] {
        [password, proxyPassword, bearer, cookie, basic, proxyBasic].filter(text.contains)
    }
}

/// The requests that servers were sent, as text.
private final class Requests: Sendable {
    private let state = Guarded<[String]>([])

    func note(_ request: ServerRequest) {
        let fields = (0..<request.fields.count).map {
            "\(request.fields.name(at: $0)): \(request.fields.value(at: $0))"
        }
        state.withLock { $0.append(([request.target] + fields).joined(separator: "\n")) }
    }

    var texts: [String] { state.withLock(\.self) }
}

/// What the client wrote: its output, its complaints, and every file below its directories.
private func written(_ arguments: [String]) async throws -> String {
    let home = NSTemporaryDirectory() + "secrets-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: home) }
    var changes: [String: String?] = [:]
    for name in ["HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] { changes[name] = home }
    let environment = changes
    let child = try await ChildRun.run(testProgram: "secret", arguments, changing: environment)
    var text = child.outputText + child.complaintsText
    #expect(child.exitCode == 0 && text.contains("URLSession"), "\(text)")
    for name in FileManager.default.subpaths(atPath: home) ?? [] {
        text += contents(of: "\(home)/\(name)")
    }
    return text
}

/// What a file holds; nothing where there is no file. Foundation's way loses memory with each file that is empty.
private func contents(of path: String) -> String {
    guard let stream = fopen(path, "r") else { return "" }
    defer { fclose(stream) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while case let count = fread(&piece, 1, piece.count, stream), count > 0 { bytes += piece[..<count] }
    return String(decoding: bytes, as: UTF8.self)
}

@Suite("Secrets and origins", .timeLimit(.minutes(5)))
struct CrossingTests {
    /// A server that wants a password or a bearer, sets cookies, and then leads elsewhere.
    private func leading(
        to target: String, tls: Bool, _ status: Int, _ requests: Requests
    ) throws -> LoopbackServer {
        var options = LoopbackServer.Options()
        if tls { options.tls = .init(identity: try CertificateFactory.server("127.0.0.1", "localhost").identity) }
        return try LoopbackServer.start(options) { request in
            requests.note(request)
            if !request.path.hasPrefix("/from") { return .text("there") }
            guard request.fields.contains(.authorization) else {
                return .text("denied", status: 401).adding("WWW-Authenticate", "Basic realm=\"r\"")
            }
            // B8: cookies know no ports, so that only another host, or the loss of TLS, keeps this one back.
            let fence = tls ? "; Secure" : ""
            return ServerResponse.status(status).adding("Location", target)
                .adding("Set-Cookie", "sid=\(Secret.cookie)\(fence)")
        }
    }

    /// The options that give the client its credentials.
    private static let identities: [[String]] = [
        ["--user", "me:\(Secret.password)"], ["--field", "Authorization: Bearer \(Secret.bearer)"],
    ]

    @Test(
        "B2.104, B4.27, B17.57: a redirect to another host, port or scheme takes no secret along, and none is written",
        arguments: identities, [302, 307])
    func redirects(identity: [String], status: Int) async throws {
        let (first, there) = (Requests(), Requests())
        let plain = try LoopbackServer.start { request in
            there.note(request)
            return .text("there")
        }
        let certificate = try CertificateFactory.server("127.0.0.1", "localhost").identity
        let secure = try LoopbackServer.start(.init(tls: .init(identity: certificate))) { request in
            there.note(request)
            return .text("there")
        }
        // Another host on another port, another port, both schemes' ways; the cookie only where it has to stay behind.
        let ways: [(tls: Bool, target: String, hasCookie: Bool)] = [
            (false, plain.url(host: "localhost"), true), (false, plain.url(), false),
            (false, secure.url(), false), (true, plain.url(), true), (true, secure.url(host: "localhost"), true),
        ]
        for way in ways {
            let server = try leading(to: way.target, tls: way.tls, status, first)
            let count = there.texts.count
            let text = try await written(identity + [server.url("/from")])
            #expect(text.contains("body: there"), "\(text)")
            #expect(there.texts.count == count + 1)
            let leaked = there.texts.last.map(Secret.found) ?? ["nothing came"]
            #expect(leaked.filter { way.hasCookie || $0 != Secret.cookie } == [], "\(way)")
            // The answers to the program hold its cookies, as answers do.
            #expect(Secret.found(in: text).filter { $0 != Secret.cookie && $0 != Secret.bearer } == [], "\(way)")
            if identity.first == "--user" { #expect(!text.contains(Secret.bearer)) }
            await server.stop()
        }
        // They were shown where they belong, or this test would prove nothing.
        let own = identity.first == "--user" ? Secret.basic : Secret.bearer
        #expect(first.texts.filter { $0.contains(own) }.count == ways.count)
        await plain.stop()
        await secure.stop()
    }

    @Test(
        "B2.104: another host by the same address and port is another origin, for Digest too", arguments: [false, true])
    func otherName(digest: Bool) async throws {
        let requests = Requests()
        // The way leads back to the server itself, which is not there yet when its answer is written.
        let port = Guarded(0)
        let server = try LoopbackServer.start { request in
            requests.note(request)
            if request.path == "/there" { return .text("there") }
            guard request.fields.contains(.authorization) else {
                let challenge = digest ? "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"" : "Basic realm=\"r\""
                return .text("denied", status: 401).adding("WWW-Authenticate", challenge)
            }
            let target = "http://localhost:\(port.withLock(\.self))/there"
            return ServerResponse.status(302).adding("Location", target)
                .adding("Set-Cookie", "sid=\(Secret.cookie)")
        }
        port.withLock { $0 = server.port }
        let text = try await written(["--user", "me:\(Secret.password)", server.url("/from")])
        #expect(text.contains("body: there"))
        let last = try #require(requests.texts.last)
        #expect(last.contains("localhost:\(server.port)") && !last.contains("Authorization") && !last.contains("sid="))
        #expect(requests.texts.count == 3 && requests.texts[1].contains(digest ? "Digest " : Secret.basic))
        #expect(Secret.found(in: text).filter { $0 != Secret.cookie } == [])
        await server.stop()
    }

    @Test("B2.104, B13.14: a proxy's password stays with the proxy, wherever it or the server behind it leads")
    func proxies() async throws {
        let (first, there) = (Requests(), Requests())
        let target = try LoopbackServer.start { request in
            there.note(request)
            return .text("there")
        }
        let away = target.url(host: "localhost")
        for isTunnel in [false, true] {
            let server = try leading(to: away, tls: isTunnel, 302, first)
            let proxy = try LoopbackProxy.start { $0.authorization = "Basic \(Secret.proxyBasic)" }
            let inventive = try LoopbackProxy.start {
                $0.script = { ask in
                    guard ask.head?.fields.contains(.proxyAuthorization) == true else {
                        return .text(
                            "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\n\r\n")
                    }
                    return .text("HTTP/1.1 302 Found\r\nLocation: \(away)\r\nContent-Length: 0\r\n\r\n")
                }
            }
            for (number, way) in [proxy, inventive].enumerated() {
                let count = there.texts.count
                let text = try await written([
                    "--user", "me:\(Secret.password)", "--direct", "localhost", "--proxy",
                    "http://me:\(Secret.proxyPassword)@127.0.0.1:\(way.port)", server.url("/from"),
                ])
                // A redirect in place of a tunnel is a refusal (B13.17), and leads nowhere.
                let isFollowed = number == 0 || !isTunnel
                #expect(text.contains("body: there") == isFollowed, "\(text)")
                #expect(there.texts.count == count + (isFollowed ? 1 : 0))
                #expect(Secret.found(in: text).filter { $0 != Secret.cookie } == [], "\(isTunnel) \(number)")
                #expect(
                    way.asks.contains {
                        "\($0.head?.fields.first(.proxyAuthorization) ?? "")".contains(Secret.proxyBasic)
                    })
            }
            await server.stop()
            await proxy.stop()
            await inventive.stop()
        }
        for text in there.texts { #expect(Secret.found(in: text) == []) }
        #expect(first.texts.contains { $0.contains(Secret.basic) })
        for text in first.texts { #expect(!text.contains(Secret.proxyBasic) && !text.contains("Proxy-Authorization")) }
        await target.stop()
    }

    @Test("B17.56, B17.57: no error, description or measurement holds a password, whatever goes wrong")
    func failures() async throws {
        let server = try LoopbackServer.start { request in
            request.fields.contains(.authorization) && request.path == "/broken"
                ? .script([.text("SSH-2.0\r\n\r\n"), .close])
                : ServerResponse.text("denied", status: 401).adding("WWW-Authenticate", "Basic realm=\"r\"")
        }
        let proxy = try LoopbackProxy.start {
            $0.authorization = "Basic none"
            $0.socksCredentials = ("nobody", "nothing")
        }
        let user = ["--user", "me:\(Secret.password)"]
        let named = "me:\(Secret.password)@"
        func through(_ scheme: String, _ port: Int) -> [String] {
            ["--proxy", "\(scheme)://me:\(Secret.proxyPassword)@127.0.0.1:\(port)"]
        }
        let origin = "https://127.0.0.1:9/"
        let runs: [(arguments: [String], outcome: String)] = [
            (user + [server.url("/")], "body: denied"), (user + [server.url("/broken")], "failed"),
            ([server.url("/").replacingOccurrences(of: "//", with: "//\(named)")], "body: denied"),
            ([server.url("/broken").replacingOccurrences(of: "//", with: "//\(named)")], "failed"),
            (["http://\(named)127.0.0.1:1/"], "failed"), (["ftp://\(named)127.0.0.1/"], "failed"),
            (["https://\(named)127.0.0.1:\(server.port)/"], "failed"),
            (through("http", proxy.port) + [origin], "failed"), (through("http", 1) + [origin], "failed"),
            (through("https", 1) + [origin], "failed"), (through("socks5h", proxy.port) + [origin], "failed"),
            (through("socks5", 1) + [origin], "failed"), (through("socks4a", proxy.port) + [origin], "failed"),
        ]
        for (arguments, outcome) in runs {
            let text = try await written(arguments)
            #expect(text.contains(outcome), "\(arguments): \(text)")
            #expect(Secret.found(in: text) == [], "\(arguments)")
            // B17.56: what failed is the load of the URL; the proxy is named in the text, without the login for it.
            if arguments.contains("--proxy") { #expect(text.contains("NSErrorFailingURLKey=\(origin)"), "\(text)") }
        }
        await server.stop()
        await proxy.stop()
    }
}
