// Proxies that ask for a password (behaviour 2.11, 13).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingWire

@Suite("Passwords: proxies", .endsSessions, .timeLimit(.minutes(5)))
struct ProxyPasswordTests {
    private let visits = Visits()

    /// A proxy for plain requests that lets requests with the password through.
    private func gate(_ password: String = "p") -> LoopbackServer.Router {
        { [visits] request in
            visits.note(request, .proxyAuthorization)
            guard request.fields.first(.proxyAuthorization) == basic("u", password) else {
                return .deniedByProxy("Basic realm=\"proxy\"")
            }
            return request.fields.contains(.authorization) ? .text("leak") : .text("through")
        }
    }

    private func through(
        _ proxy: LoopbackServer, _ delegate: (any URLSessionDelegate)? = nil,
        storage: URLCredentialStorage? = URLCredentialStorage(), user: String? = nil, password: String? = nil
    ) -> URLSession {
        visitor(delegate, storage: storage) { configuration in
            var dictionary: [AnyHashable: Any] = [
                "HTTPEnable": 1, "HTTPProxy": proxy.address.host, "HTTPPort": proxy.port,
            ]
            if let user { dictionary["kCFProxyUsernameKey"] = user }
            if let password { dictionary["kCFProxyPasswordKey"] = password }
            configuration.connectionProxyDictionary = dictionary
        }
    }

