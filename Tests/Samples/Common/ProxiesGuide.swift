// The code of docs/proxies.md, which SampleTests compares with that document block by block.

import Foundation
import URLLoading

/// One HTTP proxy for http and for https, by Apple's keys.
public func useProxyDictionary(in configuration: URLSessionConfiguration) {
    configuration.connectionProxyDictionary = [
        kCFNetworkProxiesHTTPEnable: 1, kCFNetworkProxiesHTTPProxy: "proxy.example", kCFNetworkProxiesHTTPPort: 3128,
        kCFNetworkProxiesHTTPSEnable: 1, kCFNetworkProxiesHTTPSProxy: "proxy.example", kCFNetworkProxiesHTTPSPort: 3128,
    ]
}

/// A proxy that wants a password, for the hosts of one domain.
public func useProxyConfiguration(secret: String, in configuration: URLSessionConfiguration) {
    var proxy = ProxyConfiguration(httpCONNECTProxy: .hostPort(host: "proxy.example", port: 3128))
    proxy.applyCredential(username: "me", password: secret)
    proxy.matchDomains = ["corp.example"]
    configuration.proxyConfigurations = [proxy]
}

/// A script that something else evaluates.
public func useScript(
    _ evaluate: @escaping @Sendable (URL) async throws -> String, in configuration: URLSessionConfiguration
) {
    configuration.proxyResolver = { url in
        guard let routes = ProxyRoute.list(scriptAnswer: try await evaluate(url)) else { return [.direct] }
        return routes
    }
}

/// A request to a daemon on a UNIX-domain socket.
public func requestToDaemon() throws -> URLRequest {
    guard let url = URL(string: "http://localhost/v1.43/containers/json") else { throw URLError(.badURL) }
    var request = URLRequest(url: url)
    request.unixSocketPath = "/run/docker.sock"
    return request
}
