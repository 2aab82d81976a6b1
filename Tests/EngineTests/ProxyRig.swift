// Proxies on the in-memory network: scripts for what they say, and the server behind a tunnel.

import Testing
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust

/// The peers that a scripted proxy has had.
final class ScriptedProxy {
    fileprivate(set) var peers: [ScriptedPeer] = []

    /// What all of them were told, one after the other.
    var texts: [String] { peers.map(\.text) }
}

extension EngineRig {
    /// A proxy at proxy.test; each connection plays the next of these scripts, and further ones the last.
    @discardableResult
    func serveProxy(
        _ host: String = "proxy.test", address: String = "10.0.0.2", port: Int = 3128,
        _ scripts: [(EngineRig, MemoryStream) -> [ScriptedPeer.Step]]
    ) -> ScriptedProxy {
        let proxy = ScriptedProxy()
        var left = scripts[...]
        network.serve(host, address: address, port: port) { [unowned self] stream in
            guard let script = left.count > 1 ? left.removeFirst() : left.first else { return stream.close() }
            let peer = ScriptedPeer(stream, on: reactor, script(self, stream))
            proxy.peers.append(peer)
            keep(stream, peer)
        }
        return proxy
    }

    /// A proxy at proxy.test whose connections all play this script.
    @discardableResult
    func serveProxy(port: Int = 3128, _ script: [ScriptedPeer.Step]) -> ScriptedProxy {
        serveProxy(port: port, [{ _, _ in script }])
    }
}

extension ScriptedPeer.Step {
    /// From here on the connection leads to a TLS server for host.test, which answers "secret".
    static func tunnelTLS(_ rig: EngineRig, _ stream: MemoryStream, _ context: TLSContext) -> ScriptedPeer.Step {
        .run { [unowned rig] in
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret"
            guard let peer = try? TLSPeer(stream, context: context, answer: answer) else { return stream.close() }
            rig.keep(stream, peer)
            // What came before it watched.
            peer.streamBecameReadable(stream)
        }
    }

    static var established: ScriptedPeer.Step { .send("HTTP/1.1 200 Connection established\r\n\r\n") }

    /// 407 with a body, on a connection that goes on.
    static var askForLogin: ScriptedPeer.Step {
        .send("HTTP/1.1 407 x\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 5\r\n\r\nlogin")
    }
}

/// The proxy that `serveProxy` serves.
func testProxy(
    _ kind: ProxyServer.Kind = .http, _ credentials: (user: String, password: String)? = nil, port: Int = 3128
) throws -> ProxyServer {
    try #require(
        ProxyServer(
            kind: kind, host: "proxy.test", port: port,
            credentials: credentials.map { ProxyCredentials(user: $0.user, password: $0.password) }))
}

/// What a server for host.test shows, and an engine that believes it or anything else.
struct TunnelEnd {
    let root: Certificate
    let context: TLSContext

    init(
        _ host: String = "host.test", clients: TLSServerOptions.ClientAuthentication = .none,
        dividesTickets: Bool = false
    ) throws {
        let (root, identity) = try CertificateFactory.server(host)
        self.root = root
        context = try TLSContext(
            server: TLSServerOptions(identity: identity, clientAuthentication: clients, dividesTickets: dividesTickets))
    }
}

extension Journal {
    /// Why the proxy was of no use.
    var proxyFailure: ProxyFailure.Reason? {
        guard case .proxy(let failure) = error else { return nil }
        return failure.reason
    }

    /// What the last question of a proxy was.
    var proxyQuestion: ProxyQuestion? {
        guard case .proxy(let question)? = questions.last else { return nil }
        return question
    }
}
