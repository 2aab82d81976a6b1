// Sessions that may speak HTTP/2, at our own server: what is agreed on, and what that changes for a program.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust

@Suite("Sessions over HTTP/2")
struct HTTP2SessionTests {
    /// Runs `body` with a session that offers HTTP/2 to a server under TLS.
    private func withSecureServer(
        _ use: ServerHTTP2, maximum: TLSVersion = .v13, ciphers: String? = nil,
        clients: TLSServerOptions.ClientAuthentication = .none,
        router: @escaping @Sendable (ServerRequest) -> ServerResponse,
        _ body: (LoopbackServer, URLSession, URL) async throws -> Void
    ) async throws {
        let (root, identity) = try CertificateFactory.server("127.0.0.1")
        var tls = ServerTLS(identity: identity, maximum: maximum, ciphersBefore13: ciphers)
        tls.clientAuthentication = clients
        var options = LoopbackServer.Options(tls: tls)
        options.http2 = use
        try await withServer(options, router: router) { server in
            let configuration = URLSessionConfiguration.ephemeral
            configuration.serverTrustEvaluation = .anchors(pem: root.pem)
            configuration.http2 = .offered
            let session = URLSession(configuration: configuration)
            defer { session.invalidateAndCancel() }
            try await body(server, session, try server.at("/"))
        }
    }

    @Test(
        "H1.1, H1.2, H4.1: the server chooses, also nothing but HTTP/1.1; an answer says which it was",
        arguments: [ServerHTTP2.off, .offered, .required])
    func choice(use: ServerHTTP2) async throws {
        try await withSecureServer(use, router: { .text($0.protocolName) }) { server, session, url in
            let (data, response) = try await session.data(from: url)
            let isHTTP2 = use.use != .off
            #expect(String(decoding: data, as: UTF8.self) == (isHTTP2 ? "h2" : "http/1.1"))
            #expect((response as? HTTPURLResponse)?.statusLine == (isHTTP2 ? "HTTP/2 200" : "HTTP/1.1 200 OK"))
            #expect(server.stats.http2Connections == (isHTTP2 ? 1 : 0))
        }
    }

    @Test("H1.12: a suite that HTTP/2 forbids is refused before a request is sent")
    func weakSuite() async throws {
        try await withSecureServer(
            .offered, maximum: .v12, ciphers: "AES128-SHA:ECDHE+SHA", router: { _ in .text("secret") }
        ) { server, session, url in
            let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
            #expect(error?.code == .secureConnectionFailed)
            #expect(server.stats.requests == 0)
        }
    }

    @Test("B2.105: a server that wants a certificate and gets none says so behind the handshake, and the error is that")
    func certificateWanted() async throws {
        try await withSecureServer(
            .offered, clients: .required, router: { _ in .text("secret") }
        ) { server, session, url in
            let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
            #expect(error?.code == .clientCertificateRequired)
            #expect(server.stats.requests == 0)
        }
    }
}
