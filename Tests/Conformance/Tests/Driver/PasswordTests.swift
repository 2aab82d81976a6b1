// Credentials, challenges and proxies. Driver protocol, sections 3 and 4.

import Foundation
import Testing
import URLLoadingConformanceDriver
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Driver and passwords")
struct PasswordTests {
    private static func key(_ user: String, _ password: String) -> String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    /// Lets in "me" with "secret", and asks the others by Digest and by Basic.
    private static func door(_ request: ServerRequest) -> ServerResponse {
        if request.fields.first(.authorization) == key("me", "secret") {
            return request.body.isEmpty ? .text("inside") : .echo(request)
        }
        return .text("denied", status: 401)
            .adding("WWW-Authenticate", "Digest realm=\"a\", nonce=\"n\", algorithm=MD5, qop=\"auth\"")
            .adding("WWW-Authenticate", "Basic realm=\"b\"")
    }

    private static func entry(
        _ user: String, _ password: String, _ more: [(String, JSONValue)] = []
    ) -> JSONValue {
        let members: [(String, JSONValue)] = [("user", .string(user)), ("password", .string(password))] + more
        return .object(members.map { JSONMember(name: $0.0, value: $0.1) })
    }

    @Test(
        "The first entry that fits answers, once; a refusal that no entry answers is the response",
        arguments: [
            ([], 401, ["Digest 0", "Basic 0"]),
            ([entry("me", "secret", [("scheme", "basic")])], 200, ["Digest 0", "Basic 0"]),
            ([entry("me", "secret", [("realm", "b")])], 200, ["Digest 0", "Basic 0"]),
            (
                [entry("me", "wrong", [("scheme", "basic")]), entry("me", "secret", [("scheme", "basic")])], 200,
                ["Digest 0", "Basic 0", "Digest 1", "Basic 1"]
            ),
            (
                [entry("me", "wrong", [("scheme", "basic")])], 401,
                ["Digest 0", "Basic 0", "Digest 1", "Basic 1"]
            ),
            ([entry("me", "secret", [("proxy", true)])], 401, ["Digest 0", "Basic 0"]),
            ([entry("me", "secret", [("port", 1)])], 401, ["Digest 0", "Basic 0"]),
            ([entry("me", "secret", [("host", "elsewhere.test")])], 401, ["Digest 0", "Basic 0"]),
            (
                [entry("me", "secret", [("host", "127.0.0.1"), ("realm", "b"), ("scheme", "any")])], 200,
                ["Digest 0", "Basic 0"]
            ),
        ] as [([JSONValue], Int64, [String])])
    func credentials(entries: [JSONValue], status: Int64, questions: [String]) async throws {
        try await withDriver(router: Self.door) { driver, server in
            for task: JSONValue in ["data", "bytes", "download"] {
                // A session that has shown its password would not be asked again.
                try await driver.open("\(task)", ["credentials": .array(entries)])
                let result = try await driver.result(
                    driver.get(server.url(), session: "\(task)", options: ["task": task]))
                #expect(result["response"]?["status"]?.number == status, "\(task)")
                let asked = (result["challenges"]?.elements ?? []).map { challenge in
                    let isBasic = challenge["method"] == "NSURLAuthenticationMethodHTTPBasic"
                    return "\(isBasic ? "Basic" : "Digest") \(challenge["previous_failures"]?.number ?? -1)"
                }
                #expect(asked == questions, "\(task)")
            }
        }
    }

    @Test("A body is sent again with the answer, piece by piece too")
    func bodies() async throws {
        try await withDriver(router: Self.door) { driver, server in
            let entries: JSONValue = [Self.entry("me", "secret", [("scheme", "basic")])]
            let piece: JSONValue = ["base64": .base64(Data("pieces".utf8))]
            let bodies: [(String, JSONValue, JSONValue)] = [
                ("a", .base64(Data("pieces".utf8)), [:]), ("b", .null, ["body_stream": [piece]]),
                ("c", .null, ["body_stream": [piece], "task": "upload"]),
            ]
            for (session, body, options) in bodies {
                try await driver.open(session, ["credentials": entries])
                let result = try await driver.result(
                    "request",
                    [
                        "session": .string(session), "method": "POST", "url": .string(server.url()),
                        "body_base64": body, "options": options,
                    ])
                #expect(result["body_base64"]?.data == Data("pieces".utf8), "\(session)")
                #expect(result["challenges"]?.elements.count == 2, "\(session)")
            }
        }
    }

    @Test("The trust of a session stays as it was: a transfer with credentials asks nothing about certificates")
    func trust() async throws {
        let (root, identity) = try CertificateFactory.server("127.0.0.1")
        try await withDriver(.init(tls: .init(identity: identity)), router: Self.door) { driver, server in
            let entries: JSONValue = [Self.entry("me", "secret")]
            let anchors: JSONValue = ["mode": "anchors", "anchors_pem": [.string(root.pem)]]
            try await driver.open("a", ["credentials": entries])
            #expect(try await driver.result(driver.get(server.url())).errorName == "serverCertificateUntrusted")
            try await driver.open(
                "b", ["credentials": [Self.entry("me", "secret", [("realm", "b")])], "trust": anchors])
            let result = try await driver.result(driver.get(server.url(), session: "b"))
            #expect(result["body_base64"]?.data == Data("inside".utf8))
            #expect(result["challenges"]?.elements.count == 2)
        }
    }

