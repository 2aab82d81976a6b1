// Loads that are tried again because a policy says so.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Retry policies", .timeLimit(.minutes(2)))
struct RetryPolicyTests {
    /// A policy that waits for nothing.
    private static func quick(
        _ retries: Int = 3, _ change: (inout URLSession.RetryPolicy) -> Void = { _ in }
    ) -> URLSession.RetryPolicy {
        var policy = URLSession.RetryPolicy(maximumRetries: retries)
        policy.firstPause = 0
        change(&policy)
        return policy
    }

    private static func session(
        _ policy: URLSession.RetryPolicy?, _ change: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        URLSession.made {
            $0.retryPolicy = policy
            change($0)
        }
    }

    /// Answers the first `failures` requests of each path with `bad`, and those behind them with what
    /// they have sent, or "good".
    private static func failing(
        _ failures: Int, with bad: ServerResponse, _ body: (LoopbackServer) async throws -> Void
    ) async throws {
        let counts = Guarded<[String: Int]>([:])
        try await withServer(
            router: { request in
                let path = String(request.path)
                let count = counts.withLock { counts in
                    counts[path, default: 0] += 1
                    return counts[path] ?? 0
                }
                if count <= failures { return bad }
                return .text(request.body.isEmpty ? "good" : String(decoding: request.body, as: UTF8.self))
            }, body)
    }

    // MARK: Answers

    @Test("B6.33: without a policy a 503 is the answer")
    func none() async throws {
        try await Self.failing(1, with: .text("bad", status: 503)) { server in
            let load = try await Load(server.at())
            #expect(load.status == 503 && load.text == "bad" && server.stats.requests == 1)
        }
    }

