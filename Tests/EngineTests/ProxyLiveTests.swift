// Through real proxies on real sockets: every kind, http and https, TLS in TLS with bodies that fill every buffer.

import Testing
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust
import URLLoadingWire

@Suite("Proxies on the loopback interface")
struct ProxyLiveTests {
    private let server: TunnelServer

    init() throws {
        server = try TunnelServer()
    }

    /// A server for host.test by http and https, and a believed certificate for proxies.
    private final class TunnelServer: Sendable {
        let plain: LoopbackServer
        let secure: LoopbackServer
        let root: Certificate
        let proxyIdentity: Identity
        /// Every field that reached it, as "name: value".
        let fields: Seen

        init() throws {
            let authority = try CertificateFactory.root()
            root = authority.certificate
            proxyIdentity = try authority.issue(.server("proxy.test")).identity
            let seen = Seen()
            fields = seen
            let router: LoopbackServer.Router = { request in
                seen.note(request.head)
                return request.head.method == "POST" ? ServerResponse(body: .echo) : .text("secret")
            }
            plain = try LoopbackServer.start(router: router)
            secure = try LoopbackServer.start(
                .init(tls: TLSServerOptions(identity: authority.issue(.server("host.test")).identity)), router: router)
        }

        func server(_ scheme: Scheme) -> LoopbackServer { scheme == .https ? secure : plain }

        func stop() async {
            await plain.stop()
            await secure.stop()
        }
    }

    private final class Seen: Sendable {
        private let heads = Guarded<[RequestHead]>([])

        func note(_ head: RequestHead) { heads.withLock { $0.append(head) } }

        var all: [RequestHead] { heads.withLock(\.self) }
    }

    private func engine(_ change: (inout EngineConfiguration) -> Void = { _ in }) -> LiveEngine {
        LiveEngine {
            $0.trust = AnchorsEvaluator(anchors: [server.root])
            $0.hostOverrides["proxy.test"] = "127.0.0.1"
            change(&$0)
        }
    }

