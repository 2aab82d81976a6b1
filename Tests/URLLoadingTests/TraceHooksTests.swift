// Which steps of its loads a program's trace hooks are told, and in which order.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingTrust

/// Writes down what hooks are told, without what differs from run to run.
private final class Steps: Sendable {
    private let lines = Guarded<[String]>([])

    var all: [String] { lines.value }
    func note(_ line: String) { lines.withLock { $0.append(line) } }

    private static func code(_ error: (any Error)?) -> String { error.map { "\(($0 as NSError).code)" } ?? "ok" }

    /// Hooks of loads and exchanges; lines begin with `name`.
    func hooks(_ name: String = "") -> URLSession.TraceHooks {
        var hooks = URLSession.TraceHooks()
        hooks.loadStarted = { [self] _ in note("\(name)load") }
        hooks.loadAnsweredFromCache = { [self] _ in note("\(name)from cache") }
        hooks.loadRetrying = { [self] in
            note("\(name)retry \($0.taskIdentifier) after \($1.response?.statusCode ?? 0), \($2)")
        }
        hooks.loadFinished = { [self] in
            note("\(name)load ended \(($1 as? HTTPURLResponse)?.statusCode ?? 0) \(Self.code($2))")
        }
        hooks.exchangeStarted = { [self] in note("\(name)exchange \($0.request.url?.path() ?? "")") }
        hooks.connectionAssigned = { [self] in note("\(name)connection, \($1.isReused ? "kept" : "new")") }
        hooks.requestSent = { [self] _ in note("\(name)sent") }
        hooks.responseReceived = { [self] in note("\(name)status \($1)") }
        hooks.exchangeReplayed = { [self] _ in note("\(name)replayed") }
        hooks.exchangeFinished = { [self] in note("\(name)exchange ended \(Self.code($1))") }
        return hooks
    }

    /// Those of connections, too.
    func allHooks() -> URLSession.TraceHooks {
        var hooks = hooks()
        hooks.lookupStarted = { [self] in note("look up \($0)") }
        hooks.lookupFinished = { [self] in note("looked up \($0): \($1 ?? ["nothing"])") }
        hooks.connectStarted = { [self] _, _ in note("connect") }
        hooks.connectFinished = { [self] in note("connected \(Self.code($2))") }
        hooks.tunnelFinished = { [self] in note("tunnel \(Self.code($2))") }
        hooks.handshakeFinished = { [self] _, result in
            switch result {
            case .success(let agreed): note("TLS \(agreed.version.map { "\($0)" } ?? "") \(agreed.isResumed)")
            case .failure: note("TLS failed")
            }
        }
        hooks.connectionOpened = { [self] in note("open \($1)") }
        hooks.connectionClosed = { [self] _ in note("closed") }
        return hooks
    }

    /// A session that is followed.
    func session(_ change: (URLSessionConfiguration) -> Void = { _ in }) -> URLSession {
        URLSession.made {
            $0.traceHooks = [allHooks()]
            change($0)
        }
    }
}

@Suite("Trace hooks", .endsSessions, .timeLimit(.minutes(2)))
struct TraceHooksTests {
    private static let first = [
        "load", "exchange /a", "connect", "connected ok", "open http/1.1", "connection, new", "sent", "status 200",
        "exchange ended ok", "load ended 200 ok",
    ]
    private static let second = [
        "load", "exchange /a", "connection, kept", "sent", "status 200", "exchange ended ok", "load ended 200 ok",
    ]

    // MARK: Order

    @Test(
        "B12.26: each step is told once and in order, the last one before the caller has the answer",
        .http1Only("names the protocol"))
    func order() async throws {
        try await withServer(router: { _ in .text("good") }) { server async throws in
            let steps = Steps()
            let session = steps.session()
            _ = try await Load(server.at("/a"), in: session)
            #expect(steps.all == Self.first)
            _ = try await Load(server.at("/a"), in: session)
            #expect(Array(steps.all.dropFirst(Self.first.count)) == Self.second)
            session.invalidateAndCancel()
            // The server may see the end before the session tells of it.
            try await until { steps.all.last == "closed" }
        }
    }

