// Where connections go and come from: UNIX-domain sockets, local addresses, interfaces. These settings are
// the library's own.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingPolicy

@testable import URLLoading

/// A path for a socket, in a directory that is removed with its owner.
private final class SocketFolder: Sendable {
    let path = NSTemporaryDirectory() + "url-\(UUID().uuidString.prefix(8))"
    var socket: String { path + "/socket" }

    init() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}

@Suite("Where connections go and come from")
struct ConnectionPlaceTests {
    private func session(_ change: (URLSessionConfiguration) -> Void) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.usesProxyEnvironment = false
        change(configuration)
        return URLSession(configuration: configuration)
    }

    @Test("A session's UNIX-domain socket is used for every host and in spite of proxies, and its connections are kept")
    func sessionSocket() async throws {
        let folder = try SocketFolder()
        try await withServer(.init(unixPath: folder.socket), router: ProxiedSite.describing) { server in
            let session = session {
                $0.unixSocketPath = folder.socket
                $0.connectionProxyDictionary = ["HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": 1]
            }
            for host in ["daemon.test", "127.0.0.1:1", "daemon.test"] {
                let url = try #require(URL(string: "http://\(host)/x"))
                let (data, _) = try await session.data(from: url)
                #expect(String(decoding: data, as: UTF8.self) == "/x of \(host)")
            }
            #expect(server.stats.connectionsAccepted == 2, "one for each host")
            session.invalidateAndCancel()
        }
    }

    /// A server behind a socket and one in the network that have one and the same name.
    private func withNamesakes(
        _ router: @escaping LoopbackServer.Router,
        _ body: (_ session: URLSession, _ near: URLRequest, _ far: URLRequest) async throws -> Void
    ) async throws {
        let folder = try SocketFolder()
        try await withServer(.init(unixPath: folder.socket), router: router) { _ in
            try await withServer(router: router) { server in
                let session = session { $0.hostOverrides = ["same.test": "127.0.0.1"] }
                let far = URLRequest(url: try server.at("/x", host: "same.test"))
                var near = far
                near.unixSocketPath = folder.socket
                try await body(session, near, far)
                session.invalidateAndCancel()
            }
        }
    }

    @Test("B8.50: a host's cookies are not sent to a server behind a UNIX-domain socket, nor the other way round")
    func cookies() async throws {
        let router: LoopbackServer.Router = { request in
            ServerResponse.text(request.fields.first(.cookie) ?? "-")
                .adding("Set-Cookie", request.fields.first("X-Set") ?? "none=1")
        }
        try await withNamesakes(router) { session, near, far async throws in
            func text(_ request: URLRequest, setting cookie: String) async throws -> String {
                var request = request
                request.setValue(cookie, forHTTPHeaderField: "X-Set")
                return String(decoding: try await session.data(for: request).0, as: UTF8.self)
            }
            #expect(try await text(near, setting: "near=1") == "-")
            #expect(try await text(far, setting: "far=1") == "-")
            #expect(try await text(near, setting: "near=2") == "near=1")
            #expect(try await text(far, setting: "far=2") == "far=1")
            #expect(session.configuration.httpCookieStorage?.cookies?.map(\.name) == ["far"])
            await session.reset()
            #expect(try await text(near, setting: "near=3") == "-")
        }
    }

    @Test("B2.77: a proof for a host is not sent unasked to a server behind a UNIX-domain socket, nor vice versa")
    func proofs() async throws {
        let router: LoopbackServer.Router = { request in
            guard let proof = request.fields.first(.authorization) else {
                return ServerResponse.text("-", status: 401).adding("WWW-Authenticate", "Basic realm=x")
            }
            return .text(proof)
        }
        for isNearFirst in [true, false] {
            try await withNamesakes(router) { session, near, far in
                let (first, second) = isNearFirst ? (near, far) : (far, near)
                func text(_ request: URLRequest) async throws -> String {
                    String(decoding: try await session.data(for: request).0, as: UTF8.self)
                }
                var named = first
                var parts = try #require(URLComponents(string: first.url?.absoluteString ?? ""))
                (parts.user, parts.password) = ("u", "p")
                named.url = parts.url
                #expect(try await text(named).hasPrefix("Basic "))
                #expect(try await text(first).hasPrefix("Basic "))
                #expect(try await text(second) == "-")
            }
        }
    }

    @Test(
        "B2.108: a host's stored password is not sent to a server behind a UNIX-domain socket, whose own are not stored"
    )
    func storedPasswords() async throws {
        try await withNamesakes(door()) { (shared, near, far) async throws in
            let storage = URLCredentialStorage()
            func guest(_ habit: @escaping GuestHabit) -> URLSession {
                let configuration = shared.configuration
                configuration.urlCredentialStorage = storage
                return URLSession(configuration: configuration, delegate: GuestDelegate(habit), delegateQueue: nil)
            }
            let knowing = guest(Guest.once("u", "p"))
            #expect(try await knowing.visit(near) == "200 secret")
            #expect(storage.allCredentials.isEmpty)
            #expect(try await knowing.visit(far) == "200 secret")
            #expect(storage.allCredentials.count == 1)
            let later = guest(Guest.always(.performDefaultHandling))
            #expect(try await later.visit(far) == "200 secret")
            #expect(try await later.visit(near) == "401 denied")
            for session in [knowing, later] { session.invalidateAndCancel() }
        }
    }

    @Test(
        "B2.108: a host's stored identity is not shown to a server behind a UNIX-domain socket, but that of the settings is"
    )
    func storedIdentities() async throws {
        let folder = try SocketFolder()
        let clients = try CertificateFactory.root("Clients")
        let (root, identity) = try CertificateFactory.server("same.test")
        let tls = ServerTLS(
            identity: identity, clientAuthentication: .required, clientAuthorities: [clients.certificate])
        let own = SecIdentity(try clients.issue(.client("me")).identity)
        try await withServer(.init(unixPath: folder.socket, tls: tls), router: { _ in .text("in") }) { _ in
            try await withServer(.init(tls: tls), router: { _ in .text("in") }) { server in
                let far = URLRequest(url: try server.at("/x", host: "same.test"))
                var near = far
                near.unixSocketPath = folder.socket
                let storage = URLCredentialStorage()
                storage.setDefaultCredential(
                    URLCredential(identity: own, certificates: nil, persistence: .forSession),
                    for: URLProtectionSpace(
                        host: "same.test", port: Int(server.port), protocol: NSURLProtectionSpaceHTTPS, realm: nil,
                        authenticationMethod: NSURLAuthenticationMethodClientCertificate))
                let configuration = URLSessionConfiguration.ephemeral
                configuration.usesProxyEnvironment = false
                configuration.hostOverrides = ["same.test": "127.0.0.1"]
                configuration.serverTrustEvaluation = .anchors(pem: root.pem)
                configuration.urlCredentialStorage = storage
                let proposed = Guarded<[SecIdentity?]>([])
                let judge = SessionJudge { challenge, reply in
                    if !challenge.isAboutServer {
                        proposed.change { $0.append(challenge.proposedCredential?.identity) }
                    }
                    reply(.performDefaultHandling, nil)
                }
                for delegate in [nil, judge] {
                    let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
                    #expect(try await session.visit(far) == "200 in")
                    #expect(await codeThrown { _ = try await session.visit(near) } == .clientCertificateRequired)
                    session.invalidateAndCancel()
                }
                #expect(proposed.value == [own, nil])
                configuration.clientIdentities = .allHosts(.identity(own))
                let session = URLSession(configuration: configuration)
                #expect(try await session.visit(near) == "200 in")
                session.invalidateAndCancel()
            }
        }
    }

    @Test("B7.103: a load through a UNIX-domain socket neither asks nor fills nor changes the cache")
    func storedAnswers() async throws {
        let visits = Visits()
        let router: LoopbackServer.Router = { request in
            visits.note(request)
            return .text("\(visits.count)").adding("Cache-Control", "max-age=3600")
        }
        try await withNamesakes(router) { (shared, near, far) async throws in
            #expect(try await shared.visit(near) == "200 1")
            #expect(try await shared.visit(near) == "200 2")
            #expect(try await shared.visit(far) == "200 3")
            #expect(try await shared.visit(far) == "200 3", "the network's is stored")
            #expect(try await shared.visit(near) == "200 4")
            let other = session {
                $0.unixSocketPath = near.unixSocketPath
                $0.urlCache = shared.configuration.urlCache
            }
            #expect(try await other.visit(far) == "200 5", "the session's socket is one as well")
            var posting = near
            posting.httpMethod = "POST"
            #expect(try await shared.visit(posting) == "200 6")
            #expect(try await shared.visit(far) == "200 3", "it is not worthless")
            var stored = near
            stored.cachePolicy = .returnCacheDataDontLoad
            #expect(await codeThrown { _ = try await shared.visit(stored) } == .resourceUnavailable)
            #expect(visits.count == 6)
            other.invalidateAndCancel()
        }
    }

    @Test("B11.41: an upload that was begun through a UNIX-domain socket goes on through it with its resume data")
    func resumedUpload() async throws {
        let folder = try SocketFolder()
        var settings = UploadStore.Settings()
        settings.cuts = [400_000]
        let store = UploadStore(settings)
        var options = LoopbackServer.Options(unixPath: folder.socket)
        options.uploads = store
        try await withServer(options, router: { _ in .status(500) }) { _ in
            let session = session(UploadResumeDataTests.impatient)
            // Nothing listens on this port in the network.
            var request = uploading(try #require(URL(string: "http://127.0.0.1:1/files")))
            request.unixSocketPath = folder.socket
            let file = try UploadFile(count: 1_000_000)
            let error = try await #require(throws: URLError.self) {
                try await session.upload(for: request, fromFile: file.url)
            }
            let data = try #require(error.uploadTaskResumeData)
            let answer = try await session.upload(resumeFrom: data).0
            #expect(String(decoding: answer, as: UTF8.self).hasPrefix("1000000 "))
            #expect(store.log == ["POST ?1", "HEAD", "PATCH 400000 ?1"])
            session.invalidateAndCancel()
        }
    }

    @Test("TLS over a UNIX-domain socket is TLS with the URL's host")
    func secureSocket() async throws {
        let folder = try SocketFolder()
        let (root, identity) = try CertificateFactory.server("daemon.test")
        let options = LoopbackServer.Options(unixPath: folder.socket, tls: .init(identity: identity))
        try await withServer(options, router: ProxiedSite.describing) { _ in
            let session = session {
                $0.unixSocketPath = folder.socket
                $0.serverTrustEvaluation = .anchors(pem: root.pem)
            }
            let url = try #require(URL(string: "https://daemon.test/x"))
            #expect(try await session.text(url) == "/x of daemon.test")
        }
    }

    @Test("A redirect keeps a request's UNIX-domain socket on the same server, and leaves it for another one")
    func requestSocket() async throws {
        let folder = try SocketFolder()
        let router: LoopbackServer.Router = { request in
            switch request.path {
            case "/near": ServerResponse.status(302).adding("Location", "/here")
            case "/far": ServerResponse.status(302).adding("Location", "http://127.0.0.1:\(request.query ?? "")/there")
            default: ProxiedSite.describing(request)
            }
        }
        try await withServer(.init(unixPath: folder.socket), router: router) { local in
            try await withServer(router: ProxiedSite.describing) { other in
                let session = session { _ in }
                func text(_ path: String) async throws -> String {
                    var request = URLRequest(url: try #require(URL(string: "http://daemon.test\(path)")))
                    request.unixSocketPath = folder.socket
                    return String(decoding: try await session.data(for: request).0, as: UTF8.self)
                }
                #expect(try await text("/here") == "/here of daemon.test")
                #expect(try await text("/near") == "/here of daemon.test")
                #expect(try await text("/far?\(other.port)") == "/there of 127.0.0.1:\(other.port)")
                let without = try #require(URL(string: "http://127.0.0.1:\(other.port)/x"))
                #expect(try await session.text(without) == "/x of 127.0.0.1:\(other.port)")
                #expect(local.stats.connectionsAccepted == 1 && other.stats.connectionsAccepted == 1)
            }
        }
    }

    @Test(
        "A socket that is not there, and a path that no socket can have, are −1004, and the text names the path",
        arguments: [
            ("/nowhere/socket", POSIXError.Code.ENOENT), ("/" + String(repeating: "x", count: 200), .ENAMETOOLONG),
            ("/a\u{0}b", .EINVAL), ("", .ENOENT),
        ])
    func noSocket(path: String, reason: POSIXError.Code) async throws {
        let url = try #require(URL(string: "http://daemon.test/"))
        let error = await session { $0.unixSocketPath = path }.failure(url)
        #expect(error?.code == .cannotConnectToHost, "\(String(describing: error))")
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == reason)
        #expect(error?.localizedDescription.contains(path.isEmpty ? "\"\"" : path) == true)
    }

    @Test("B5.11: requests with different sockets are not equal, and an archive keeps the path")
    func requestValues() throws {
        let url = try #require(URL(string: "http://daemon.test/"))
        var request = URLRequest(url: url)
        request.unixSocketPath = "/run/one"
        #expect(request != URLRequest(url: url))
        let object = request as NSURLRequest
        let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSURLRequest.self, from: data)
        #expect(read.map { $0 as URLRequest }?.unixSocketPath == "/run/one")
    }

    @Test("Connections come from the local address that is set")
    func localAddress() async throws {
        let router: LoopbackServer.Router = { .text($0.remoteAddress?.host ?? "nobody") }
        try await withServer(router: router) { server in
            let url = try server.at("/")
            let (other, usual) = (session { $0.localAddress = "127.0.0.7" }, session { _ in })
            #expect(try await other.text(url) == "127.0.0.7")
            #expect(try await usual.text(url) == "127.0.0.1")
        }
    }

    @Test("Loads fail where the local address is not an address, or of another family")
    func badLocalAddress() async throws {
        try await withServer(router: { _ in .status(200) }) { server in
            let bad = await session { $0.localAddress = "localhost" }.failure(try server.at("/"))
            #expect(bad?.code == .cannotConnectToHost)
            #expect(bad?.localizedDescription.contains("localAddress") == true)
            let other = await session { $0.localAddress = "::1" }.failure(try server.at("/"))
            #expect(other?.code == .cannotConnectToHost || other?.code == .cannotFindHost)
            #expect(server.stats.connectionsAccepted == 0)
        }
    }

    @Test("Connections go out by the interface that is set; loads fail where it does not exist")
    func interface() async throws {
        try await withServer(router: { _ in .text("there") }) { server in
            let there = session { $0.networkInterface = "lo" }
            #expect(try await there.text(server.at("/")) == "there")
            let nowhere = session { $0.networkInterface = "no-such-one" }
            let error = await nowhere.failure(try server.at("/"))
            #expect(error?.code == .cannotConnectToHost)
            #expect(server.stats.connectionsAccepted == 1)
        }
    }

    @Test("The address of a name comes from hostOverrides, through a tunnel as well as without one")
    func overrides() async throws {
        try await withServer(router: ProxiedSite.describing) { server in
            let session = session { $0.hostOverrides = ["api.test": "127.0.0.1"] }
            let url = try server.at("/x", host: "api.test")
            #expect(try await session.text(url) == "/x of api.test:\(server.port)")
        }
    }

    @Test(
        "B16.82: an override replaces the URL's port, or a name by an address; the Host field stays the URL's"
    )
    func standIns() async throws {
        try await withServer(router: ProxiedSite.describing) { server in
            for (place, target) in [
                ("api.test", "127.0.0.1:\(server.port)"), ("api.test:80", "localhost:\(server.port)"),
                ("*", "127.0.0.1:\(server.port)"), ("Bücher.test:80", "127.0.0.1:\(server.port)"),
                ("xn--bcher-kva.test", "bücher.localhost:\(server.port)"),
            ] {
                let session = session { $0.hostOverrides = [place: target] }
                let host = place.contains("cher") ? "xn--bcher-kva.test" : "api.test"
                let url = try #require(URL(string: "http://\(host)/x"))
                #expect(try await session.text(url) == "/x of \(host)", "\(place): \(target)")
            }
            // A task that waits for a network would wait for ever.
            let wrong = session {
                $0.hostOverrides = ["api.test": "127.0.0.256"]
                $0.waitsForConnectivity = true
            }
            let error = try await #require(throws: URLError.self) {
                try await wrong.text(try #require(URL(string: "http://api.test/")))
            }
            #expect(error.code == .cannotFindHost)
            #expect(error.localizedDescription.contains("127.0.0.256"))
        }
    }

    @Test("B13.8, B13.9, B16.69: Unicode names in lists of hosts without a proxy are names as those of URLs are")
    func unicodeNamesInLists() throws {
        var environment = ConfigurationValues()
        environment.proxyEnvironment = ["http_proxy": "http://proxy.test", "no_proxy": "a.test, .Bücher.test:80"]
        var dictionary = ConfigurationValues()
        dictionary.connectionProxyDictionary = ProxyDictionary(
            dictionary: ["HTTPEnable": 1, "HTTPProxy": "proxy.test", "ExceptionsList": ["*.bu\u{308}cher.test"]])
        var list = ConfigurationValues()
        list.proxyConfigurations = [try #require(ProxyConfiguration(url: "http://proxy.test"))]
        list.proxyConfigurations[0].excludedDomains = ["bücher.test"]
        var others = list
        others.proxyConfigurations[0].excludedDomains = []
        others.proxyConfigurations[0].matchDomains = ["bücher.test"]
        let (near, far) = (
            try #require(Origin(scheme: .http, host: "www.xn--bcher-kva.test")),
            try #require(Origin(scheme: .http, host: "www.bucher.test"))
        )
        for values in [environment, dictionary, list] {
            #expect(SessionProxies(values).ways(to: near) == .direct)
            #expect(SessionProxies(values).ways(to: far) != .direct)
        }
        #expect(SessionProxies(others).ways(to: near) != .direct && SessionProxies(others).ways(to: far) == .direct)
    }

    @Test("A ProxyConfiguration is for all hosts where no domain is set, and for none where none can be understood")
    func domainsOfNoHost() throws {
        var values = ConfigurationValues()
        values.proxyConfigurations = [try #require(ProxyConfiguration(url: "http://proxy.test"))]
        let origin = try #require(Origin(scheme: .http, host: "a.test"))
        #expect(SessionProxies(values).ways(to: origin) != .direct)
        for domains in [[""], [" ", "a/b"], ["a.test:port"]] {
            values.proxyConfigurations[0].matchDomains = domains
            #expect(SessionProxies(values).ways(to: origin) == .direct, "\(domains)")
        }
        values.proxyConfigurations[0].matchDomains = ["", "a.test"]
        #expect(SessionProxies(values).ways(to: origin) != .direct)
    }

    @Test("B16.82, B13.26: where the session tells a SOCKS proxy a host's address, it tells the port of its override")
    func standInsBySOCKS() async throws {
        try await ProxiedSite.run { site in
            let place = "127.0.0.1:\(site.server.port)"
            for kind in ["socks4", "socks5"] {
                for target in [place, "localhost:\(site.server.port)", ":\(site.server.port)"] {
                    let proxy = try #require(ProxyConfiguration(url: "\(kind)://127.0.0.1:\(site.proxy.port)"))
                    let session = site.session {
                        $0.hostOverrides = ["api.localhost": target]
                        $0.proxyConfigurations = [proxy]
                    }
                    let url = try #require(URL(string: "http://api.localhost:1/x"))
                    #expect(try await session.text(url) == "/x of api.localhost:1", "\(kind): \(target)")
                }
            }
            #expect(site.proxy.asks.contains { $0.target == place })
        }
    }

    @Test(
        "B6.39: a load whose connection takes longer than its limit times out, and the error says which step took so long"
    )
    func connectionTimeout() async throws {
        let session = session {
            $0.timeoutIntervalForConnection = 0.05
            $0.hostResolver = { _ in
                try await Task.sleep(for: .seconds(3_600))
                return .init(["127.0.0.1"], timeToLive: 0)
            }
        }
        let error = try await #require(throws: URLError.self) {
            try await session.text(try #require(URL(string: "http://api.test/")))
        }
        #expect(error.code == .timedOut)
        #expect(error.localizedDescription.contains("api.test within 0.05 seconds; it was looking up the host's name"))
    }

    @Test("B6.39, B16.83: a limit that is zero, negative or NaN is no limit")
    func noTimes() {
        var values = ConfigurationValues()
        for nothing in [nil, 0, -1, .nan] as [TimeInterval?] {
            values.timeoutIntervalForConnection = nothing
            values.connectionProbeInterval = nothing
            let engine = SessionSettings(values).engine
            #expect(engine.connectionTimeout == nil && engine.connectionProbeInterval == nil)
        }
        values.timeoutIntervalForConnection = 2
        values.connectionProbeInterval = .infinity
        let engine = SessionSettings(values).engine
        #expect(engine.connectionTimeout == .seconds(2) && engine.connectionProbeInterval != nil)
    }
}
