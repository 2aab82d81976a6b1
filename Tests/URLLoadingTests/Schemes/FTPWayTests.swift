// The ways by which sessions reach FTP servers: through proxies of each kind (B13.7, B13.32), and by the next way where
// one leads nowhere.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@testable import URLLoading

@Suite("The ways to ftp servers", .endsSessions, .timeLimit(.minutes(5)))
struct FTPWayTests {
    private func server() throws -> FTPServer {
        try FTPServer.start { options in
            options.files = ["/pub/page.html": Array("<p>".utf8)]
            options.users = ["me": "secret"]
        }
    }

    private func url(_ server: FTPServer, _ path: String, user: String = "", scheme: String = "ftp") throws -> URL {
        try #require(URL(string: "\(scheme)://\(user)127.0.0.1:\(server.port)\(path)"))
    }

    private func code(_ session: URLSession, _ url: URL) async -> URLError.Code? {
        await codeThrown { _ = try await session.data(from: url) }
    }

    @Test("B13.32: a proxy that speaks HTTP is sent the URL in absolute form, without its user")
    func httpProxy() async throws {
        // A server is proxy enough for requests in absolute form.
        let router: LoopbackServer.Router = { request in
            let fields = ["Host", "Authorization"].map { request.fields.first($0) ?? "none" }
            return .text("\(request.head.method) \(request.target), \(fields[0]), \(fields[1])")
        }
        try await withServer(router: router) { proxy async throws in
            let session = visitor {
                $0.connectionProxyDictionary = ["FTPEnable": 1, "FTPProxy": "127.0.0.1", "FTPPort": proxy.port]
            }
            for (text, seen) in [
                ("ftp://files.test/a%20b;type=i", "GET ftp://files.test/a%20b;type=i, files.test, none"),
                ("ftp://u:p@files.test:2121", "GET ftp://files.test:2121/, files.test:2121, Basic dTpw"),
                ("ftp://[::1]/x", "GET ftp://[::1]/x, [::1], none"),
            ] {
                let (data, response) = try await session.data(from: try #require(URL(string: text)))
                #expect(String(decoding: data, as: UTF8.self) == seen)
                #expect((response as? HTTPURLResponse)?.statusCode == 200)
            }
            let upload = URLRequest(url: try #require(URL(string: "ftp://files.test/new")))
            let (stored, _) = try await session.upload(for: upload, from: Data("x".utf8))
            #expect(String(decoding: stored, as: UTF8.self) == "PUT ftp://files.test/new, files.test, none")
            let protected = try #require(URL(string: "ftps://files.test/"))
            #expect(await code(session, protected) == .cannotConnectToHost)
            #expect(proxy.stats.requestsBegun == 4)
        }
    }

    @Test("B13.7: the control and the data connection both go through a SOCKS proxy")
    func socks() async throws {
        let server = try server()
        let proxy = try LoopbackProxy.start()
        let session = visitor {
            $0.connectionProxyDictionary = [
                kCFNetworkProxiesSOCKSEnable: 1, kCFNetworkProxiesSOCKSProxy: "127.0.0.1",
                kCFNetworkProxiesSOCKSPort: proxy.port,
            ]
        }
        #expect(try await session.data(from: url(server, "/pub/page.html")).0.count == 3)
        #expect(proxy.asks.map(\.kind) == [.socks5, .socks5])
        await proxy.stop()
    }

    @Test(
        "B13.28, B2.66, B2.67: a SOCKS proxy's password is asked for and looked up as by http, and opens the data connection too"
    )
    func socksPassword() async throws {
        let server = try server()
        let proxy = try LoopbackProxy.start { $0.socksCredentials = ("u", "p") }
        let storage = URLCredentialStorage()
        func session(_ delegate: GuestDelegate?) -> URLSession {
            visitor(delegate, storage: storage) {
                $0.connectionProxyDictionary = [
                    kCFNetworkProxiesSOCKSEnable: 1, kCFNetworkProxiesSOCKSProxy: "127.0.0.1",
                    kCFNetworkProxiesSOCKSPort: proxy.port,
                ]
            }
        }
        let page = try url(server, "/pub/page.html", user: "me:secret@")
        #expect(await code(session(nil), page) == .userAuthenticationRequired)
        let delegate = GuestDelegate(
            Guest.inTurn((.useCredential, URLCredential("w", "w")), (.useCredential, URLCredential("u", "p"))))
        #expect(try await session(delegate).data(from: page).0.count == 3)
        #expect(
            delegate.transcript.calls.filter { $0.hasPrefix("task ") } == [
                "task Default - 0 nobody no response", "task Default - 1 w/w no response",
            ])
        let space = try #require(delegate.challenges.value.first).protectionSpace
        #expect(storage.defaultCredential(for: space) == URLCredential("u", "p"))
        #expect(try await session(nil).data(from: page).0.count == 3)
        #expect(proxy.asks.map(\.kind) == [.socks5, .socks5, .socks5, .socks5])
        let refusing = GuestDelegate(Guest.always(.cancelAuthenticationChallenge))
        #expect(await code(session(refusing), page) == .cancelled)
        await proxy.stop()
    }

    @Test("B16.82, B14.22: an override's port is the control connection's only, through a SOCKS proxy too")
    func standInBySOCKS() async throws {
        let server = try server()
        let proxy = try LoopbackProxy.start()
        let described = try #require(ProxyConfiguration(url: "socks5://127.0.0.1:\(proxy.port)"))
        let session = visitor {
            $0.hostOverrides = ["files.test": "127.0.0.1:\(server.port)"]
            $0.proxyConfigurations = [described]
        }
        let page = try #require(URL(string: "ftp://files.test/pub/page.html"))
        #expect(try await session.data(from: page).0.count == 3)
        #expect(proxy.asks.map { $0.target == "127.0.0.1:\(server.port)" } == [true, false])
        await proxy.stop()
    }

    @Test(
        "B14.22: through a SOCKS proxy the data connection goes where the control connection leads, whatever is set for its port",
        arguments: ["socks4", "socks5"])
    func dataBySOCKS(kind: String) async throws {
        let server = try server()
        let proxy = try LoopbackProxy.start()
        let described = try #require(ProxyConfiguration(url: "\(kind)://127.0.0.1:\(proxy.port)"))
        let session = visitor {
            // Nothing is set for other ports, and such a name has no address.
            $0.hostOverrides = ["files.invalid:21": "127.0.0.9:1,127.0.0.1:\(server.port)"]
            $0.proxyConfigurations = [described]
        }
        let page = try #require(URL(string: "ftp://files.invalid/pub/page.html"))
        #expect(try await session.data(from: page).0.count == 3)
        let targets = proxy.asks.map(\.target)
        #expect(targets.prefix(2) == ["127.0.0.9:1", "127.0.0.1:\(server.port)"])
        // The address that was refused is not tried again.
        #expect(targets.count == 3 && targets.last?.hasPrefix("127.0.0.1:") == true)
        await proxy.stop()
    }

    /// Proxies to be tried in this order, each of which may be passed over.
    private func list(_ urls: String...) throws -> [ProxyConfiguration] {
        try urls.map { url in
            var proxy = try #require(ProxyConfiguration(url: url))
            proxy.allowFailover = true
            return proxy
        }
    }

    private static let noHTTP = "http://127.0.0.1:1"
    private static let noSOCKS = "socks5://127.0.0.1:1"

    @Test("B13.32: of several proxies of any kind the next one is tried where one is not there, and at last no proxy")
    func failover() async throws {
        let server = try server()
        let page = try url(server, "/pub/page.html")
        let socks = try LoopbackProxy.start()
        let liveSOCKS = "socks5://127.0.0.1:\(socks.port)"
        try await withServer(router: { .text("by HTTP: \($0.target)") }) { proxy async throws in
            let liveHTTP = "http://127.0.0.1:\(proxy.port)"
            func text(_ proxies: [ProxyConfiguration]) async throws -> String {
                let session = visitor { $0.proxyConfigurations = proxies }
                return String(decoding: try await session.data(from: page).0, as: UTF8.self)
            }
            #expect(try await text(list(Self.noHTTP)) == "<p>")
            #expect(try await text(list(Self.noSOCKS)) == "<p>")
            #expect(socks.asks.isEmpty)
            #expect(try await text(list(Self.noHTTP, Self.noSOCKS, liveSOCKS)) == "<p>")
            #expect(socks.asks.count == 2)
            #expect(try await text(list(Self.noSOCKS, Self.noHTTP, liveHTTP)) == "by HTTP: \(page)")
            #expect(try await text(list(Self.noHTTP, liveHTTP, liveSOCKS)) == "by HTTP: \(page)")
            #expect(socks.asks.count == 2)
        }
        await socks.stop()
    }

    @Test("B14.1: a URL of another scheme is no FTP server's", arguments: ["ws", "wss", "http", "https", "file"])
    func otherSchemes(scheme: String) throws {
        let url = try #require(URL(string: "\(scheme)://alice:secret@files.test/a"))
        let error = #expect(throws: URLError.self) { try FTPPlace(url) }
        #expect(error?.code == .unsupportedURL && error?.failingURL == url)
    }

    @Test("A delegate hears once of a load that tries several ways; the last way's error is the load's")
    func failoverTold() async throws {
        let server = try server()
        let delegate = RecordingDelegate()
        var proxies = try list(Self.noHTTP, Self.noSOCKS)
        let session = visitor(delegate) { [proxies] in $0.proxyConfigurations = proxies }
        session.dataTask(with: try url(server, "/pub/page.html")).resume()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.calls == ["created 1", "response 0", "data", "metrics 2", "complete nil"])
        proxies = try list(Self.noSOCKS, Self.noHTTP)
        proxies[1].allowFailover = false
        let strict = visitor { [proxies] in $0.proxyConfigurations = proxies }
        #expect(await code(strict, try url(server, "/pub/page.html")) == .cannotConnectToHost)
        #expect(server.commands.count { $0.hasPrefix("RETR") } == 1)
    }