    @Test("B6.33: a request is sent again after a status that may pass", arguments: [408, 429, 500, 502, 503, 504])
    func statuses(status: Int) async throws {
        try await Self.failing(2, with: .text("bad", status: status)) { server in
            let session = Self.session(Self.quick())
            let load = try await Load(server.at(), in: session)
            #expect(load.status == 200 && load.text == "good" && server.stats.requests == 3)
            // An answer that is read to its end leaves its connection to the next attempt.
            if status != 408 { #expect(server.stats.connectionsAccepted == 1) }
        }
    }

    @Test("B6.33: an answer with another status is the result", arguments: [400, 404, 410, 501, 505])
    func otherStatuses(status: Int) async throws {
        try await Self.failing(1, with: .text("bad", status: status)) { server in
            let load = try await Load(server.at(), in: Self.session(Self.quick()))
            #expect(load.status == status && load.text == "bad" && server.stats.requests == 1)
        }
    }

    @Test("B6.33: when the attempts are used up the last answer is the result")
    func usedUp() async throws {
        try await Self.failing(9, with: .text("bad", status: 500)) { server in
            let load = try await Load(server.at(), in: Self.session(Self.quick(2)))
            #expect(load.status == 500 && load.text == "bad" && server.stats.requests == 3)
        }
    }

    @Test("B6.33: a request's own policy comes before its session's")
    func ofRequest() async throws {
        try await Self.failing(1, with: .text("bad", status: 500)) { server in
            var request = URLRequest(url: try server.at("/never"))
            request.retryPolicy = .never
            let session = Self.session(Self.quick())
            #expect(await Load(request, in: session).status == 500)
            var other = URLRequest(url: try server.at("/own"))
            other.retryPolicy = Self.quick(1)
            #expect(await Load(other, in: Self.session(nil)).status == 200)
            let plain = URLRequest(url: try server.at("/own"))
            #expect(other == plain)
        }
    }

    @Test(
        "B6.33: a method that is not idempotent is sent again only after a status that says nothing was done",
        arguments: [("POST", 503, 503), ("POST", 429, 200), ("PUT", 503, 200), ("PATCH", 500, 500)])
    func methods(method: String, status: Int, result: Int) async throws {
        try await Self.failing(1, with: .text("bad", status: status)) { server in
            let load = await Load(
                URLRequest(method, try server.at(), body: "sent"), in: Self.session(Self.quick()))
            #expect(load.status == result)
            if result == 200 { #expect(load.text == "sent") }
        }
    }

    @Test("B6.33: a body from a file is sent again, one from a stream is not")
    func bodies() async throws {
        try await Self.failing(1, with: .text("bad", status: 503)) { server in
            let session = Self.session(Self.quick())
            let file = FileManager.default.temporaryDirectory.appending(path: "retry-\(UUID().uuidString)")
            try Data("of a file".utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let (body, _) = try await session.upload(for: URLRequest("PUT", server.at("/file")), fromFile: file)
            #expect(String(decoding: body, as: UTF8.self) == "of a file")
            var request = URLRequest("PUT", try server.at("/stream"))
            request.httpBodyStream = InputStream(data: Data("streamed".utf8))
            #expect(await Load(request, in: session).status == 503)
        }
    }

    @Test(
        "B6.33, B7.50: an answer that another attempt follows is not stored, and what is stored is not the next attempt's answer",
        arguments: [false, true])
    func uncached(decides: Bool) async throws {
        let bad = ServerResponse.text("bad", status: 503).adding("Cache-Control", "max-age=600")
        try await Self.failing(1, with: bad) { server in
            let policy = Self.quick { policy in
                guard decides else { return }
                policy.decide = { $0.response?.statusCode == 503 ? .retry(after: 0) : $0.proposal }
            }
            let session = Self.session(policy) { $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0) }
            let load = try await Load(server.at(), in: session)
            #expect(load.status == 200 && load.text == "good" && server.stats.requests == 2)
            let stored = try session.configuration.urlCache?.cachedResponse(for: URLRequest(url: server.at()))
            #expect((stored?.response as? HTTPURLResponse)?.statusCode != 503)
        }
    }

    @Test(
        "B6.33, B4.33: the body of an answer that is followed by another request may end without TLS's close_notify",
        .http1Only("In HTTP/2 no body lasts to the end of its connection"))
    func unclosed() async throws {
        let count = Guarded(0)
        let router: LoopbackServer.Router = { _ in
            switch count.add(1) {
            case 1: return .script([.lines("HTTP/1.1 503 Busy\n\nbad"), .drop])
            case 2: return .script([.lines("HTTP/1.1 302 Found\nLocation: /end\n\nmoved"), .drop])
            default: return .text("good")
            }
        }
        try await withJudgedServer(router: router) { judged in
            let configuration = judged.configuration(trusts: true)
            // The answer is followed, and no error.
            configuration.retryPolicy = Self.quick { $0.errorCodes = [] }
            let load = await Load(judged.url, in: URLSession(configuration: configuration))
            #expect(load.text == "good" && judged.server.stats.requests == 3, "\(load.message)")
        }
    }

    @Test(
        "B6.33, B4.33: the next attempt does not wait for the body of an answer that it follows",
        arguments: [false, true])
    func unfinished(decides: Bool) async throws {
        let never = ServerGate()
        let bad = ServerResponse.slow([.init("bad"), .init("rest", when: never)]).with(status: 503)
        try await Self.failing(2, with: bad) { server in
            let policy = Self.quick { if decides { $0.decide = { $0.proposal } } }
            // A load that waits for the rest ends by this.
            let session = Self.session(policy) { $0.timeoutIntervalForResource = 30 }
            let load = try await Load(server.at(), in: session)
            #expect(load.text == "good" && server.stats.requests == 3, "\(load.message)")
        }
    }

    // MARK: Errors

    @Test("B6.33: after a lost connection the request is sent again; the last error is the result")
    func losses() async throws {
        for (failures, isGood) in [(2, true), (9, false)] {
            try await Self.failing(failures, with: .script([.reset])) { server in
                let load = try await Load(server.at(), in: Self.session(Self.quick()))
                #expect(isGood ? load.text == "good" : load.code == .networkConnectionLost)
                #expect(server.stats.requests == (isGood ? 3 : 4))
            }
        }
    }

    @Test("B6.33: after an answer that breaks off the request is sent again, unless the caller has read bytes of it")
    func brokenOff() async throws {
        let half = ServerResponse.script([
            .send(Array("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".utf8)), .reset,
        ])
        try await Self.failing(1, with: half) { server in
            let session = Self.session(Self.quick())
            #expect(try await Load(server.at("/collected"), in: session).text == "good")
            // A caller that reads the bytes as they come has seen the first half.
            let (bytes, _) = try await session.bytes(from: server.at("/seen"))
            var text = ""
            let code = await codeThrown { for try await byte in bytes { text.unicodeScalars.append(.init(byte)) } }
            #expect(text == "half" && code == .networkConnectionLost)
        }
    }

    @Test("B6.33: after a refused connection the request is sent again, with any method")
    func refused() async throws {
        let attempts = Guarded(0)
        let policy = Self.quick(2) { policy in
            policy.decide = { failure in
                attempts.withLock { $0 += 1 }
                return failure.proposal
            }
        }
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let load = await Load(URLRequest("POST", url, body: "x"), in: Self.session(policy))
        #expect(load.code == .cannotConnectToHost && attempts.withLock(\.self) == 2)
    }

    // MARK: Pauses

    @Test(
        "B6.35: an answer with a Retry-After that is too long is the result",
        arguments: ["121", "Fri, 31 Dec 2999 23:59:59 GMT"])
    func tooLong(retryAfter: String) async throws {
        try await Self.failing(1, with: .text("bad", status: 503).adding("Retry-After", retryAfter)) { server in
            let load = try await Load(server.at(), in: Self.session(Self.quick()))
            #expect(load.status == 503 && server.stats.requests == 1)
        }
    }

    @Test(
        "B6.35: a Retry-After that is zero, past or no date means no pause",
        arguments: ["0", "Sun, 06 Nov 1994 08:49:37 GMT", "soon"])
    func over(retryAfter: String) async throws {
        try await Self.failing(1, with: .text("bad", status: 503).adding("Retry-After", retryAfter)) { server in
            let load = try await Load(server.at(), in: Self.session(Self.quick()))
            #expect(load.text == "good")
        }
    }

    @Test("B6.35: the program's decision is told how long a pause the server asks for")
    func asked() {
        let policy = Self.quick()
        let request = URLRequest("GET", URL(fileURLWithPath: "/"))
        func decision(_ text: String) -> URLSession.RetryPolicy.Decision {
            let response = HTTPURLResponse(
                url: URL(fileURLWithPath: "/"), statusCode: 503, httpVersion: nil,
                headerFields: ["Retry-After": text])
            return policy.decision(about: request, response: response, retries: 0)
        }
        #expect(decision("7") == .retry(after: 7))
        #expect(decision("120") == .retry(after: 120))
        #expect(decision("121") == .giveUp)
        #expect(policy.decision(about: request, error: URLError(.timedOut), retries: 2) == .retry(after: 0))
        #expect(policy.decision(about: request, error: URLError(.timedOut), retries: 3) == .giveUp)
        #expect(policy.decision(about: request, error: URLError(.badURL), retries: 0) == .giveUp)
        #expect(policy.decision(about: request, retries: 0) == .giveUp)
    }

    @Test("A load ends at once where the pause would outlast its time-out")
    func deadline() async throws {
        try await Self.failing(1, with: .text("bad", status: 503)) { server in
            let session = Self.session(Self.quick { ($0.firstPause, $0.longestPause, $0.jitter) = (3_000, 3_000, 0) }) {
                $0.timeoutIntervalForResource = 1_000
            }
            let load = try await Load(server.at(), in: session)
            #expect(load.status == 503 && load.text == "bad")
        }
    }

    @Test("A task can be cancelled in its pause, and while the program decides", arguments: [false, true])
    func cancelled(decides: Bool) async throws {
        let (asked, dropped) = (Signal(), Signal())
        try await Self.failing(1, with: .text("bad", status: 503)) { server in
            let policy = Self.quick {
                $0.firstPause = 3_000
                $0.longestPause = 3_000
                if decides {
                    $0.decide = { failure in
                        asked.fire()
                        // The function that decides is cancelled with the task.
                        await withTaskCancellationHandler {
                            await dropped.wait()
                        } onCancel: {
                            dropped.fire()
                        }
                        return failure.proposal
                    }
                }
            }
            let session = Self.session(policy)
            let url = try server.at()
            let ended = Signal()
            let code = Guarded<URLError.Code?>(nil)
            let task = session.dataTask(with: url) { _, _, error in
                code.withLock { $0 = (error as? URLError)?.code }
                ended.fire()
            }
            task.resume()
            if decides { await asked.wait() } else { #expect(await server.wait { $0.responses >= 1 } != nil) }
            task.cancel()
            await ended.wait()
            #expect(code.withLock(\.self) == .cancelled && server.stats.requests == 1)
            if decides { await dropped.wait() }
        }
    }

    // MARK: Decisions

    @Test("B6.37: the program decides whether a request is sent again after an answer")
    func decidesAnswers() async throws {
        let seen = Guarded<[(Int?, Int, URLSession.RetryPolicy.Decision)]>([])
        let policy = Self.quick(5) { policy in
            policy.decide = { failure in
                seen.withLock { $0.append((failure.response?.statusCode, failure.retries, failure.proposal)) }
                return failure.retries < 2 ? .retry(after: 0) : .giveUp
            }
        }
        try await Self.failing(9, with: .text("bad", status: 404)) { server in
            let load = try await Load(server.at(), in: Self.session(policy))
            #expect(load.status == 404 && load.text == "bad" && server.stats.requests == 3)
            let seen = seen.withLock(\.self)
            #expect(seen.map(\.0) == [404, 404, 404] && seen.map(\.1) == [0, 1, 2])
            #expect(seen.allSatisfy { $0.2 == .giveUp })
        }
    }

    @Test("B6.37: the program decides whether a request is sent again after an error")
    func decidesErrors() async throws {
        let policy = Self.quick(5) { policy in
            policy.errorCodes = []
            policy.decide = { failure in
                failure.error?.code == .networkConnectionLost && failure.retries == 0 ? .retry(after: 0) : .giveUp
            }
        }
        try await Self.failing(1, with: .script([.reset])) { server in
            let load = try await Load(server.at(), in: Self.session(policy))
            #expect(load.text == "good")
        }
        try await Self.failing(2, with: .script([.reset])) { server in
            let load = try await Load(server.at(), in: Self.session(policy))
            #expect(load.code == .networkConnectionLost)
        }
    }

    @Test(
        "B6.33, B1.60: an error that is given up comes to a handler and to a delegate, on their queue, after the metrics"
    )
    func givesUp() async throws {
        let policy = Self.quick(5) { $0.decide = { _ in .giveUp } }
        try await Self.failing(1000, with: .script([.reset])) { server async throws in
            let delegate = RecordingDelegate()
            let configuration = URLSessionConfiguration.ephemeral
            configuration.retryPolicy = policy
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            let (url, queue) = (try server.at(), session.delegateQueue)
            for _ in 0..<20 {
                let (error, isOnQueue) = await withHandover { continuation in
                    session.dataTask(with: url) { _, _, error in
                        continuation.resume(returning: (error, OperationQueue.current === queue))
                    }.resume()
                }
                #expect((error as? URLError)?.code == .networkConnectionLost && isOnQueue)
            }
            session.dataTask(with: url).resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls.last?.hasPrefix("complete") == true)
            session.finishTasksAndInvalidate()
            await delegate.transcript.invalidated.wait()
        }
    }

    // MARK: Budgets

    @Test("B6.36: the loads of a session share a budget")
    func budget() async throws {
        try await Self.failing(1, with: .text("bad", status: 503)) { server in
            let session = Self.session(Self.quick()) { $0.retryBudget = URLSession.RetryBudget(reserve: 2, share: 0) }
            var statuses: [Int] = []
            for path in ["/1", "/2", "/3", "/4"] {
                statuses.append(try await Load(server.at(path), in: session).status)
            }
            #expect(statuses == [200, 200, 503, 503])
            let free = Self.session(Self.quick()) { $0.retryBudget = .unlimited }
            for path in 5..<25 { #expect(try await Load(server.at("/\(path)"), in: free).status == 200) }
        }
    }

    // MARK: What is told

    @Test("B6.38: metrics and events show each attempt, and delegates hear of one answer")
    func told() async throws {
        try await Self.failing(2, with: .text("bad", status: 503)) { server in
            let session = Self.session(Self.quick())
            var told: [String] = []
            var metrics: URLSessionTaskMetrics?
            for await event in session.events(for: URLRequest(url: try server.at("/events"))) {
                switch event {
                case .retry(let failure, let pause):
                    told.append("retry \(failure.response?.statusCode ?? 0) \(failure.retries) \(pause)")
                case .response(let response): told.append("\((response as? HTTPURLResponse)?.statusCode ?? 0)")
                case .body(let data): told.append(String(decoding: data, as: UTF8.self))
                case .metrics(let all): metrics = all
                case .end(let error): told.append(error == nil ? "end" : "failed")
                case .informational, .redirect, .progress: break
                }
            }
            #expect(told == ["retry 503 0 0.0", "retry 503 1 0.0", "200", "good", "end"])
            #expect(metrics?.retryCount == 2 && metrics?.redirectCount == 0)
            let statuses = metrics?.transactionMetrics.map { ($0.response as? HTTPURLResponse)?.statusCode }
            #expect(statuses == [503, 503, 200])

            let delegate = RecordingDelegate()
            let configuration = URLSessionConfiguration.ephemeral
            configuration.retryPolicy = Self.quick()
            let recorded = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            let url = try server.at("/delegate")
            recorded.dataTask(with: url).resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls.filter { $0.hasPrefix("response") } == ["response 200"])
            recorded.finishTasksAndInvalidate()
        }
    }

    @Test("B6.33: a download is tried again, and its file has the last attempt's body")
    func download() async throws {
        try await Self.failing(1, with: .text("bad", status: 503)) { server in
            let (file, response) = try await Self.session(Self.quick()).download(from: server.at())
            defer { try? FileManager.default.removeItem(at: file) }
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(try String(contentsOf: file, encoding: .utf8) == "good")
        }
    }

    @Test("B6.33: requests to mocks are sent again too")
    func mocks() async throws {
        let mock = URLSession.Mock()
        let url = try #require(URL(string: "https://example.com/"))
        let broken = url.appending(path: "fails")
        mock.stub(url, .text("bad", status: 503), .text("good"))
        mock.stub(broken, .failure(URLError(.timedOut)))
        let session = Self.session(Self.quick(2)) { $0.mock = mock }
        #expect(await Load(url, in: session).text == "good")
        #expect(await Load(broken, in: session).code == .timedOut)
        #expect(mock.requests.count == 5)
        let plain = url.appending(path: "plain")
        mock.stub(plain, .failure(NSError(domain: NSURLErrorDomain, code: NSURLErrorTimedOut)), .text("good"))
        #expect(await Load(plain, in: session).text == "good")
    }

    // MARK: Custom protocols

    /// What a class still says of an answer that has failed.
    enum Rest: CaseIterable, Sendable { case nothing, anError, theEnd }

    @Test(
        "B6.33, B14.56: a custom protocol's failed answer is followed by another attempt, whatever comes behind it",
        .endsSessions, arguments: Rest.allCases, [false, true])
    func failedAnswerOfProtocol(rest: Rest, isDecided: Bool) async throws {
        let attempts = Guarded(0)
        let script = ProtocolScript { held in
            guard attempts.add(1) == 1 else { return held.answer("good") }
            held.respond(503)
            held.load("bad")
            switch rest {
            case .nothing: break
            case .anError: held.fail(OddError(number: 1))
            case .theEnd: held.finish()
            }
        }
        let policy = Self.quick { if isDecided { $0.decide = { $0.proposal } } }
        let delegate = RecordingDelegate()
        protocolSession(delegate) { $0.retryPolicy = policy }.dataTask(with: try script.url()).resume()
        await delegate.transcript.completed.wait()
        #expect(
            delegate.transcript.calls == ["created 1", "response 200", "data", "metrics 2", "complete nil"])
        #expect(delegate.transcript.body == "good" && attempts.value == 2)
        try await until { script.calls.value.filter { $0 == "stop" }.count == 2 }
    }

    @Test("B6.33, B4.34: a custom protocol to which a stored redirect leads is tried again", .endsSessions)
    func behindStoredRedirect() async throws {
        let attempts = Guarded(0)
        let script = ProtocolScript { held in
            if attempts.add(1) % 2 == 0 { return held.answer("good") }
            held.respond(503)
            held.finish()
        }
        let place = try script.url()
        try await withServer(
            router: { _ in
                ServerResponse(status: 301).adding("Location", place.absoluteString)
                    .adding("Cache-Control", "max-age=3600")
            }
        ) { server in
            let session = protocolSession {
                $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
                $0.retryPolicy = Self.quick()
            }
            let url = try server.at()
            for _ in 0..<2 { #expect(await Load(url, in: session).text == "good") }
            #expect(server.stats.requests == 1 && attempts.value == 4)
        }
    }

    @Test("B6.33, B14.56: behind what a custom protocol has told already a failed answer is told, too", .endsSessions)
    func toldProtocol() async throws {
        let script = ProtocolScript { $0.answer("part", then: 503, "bad") }
        let delegate = RecordingDelegate()
        protocolSession(delegate) { $0.retryPolicy = Self.quick() }.dataTask(with: try script.url()).resume()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.calls.filter { $0.hasPrefix("response") } == ["response 200", "response 503"])
        #expect(delegate.transcript.body == "partbad" && script.started.count == 1)
        let early = ProtocolScript { held in
            held.load("early")
            held.respond(503)
            held.finish()
        }
        let other = RecordingDelegate()
        protocolSession(other) { $0.retryPolicy = Self.quick() }.dataTask(with: try early.url()).resume()
        await other.transcript.completed.wait()
        #expect(other.transcript.body == "early" && early.started.count == 1)
    }
}
