// A server under TLS, with whatever it makes of HTTP/2, and a session that offers it.

import Foundation
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTLS

/// Runs `body` with a session that offers HTTP/2 to a server with TLS. The names in `hosts` lead to this server too.
func withHTTP2Session(
    _ http2: ServerHTTP2, hosts: [String] = [], configure: (inout ServerTLS) -> Void = { _ in },
    session change: (URLSessionConfiguration) -> Void = { _ in },
    server changeServer: (inout LoopbackServer.Options) -> Void = { _ in },
    router: @escaping @Sendable (ServerRequest) -> ServerResponse,
    _ body: (LoopbackServer, URLSession) async throws -> Void
) async throws {
    let root = try CertificateFactory.root()
    var tls = ServerTLS(identity: try root.issue(.server(hosts: ["127.0.0.1"] + hosts)).identity)
    configure(&tls)
    var options = LoopbackServer.Options(tls: tls)
    options.http2 = http2
    changeServer(&options)
    try await withServer(options, router: router) { server in
        let configuration = URLSessionConfiguration.ephemeral
        configuration.serverTrustEvaluation = .anchors(pem: root.certificate.pem)
        configuration.hostOverrides = Dictionary(uniqueKeysWithValues: hosts.map { ($0, "127.0.0.1") })
        configuration.http2 = .offered
        change(configuration)
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        try await body(server, session)
    }
}