    @Test("An upload goes whole by the way that works; ftps passes over an HTTP proxy that allows failover")
    func failoverOfOthers() async throws {
        let server = try server()
        for proxies in [try list(Self.noHTTP), try list(Self.noSOCKS), try list(Self.noSOCKS, Self.noHTTP)] {
            let session = visitor { $0.proxyConfigurations = proxies }
            let content = Data(repeating: 0x78, count: 100_000)
            let place = try url(server, "/new", user: "me:secret@")
            _ = try await session.upload(for: URLRequest(url: place), from: content)
            #expect(try await session.data(from: place).0 == content)
        }
        let proxies = try list(Self.noHTTP)
        let session = visitor { $0.proxyConfigurations = proxies }
        #expect(await code(session, try url(server, "/pub/page.html", scheme: "ftps")) == .secureConnectionFailed)
        #expect(server.commands.contains { $0.hasPrefix("AUTH") })
    }

    @Test("B6.1: a proxy that is silent for the request's time-out is passed over")
    func silentProxy() async throws {
        let server = try server()
        let silent = try LoopbackProxy.start { $0.script = { _ in .silence } }
        let proxies = try list("socks5://127.0.0.1:\(silent.port)")
        let session = visitor { $0.proxyConfigurations = proxies }
        var request = URLRequest(url: try url(server, "/pub/page.html"))
        request.timeoutInterval = 1
        #expect(try await session.data(for: request).0 == Data("<p>".utf8))
        await silent.stop()
    }
}
