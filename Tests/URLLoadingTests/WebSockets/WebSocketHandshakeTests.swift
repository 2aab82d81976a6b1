// The handshake of web socket tasks: its request, its accepted answers, and the rules that it shares with other tasks
// (behaviour 15.1).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingWire

@Suite("Web socket handshakes", .endsSessions, .timeLimit(.minutes(5)))
struct WebSocketHandshakeTests {
    /// Opens a web socket by a request and closes it; what the delegate was told, and what the server saw.
    private func open(
        _ server: LoopbackServer, _ record: WebSocketRecord, _ scribe: WebSocketScribe = WebSocketScribe(),
        change: (URLSessionConfiguration) -> Void = { _ in },
        task make: (URLSession) throws -> URLSessionWebSocketTask
    ) async throws -> (story: [String], head: RequestHead?) {
        let task = try make(webSocketSession(scribe, change))
        task.resume()
        await scribe.opened.wait()
        task.cancel(with: .normalClosure, reason: nil)
        return (await scribe.story(), record.contents.requests.last)
    }

    @Test("B15.1, B15.2: the fields of a handshake's request")
    func request() async throws {
        let record = WebSocketRecord()
        try await withServer(router: { _ in .webSocket(WebSocketRoute(record: record)) }) { server in
            var request = URLRequest(url: try server.webSocket("/chat?room=1#top"))
            request.setValue("mine", forHTTPHeaderField: "X-Own")
            request.setValue("nonsense", forHTTPHeaderField: "Sec-WebSocket-Key")
            request.setValue("foo", forHTTPHeaderField: "Sec-WebSocket-Extensions")
            let asked = request
            var keys: Set<String> = []
            for _ in 0..<2 {
                let (_, head) = try await open(
                    server, record, change: { $0.httpAdditionalHeaders = ["X-Session": "ours"] },
                    task: { $0.webSocketTask(with: asked) })
                let sent = try #require(head)
                #expect(sent.method == "GET" && sent.target == "/chat?room=1", "no fragment")
                #expect(sent.fields.values("Upgrade") == ["websocket"])
                #expect(sent.fields.values("Connection") == ["Upgrade"])
                #expect(sent.fields.values("Sec-WebSocket-Version") == ["13"])
                #expect(sent.fields.values("X-Own") == ["mine"] && sent.fields.values("X-Session") == ["ours"])
                #expect(!sent.fields.contains("Origin"))
                #expect(!sent.fields.contains("Sec-WebSocket-Extensions"), "B15.10")
                #expect(!sent.fields.contains("Sec-WebSocket-Protocol"))
                let key = try #require(sent.fields.first("Sec-WebSocket-Key"))
                #expect(Data(base64Encoded: key)?.count == 16)
                keys.insert(key)
            }
            #expect(keys.count == 2)
        }
    }

