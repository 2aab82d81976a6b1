// Proxy resolvers, which take the place of configuration scripts (B13.30, B13.31).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer

/// The error that a test's resolver throws.
private struct NoIdea: Error {}

@Suite("Resolvers of proxies")
struct ProxyResolverTests {
    private let routes = Guarded<[URL]>([])

    @Test(
        "B13.30: a configuration script without a resolver fails the load with 308 underneath, and nothing goes out",
        arguments: [
            "ProxyAutoConfigEnable", "ProxyAutoDiscoveryEnable",
        ])
    func script(key: String) async throws {
        try await ProxiedSite.run { site in
            let dictionary: [AnyHashable: Any] = [
                key: 1, kCFNetworkProxiesProxyAutoConfigURLString: "http://127.0.0.1:\(site.server.port)/proxy.pac",
                "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": site.proxy.port,
            ]
            let url = try site.server.at("/")
            let error = await site.session { $0.connectionProxyDictionary = dictionary }.failure(url)
            #expect(error?.code == .cannotConnectToHost && error?.cause == "kCFErrorDomainCFNetwork 308")
            #expect(error?.failingURL == url)
            #expect(error?.localizedDescription.contains("proxyResolver") == true)
            #expect(site.server.stats.connectionsAccepted + site.proxy.stats.connectionsAccepted == 0)
        }
    }