    @Test("B12.26: a request's hooks are told after the session's, and hear nothing of connections")
    func ofRequest() async throws {
        try await withServer(router: { _ in .text("good") }) { server async throws in
            let (all, own) = (Steps(), Steps())
            let session = URLSession.made { $0.traceHooks = [all.hooks("s1 "), all.hooks("s2 ")] }
            var request = URLRequest(url: try server.at("/a"))
            #expect(request.traceHooks.isEmpty && session.configuration.traceHooks.count == 2)
            let bare = request
            request.traceHooks = [all.hooks("r "), own.allHooks()]
            #expect(request == bare)
            _ = try await session.data(for: request)
            #expect(all.all.prefix(3) == ["s1 load", "s2 load", "r load"])
            #expect(all.all.suffix(3) == ["s1 load ended 200 ok", "s2 load ended 200 ok", "r load ended 200 ok"])
            #expect(own.all == Self.first.filter { !["connect", "connected ok", "open http/1.1"].contains($0) })

            let (alone, rest) = (Steps(), Steps())
            var (started, others) = (URLSession.TraceHooks(), alone.hooks())
            started.loadStarted = { _ in rest.note("load") }
            others.loadStarted = nil
            request.traceHooks = [started, others]
            _ = try await URLSession.made().data(for: request)
            #expect(rest.all == ["load"])
            #expect(alone.all == Array(own.all.dropFirst()), "a hook that is nil keeps those behind it from nothing")
        }
    }