    @Test(
        "B15.1: http URLs are taken for ws; other schemes, methods and bodies are refused before a connection is opened"
    )
    func schemes() async throws {
        let record = WebSocketRecord()
        try await withServer(router: { _ in .webSocket(WebSocketRoute(record: record)) }) { server in
            let url = try server.at("/x")
            let (story, _) = try await open(server, record, task: { $0.webSocketTask(with: url) })
            #expect(story == ["created", "open nil", "close 1000 nil", "complete nil"])
            var post = URLRequest(url: try server.webSocket())
            post.httpMethod = "POST"
            var body = URLRequest(url: try server.webSocket())
            body.httpBody = Data("x".utf8)
            let ftp = URLRequest(url: try #require(URL(string: "ftp://127.0.0.1/")))
            let nowhere = URLRequest(url: try #require(URL(string: "ws:///x")))
            for (request, code) in [(post, -1002), (body, -1103), (ftp, -1002), (nowhere, -1000)] {
                let scribe = WebSocketScribe()
                let task = webSocketSession(scribe).webSocketTask(with: request)
                task.resume()
                #expect(await task.receiveError() == "\(code)")
                #expect(await scribe.story() == ["created", "complete \(code)"])
                #expect((task.error as? URLError)?.failingURL == request.url)
            }
            let odd = webSocketSession().webSocketTask(with: try server.webSocket(), protocols: ["a b"])
            odd.resume()
            #expect(await odd.receiveError() == "-1002")
            #expect(server.stats.requests == 1)
        }
    }

    @Test("B15.3, B15.8: protocols are offered, by the call or the request's own field, and the chosen one is told")
    func protocols() async throws {
        let record = WebSocketRecord()
        var route = WebSocketRoute(record: record)
        route.protocols = ["chat.v2"]
        let served = route
        try await withServer(router: { _ in .webSocket(served) }) { server in
            let url = try server.webSocket()
            let (story, head) = try await open(
                server, record, task: { $0.webSocketTask(with: url, protocols: ["chat.v1", "chat.v2"]) })
            #expect(story.contains("open chat.v2"))
            #expect(head?.fields.values("Sec-WebSocket-Protocol") == ["chat.v1, chat.v2"])
            var request = URLRequest(url: url)
            request.setValue("chat.v2", forHTTPHeaderField: "Sec-WebSocket-Protocol")
            let asked = request
            let (own, _) = try await open(server, record, task: { $0.webSocketTask(with: asked) })
            #expect(own.contains("open chat.v2"))
            let (none, _) = try await open(
                server, record, task: { $0.webSocketTask(with: url, protocols: ["other"]) })
            #expect(none.contains("open nil"))
        }
    }

    /// Answers that open no web socket.
    private static let refusals: [@Sendable (inout ResponseHead) -> Void] = [
        { $0.fields.removeAll("Upgrade") },
        { $0.fields.replace("Upgrade", with: "h2c") },
        { $0.fields.replace("Connection", with: "close") },
        { $0.fields.replace("Sec-WebSocket-Accept", with: "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") },
        { $0.fields.removeAll("Sec-WebSocket-Accept") },
        { $0.fields.append("Sec-WebSocket-Protocol", "unasked") },
        { $0.fields.append("Sec-WebSocket-Extensions", "permessage-deflate") },
    ]

    @Test(
        "B15.4, B15.5: a 101 that is not a valid handshake ends the task with -1011 and the response", arguments: 0..<7)
    func wrongAnswers(index: Int) async throws {
        var route = WebSocketRoute()
        route.changesAnswer = Self.refusals[index]
        let served = route
        try await withServer(router: { _ in .webSocket(served) }) { server in
            let scribe = WebSocketScribe()
            let task = webSocketSession(scribe).webSocketTask(with: try server.webSocket())
            task.resume()
            #expect(await task.sendError() == "-1011")
            #expect(await scribe.story() == ["created", "complete -1011"])
            #expect((task.response as? HTTPURLResponse)?.statusCode == 101)
            #expect(task.closeCode == .invalid)
            await server.wait { $0.connectionsOpen == 0 }
        }
    }

    @Test(
        "B15.5: an answer with another status ends the task with -1011, and the connection is used again",
        .http1Only("A web socket has a connection of HTTP/1.1"), arguments: [200, 204, 404, 426, 503])
    func otherStatuses(status: Int) async throws {
        try await withServer(router: { _ in .text(status == 204 ? "" : "no", status: status) }) { server in
            let scribe = WebSocketScribe()
            let session = webSocketSession(scribe)
            let task = session.webSocketTask(with: try server.webSocket())
            task.resume()
            #expect(await task.receiveError() == "-1011")
            #expect(await scribe.story() == ["created", "complete -1011"])
            #expect((task.response as? HTTPURLResponse)?.statusCode == status)
            #expect((task.error as? URLError)?.cause == "URLLoading.HTTP 3")
            _ = try await session.data(from: try server.at("/"))
            #expect(server.stats.connectionsAccepted == 1)
        }
    }

    @Test("B15.32: a connection that ends before the answer is -1005 without a byte of it, else -1011")
    func noAnswer() async throws {
        for (bytes, code) in [("", -1005), ("HTTP/1.1 101 Swi", -1011), ("SSH-2.0\r\n\r\n", -1011)] {
            try await withRawServer { peer in
                while try !peer.line().isEmpty {}
                try peer.send(bytes)
                try peer.finish()
            } _: { server in
                let scribe = WebSocketScribe()
                let url = try #require(URL(string: "ws://127.0.0.1:\(server.port)/"))
                let task = webSocketSession(scribe).webSocketTask(with: url)
                task.resume()
                #expect(await task.pingError() == "\(code)")
                #expect(await scribe.story() == ["created", "complete \(code)"])
            }
        }
    }

    @Test("B15.6, B15.7: redirects are followed as others are, from http to ws too", arguments: ["http", "ws", ""])
    func redirects(scheme: String) async throws {
        let record = WebSocketRecord()
        try await withServer(router: { request in
            guard request.path == "/old" else { return .webSocket(WebSocketRoute(record: record)) }
            let place = scheme.isEmpty ? "/new" : "\(scheme)://\(request.fields.first("Host") ?? "")/new"
            return .status(302).adding("Location", place)
        }) { server in
            let scribe = WebSocketScribe()
            let task = webSocketSession(scribe).webSocketTask(with: try server.webSocket("/old"))
            task.resume()
            try await task.send(.string("x"))
            #expect(try await task.heard() == "x")
            #expect(task.currentRequest?.url == (try server.webSocket("/new")))
            task.cancel(with: .normalClosure, reason: nil)
            #expect(
                await scribe.story() == [
                    "created", "redirect 302 ws /new", "open nil", "close 1000 nil", "complete nil",
                ])
            #expect(record.contents.requests.map(\.target) == ["/new"])
        }
    }

    @Test("B15.6: a redirect that the delegate refuses is -1011; one to another scheme than HTTP's is -1002")
    func redirectRefused() async throws {
        try await withServer(router: { request in
            .status(302).adding("Location", request.path == "/file" ? "file:///etc/passwd" : "/new")
        }) { server in
            let scribe = WebSocketScribe(redirect: { _ in nil })
            let task = webSocketSession(scribe).webSocketTask(with: try server.webSocket("/old"))
            task.resume()
            #expect(await task.receiveError() == "-1011")
            #expect(await scribe.story() == ["created", "redirect 302 ws /new", "complete -1011"])
            #expect((task.response as? HTTPURLResponse)?.statusCode == 302)
            let file = webSocketSession().webSocketTask(with: try server.webSocket("/file"))
            file.resume()
            #expect(await file.receiveError() == "-1002")
        }
    }

    @Test(
        "B15.6, B15.7: after a 401 the delegate is asked and another handshake follows; without an answer it is refused"
    )
    func passwords() async throws {
        try await withServer(router: door(inside: { _ in .webSocket() })) { server in
            let scribe = WebSocketScribe(Guest.once("u", "p"))
            let task = webSocketSession(scribe).webSocketTask(with: try server.webSocket())
            task.resume()
            try await task.send(.string("in"))
            #expect(try await task.heard() == "in")
            task.cancel(with: .normalClosure, reason: nil)
            #expect(
                await scribe.story() == [
                    "created", "challenge NSURLAuthenticationMethodHTTPBasic", "open nil", "close 1000 nil",
                    "complete nil",
                ])
            let stranger = webSocketSession().webSocketTask(with: try server.webSocket())
            stranger.resume()
            #expect(await stranger.receiveError() == "-1011")
            #expect((stranger.response as? HTTPURLResponse)?.statusCode == 401)
        }
    }

