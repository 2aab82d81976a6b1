// Caches that programs write themselves, as subclasses of URLCache: what sessions ask of them, and when (B7.21).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingTestSupport
import URLLoadingWire

/// Writes down what it is asked, and answers as it is told.
private final class OwnCache: URLCache, @unchecked Sendable {
    // Safe to share: everything is constant or guards itself.
    typealias Question = (CachedURLResponse?, @Sendable (CachedURLResponse?) -> Void)

    let calls = Guarded<[String]>([])
    let asked = Signal()
    /// Where answers go while they are held back.
    let held = Guarded<[@Sendable () -> Void]?>(nil)
    /// What is given out in place of what is stored.
    let substitute = Guarded<CachedURLResponse?>(nil)

    private func note(_ call: String) { calls.change { $0.append(call) } }

    override func getCachedResponse(
        for dataTask: URLSessionDataTask, completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        note("get \(dataTask.currentRequest?.url?.path ?? "")")
        let found = substitute.value ?? dataTask.currentRequest.flatMap { super.cachedResponse(for: $0) }
        var isHeld = false
        held.change { held in
            isHeld = held != nil
            held?.append { completionHandler(found) }
        }
        // Order: a test that has waited for this finds the answer.
        asked.fire()
        if !isHeld { completionHandler(found) }
    }

    override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        note("store \(dataTask.currentRequest?.url?.path ?? "") \(cachedResponse.data.count)")
        super.storeCachedResponse(cachedResponse, for: dataTask)
    }

    override func removeCachedResponse(for request: URLRequest) {
        note("remove \(request.url?.path ?? "")")
        super.removeCachedResponse(for: request)
    }

    override func removeAllCachedResponses() {
        note("remove all")
        super.removeAllCachedResponses()
    }
}

@Suite("Caches of the program's own", .endsSessions)
struct ProgramCacheTests {
    private func session(_ cache: URLCache, _ delegate: (any URLSessionDelegate)? = nil) -> URLSession {
        visitor(delegate) { $0.urlCache = cache }
    }

    private func own() -> OwnCache { OwnCache(memoryCapacity: 1 << 20, diskCapacity: 0) }

    private static let router: LoopbackServer.Router = { request in
        switch request.path {
        case "/moved": .text("moved", status: 308).adding("Location", "/page")
        case "/old" where request.fields.contains(.ifNoneMatch): ServerResponse(status: 304, body: .none)
        case "/old": .text("old").adding("ETag", "\"v\"")
        default: .text("page").adding("Cache-Control", "max-age=3600")
        }
    }

    @Test("B7.21: a program's cache is asked before each hop, and given each answer that may be kept")
    func calls() async throws {
        try await withServer(router: Self.router) { server in
            let cache = own()
            let session = session(cache)
            for _ in 0..<2 { #expect(try await session.visit(server.at("/moved")) == "200 page") }
            #expect(
                cache.calls.value == [
                    "get /moved", "store /moved 5", "get /page", "store /page 4", "get /moved", "store /moved 5",
                    "get /page",
                ])
            #expect(server.stats.requests == 3, "a 308 without freshness is asked for again")
            var request = URLRequest(url: try server.at("/page"))
            request.httpMethod = "DELETE"
            _ = try await session.data(for: request)
            #expect(cache.calls.value.last == "remove /page")
            await session.reset()
            #expect(cache.calls.value.last == "remove all")
        }
    }

    @Test("B7.21, B7.73: an answer that the server has confirmed is given to the program's cache again")
    func renewed() async throws {
        try await withServer(router: Self.router) { server in
            let cache = own()
            let session = session(cache)
            let url = try server.at("/old")
            for _ in 0..<2 { #expect(try await session.visit(url) == "200 old") }
            #expect(cache.calls.value == ["get /old", "store /old 3", "get /old", "store /old 3"])
        }
    }

    @Test(
        "B1.31: a program's cache may answer later and on any thread; the first answer counts; a cancelled task does not wait"
    )
    func late() async throws {
        try await withServer(router: Self.router) { server in
            let cache = own()
            let session = session(cache)
            cache.held.value = []
            let recording = RecordingDelegate()
            let load = Task { try await session.visit(server.at("/page")) }
            await cache.asked.wait()
            let answers = cache.held.value ?? []
            DispatchQueue.global().async { for answer in answers + answers { answer() } }
            #expect(try await load.value == "200 page")

            cache.held.value = []
            let waiting = self.session(cache, recording)
            let task = waiting.dataTask(with: try server.at("/other"))
            task.resume()
            await cache.asked.wait(times: 2)
            task.cancel()
            await recording.transcript.completed.wait()
            #expect(recording.transcript.calls.last == "complete -999")
            for answer in cache.held.value ?? [] { answer() }
            #expect(server.stats.requests == 1)
            // They hold their tasks.
            cache.held.value = nil
        }
    }

    @Test("A cache's second answer to one question, given while the next hop waits, sends no request again")
    func repeated() async throws {
        try await withServer(router: Self.router) { server in
            let cache = own()
            let session = session(cache)
            cache.held.value = []
            let load = Task { try await session.visit(server.at("/moved")) }
            await cache.asked.wait()
            for answer in cache.held.value ?? [] { answer() }
            await cache.asked.wait(times: 2)
            // The first question is answered for the second time, then the second one.
            for answer in cache.held.value ?? [] { answer() }
            let seen = try await load.value
            #expect(seen == "200 page")
            #expect(server.stats.requests == 2)
            cache.held.value = nil
        }
    }

    @Test(
        "B7.55, B7.66: an answer from a program's cache that does not say when it came is as old as its Date",
        arguments: [true, false])
    func unknownOrigin(isDated: Bool) async throws {
        try await withServer(router: { _ in .text("new") }) { server in
            let cache = own()
            let url = try server.at("/")
            var fields = ["Cache-Control": "max-age=60"]
            let now = WallTime(seconds: 1_800_000_000)
            if isDated { fields["Date"] = HTTPDate.text(now) }
            cache.substitute.value = try Stored.response(url.absoluteString, "kept", fields: fields)
            let time = Guarded<Int64>(now.seconds + 59)
            let session = visitor {
                $0.urlCache = cache
                $0.wallClock = { WallTime(seconds: time.value) }
            }
            #expect(try await session.visit(url) == (isDated ? "200 kept" : "200 new"))
            time.value += 1
            #expect(try await session.visit(url) == "200 new")
        }
    }

    @Test(
        "B7.12, B7.30: a stored response that is not HTTP's is delivered as it is", arguments: Scribe.Form.allCases)
    func otherResponse(form: Scribe.Form) async throws {
        try await withServer(router: Self.router) { server in
            let url = try server.at("/")
            let response = URLResponse(
                url: url, mimeType: "text/plain", expectedContentLength: 4, textEncodingName: nil)
            let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            cache.storeCachedResponse(
                CachedURLResponse(response: response, data: Data("kept".utf8)), for: URLRequest(url: url))
            let scribe = Scribe()
            let session = session(cache, scribe.delegate(form))
            session.dataTask(with: URLRequest(url: url, cachePolicy: .returnCacheDataDontLoad)).resume()
            await scribe.transcript.completed.wait()
            #expect(scribe.transcript.calls == ["created 1", "response 0", "data", "metrics 1", "complete nil"])
            #expect(scribe.transcript.body == "kept")
            #expect(try await session.visit(url) == "200 page", "HTTP's rules know nothing of it")
        }
    }
}