    @Test("B13.31: the ways of a resolver are tried in order, .direct included")
    func order() async throws {
        try await ProxiedSite.run { site in
            let list = try #require(
                ProxyRoute.list(
                    scriptAnswer: "PROXY 127.0.0.1:1; SOCKS 127.0.0.1:1; PROXY 127.0.0.1:\(site.proxy.port); DIRECT"))
            let all = Guarded<[URLSessionTaskTransactionMetrics]>([])
            let delegate = RecordingDelegate(onMetrics: { _, metrics in
                all.change { $0 += metrics.transactionMetrics }
            })
            let session = site.session(delegate: delegate) { $0.proxyResolver = { _ in list } }
            #expect(try await session.text(site.url()) == "/hello of origin.test:\(site.server.port)")
            #expect(site.proxy.asks.count == 1)
            #expect(all.value.count == 3, "each attempt is an exchange")

            let last = site.session { $0.proxyResolver = { _ in [list[0], list[1], .direct] } }
            let url = try site.server.at("/")
            #expect(try await last.text(url) == "/ of 127.0.0.1:\(site.server.port)")
            let first = site.session { $0.proxyResolver = { _ in [.direct, list[2]] } }
            let unknown = try site.url()
            #expect(try await first.text(unknown) == "/hello of origin.test:\(site.server.port)", "no such name")
            #expect(site.proxy.asks.count == 2)
        }
    }

    @Test("B13.31: where no way leads to the server, the last one's error is the load's")
    func allFail() async throws {
        try await ProxiedSite.run { site in
            let list = try #require(ProxyRoute.list(scriptAnswer: "SOCKS 127.0.0.1:1; PROXY 127.0.0.1:1"))
            let error = await site.session { $0.proxyResolver = { _ in list } }.failure(try site.url())
            #expect(error?.code == .cannotConnectToHost && error?.cause == "kCFErrorDomainCFNetwork 306")
        }
    }

    @Test("A proxy that is reached and refuses is not passed over")
    func refusal() async throws {
        let refuse: @Sendable (inout LoopbackProxy.Options) -> Void = {
            $0.script = { _ in .text("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n") }
        }
        try await ProxiedSite.run(tls: true, proxy: refuse) { site in
            let proxy = try #require(ProxyConfiguration(url: site.proxyURL))
            let error = await site.session { $0.proxyResolver = { _ in [.proxy(proxy), .direct] } }
                .failure(try site.server.at("/"))
            #expect(error?.cause == "kCFErrorDomainCFNetwork 311")
            #expect(site.server.stats.connectionsAccepted == 0)
        }
    }

    @Test("A resolver is asked for each hop, about the URL without what is secret in it")
    func subjects() async throws {
        let router: LoopbackServer.Router = { request in
            request.path == "/away"
                ? ServerResponse.status(302).adding("Location", "/here?b#c") : ProxiedSite.describing(request)
        }
        try await ProxiedSite.run(router: router) { site in
            let session = site.session { configuration in
                configuration.proxyResolver = { [routes] url in
                    routes.change { $0.append(url) }
                    return [.direct]
                }
            }
            let port = site.server.port
            let url = try #require(URL(string: "http://user:secret@127.0.0.1:\(port)/away?a#f"))
            _ = try await session.data(from: url)
            let secure = try #require(URL(string: "https://user:secret@127.0.0.1:\(port)/path?query"))
            _ = try? await session.data(from: secure)
            session.invalidateAndCancel()
            #expect(
                routes.value.map(\.absoluteString) == [
                    "http://127.0.0.1:\(port)/away?a", "http://127.0.0.1:\(port)/here?b", "https://127.0.0.1:\(port)/",
                ])
        }
    }

    @Test("A resolver is not asked about the dictionary's exceptions, and wins over every other setting")
    func precedence() async throws {
        try await ProxiedSite.run { site in
            let proxy = try #require(ProxyConfiguration(url: site.proxyURL))
            let configure = { (configuration: URLSessionConfiguration) in
                configuration.connectionProxyDictionary = [
                    "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": 1, "ExceptionsList": ["127.0.0.1"],
                ]
                configuration.proxyConfigurations = ProxyConfiguration(url: "127.0.0.1:1").map { [$0] } ?? []
                configuration.proxyResolver = { [routes] url in
                    routes.change { $0.append(url) }
                    return [.proxy(proxy)]
                }
            }
            #expect(try await site.session(configure).text(site.url()).hasPrefix("/hello of origin.test"))
            #expect(try await site.session(configure).text(site.server.at("/")).hasPrefix("/ of 127.0.0.1"))
            #expect(routes.value.count == 1 && site.proxy.asks.count == 1)
        }
    }

    @Test(
        "A resolver that throws, or knows no way, or names no proxy, makes the load fail with 308 underneath",
        arguments: [0, 1, 2])
    func failures(form: Int) async throws {
        try await ProxiedSite.run { site in
            let session = site.session { configuration in
                configuration.proxyResolver = { _ in
                    switch form {
                    case 0: throw NoIdea()
                    case 1: return []
                    default: return [.proxy(ProxyConfiguration(socksv5Proxy: .hostPort(host: "", port: 1))), .direct]
                    }
                }
            }
            let url = try site.server.at("/")
            let error = await session.failure(url)
            #expect(error?.code == .cannotConnectToHost && error?.cause == "kCFErrorDomainCFNetwork 308")
            #expect(error?.failingURL == url && site.server.stats.connectionsAccepted == 0)
        }
    }

    @Test("B1.41: a task that is cancelled while its resolver works ends, and the resolver's Swift task is cancelled")
    func cancelled() async throws {
        try await ProxiedSite.run { site in
            let (asked, stopped) = (Signal(), Signal())
            let session = site.session { configuration in
                configuration.proxyResolver = { _ in
                    asked.fire()
                    await untilCancelled()
                    stopped.fire()
                    return [.direct]
                }
            }
            let url = try site.server.at("/")
            let load = Task { await session.failure(url) }
            await asked.wait()
            load.cancel()
            #expect(await load.value?.code == .cancelled)
            await stopped.wait()
            #expect(site.server.stats.connectionsAccepted == 0)
        }
    }

    @Test("B6.1: a resolver that does not answer within the request's time-out ends the load with −1001")
    func slow() async throws {
        try await ProxiedSite.run { site in
            let session = site.session { configuration in
                configuration.timeoutIntervalForRequest = 0.1
                configuration.proxyResolver = { _ in
                    await untilCancelled()
                    return [.direct]
                }
            }
            let error = await session.failure(try site.server.at("/"))
            #expect(error?.code == .timedOut)
            #expect(error?.localizedDescription.contains("proxyResolver") == true)
        }
    }
}
