// By which judge's answer a connection stands, and with it a ticket: a request with another judge uses neither of them
// (B2.8).

import Testing
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust

@Suite("Judges of connections")
struct JudgeTests {
    /// Names that a server or a proxy is known by, and a client that is known to it.
    private struct Place {
        let root: Certificate
        let tls: ServerTLS
        let doorkeeper: Doorkeeper
        let client: Identity

        /// A server that wants or requires a client certificate, as `wanted` says.
        init(_ name: String, _ version: TLSVersion, _ wanted: TLSServerOptions.ClientAuthentication) throws {
            let (root, identity) = try CertificateFactory.server(name)
            let authority = try CertificateFactory.root("Clients")
            doorkeeper = Doorkeeper(authority.certificate)
            client = try authority.issue(.client("somebody")).identity
            var tls = ServerTLS(identity: identity)
            tls.maximum = version
            tls.clientAuthentication = wanted
            tls.clientAuthorities = [authority.certificate]
            tls.clientEvaluator = doorkeeper
            self.root = root
            self.tls = tls
        }

        /// Accepts any server, and shows the client's certificate.
        var answer: @Sendable (ConnectionQuestion) -> Void {
            { [client] question in
                switch question {
                case .peer(let peer): peer.answer(.accept)
                case .identity(let identity): identity.answer(.show(client))
                case .proxy(let proxy): proxy.answer(.giveUp)
                }
            }
        }
    }

    private let own = ConnectionJudge.delegate(1)
    private let other = ConnectionJudge.delegate(2)

    @Test(
        "B2.8: a certificate is not shown for another judge, on a used or a resumed connection",
        arguments: [true, false])
    func identity(closes: Bool) async throws {
        for version in [TLSVersion.v12, .v13] {
            let place = try Place("host.test", version, .optional)
            let server = try LoopbackServer.start(.init(tls: place.tls)) { _ in
                closes ? ServerResponse.text("secret").closing() : .text("secret")
            }
            let live = LiveEngine { $0.trust = AnchorsEvaluator(anchors: [place.root]) }
            func resumes(_ judge: ConnectionJudge, _ asked: (@Sendable (ConnectionQuestion) -> Void)?) async throws
                -> Bool
            {
                let answer = try await live.get(server, judge: judge, asked: asked)
                #expect(answer.text == "secret")
                return answer.outcome.timelines.last?.tls?.resumed ?? false
            }
            #expect(try await !resumes(own, place.answer))
            #expect(place.doorkeeper.shown == 1)
            #expect(try await !resumes(.session, nil))
            #expect(try await !resumes(other, nil))
            #expect(place.doorkeeper.shown == 1, "\(version): the server does not know the others")
            #expect(server.stats.connectionsAccepted == 3)
            #expect(try await resumes(own, place.answer) == closes)
            #expect(try await resumes(.session, nil) == closes)
            #expect(server.stats.connectionsAccepted == (closes ? 5 : 3), "each goes on with what it has")
            #expect(place.doorkeeper.shown == 1)
            await server.stop()
        }
    }

    @Test("B2.8: a server that one judge accepts is refused for another", arguments: [true, false])
    func trust(closes: Bool) async throws {
        let place = try Place("host.test", .v13, .optional)
        let server = try LoopbackServer.start(.init(tls: place.tls)) { _ in
            closes ? ServerResponse.text("secret").closing() : .text("secret")
        }
        let live = LiveEngine { $0.trust = AnchorsEvaluator(anchors: []) }
        #expect(try await live.get(server, judge: own, asked: place.answer).text == "secret")
        let answer = try await live.get(server)
        guard case .tls(.untrusted(let failure), "host.test") = answer.error else {
            Issue.record("\(String(describing: answer.error))")
            return
        }
        #expect(failure.reason == .unknownRoot)
        #expect(server.stats.requests == 1)
        await server.stop()
    }

    @Test("B2.8, B13.33: the direct way and a proxy each resume only their own TLS sessions")
    func ways() async throws {
        let place = try Place("host.test", .v13, .optional)
        let server = try LoopbackServer.start(.init(tls: place.tls)) { _ in .text("secret").closing() }
        let proxy = try LoopbackProxy.start { _ in }
        let route = Route.proxied(try #require(ProxyServer(kind: .http, host: "127.0.0.1", port: proxy.port)))
        let live = LiveEngine { $0.trust = AnchorsEvaluator(anchors: [place.root]) }
        for (index, way) in [Route.direct(), route, .direct(), route].enumerated() {
            let answer = try await live.get(server, route: way)
            #expect(answer.outcome.timelines.last?.tls?.resumed == (index > 1), "\(way)")
        }
        await proxy.stop()
        await server.stop()
    }

    @Test(
        "B2.8, B13.21: a certificate that one judge has shown to a proxy is not shown for another",
        arguments: [true, false])
    func proxies(isSecure: Bool) async throws {
        for version in [TLSVersion.v12, .v13] {
            let proxys = try Place("proxy.test", version, .required)
            let (root, identity) = try CertificateFactory.server("host.test")
            let server = try LoopbackServer.start(.init(tls: isSecure ? ServerTLS(identity: identity) : nil)) { _ in
                .text("secret").closing()
            }
            let proxy = try LoopbackProxy.start { $0.tls = proxys.tls }
            let described = try #require(ProxyServer(kind: .https, host: "proxy.test", port: proxy.port))
            let live = LiveEngine {
                $0.trust = AnchorsEvaluator(anchors: [root, proxys.root])
                $0.hostOverrides["proxy.test"] = "127.0.0.1"
            }
            let scheme = isSecure ? Scheme.https : .http
            for _ in 1...2 {
                let answer = try await live.get(
                    server, scheme: scheme, route: .proxied(described), judge: own, asked: proxys.answer)
                #expect(answer.text == "secret")
            }
            #expect(proxys.doorkeeper.shown == 1, "the second time it resumes")
            let without = try await live.get(server, scheme: scheme, route: .proxied(described))
            #expect(without.error != nil && without.status == nil, "\(version): the proxy demands one")
            #expect(proxys.doorkeeper.shown == 1)
            await proxy.stop()
            await server.stop()
        }
    }

    @Test("B1.26: closing idle connections drops the tickets too, which would identify the client")
    func forgetting() async throws {
        for version in [TLSVersion.v12, .v13] {
            let place = try Place("host.test", version, .optional)
            let server = try LoopbackServer.start(.init(tls: place.tls)) { _ in .text("secret").closing() }
            let live = LiveEngine { $0.trust = AnchorsEvaluator(anchors: [place.root]) }
            #expect(try await live.get(server, asked: place.answer).text == "secret")
            live.engine.renewConnections()
            let answer = try await live.get(server)
            #expect(answer.outcome.timelines.last?.tls?.resumed == false)
            #expect(place.doorkeeper.shown == 1)
            await server.stop()
        }
    }
}