    @Test(
        "B12.26: loads by a completion handler, a delegate and events tell the steps of an async call", arguments: 0..<3
    )
    func otherForms(form: Int) async throws {
        try await withServer(router: { _ in .text("good") }) { server async throws in
            let steps = Steps()
            let session = URLSession.made { $0.traceHooks = [steps.hooks()] }
            let url = try server.at("/a")
            switch form {
            case 0:
                _ = await withHandover { done in
                    session.dataTask(with: url) { data, _, _ in done.resume(returning: data) }.resume()
                }
            case 1: _ = await Load(url, in: session)
            default: for await _ in session.events(for: URLRequest(url: url)) {}
            }
            #expect(
                steps.all == [
                    "load", "exchange /a", "connection, new", "sent", "status 200", "exchange ended ok",
                    "load ended 200 ok",
                ])
        }
    }

    // MARK: Several exchanges

    @Test("B12.26: a redirect and a second attempt are exchanges of their own, with their own numbers")
    func severalExchanges() async throws {
        let busy = Guarded(1)
        try await withServer(router: { request in
            if request.path == "/a" { return ServerResponse.status(302).adding("Location", "/b") }
            return busy.add(-1) >= 0 ? .text("busy", status: 503) : .text("good")
        }) { server async throws in
            let (steps, numbers) = (Steps(), Guarded<[Int]>([]))
            var hooks = steps.hooks()
            let note = hooks.exchangeStarted
            hooks.exchangeStarted = { exchange in
                note?(exchange)
                numbers.withLock { $0.append(exchange.number) }
            }
            let session = URLSession.made {
                $0.traceHooks = [hooks]
                $0.retryPolicy = .init(maximumRetries: 1)
                $0.retryPolicy?.firstPause = 0
            }
            #expect(try await Load(server.at("/a"), in: session).text == "good")
            let told = steps.all
            #expect(told.filter { $0.hasPrefix("exchange /") } == ["exchange /a", "exchange /b", "exchange /b"])
            #expect(told.filter { $0.hasPrefix("status") } == ["status 302", "status 503", "status 200"])
            #expect(told.filter { $0.hasPrefix("retry") } == ["retry 1 after 503, 0.0"])
            #expect(told.count { $0 == "exchange ended ok" } == 3 && told.count { $0 == "load" } == 1)
            #expect(told.last == "load ended 200 ok")
            #expect(Set(numbers.value).count == 3)
            let gauges = await session.gauges()
            #expect(gauges.totalRetries == 1 && gauges.totalRequests == 3)
        }
    }

    @Test("B12.26: a hit in the cache has no exchange, and an answer that the server confirms has one with 304")
    func cached() async throws {
        try await withServer(router: { request in
            if request.path == "/fresh" { return .text("good").adding("Cache-Control", "max-age=600") }
            if request.fields.first("If-None-Match") == "\"1\"" { return .status(304).adding("ETag", "\"1\"") }
            return .text("good").adding("ETag", "\"1\"").adding("Cache-Control", "no-cache")
        }) { server async throws in
            for (path, expected) in [
                ("/fresh", ["load", "from cache", "load ended 200 ok"]),
                (
                    "/asks",
                    [
                        "load", "exchange /asks", "connection, kept", "sent", "status 304", "exchange ended ok",
                        "from cache", "load ended 200 ok",
                    ]
                ),
            ] {
                let steps = Steps()
                let session = URLSession.made {
                    $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
                    $0.traceHooks = [steps.hooks()]
                }
                _ = try await Load(server.at(path), in: session)
                let before = steps.all.count
                #expect(try await Load(server.at(path), in: session).text == "good")
                #expect(Array(steps.all.dropFirst(before)) == expected)
                let gauges = await session.gauges()
                #expect(gauges.totalCacheAnswers == 1)
            }
        }
    }

    @Test("B12.26: a request that is replayed gets another connection, and stays the same exchange")
    func replayed() async throws {
        try await withServer(router: { request in
            // The first connection is closed behind its first answer, without a word of it.
            request.connection == 1
                ? .script([.lines("HTTP/1.1 200 OK\nContent-Length: 1\n\nx"), .waitForRequest, .drop]) : .text("good")
        }) { server async throws in
            let steps = Steps()
            let session = URLSession.made {
                $0.traceHooks = [steps.hooks()]
                $0.http2 = .off
            }
            _ = try await Load(server.at("/a"), in: session)
            let before = steps.all.count
            #expect(try await Load(server.at("/a"), in: session).text == "good")
            #expect(
                Array(steps.all.dropFirst(before)) == [
                    "load", "exchange /a", "connection, kept", "sent", "replayed", "connection, new", "sent",
                    "status 200", "exchange ended ok", "load ended 200 ok",
                ])
            #expect(await session.gauges().totalReplays == 1)
        }
    }

    // MARK: What does not succeed

    @Test("B12.26: a load that fails is told with its error; so are its exchange and its connect")
    func refused() async throws {
        let steps = Steps()
        let session = steps.session { $0.hostOverrides = ["closed.test": "127.0.0.1"] }
        let url = try #require(URL(string: "http://closed.test:1/a"))
        #expect(await Load(url, in: session).code == .cannotConnectToHost)
        #expect(
            steps.all == [
                "load", "exchange /a", "look up closed.test", "looked up closed.test: [\"127.0.0.1\"]", "connect",
                "connected \(ECONNREFUSED)", "exchange ended -1004", "load ended 0 -1004",
            ])
    }

    @Test("B12.26: the hooks hear that TLS fails, and that it succeeds")
    func secure() async throws {
        let root = try CertificateFactory.root()
        let identity = try root.issue(.server(hosts: ["127.0.0.1"])).identity
        try await withServer(.init(tls: ServerTLS(identity: identity)), router: { _ in .text("good") }) {
            server async throws in
            let (bad, good) = (Steps(), Steps())
            #expect(try await Load(server.at("/a"), in: bad.session()).code == .serverCertificateUntrusted)
            #expect(
                bad.all == [
                    "load", "exchange /a", "connect", "connected ok", "TLS failed", "exchange ended -1202",
                    "load ended 0 -1202",
                ])
            let session = good.session { $0.serverTrustEvaluation = .anchors(pem: root.certificate.pem) }
            #expect(try await Load(server.at("/a"), in: session).text == "good")
            #expect(good.all.contains("TLS TLSv13 false"))
        }
    }

    @Test("B12.26: a cancelled load ends with −999; the hooks hear nothing of a load that never began")
    func cancelled() async throws {
        let gate = ServerGate()
        try await withServer(router: { _ in .script([.wait(gate)]) }) { server async throws in
            let steps = Steps()
            let session = URLSession.made { $0.traceHooks = [steps.hooks()] }
            let url = try server.at("/a")
            let never = session.dataTask(with: url)
            never.cancel()
            let ended = await withHandover { done in
                let task = session.dataTask(with: url) { _, _, error in done.resume(returning: error) }
                task.resume()
                Task {
                    await server.wait { $0.requests == 1 }
                    task.cancel()
                }
            }
            #expect((ended as? URLError)?.code == .cancelled)
            #expect(
                steps.all == [
                    "load", "exchange /a", "connection, new", "sent", "exchange ended -999", "load ended 0 -999",
                ])
            gate.open()
        }
    }

    @Test(
        "B12.26: the hooks hear nothing of a load that is cancelled before its date, nor of one in an ended session"
    )
    func neverBegun() async throws {
        let steps = Steps()
        let session = URLSession.made {
            $0.traceHooks = [steps.hooks()]
            $0.honorsEarliestBeginDate = true
        }
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let ended = await withHandover { done in
            let task = session.dataTask(with: url) { _, _, error in done.resume(returning: error) }
            task.earliestBeginDate = .distantFuture
            task.resume()
            task.cancel()
        }
        #expect((ended as? URLError)?.code == .cancelled)
        session.invalidateAndCancel()
        #expect(await Load(url, in: session).code == .cancelled)
        #expect(steps.all.isEmpty)
    }

    // MARK: Other ways

    @Test("B12.26: a load that does not use HTTP has no exchanges")
    func data() async throws {
        let steps = Steps()
        let url = try #require(URL(string: "data:,hello"))
        #expect(await Load(url, in: steps.session()).text == "hello")
        #expect(steps.all.first == "load" && steps.all.last?.hasPrefix("load ended") == true && steps.all.count == 2)
    }

    @Test("B12.26: a web socket's exchange is its handshake, and its load ends with the socket")
    func webSocket() async throws {
        try await withServer(router: { _ in .webSocket() }) { server async throws in
            let steps = Steps()
            let session = URLSession.made { $0.traceHooks = [steps.hooks()] }
            let task = session.webSocketTask(with: try server.webSocket())
            task.resume()
            try await task.send(.string("x"))
            #expect(
                steps.all == [
                    "load", "exchange /", "connection, new", "sent", "status 101", "exchange ended ok",
                ])
            task.cancel()
            while true { do { _ = try await task.receive() } catch { break } }
            session.finishTasksAndInvalidate()
            for await _ in session.gauges(every: 0.001) {}
            #expect(steps.all.last?.hasPrefix("load ended") == true)
        }
    }

    @Test("B12.26: over HTTP/2 exchanges share a connection, which has one name")
    func http2() async throws {
        try await withHTTP2Session(.required, session: { _ in }, router: { _ in .text("good") }) {
            server, plain async throws in
            let connections = Guarded<[URLSession.TraceHooks.Assignment]>([])
            var hooks = URLSession.TraceHooks()
            hooks.connectionAssigned = { _, assignment in connections.withLock { $0.append(assignment) } }
            let configuration = plain.configuration
            configuration.traceHooks = [hooks]
            let session = URLSession(configuration: configuration)
            defer { session.invalidateAndCancel() }
            for _ in 0..<3 { _ = try await Load(server.at("/a"), in: session) }
            let told = connections.value
            #expect(told.map(\.isReused) == [false, true, true] && Set(told.map(\.connection)).count == 1)
            #expect(
                told.allSatisfy { $0.networkProtocolName == "h2" && $0.remoteAddress?.hasPrefix("127.0.0.1:") == true })
            let gauges = await session.gauges()
            #expect(gauges.http2Connections == 1 && gauges.totalConnections == 1 && gauges.totalReuses == 2)
        }
    }

    @Test("B12.26, B16.71: connections of several shards have names of their own")
    func shards() async throws {
        try await withServer(router: { _ in .text("good") }) { server async throws in
            let names = Guarded<Set<URLSession.TraceHooks.ConnectionID>>([])
            var hooks = URLSession.TraceHooks()
            hooks.connectionOpened = { name, _ in names.withLock { _ = $0.insert(name) } }
            let session = URLSession.made {
                $0.traceHooks = [hooks]
                $0.engineShards = 4
                $0.hostOverrides = ["*": "127.0.0.1"]
            }
            for host in 0..<16 { _ = try await Load(server.at("/a", host: "h\(host).test"), in: session) }
            #expect(names.value.count == 16)
            #expect(await session.gauges().totalConnections == 16)
        }
    }

    /// A weak reference, to be looked at later.
    private final class Held: @unchecked Sendable {
        // Written once, before anything else sees it.
        weak var steps: Steps?
        var isGone: Bool { steps == nil }
    }

    @Test("B12.26: hooks do not keep a session that has ended")
    func released() async throws {
        let held = Held()
        try await withServer(router: { _ in .text("good") }) { server async throws in
            do {
                let steps = Steps()
                held.steps = steps
                let session = steps.session()
                _ = try await Load(server.at("/a"), in: session)
                session.finishTasksAndInvalidate()
            }
            await server.wait { $0.connectionsOpen == 0 }
        }
        // The loop lets go in its own time.
        try await until { held.isGone }
    }
}