    @Test("B15.7, B2.71, B2.77: the user that a web socket's URL names answers the 401, and nobody else")
    func namedUser() async throws {
        let visits = Visits()
        let router = door("r", ["a": "1", "b": "2"], visits) { _ in .webSocket() }
        try await withServer(router: router) { server in
            let session = webSocketSession()
            for user in ["a:1", "b:2"] {
                let task = session.webSocketTask(with: try server.webSocket().naming(user))
                task.resume()
                try await task.send(.string("in"))
                #expect(try await task.heard() == "in")
                task.cancel(with: .normalClosure, reason: nil)
            }
            #expect(
                visits.lines == [
                    "GET /", "GET / \(basic("a", "1"))", "GET /", "GET / \(basic("b", "2"))",
                ])
        }
    }

    @Test("B8.48: cookies are sent with the handshake and taken from its answer")
    func cookies() async throws {
        let record = WebSocketRecord()
        var route = WebSocketRoute(record: record)
        route.changesAnswer = { $0.fields.append("Set-Cookie", "b=2") }
        let served = route
        try await withServer(router: { request in
            request.path == "/set" ? .text("").adding("Set-Cookie", "a=1") : .webSocket(served)
        }) { server in
            let scribe = WebSocketScribe()
            let session = webSocketSession(scribe)
            _ = try await session.data(from: try server.at("/set"))
            for (number, sent) in [(1, ["a=1"]), (2, ["a=1; b=2"])] {
                let task = session.webSocketTask(with: try server.webSocket())
                task.resume()
                await scribe.opened.wait(times: number)
                #expect(record.contents.requests.last?.fields.values("Cookie") == sent)
                task.cancel()
            }
        }
    }

    @Test("B15.11: through an HTTP proxy ws and wss use CONNECT", arguments: [false, true])
    func proxies(tls: Bool) async throws {
        try await ProxiedSite.run(tls: tls, router: { _ in .webSocket() }) { site in
            let session = site.session()
            defer { session.invalidateAndCancel() }
            let task = session.webSocketTask(with: try site.server.webSocket(host: "origin.test"))
            task.resume()
            try await task.send(.string("x"))
            #expect(try await task.heard() == "x")
            task.cancel(with: .normalClosure, reason: nil)
            #expect(await task.receiveError() == posix(ENOTCONN))
            #expect(site.proxy.asks.map(\.target) == ["origin.test:\(site.server.port)"])
            #expect(site.proxy.asks.allSatisfy { $0.kind == .connect })
        }
    }

    @Test(
        "B2.77, B15.11: a password that a proxy has taken opens tunnels of web sockets unasked",
        arguments: [false, true])
    func provenProxy(tls: Bool) async throws {
        let router: LoopbackServer.Router = { $0.path == "/load" ? .text("loaded") : .webSocket() }
        try await ProxiedSite.run(tls: tls, proxy: { $0.authorization = basic("u", "p") }, router: router) {
            site async throws in
            let delegate = GuestDelegate { challenge in
                challenge.protectionSpace.isProxy()
                    ? (.useCredential, URLCredential("u", "p")) : (.performDefaultHandling, nil)
            }
            let session = site.session(delegate: delegate)
            defer { session.invalidateAndCancel() }
            #expect(try await session.visit(site.url("/load")) == "200 loaded")
            let task = session.webSocketTask(with: try site.server.webSocket(host: "origin.test"))
            task.resume()
            try await task.send(.string("x"))
            #expect(try await task.heard() == "x")
            task.cancel(with: .normalClosure, reason: nil)
            let proofs = site.proxy.asks.map { $0.head?.fields.first(.proxyAuthorization) }
            #expect(proofs == [nil, basic("u", "p"), basic("u", "p")])
            #expect(delegate.challenges.value.count { $0.protectionSpace.isProxy() } == 1)
        }
    }

    @Test(
        "B13.31, B15.11: where a way leads nowhere, a web socket goes by the next one as it would have gone by the first",
        arguments: [false, true])
    func otherWays(tls: Bool) async throws {
        try await ProxiedSite.run(tls: tls, router: { _ in .webSocket() }) { site in
            let dead = try #require(ProxyConfiguration(url: "http://127.0.0.1:1"))
            let tunnel = try #require(ProxyConfiguration(url: site.proxyURL))
            let socks = try #require(ProxyConfiguration(url: "socks5h://127.0.0.1:\(site.proxy.port)"))
            let url = try site.server.webSocket()
            for (last, kinds) in [(ProxyRoute.direct, []), (.proxy(tunnel), [.connect]), (.proxy(socks), [.socks5])]
                as [(ProxyRoute, [LoopbackProxy.Ask.Kind])]
            {
                let asks = site.proxy.asks.count
                let session = site.session { $0.proxyResolver = { _ in [.proxy(dead), last] } }
                defer { session.invalidateAndCancel() }
                let task = session.webSocketTask(with: url)
                task.resume()
                try await task.send(.string("x"))
                #expect(try await task.heard() == "x")
                task.cancel(with: .normalClosure, reason: nil)
                #expect(await task.receiveError() == posix(ENOTCONN))
                #expect(site.proxy.asks.dropFirst(asks).map(\.kind) == kinds)
            }
        }
    }

    @Test("B15.1: the ports of URLs without a port")
    func ports() async throws {
        let proxy = try LoopbackProxy.start { $0.script = { _ in .close } }
        let session = webSocketSession { $0.connectionProxyDictionary = proxyDictionary(proxy.port) }
        for text in ["ws://plain.test/", "wss://secure.test/"] {
            let task = session.webSocketTask(with: try #require(URL(string: text)))
            task.resume()
            _ = await task.receiveError()
        }
        #expect(Set(proxy.asks.map(\.target)) == ["plain.test:80", "secure.test:443"])
        session.invalidateAndCancel()
        await proxy.stop()
    }

    private func proxyDictionary(_ port: Int) -> [AnyHashable: Any] {
        [
            kCFNetworkProxiesHTTPEnable: 1, kCFNetworkProxiesHTTPProxy: "127.0.0.1", kCFNetworkProxiesHTTPPort: port,
            kCFNetworkProxiesHTTPSEnable: 1, kCFNetworkProxiesHTTPSProxy: "127.0.0.1",
            kCFNetworkProxiesHTTPSPort: port,
        ]
    }

    @Test("B6.11: the request's time-out ends a handshake, the resource's an open web socket too")
    func timeouts() async throws {
        let gate = ServerGate()
        try await withServer(router: { request in
            request.path == "/silent"
                ? ServerResponse(body: .script([.wait(gate)])) : .webSocket()
        }) { server in
            var request = URLRequest(url: try server.webSocket("/silent"))
            request.timeoutInterval = 0.05
            let silent = webSocketSession().webSocketTask(with: request)
            silent.resume()
            #expect(await silent.receiveError() == "-1001")
            let short = webSocketSession { $0.timeoutIntervalForResource = 0.3 }
                .webSocketTask(with: try server.webSocket())
            short.resume()
            #expect(await short.receiveError() == "-1001")
            gate.open()
        }
    }

    @Test("B15.10: where the configuration allows it compression is offered, and messages are compressed both ways")
    func compression() async throws {
        let record = WebSocketRecord()
        var route = WebSocketRoute(record: record)
        route.compresses = true
        let served = route
        try await withServer(router: { _ in .webSocket(served) }) { server in
            let session = webSocketSession { $0.compressesWebSocketMessages = true }
            let task = session.webSocketTask(with: try server.webSocket())
            task.resume()
            let text = String(repeating: "again and ", count: 10_000)
            for _ in 0..<3 {
                try await task.send(.string(text))
                #expect(try await task.heard() == text)
            }
            try await task.send(.string(""))
            #expect(try await task.heard() == "")
            #expect(record.contents.agreements.first?.compression != nil)
            #expect(server.stats.bytesReceived < 20_000 && server.stats.bytesWritten < 20_000)
            // A message that decompresses to more than the limit is refused.
            task.maximumMessageSize = 1000
            try await task.send(.string(text))
            #expect(await task.receiveError() == posix(EMSGSIZE))
        }
    }

    @Test("B16.3: web sockets do not count against the connections of a host")
    func limits() async throws {
        try await withServer(router: { _ in .webSocket() }) { server in
            let scribe = WebSocketScribe()
            let session = webSocketSession(scribe) { $0.httpMaximumConnectionsPerHost = 1 }
            let tasks = try (0..<5).map { _ in session.webSocketTask(with: try server.webSocket()) }
            for task in tasks { task.resume() }
            await scribe.opened.wait(times: 5)
            for task in tasks {
                try await task.send(.string("x"))
                #expect(try await task.heard() == "x")
            }
            #expect(await session.allTasks.count == 5)
            session.invalidateAndCancel()
            await scribe.transcript.invalidated.wait()
            #expect(scribe.transcript.calls.filter { $0 == "complete -999" }.count == 5)
            await server.wait { $0.webSocketsOpen == 0 }
        }
    }
}
