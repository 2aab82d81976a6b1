// What delegates say about storing: when they are asked, in which form, and what follows (behaviour 7.9).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

/// What a delegate makes of a proposal.
private typealias StoringHabit = @Sendable (CachedURLResponse) -> CachedURLResponse?

/// Writes down responses, data, proposals and ends, and answers through the completion handler.
private final class HandlerKeeper: NSObject, URLSessionDataDelegate {
    let transcript = Transcript()
    private let habit: StoringHabit?

    /// Without a habit it never answers.
    init(_ habit: StoringHabit?) { self.habit = habit }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transcript.note(data: data)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        transcript.note("proposal \(proposedResponse.data.count) \(proposedResponse.storagePolicy)")
        if let habit { completionHandler(habit(proposedResponse)) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        transcript.note("metrics")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transcript.note("complete \(Transcript.text(error))")
        transcript.completed.fire()
    }
}

/// Answers the question about storing in the async form, by returning.
private final class AsyncKeeper: NSObject, URLSessionDataDelegate {
    let transcript = Transcript()
    private let habit: StoringHabit

    init(_ habit: @escaping StoringHabit) { self.habit = habit }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transcript.note(data: data)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse? {
        transcript.note("proposal \(proposedResponse.data.count) \(proposedResponse.storagePolicy)")
        await Task.yield()
        return habit(proposedResponse)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        transcript.note("metrics")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transcript.note("complete \(Transcript.text(error))")
        transcript.completed.fire()
    }
}