    private var origin: URL {
        get throws { try #require(URL(string: "http://origin.test/x")) }
    }

    @Test("B2.100, B2.101, B2.23: a proxy's 407 asks the tasks' method about the proxy's space")
    func asked() async throws {
        try await withServer(router: gate()) { proxy async throws in
            let delegate = GuestDelegate(
                Guest.inTurn((.useCredential, URLCredential("w", "w")), (.useCredential, URLCredential("u", "p"))))
            let session = through(proxy, delegate)
            #expect(try await session.visit(origin) == "200 through")
            #expect(
                delegate.transcript.calls == ["task HTTPBasic proxy 0 nobody 407", "task HTTPBasic proxy 1 w/w 407"])
            let space = try #require(delegate.challenges.value.first).protectionSpace
            #expect(space.isProxy() && space.proxyType == NSURLProtectionSpaceHTTPProxy && space.protocol == nil)
            #expect(space.host == proxy.address.host && space.port == proxy.port)
            // B2.77 holds for proxies too, whatever the path.
            #expect(try await session.visit(try #require(URL(string: "http://other.test/"))) == "200 through")
            let target = "GET http://origin.test/x"
            #expect(
                visits.lines == [
                    target, "\(target) \(basic("w", "w"))", "\(target) \(basic("u", "p"))",
                    "GET http://other.test/ \(basic("u", "p"))",
                ])
        }
    }

    @Test("B2.101: the proxy's password in the settings is tried before the delegate is asked")
    func configured() async throws {
        try await withServer(router: gate()) { proxy async throws in
            let delegate = GuestDelegate(Guest.once("u", "p"))
            #expect(try await through(proxy, delegate, user: "u", password: "p").visit(origin) == "200 through")
            #expect(delegate.transcript.calls == [])
            #expect(try await through(proxy, user: "u", password: "p").visit(origin) == "200 through")
            let second = GuestDelegate(Guest.always(.useCredential, URLCredential("u", "p")))
            #expect(try await through(proxy, second, user: "u", password: "wrong").visit(origin) == "200 through")
            #expect(second.transcript.calls == ["task HTTPBasic proxy 1 u/wrong 407"])
        }
    }

    @Test("B2.16, B2.102: a proxy's password that is wrong five times: the 407 is the answer")
    func fiveTimes() async throws {
        try await withServer(router: gate()) { proxy async throws in
            let delegate = GuestDelegate { challenge in
                challenge.previousFailureCount < 5
                    ? (.useCredential, URLCredential("u", "wrong")) : (.performDefaultHandling, nil)
            }
            #expect(try await through(proxy, delegate).visit(origin) == "407 no way")
            #expect(delegate.transcript.calls.count == 6 && visits.count == 6)
        }
    }

    @Test("B2.66, B2.67: the storage has the proxy's credential under the proxy's own space, for http and https")
    func stored() async throws {
        try await withServer(router: gate()) { proxy async throws in
            for type in [NSURLProtectionSpaceHTTPProxy, NSURLProtectionSpaceHTTPSProxy] {
                let storage = URLCredentialStorage()
                storage.set(
                    URLCredential("u", "p"),
                    for: URLProtectionSpace(
                        proxyHost: proxy.address.host, port: proxy.port, type: type, realm: "proxy",
                        authenticationMethod: NSURLAuthenticationMethodHTTPBasic))
                #expect(try await through(proxy, storage: storage).visit(origin) == "200 through")
            }
            let storage = URLCredentialStorage()
            _ = try await through(proxy, GuestDelegate(Guest.once("u", "p")), storage: storage).visit(origin)
            let space = URLProtectionSpace(
                proxyHost: proxy.address.host, port: proxy.port, type: NSURLProtectionSpaceHTTPProxy, realm: "proxy",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            #expect(storage.defaultCredential(for: space) == URLCredential("u", "p"))
        }
    }

    @Test("B2.102, B2.38: without a credential plain http delivers the 407; cancelling is −999")
    func refused() async throws {
        try await withServer(router: gate()) { proxy async throws in
            #expect(try await through(proxy).visit(origin) == "407 no way")
            let delegate = GuestDelegate(Guest.always(.rejectProtectionSpace))
            #expect(try await through(proxy, delegate).visit(origin) == "407 no way")
            let third = GuestDelegate(Guest.always(.cancelAuthenticationChallenge))
            let url = try origin
            #expect(await codeThrown { _ = try await through(proxy, third).visit(url) } == .cancelled)
        }
    }

    @Test("B2.100: a proxy and the server behind it each get their own credential")
    func both() async throws {
        let router: LoopbackServer.Router = { request in
            guard request.fields.first(.proxyAuthorization) == basic("u", "p") else {
                return .deniedByProxy("Basic realm=\"proxy\"")
            }
            guard request.fields.first(.authorization) == basic("v", "q") else { return .denied("Basic realm=\"r\"") }
            return .text("inside")
        }
        try await withServer(router: router) { proxy async throws in
            let delegate = GuestDelegate { challenge in
                (
                    .useCredential,
                    challenge.protectionSpace.isProxy() ? URLCredential("u", "p") : URLCredential("v", "q")
                )
            }
            #expect(try await through(proxy, delegate).visit(origin) == "200 inside")
            #expect(
                delegate.transcript.calls == ["task HTTPBasic proxy 0 nobody 407", "task HTTPBasic r 0 nobody 401"])
        }
    }

    @Test("B2.85: a server behind a proxy gets a Digest proof of the target that it sees")
    func digestBehindProxy() async throws {
        let door = DigestDoor()
        let router: LoopbackServer.Router = { door.opens(to: $0) ? .text("inside") : .denied(door.challenge) }
        try await ProxiedSite.run(router: router) { site async throws in
            let delegate = GuestDelegate(Guest.once("u", "p"))
            let session = visitor(delegate) { $0.connectionProxyDictionary = site.dictionary }
            #expect(try await session.visit(site.url("/a?b=c")) == "200 inside")
            // B2.87: so does what is sent unasked.
            #expect(try await session.visit(site.url("/d")) == "200 inside")
            #expect(delegate.transcript.calls == ["task HTTPDigest r 0 nobody 401"])
            #expect(door.counts.value == ["n1 00000001", "n1 00000002"])
        }
    }

    @Test("A 407 from a server, where no proxy is set, is an ordinary response")
    func notAProxy() async throws {
        try await withServer(router: gate()) { server async throws in
            let delegate = GuestDelegate(Guest.once("u", "p"))
            #expect(try await visitor(delegate).visit(server.at("/")) == "407 no way")
            #expect(delegate.transcript.calls == [])
        }
    }

    // MARK: Tunnels

    /// Runs `body` with an https server that is reached by CONNECT only, and a session that trusts it.
    private func withTunnel(
        _ change: (inout LoopbackProxy.Options) -> Void, kind: String = "HTTPS", delegate: GuestDelegate? = nil,
        storage: URLCredentialStorage? = URLCredentialStorage(), user: String? = nil, password: String? = nil,
        uploads: UploadStore? = nil, inside: @escaping LoopbackServer.Router = { _ in .text("secret") },
        _ body: (URLSession, URL, LoopbackProxy) async throws -> Void
    ) async throws {
        let proxy = try LoopbackProxy.start(change)
        let router: LoopbackServer.Router = { [visits] request in
            visits.note(request, .proxyAuthorization)
            return inside(request)
        }
        try await withJudgedServer(uploads: uploads, router: router) { judged in
            let configuration = judged.configuration(trusts: true)
            hasty(configuration)
            configuration.hostOverrides = [:]
            configuration.urlCredentialStorage = storage
            var dictionary: [AnyHashable: Any] = [
                "\(kind)Enable": 1, "\(kind)Proxy": proxy.address.host, "\(kind)Port": proxy.port,
            ]
            if let user { dictionary["kCFProxyUsernameKey"] = user }
            if let password { dictionary["kCFProxyPasswordKey"] = password }
            configuration.connectionProxyDictionary = dictionary
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            try await body(session, judged.url, proxy)
            session.invalidateAndCancel()
        }
        await proxy.stop()
    }

    /// A habit that trusts no server beyond what the session does.
    private func answering(_ answers: (URLSession.AuthChallengeDisposition, URLCredential?)...) -> GuestHabit {
        let left = Guarded(answers[...])
        return { challenge in
            var answer: (URLSession.AuthChallengeDisposition, URLCredential?) = (.performDefaultHandling, nil)
            if challenge.isAboutServer { return answer }
            left.change { left in
                if let first = left.popFirst() { answer = first }
            }
            return answer
        }
    }

    private func passwords(_ delegate: GuestDelegate) -> [String] {
        delegate.transcript.calls.filter { !$0.contains("ServerTrust") }
    }

    @Test(
        "B2.100: a challenge to CONNECT is answered before the request is sent; the tunnel holds no Proxy-Authorization"
    )
    func tunnel() async throws {
        let delegate = GuestDelegate(
            answering((.useCredential, URLCredential("w", "w")), (.useCredential, URLCredential("u", "p"))))
        try await withTunnel({ $0.authorization = basic("u", "p") }, delegate: delegate) {
            session, url, proxy async throws in
            #expect(try await session.visit(url) == "200 secret")
            #expect(passwords(delegate) == ["task HTTPBasic proxy 0 nobody 407", "task HTTPBasic proxy 1 w/w 407"])
            let space = try #require(delegate.challenges.value.first).protectionSpace
            #expect(space.isProxy() && space.proxyType == NSURLProtectionSpaceHTTPSProxy && space.port == proxy.port)
            #expect(visits.lines == ["GET /"])
            let proofs = proxy.asks.map { $0.head?.fields.first(.proxyAuthorization) }
            #expect(proofs == [nil, basic("w", "w"), basic("u", "p")])
            // A later tunnel is opened without a question.
            await session.flush()
            #expect(try await session.visit(url) == "200 secret")
            #expect(proxy.asks.last?.head?.fields.first(.proxyAuthorization) == basic("u", "p"))
            #expect(proxy.asks.count == 4 && passwords(delegate).count == 2)
        }
    }

    @Test(
        "B2.101, B2.66, B2.67: settings and storage open tunnels without a delegate; a delegate's credential is stored")
    func tunnelWithout() async throws {
        try await withTunnel({ $0.authorization = basic("u", "p") }, user: "u", password: "p") {
            session, url, _ async throws in
            #expect(try await session.visit(url) == "200 secret")
        }
        let storage = URLCredentialStorage()
        let delegate = GuestDelegate(answering((.useCredential, URLCredential("u", "p"))))
        try await withTunnel(
            { $0.authorization = basic("u", "p") }, delegate: delegate, storage: storage
        ) { session, url, proxy async throws in
            #expect(try await session.visit(url) == "200 secret")
            let space = URLProtectionSpace(
                proxyHost: proxy.address.host, port: proxy.port, type: NSURLProtectionSpaceHTTPSProxy, realm: "proxy",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            #expect(storage.defaultCredential(for: space) == URLCredential("u", "p"))
        }
    }

    @Test("B2.78: a CONNECT that bore no proof refuses none, whatever was accepted before its 407 came")
    func lateRefusal() async throws {
        let (late, hasAsked) = (ServerGate(), Signal())
        let refusal = "HTTP/1.1 407 x\nProxy-Authenticate: Basic realm=\"proxy\"\nContent-Length: 0\n\n"
        let forwarded = gate()
        let router: LoopbackServer.Router = { request in
            guard request.method == "CONNECT" else { return forwarded(request) }
            if request.fields.contains(.proxyAuthorization) { return .status(502) }
            hasAsked.fire()
            return .script([.wait(late), .lines(refusal)])
        }
        try await withServer(router: router) { proxy async throws in
            let delegate = GuestDelegate(Guest.once("u", "p"))
            let session = visitor(delegate, storage: nil) { configuration in
                let (host, port) = (proxy.address.host, proxy.port)
                configuration.connectionProxyDictionary = [
                    "HTTPEnable": 1, "HTTPProxy": host, "HTTPPort": port, "HTTPSEnable": 1, "HTTPSProxy": host,
                    "HTTPSPort": port,
                ]
            }
            let url = try #require(URL(string: "https://origin.test/"))
            let tunnel = Task { await codeThrown { _ = try await session.visit(url) } }
            await hasAsked.wait()
            #expect(try await session.visit(origin) == "200 through")
            late.open()
            // Its password is taken, and then there is no tunnel.
            #expect(await tunnel.value == .cannotConnectToHost)
            let question = "task HTTPBasic proxy 0 nobody 407"
            #expect(delegate.transcript.calls == [question, question])
            // What was accepted is not forgotten.
            #expect(try await session.visit(origin) == "200 through")
            #expect(delegate.transcript.calls.count == 2)
        }
    }

    @Test(
        "B2.88: a nonce that is too old for another tunnel of a task is replaced without a question",
        .http1Only("Over HTTP/2 one tunnel serves both requests"))
    func staleForNextTunnel() async throws {
        let made = Guarded(0)
        let delegate = GuestDelegate(answering((.useCredential, URLCredential("u", "p"))))
        try await withTunnel(
            {
                $0.script = { ask in
                    let proof = ask.head?.fields.first(.proxyAuthorization)
                    // Each nonce is good for one tunnel.
                    let isGood = proof?.contains("nonce=\"n\(made.value)\"") == true
                    if isGood, proof?.contains("nc=00000001") == true { return .relay }
                    let challenge = "Digest realm=\"proxy\", qop=\"auth\", nonce=\"n\(made.add(1))\""
                    return .text(
                        "HTTP/1.1 407 x\r\nContent-Length: 0\r\nProxy-Authenticate: "
                            + challenge + (proof == nil ? "" : ", stale=true") + "\r\n\r\n")
                }
            }, delegate: delegate,
            inside: { request in
                request.path == "/" ? .status(302).adding("Location", "/next").closing() : .text("secret")
            }
        ) { session, url, proxy async throws in
            #expect(try await session.visit(url) == "200 secret")
            #expect(passwords(delegate) == ["task HTTPDigest proxy 0 nobody 407"])
            #expect(proxy.asks.count == 4)
        }
    }

    @Test(
        "B2.16, B2.93: where the proxy ends the connection with NTLM's second message the rounds begin anew, and no failure is counted",
        arguments: [true, false])
    func begunAnew(isSet: Bool) async throws {
        let door = NTLMDoor(closings: 2)
        let delegate = GuestDelegate(answering((.useCredential, URLCredential("u", "p"))))
        try await withTunnel(
            { $0.script = { door.answer($0) } }, delegate: delegate, storage: nil, user: isSet ? "u" : nil,
            password: isSet ? "p" : nil
        ) { session, url, proxy async throws in
            #expect(try await session.visit(url) == "200 secret")
            #expect(passwords(delegate) == (isSet ? [] : ["session NTLM - 0 nobody 407"]))
            #expect(
                door.visits.lines == [
                    "CONNECT - on 1", "CONNECT 1 on 1", "CONNECT 1 on 2", "CONNECT 1 on 3", "CONNECT 3 on 3",
                ])
        }
    }

    @Test("B2.67, B2.93: where the first message opens a tunnel on another connection no password is stored")
    func begunAnewUnchecked() async throws {
        let (door, storage) = (NTLMDoor(closings: 1), URLCredentialStorage())
        let delegate = GuestDelegate(answering((.useCredential, URLCredential("u", "wrong"))))
        try await withTunnel(
            { $0.script = { $0.connection == 1 ? door.answer($0) : .relay } }, delegate: delegate, storage: storage
        ) { session, url, proxy async throws in
            #expect(try await session.visit(url) == "200 secret")
            #expect(passwords(delegate) == ["session NTLM - 0 nobody 407"])
            #expect(proxy.asks.count == 3)
            #expect(storage.allCredentials.isEmpty)
        }
    }

    @Test("B2.93, B2.102: a proxy that closes the connection in the middle of the rounds again and again refuses")
    func closedAgainAndAgain() async throws {
        let door = NTLMDoor(closings: 9)
        try await withTunnel({ $0.script = { door.answer($0) } }, storage: nil, user: "u", password: "p") {
            session, url, _ async throws in
            #expect(await codeThrown { _ = try await session.visit(url) } == .userAuthenticationRequired)
            #expect(door.visits.lines.suffix(2) == ["CONNECT 1 on 3", "CONNECT 3 on 4"])
        }
    }

    @Test("B2.102, B17.25: a tunnel without a credential is −1013, one whose challenge is cancelled −999")
    func noTunnel() async throws {
        let cases: [(GuestDelegate?, URLError.Code)] = [
            (nil, .userAuthenticationRequired),
            (GuestDelegate(answering((.rejectProtectionSpace, nil))), .userAuthenticationRequired),
            (GuestDelegate(answering((.cancelAuthenticationChallenge, nil))), .cancelled),
        ]
        for (delegate, code) in cases {
            try await withTunnel({ $0.authorization = "Basic none" }, delegate: delegate) {
                session, url, _ async throws in
                #expect(await codeThrown { _ = try await session.visit(url) } == code)
                #expect(visits.lines == [])
            }
        }
    }

    @Test("B2.16, B2.102: a password for a tunnel that is wrong five times ends with −1013")
    func fiveTimesForTunnel() async throws {
        let delegate = GuestDelegate { challenge in
            challenge.protectionSpace.isProxy() && challenge.previousFailureCount < 5
                ? (.useCredential, URLCredential("u", "wrong")) : (.performDefaultHandling, nil)
        }
        try await withTunnel({ $0.authorization = basic("u", "p") }, delegate: delegate) { session, url, proxy in
            #expect(await codeThrown { _ = try await session.visit(url) } == .userAuthenticationRequired)
            #expect(delegate.challenges.value.map(\.previousFailureCount) == [0, 1, 2, 3, 4, 5])
            #expect(proxy.asks.count == 6 && visits.count == 0)
        }
    }

    @Test("A task that waits for an answer about a tunnel can be cancelled")
    func tunnelCancelled() async throws {
        let delegate = GuestDelegate(nil)
        try await withTunnel({ $0.authorization = "Basic none" }, delegate: delegate) { session, url, _ async throws in
            let load = Task { try await session.visit(url) }
            await delegate.asked.wait()
            load.cancel()
            #expect(await codeThrown { _ = try await load.value } == .cancelled)
        }
    }

    @Test(
        "B2.101, B13.28, B6.33: an attempt after a lost one opens its tunnel with the same password",
        .http1Only("Over HTTP/2 the tunnel outlives what is lost"), arguments: ["HTTPS", "SOCKS"])
    func tunnelAfterLoss(kind: String) async throws {
        let (count, isHTTP) = (Guarded(0), kind == "HTTPS")
        try await withTunnel(
            {
                $0.authorization = basic("u", "p")
                $0.socksCredentials = ("u", "p")
            }, kind: kind, inside: { _ in count.add(1) == 1 ? .script([.reset]) : .text("secret") }
        ) { session, url, proxy async throws in
            session.configuration.urlCredentialStorage?.set(
                URLCredential("u", "p"),
                for: URLProtectionSpace(
                    proxyHost: proxy.address.host, port: proxy.port,
                    type: isHTTP ? NSURLProtectionSpaceHTTPSProxy : NSURLProtectionSpaceSOCKSProxy,
                    realm: isHTTP ? "proxy" : nil,
                    authenticationMethod: isHTTP ? NSURLAuthenticationMethodHTTPBasic : nil))
            var policy = URLSession.RetryPolicy(maximumRetries: 1)
            policy.firstPause = 0
            var request = URLRequest(url: url)
            request.retryPolicy = policy
            #expect(try await session.visit(request) == "200 secret")
            #expect(count.value == 2)
        }
    }

    @Test("B2.101, B11.28: a lost upload goes on through another tunnel, which the settings' password opens too")
    func uploadAfterLoss() async throws {
        var settings = UploadStore.Settings()
        settings.cuts = [700_000]
        let store = UploadStore(settings)
        try await withTunnel({ $0.authorization = basic("u", "p") }, user: "u", password: "p", uploads: store) {
            session, url, _ async throws in
            let file = try UploadFile(count: 1_000_000)
            var request = URLRequest(url: url)
            request.httpMethod = "POST"
            let (_, response) = try await session.upload(for: request, fromFile: file.url)
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(store.cutCount == 1 && store.summaries.first?.byteCount == Int64(file.bytes.count))
        }
    }

    @Test(
        "B2.67, B2.77, B13.28: a proxy that opens a stream has accepted the password: it is stored, and CONNECT has it from then on",
        arguments: ["HTTPS", "SOCKS"])
    func streams(kind: String) async throws {
        let storage = URLCredentialStorage()
        let given = (URLSession.AuthChallengeDisposition.useCredential, URLCredential?(URLCredential("u", "p")))
        let delegate = GuestDelegate(answering(given, given))
        try await withTunnel(
            {
                $0.authorization = basic("u", "p")
                $0.socksCredentials = ("u", "p")
            }, kind: kind, delegate: delegate, storage: storage
        ) { session, url, proxy async throws in
            let (host, port) = (try #require(url.host), try #require(url.port))
            for number in 1...2 {
                let task = session.streamTask(withHostName: host, port: port)
                task.resume()
                try await task.write(Data("x".utf8), timeout: 60)
                task.cancel()
                await delegate.transcript.completed.wait(times: number)
            }
            let questions = delegate.transcript.calls.filter { $0.hasPrefix("task ") }
            if kind == "HTTPS" {
                #expect(questions == ["task HTTPBasic proxy 0 nobody 407"])
                #expect(proxy.asks.last?.head?.fields.first(.proxyAuthorization) == basic("u", "p"))
            } else {
                #expect(questions == ["task Default - 0 nobody no response", "task Default - 0 u/p no response"])
            }
            let space = try #require(delegate.challenges.value.first).protectionSpace
            #expect(storage.defaultCredential(for: space) == URLCredential("u", "p"))
        }
    }

    @Test(
        "B2.77, B16.81: a tunnel that is opened beforehand is a proxy's acceptance, and the next one needs no question")
    func warmth() async throws {
        let delegate = GuestDelegate(answering((.useCredential, URLCredential("u", "p"))))
        try await withTunnel({ $0.authorization = basic("u", "p") }, delegate: delegate) {
            session, url, proxy async throws in
            for _ in 1...2 {
                #expect(try await session.warmUp(url) == 1)
                await session.flush()
            }
            #expect(passwords(delegate) == ["task HTTPBasic proxy 0 nobody 407"])
            let proofs = proxy.asks.map { $0.head?.fields.first(.proxyAuthorization) }
            #expect(proofs == [nil, basic("u", "p"), basic("u", "p")])
        }
    }

    @Test("B2.89, B2.87: the nonce that a proxy announces with a tunnel is that of the next proof to it")
    func announcedNonce() async throws {
        /// The nonce of the proof in a CONNECT, as a number.
        @Sendable func nonce(_ head: RequestHead?) -> Int? {
            head?.fields.challenges(.proxyAuthorization).first?["nonce"].flatMap { Int($0) }
        }
        let delegate = GuestDelegate(answering((.useCredential, URLCredential("u", "p"))))
        try await withTunnel(
            {
                $0.script = { ask in
                    guard nonce(ask.head) == nil else { return .relay }
                    let challenge = "Digest realm=\"r\", nonce=\"1\", qop=\"auth\""
                    return .text(
                        "HTTP/1.1 407 no\r\nProxy-Authenticate: \(challenge)\r\nContent-Length: 0\r\n\r\n")
                }
                $0.openingFields = { head in
                    "Proxy-Authentication-Info: nextnonce=\"\((nonce(head) ?? 0) + 1)\"\r\n"
                }
            }, delegate: delegate
        ) { session, url, proxy async throws in
            for _ in 1...3 {
                #expect(try await session.warmUp(url) == 1)
                await session.flush()
            }
            #expect(passwords(delegate) == ["task HTTPDigest r 0 nobody 407"])
            #expect(proxy.asks.map { nonce($0.head) } == [nil, 1, 2, 3])
            let counts = proxy.asks.compactMap { $0.head?.fields.challenges(.proxyAuthorization).first?["nc"] }
            #expect(counts == ["00000001", "00000001", "00000001"])
        }
    }

    // MARK: SOCKS

    @Test("B13.28: a SOCKS proxy that asks for a password leads to a challenge with the method Default")
    func socks() async throws {
        let delegate = GuestDelegate(
            answering((.useCredential, URLCredential("w", "w")), (.useCredential, URLCredential("u", "p"))))
        let storage = URLCredentialStorage()
        try await withTunnel(
            { $0.socksCredentials = ("u", "p") }, kind: "SOCKS", delegate: delegate, storage: storage
        ) { session, url, proxy async throws in
            #expect(try await session.visit(url) == "200 secret")
            #expect(
                passwords(delegate) == ["task Default - 0 nobody no response", "task Default - 1 w/w no response"])
            let space = try #require(delegate.challenges.value.first).protectionSpace
            #expect(space.isProxy() && space.proxyType == NSURLProtectionSpaceSOCKSProxy && space.port == proxy.port)
            #expect(storage.defaultCredential(for: space) == URLCredential("u", "p"))
            await session.flush()
            #expect(try await session.visit(url) == "200 secret")
        }
    }

    @Test("B13.28, B17.25: a stored credential answers a SOCKS proxy too; without one the error is −1013")
    func socksWithout() async throws {
        try await withTunnel({ $0.socksCredentials = ("u", "p") }, kind: "SOCKS") { session, url, proxy async throws in
            #expect(await codeThrown { _ = try await session.visit(url) } == .userAuthenticationRequired)
            session.configuration.urlCredentialStorage?.set(
                URLCredential("u", "p"),
                for: URLProtectionSpace(
                    proxyHost: proxy.address.host, port: proxy.port, type: NSURLProtectionSpaceSOCKSProxy, realm: nil,
                    authenticationMethod: nil))
            #expect(try await session.visit(url) == "200 secret")
        }
    }
}
