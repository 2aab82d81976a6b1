// A server and a proxy before it, for the tests of what sessions do about proxies.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer

/// A server that answers with the Host field and the path, and a proxy to which every name is this machine.
struct ProxiedSite: Sendable {
    let proxy: LoopbackProxy
    let server: LoopbackServer
    let anchor: String

    /// Runs `body` with both, and stops them afterwards.
    static func run<R>(
        tls: Bool = false, proxy change: (inout LoopbackProxy.Options) -> Void = { _ in },
        router: @escaping LoopbackServer.Router = Self.describing, _ body: (ProxiedSite) async throws -> R
    ) async throws -> R {
        let (root, identity) = try CertificateFactory.server("origin.test", "127.0.0.1")
        let proxy = try LoopbackProxy.start(change)
        var options = LoopbackServer.Options()
        if tls { options.tls = .init(identity: identity) }
        let result = try await withServer(options, router: router) { server in
            try await body(ProxiedSite(proxy: proxy, server: server, anchor: root.pem))
        }
        await proxy.stop()
        return result
    }

    static let describing: LoopbackServer.Router = { request in
        .text("\(request.target) of \(request.fields.first("Host") ?? "nobody")")
    }

    /// A URL of the server, by a name that only the proxy can find.
    func url(_ path: String = "/hello", host: String = "origin.test") throws -> URL {
        try server.at(path, host: host)
    }

    var proxyURL: String { "http://127.0.0.1:\(proxy.port)" }

    /// Apple's keys for the proxy, for http and https.
    var dictionary: [AnyHashable: Any] {
        [
            kCFNetworkProxiesHTTPEnable: 1, kCFNetworkProxiesHTTPProxy: "127.0.0.1",
            kCFNetworkProxiesHTTPPort: proxy.port, kCFNetworkProxiesHTTPSEnable: 1,
            kCFNetworkProxiesHTTPSProxy: "127.0.0.1", kCFNetworkProxiesHTTPSPort: proxy.port,
        ]
    }

    /// A session that trusts the server.
    func session(
        delegate: (any URLSessionDelegate)? = nil, _ change: (URLSessionConfiguration) throws -> Void
    ) rethrows -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.usesProxyEnvironment = false
        configuration.serverTrustEvaluation = .anchors(pem: anchor)
        try change(configuration)
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    /// A session that goes through the proxy.
    func session(delegate: (any URLSessionDelegate)? = nil) -> URLSession {
        session(delegate: delegate) { $0.connectionProxyDictionary = dictionary }
    }
}

extension URLSession {
    /// The body of a GET as text; the session is done with afterwards.
    func text(_ url: URL) async throws -> String {
        defer { finishTasksAndInvalidate() }
        return String(decoding: try await data(from: url).0, as: UTF8.self)
    }

    /// The error of a GET; the session is done with afterwards.
    func failure(_ url: URL) async -> URLError? {
        do {
            _ = try await text(url)
            return nil
        } catch {
            return error as? URLError
        }
    }
}

extension URLError {
    /// Domain and code of the error underneath.
    var cause: String {
        guard let cause = userInfo[NSUnderlyingErrorKey] as? NSError else { return "none" }
        return "\(cause.domain) \(cause.code)"
    }
}