    @Test(
        "http goes to the proxy with its whole URL, https through a tunnel, both of them through SOCKS",
        arguments: ["http", "socks5"])
    func proxy(kind: String) async throws {
        let (root, identity) = try CertificateFactory.server("127.0.0.1")
        let secure = try LoopbackServer.start(.init(tls: .init(identity: identity))) { _ in .text("ok") }
        let proxy = try LoopbackProxy.start {
            $0.socksCredentials = ("me", "secret")
            $0.authorization = Self.key("me", "secret")
        }
        try await withDriver(router: { _ in .text("ok") }) { driver, server in
            let setting: JSONValue = [
                "kind": .string(kind), "host": "127.0.0.1", "port": .integer(Int64(proxy.port)), "user": "me",
                "password": "secret",
            ]
            let anchors: JSONValue = ["mode": "anchors", "anchors_pem": [.string(root.pem)]]
            try await driver.open("a", ["proxy": setting, "trust": anchors])
            for url in [server.url(), secure.url()] {
                let result = try await driver.result(driver.get(url))
                #expect(result["body_base64"]?.data == Data("ok".utf8))
                #expect(result["metrics"]?["transactions"]?.elements.last?["proxy"] == true)
                #expect(result["challenges"] == [])
            }
            let kinds = Set(proxy.asks.map(\.kind))
            #expect(kinds == (kind == "http" ? [.forward, .connect] : [.socks5]))
        }
        await secure.stop()
        await proxy.stop()
    }

    @Test("A user without a password has an empty one")
    func proxyUserAlone() async throws {
        let proxy = try LoopbackProxy.start { $0.authorization = Self.key("me", "") }
        try await withDriver(router: { _ in .text("ok") }) { driver, server in
            let setting: JSONValue = [
                "kind": "http", "host": "127.0.0.1", "port": .integer(Int64(proxy.port)), "user": "me",
            ]
            try await driver.open("a", ["proxy": setting])
            #expect(try await driver.result(driver.get(server.url()))["body_base64"]?.data == Data("ok".utf8))
        }
        await proxy.stop()
    }

    @Test(
        "B12.17: where a proxy refuses the tunnel metrics say that it stood in the way, and tell of the connection to it",
        arguments: [407, 502])
    func refusedTunnel(status: Int) async throws {
        let proxy = try LoopbackProxy.start { options in
            options.script = { _ in
                .text("HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n", thenClose: true)
            }
        }
        try await withDriver(router: { _ in .text("ok") }) { driver, _ in
            let setting: JSONValue = ["kind": "http", "host": "127.0.0.1", "port": .integer(Int64(proxy.port))]
            try await driver.open("a", ["proxy": setting])
            let result = try await driver.result(driver.get("https://origin.test/"))
            #expect(result["error"] != .null)
            let transaction = try #require(result["metrics"]?["transactions"]?.elements.first)
            #expect(transaction["proxy"] == true)
            #expect(transaction["reused"] == false)
            #expect(transaction["remote_port"] == .integer(Int64(proxy.port)))
        }
        await proxy.stop()
    }

    @Test("Schemes and hosts that are not for the proxy go past it; so does everything where there is none")
    func pastTheProxy() async throws {
        let proxy = try LoopbackProxy.start()
        try await withDriver(router: { _ in .text("ok") }) { driver, server in
            let port = JSONValue.integer(Int64(proxy.port))
            let settings: [JSONValue] = [
                ["kind": "http", "host": "127.0.0.1", "port": port, "schemes": ["https"]],
                ["kind": "socks5", "host": "127.0.0.1", "port": port, "schemes": []],
                ["kind": "http", "host": "127.0.0.1", "port": port, "bypass": ["127.0.0.1"]],
                ["kind": "socks5", "host": "127.0.0.1", "port": port, "bypass": ["localhost", "127.0.0.1"]], .null,
            ]
            for (number, setting) in settings.enumerated() {
                try await driver.open("\(number)", ["proxy": setting])
                let result = try await driver.result(driver.get(server.url(), session: "\(number)"))
                #expect(result["response"]?["status"] == 200)
                #expect(result["metrics"]?["transactions"]?.elements.last?["proxy"] == false)
            }
            #expect(proxy.asks.isEmpty)
        }
        await proxy.stop()
    }

    @Test("A proxy's challenge is answered by the entries that are for proxies, and by no others")
    func proxyCredentials() async throws {
        let proxy = try LoopbackProxy.start { $0.authorization = Self.key("me", "secret") }
        try await withDriver(router: { _ in .text("ok") }) { driver, server in
            let setting: JSONValue = ["kind": "http", "host": "127.0.0.1", "port": .integer(Int64(proxy.port))]
            for (isForProxy, status) in [(true, 200), (false, 407)] as [(Bool, Int64)] {
                let entry = Self.entry("me", "secret", [("proxy", .bool(isForProxy))])
                try await driver.open("\(isForProxy)", ["proxy": setting, "credentials": [entry]])
                let result = try await driver.result(driver.get(server.url(), session: "\(isForProxy)"))
                #expect(result["response"]?["status"]?.number == status)
                let asked: JSONValue = [
                    "method": "NSURLAuthenticationMethodHTTPBasic", "host": "127.0.0.1",
                    "port": .integer(Int64(proxy.port)), "realm": "proxy", "proxy": true, "previous_failures": 0,
                ]
                #expect(result["challenges"]?.elements == [asked])
            }
        }
        await proxy.stop()
    }
}