    private func start(
        _ kind: ProxyServer.Kind, credentials: ProxyCredentials? = nil,
        _ change: (inout LoopbackProxy.Options) -> Void = { _ in }
    ) throws -> (LoopbackProxy, ProxyServer) {
        let proxy = try LoopbackProxy.start {
            if kind == .https { $0.tls = TLSServerOptions(identity: server.proxyIdentity) }
            change(&$0)
        }
        let described =
            if case .unix = proxy.address.family {
                ProxyServer(kind: kind, path: proxy.address.host, host: "proxy.test", credentials: credentials)
            } else {
                ProxyServer(kind: kind, host: "proxy.test", port: proxy.port, credentials: credentials)
            }
        return (proxy, try #require(described))
    }

    @Test(
        "B13.12, B13.13, B13.15, B13.26: http and https through every kind of proxy",
        arguments: ProxyServer.Kind.allCases, [Scheme.http, .https])
    func everyKind(_ kind: ProxyServer.Kind, _ scheme: Scheme) async throws {
        let (proxy, described) = try start(kind)
        let live = engine()
        for round in 0..<3 {
            let answer = try await live.get(
                server.server(scheme), scheme: scheme, route: .proxied(described), body: round == 1 ? [1, 2, 3] : nil)
            #expect(answer.error == nil && answer.status == 200)
            #expect(round == 1 ? answer.body == [1, 2, 3] : answer.text == "secret")
            let timeline = try #require(answer.outcome.timelines.last)
            #expect(timeline.usesProxy && timeline.reused == (round > 0))
            #expect(timeline.remoteAddress?.port == proxy.port, "B12.20")
            #expect((timeline.tls != nil) == (scheme == .https))
        }
        #expect(proxy.stats.connectionsAccepted == 1, "one connection serves all three")
        let ask = try #require(proxy.asks.first)
        let port = server.server(scheme).port
        switch (kind.isHTTP, scheme) {
        case (true, .http):
            #expect(ask.kind == .forward && ask.target == "http://host.test:\(port)/" && proxy.asks.count == 3)
        case (true, .https):
            #expect(ask.kind == .connect && ask.target == "host.test:\(port)" && proxy.asks.count == 1)
        case (false, _):
            #expect(ask.kind == (kind.isVersion5 ? .socks5 : .socks4) && proxy.asks.count == 1)
            #expect(ask.target == (kind.resolvesHere ? "127.0.0.1:\(port)" : "host.test:\(port)"))
        }
        #expect(server.fields.all.allSatisfy { $0.target == "/" }, "the origin is asked as always")
        await proxy.stop()
        await server.stop()
    }

    @Test("B13.21: TLS inside TLS carries bodies larger than all buffers, both ways", arguments: [Scheme.http, .https])
    func largeBodies(_ scheme: Scheme) async throws {
        let (proxy, described) = try start(.https)
        var body = [UInt8](repeating: 0, count: 3 << 20)
        for index in body.indices { body[index] = UInt8(truncatingIfNeeded: index &* 31 >> 3) }
        let live = engine()
        for _ in 0..<2 {
            let answer = try await live.get(
                server.server(scheme), scheme: scheme, route: .proxied(described), body: body)
            #expect(answer.error == nil && answer.body == body)
        }
        #expect(proxy.stats.handshakes == 1)
        await proxy.stop()
        await server.stop()
    }

    @Test("B3.7, B13.21: TLS 1.2 and 1.3 with the proxy, around the version agreed on with the origin")
    func versions() async throws {
        for version in [TLSVersion.v12, .v13] {
            let (proxy, described) = try start(.https) { $0.tls?.maximum = version }
            let answer = try await engine().get(server.secure, route: .proxied(described))
            #expect(answer.text == "secret" && answer.outcome.timelines.last?.tls?.version == TLSVersion.v13.rawValue)
            await proxy.stop()
        }
        await server.stop()
    }

    @Test("B13.21: a proxy and an origin are each asked about, the proxy as a proxy; its refusal names it")
    func questions() async throws {
        let (proxy, described) = try start(.https)
        let asked = Guarded<[String]>([])
        let answer = try await engine().get(
            server.secure, route: .proxied(described),
            asked: { question in
                guard case .peer(let peer) = question else { return }
                asked.withLock { $0.append("\(peer.origin.host) \(peer.proxy == nil ? "origin" : "proxy")") }
                peer.answer(.evaluate)
            })
        #expect(answer.text == "secret")
        #expect(asked.withLock { $0 } == ["proxy.test proxy", "host.test origin"])

        let doubting = engine { $0.trust = AnchorsEvaluator(anchors: []) }
        let refused = try await doubting.get(server.secure, route: .proxied(described))
        guard case .proxy(let failure)? = refused.error, case .tls(.untrusted) = failure.reason else {
            Issue.record("\(String(describing: refused.error))")
            return
        }
        #expect(failure.proxy == described)
        await proxy.stop()
        await server.stop()
    }

    @Test("B2.100, B13.14: a proxy's credentials are sent to the proxy, asked for once, and never to the origin")
    func authorization() async throws {
        let (proxy, described) = try start(.http) { $0.authorization = "Basic YWxpY2U6c2VzYW1l" }
        let questions = Guarded(0)
        let live = engine()
        let asked: @Sendable (ConnectionQuestion) -> Void = { question in
            guard case .proxy(let proxy) = question else {
                if case .peer(let peer) = question { peer.answer(.evaluate) }
                return
            }
            questions.withLock { $0 += 1 }
            proxy.answer(.authorize("Basic YWxpY2U6c2VzYW1l"))
        }
        for _ in 0..<2 {
            let answer = try await live.get(server.secure, route: .proxied(described), asked: asked)
            #expect(answer.text == "secret")
        }
        #expect(questions.withLock { $0 } == 1)
        #expect(proxy.stats.connectionsAccepted == 1 && proxy.asks.count == 2)
        let names = Set(server.fields.all.flatMap { head in (0..<head.fields.count).map { head.fields.name(at: $0) } })
        #expect(names == ["Host"])

        let without = try await engine().get(server.secure, route: .proxied(described))
        guard case .proxy(let failure)? = without.error, case .authentication = failure.reason else {
            Issue.record("\(String(describing: without.error))")
            return
        }
        #expect(!"\(failure)".contains("YWxpY2U6"))
        await proxy.stop()
        await server.stop()
    }

    @Test("B13.24, B13.27: a SOCKS proxy's password, right and wrong", arguments: [ProxyServer.Kind.socks5, .socks5h])
    func password(_ kind: ProxyServer.Kind) async throws {
        for (password, isRight) in [("sesame", true), ("Sesame", false)] {
            let (proxy, described) = try start(
                kind, credentials: ProxyCredentials(user: "alice", password: password)
            ) { $0.socksCredentials = ("alice", "sesame") }
            let answer = try await engine().get(server.secure, route: .proxied(described))
            if isRight {
                #expect(answer.text == "secret")
            } else {
                guard case .proxy(let failure)? = answer.error, case .socks(.badCredentials) = failure.reason else {
                    Issue.record("\(String(describing: answer.error))")
                    return
                }
                #expect(!"\(answer.error.map { "\($0)" } ?? "")".contains("esame"))
            }
            await proxy.stop()
        }
        await server.stop()
    }

    @Test(
        "A proxy on a UNIX-domain socket, with and without TLS", arguments: [ProxyServer.Kind.http, .https, .socks5h])
    func unixSocket(_ kind: ProxyServer.Kind) async throws {
        let path = "/tmp/urlloading-proxy-\(UInt64.random(in: 0 ... .max)).sock"
        let (proxy, described) = try start(kind) { $0.binding = .unix(path: path) }
        let answer = try await engine().get(server.secure, route: .proxied(described))
        #expect(answer.text == "secret" && answer.outcome.timelines.last?.usesProxy == true)
        await proxy.stop()
        await server.stop()
    }

    @Test("B13.17, B13.19: what a proxy says in place of opening a tunnel never reaches the receiver")
    func misbehaviour() async throws {
        let answers: [(LoopbackProxy.Answer, String)] = [
            (.text("HTTP/1.1 403 No\r\nContent-Length: 4\r\n\r\nevil"), "refused"),
            (.text("evil evil evil\r\n"), "garbage"), (.close, "closed"),
            (.text("HTTP/1.1 407 x\r\nContent-Length: 4\r\n\r\nevil"), "authentication"),
        ]
        for (said, expected) in answers {
            let (proxy, described) = try start(.http) { $0.script = { _ in said } }
            let answer = try await engine().get(server.secure, route: .proxied(described))
            guard case .proxy(let failure)? = answer.error else {
                Issue.record("\(expected): \(String(describing: answer.error))")
                continue
            }
            #expect("\(failure.reason)".hasPrefix(expected), "\(failure.reason)")
            #expect(answer.status == nil && answer.body.isEmpty)
            await proxy.stop()
        }
        await server.stop()
    }

    @Test("B16.5, B17.51: a proxy that goes away is noticed by idle tunnels and by requests under way")
    func goesAway() async throws {
        let place = try ReservedPort()
        let (proxy, described) = try start(.http) { $0.binding = .tcp(host: "127.0.0.1", port: place.number) }
        let live = engine()
        #expect(try await live.get(server.secure, route: .proxied(described)).text == "secret")
        await proxy.stop()
        let lost = try await live.get(server.secure, route: .proxied(described))
        guard case .proxy(let failure)? = lost.error, case .unreachable = failure.reason else {
            Issue.record("\(String(describing: lost.error))")
            return
        }
        place.keep()
        await server.stop()
    }
}