@Suite("willCacheResponse")
struct WillCacheTests {
    private func configuration(_ cache: URLCache) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.default
        configuration.httpCookieStorage = nil
        configuration.urlCache = cache
        return configuration
    }

    private func session(_ cache: URLCache, _ delegate: (any URLSessionDelegate)?) -> URLSession {
        URLSession(configuration: configuration(cache), delegate: delegate, delegateQueue: nil)
    }

    private func load(_ session: URLSession, _ url: URL, _ transcript: Transcript, times: Int = 1) async {
        session.dataTask(with: url).resume()
        await transcript.completed.wait(times: times)
    }

    /// `/page` is fresh for an hour, `/old` never, `/moved` leads to `/page`, `/missing` is fresh but no success.
    private static let router: LoopbackServer.Router = { request in
        switch request.path {
        case "/old" where request.fields.contains(.ifNoneMatch): ServerResponse(status: 304, body: .none)
        case "/old": .text("old").adding("ETag", "\"v\"")
        case "/moved": .text("moved", status: 301).adding("Location", "/page")
        case "/missing": .text("missing", status: 404).adding("Cache-Control", "max-age=3600")
        case "/secret": .text("secret").adding("Cache-Control", "no-store")
        case "/cut": .script([.lines("HTTP/1.1 200 OK\nContent-Length: 9\n\nbody"), .close])
        default: .text("page").adding("Cache-Control", "max-age=3600")
        }
    }

    @Test("B7.87, B7.95, B1.60: the delegate is asked once, between the last data and the end, with the policy allowed")
    func order() async throws {
        try await withServer(router: Self.router) { server in
            for isAsync in [false, true] {
                let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
                let (one, two) = (HandlerKeeper { $0 }, AsyncKeeper { $0 })
                let (delegate, transcript): (any URLSessionDelegate, Transcript) =
                    isAsync ? (two, two.transcript) : (one, one.transcript)
                let session = session(cache, delegate)
                await load(session, try server.at("/page"), transcript)
                #expect(transcript.calls == ["data", "proposal 4 allowed", "metrics", "complete nil"])
                // B7.94: not for what comes from the cache.
                await load(session, try server.at("/page"), transcript, times: 2)
                #expect(transcript.calls.suffix(3) == ["data", "metrics", "complete nil"])
                #expect(cache.cachedResponse(for: URLRequest(url: try server.at("/page")))?.data == Data("page".utf8))
            }
            #expect(server.stats.requests == 2)
        }
    }

    @Test("B7.94: the delegate is not asked after a 304, and the entry is renewed")
    func notAfterValidation() async throws {
        try await withServer(router: Self.router) { server in
            let keeper = HandlerKeeper { $0 }
            let session = session(URLCache(memoryCapacity: 1 << 20, diskCapacity: 0), keeper)
            for times in 1...2 { await load(session, try server.at("/old"), keeper.transcript, times: times) }
            #expect(
                keeper.transcript.calls == [
                    "data", "proposal 3 allowed", "metrics", "complete nil", "data", "metrics", "complete nil",
                ])
            #expect(server.stats.requests == 2)
        }
    }

    @Test(
        "B7.44, B7.45: only successes are proposed; redirects and other kept answers are kept without a question",
        arguments: ["/moved", "/missing", "/secret", "/cut"])
    func notProposed(path: String) async throws {
        try await withServer(router: Self.router) { server in
            let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            let keeper = HandlerKeeper { $0 }
            await load(session(cache, keeper), try server.at(path), keeper.transcript)
            let proposals = keeper.transcript.calls.filter { $0.hasPrefix("proposal") }
            #expect(
                proposals == (path == "/moved" ? ["proposal 4 allowed"] : []), "that of the page behind the redirect")
            let isKept = cache.cachedResponse(for: URLRequest(url: try server.at(path))) != nil
            #expect(isKept == (path == "/moved" || path == "/missing"))
        }
    }

    @Test("B7.8, B7.91: a body that is too large for the cache is not proposed")
    func tooLarge() async throws {
        try await withServer(router: { _ in .text(String(repeating: "x", count: 51)) }) { server in
            let keeper = HandlerKeeper { $0 }
            await load(
                session(URLCache(memoryCapacity: 1000, diskCapacity: 0), keeper), try server.at("/"), keeper.transcript)
            #expect(keeper.transcript.calls == ["data", "metrics", "complete nil"])
        }
    }

    @Test("B7.89: nil stores nothing, another object is stored in place of the proposed one")
    func answers() async throws {
        try await withServer(router: Self.router) { server in
            let request = URLRequest(url: try server.at("/page"))
            let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            let refusing = HandlerKeeper { _ in nil }
            await load(session(cache, refusing), try server.at("/page"), refusing.transcript)
            #expect(cache.cachedResponse(for: request) == nil)
            let changing = HandlerKeeper {
                CachedURLResponse(
                    response: $0.response, data: Data("mine".utf8), userInfo: ["k": "v"], storagePolicy: .allowed)
            }
            await load(session(cache, changing), try server.at("/page"), changing.transcript)
            #expect(changing.transcript.body == "page", "the task delivers what came")
            let stored = try #require(cache.cachedResponse(for: request))
            #expect(stored.data == Data("mine".utf8) && stored.userInfo?["k"] as? String == "v")
            #expect(try await session(cache, nil).visit(try server.at("/page")) == "200 mine", "and it is as fresh")
            #expect(server.stats.requests == 2)
        }
    }

    @Test(
        "B7.92, B7.93: an answer that a delegate allows in memory only leaves no file; others do, over http and https")
    func memoryOnly() async throws {
        let identity = try CertificateFactory.root("Caches").issue(.server("localhost")).identity
        try await withServer(.init(tls: ServerTLS(identity: identity)), router: Self.router) { server in
            let url = try server.at("/page")
            for policy in [URLCache.StoragePolicy.allowedInMemoryOnly, .allowed, .notAllowed] {
                let folder = CacheFolder()
                let cache = folder.cache(memory: 1 << 20)
                let keeper = HandlerKeeper {
                    CachedURLResponse(response: $0.response, data: $0.data, storagePolicy: policy)
                }
                let configuration = configuration(cache)
                configuration.serverTrustEvaluation = .dangerouslyAcceptAnyCertificate
                let session = URLSession(configuration: configuration, delegate: keeper, delegateQueue: nil)
                await load(session, url, keeper.transcript)
                await session.flush()
                #expect(folder.entries.count == (policy == .allowed ? 1 : 0))
                #expect((cache.cachedResponse(for: URLRequest(url: url)) != nil) == (policy != .notAllowed))
            }
        }
    }

    @Test("B7.88: a session with an ephemeral configuration keeps what may be kept without asking its delegate")
    func ephemeral() async throws {
        try await withServer(router: Self.router) { server in
            let keeper = HandlerKeeper { _ in nil }
            let session = URLSession(configuration: .ephemeral, delegate: keeper, delegateQueue: nil)
            for times in 1...2 { await load(session, try server.at("/page"), keeper.transcript, times: times) }
            #expect(keeper.transcript.calls.filter { $0.hasPrefix("proposal") } == [])
            #expect(server.stats.requests == 1)
        }
    }

    @Test("B7.90: without the delegate's method every answer that may be kept is kept")
    func notImplemented() async throws {
        try await withServer(router: Self.router) { server in
            let recording = RecordingDelegate()
            let session = session(URLCache(memoryCapacity: 1 << 20, diskCapacity: 0), recording)
            for times in 1...2 { await load(session, try server.at("/page"), recording.transcript, times: times) }
            #expect(server.stats.requests == 1)
        }
    }

    @Test("B1.80: the delegate is asked also where the result goes to a handler, an async call or an iteration")
    func otherCalls() async throws {
        try await withServer(router: Self.router) { server in
            let keeper = HandlerKeeper { _ in nil }
            let session = session(URLCache(memoryCapacity: 1 << 20, diskCapacity: 0), keeper)
            let url = try server.at("/page")
            let heard = Signal()
            session.dataTask(with: url) { data, _, _ in if data?.count == 4 { heard.fire() } }.resume()
            await heard.wait()
            _ = try await session.data(from: url)
            for try await _ in try await session.bytes(from: url).0 {}
            _ = try await session.upload(for: URLRequest(url: url), from: Data())
            #expect(keeper.transcript.calls.filter { $0 == "proposal 4 allowed" }.count == 4)
            #expect(keeper.transcript.calls.filter { $0 == "metrics" }.count == 4)
        }
    }

    @Test("B1.95: the task's delegate is asked first, the session's where it has no such method")
    func taskDelegates() async throws {
        try await withServer(router: Self.router) { server in
            let sessions = HandlerKeeper { _ in nil }
            let session = session(URLCache(memoryCapacity: 1 << 20, diskCapacity: 0), sessions)
            let own = AsyncKeeper { _ in nil }
            _ = try await session.data(from: try server.at("/page"), delegate: own)
            #expect(own.transcript.calls.contains("proposal 4 allowed") && sessions.transcript.calls == [])
            _ = try await session.data(from: try server.at("/page"), delegate: RecordingDelegate())
            #expect(sessions.transcript.calls == ["proposal 4 allowed"])
        }
    }

    @Test("B1.31, B1.43: a delegate that never answers holds the end up until the task is cancelled")
    func silent() async throws {
        try await withServer(router: Self.router) { server in
            let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            let keeper = HandlerKeeper(nil)
            let session = session(cache, keeper)
            let task = session.dataTask(with: try server.at("/page"))
            task.resume()
            try await until { keeper.transcript.calls.contains("proposal 4 allowed") }
            task.cancel()
            await keeper.transcript.completed.wait()
            #expect(keeper.transcript.calls == ["data", "proposal 4 allowed", "metrics", "complete -999"])
            #expect(cache.currentMemoryUsage == 0)
        }
    }

    @Test("B7.89: a closure of EventHandlers answers too, and one that is not set is not asked")
    func eventHandlers() async throws {
        try await withServer(router: Self.router) { server in
            let handlers = URLSession.EventHandlers()
            let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            let session = session(cache, handlers)
            _ = try await session.data(from: try server.at("/page"))
            #expect(cache.currentMemoryUsage > 0)
            cache.removeAllCachedResponses()
            handlers.willCacheResponse = { _, task, proposed in task.currentRequest == nil ? proposed : nil }
            _ = try await session.data(from: try server.at("/page"))
            #expect(cache.currentMemoryUsage == 0)
        }
    }
}
