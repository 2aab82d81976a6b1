// Redirects that are kept: followed without the network, with the delegate's word (B4.34). Answers to requests with a
// credential: which later requests they serve (B7.48, B7.99).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Cached redirects and secrets", .endsSessions)
struct CachedRedirectTests: CachingSuite {
    private func session(_ cache: URLCache, _ delegate: (any URLSessionDelegate)? = nil) -> URLSession {
        visitor(delegate) { $0.urlCache = cache }
    }

    /// `/N` leads to `/N−1`, `/0` is a page; both are fresh for an hour. The status and body of redirects are given.
    private static func steps(_ status: Int = 301, _ body: String = "moved") -> LoopbackServer.Router {
        { request in
            guard let number = Int(request.path.dropFirst()), number > 0 else {
                return .text("page").adding("Cache-Control", "max-age=3600")
            }
            return .text(body, status: status).adding("Location", "/\(number - 1)")
                .adding("Cache-Control", "max-age=3600")
        }
    }

    @Test("B4.34: a kept redirect is followed without the network", arguments: [301, 302, 303, 307, 308])
    func followed(status: Int) async throws {
        try await withServer(router: Self.steps(status)) { server in
            let session = session(memory())
            for _ in 0..<3 { #expect(try await session.visit(server.at("/3")) == "200 page") }
            #expect(server.stats.requests == 4)
            let (_, response) = try await session.data(from: server.at("/3"))
            #expect(response.url == (try server.at("/0")))
        }
    }

    @Test(
        "B4.34: 301 and 308 without Cache-Control are kept and fresh for a guessed time; 302 is not kept",
        arguments: [301, 308, 302])
    func byDefault(status: Int) async throws {
        let router: LoopbackServer.Router = { request in
            if request.path == "/end" { return .text("page").adding("Cache-Control", "max-age=3600") }
            return ServerResponse(status: status).adding("Location", "/end")
                .adding("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")
        }
        try await withServer(router: router) { server in
            let session = session(memory())
            let url = try server.at("/")
            for _ in 0..<2 { #expect(try await session.visit(url) == "200 page") }
            #expect(server.stats.requests == (status == 302 ? 3 : 2))
        }
    }

    @Test(
        "B4.34: the delegate is asked about a kept redirect, in either form, and each hop is a transaction",
        arguments: Scribe.Form.allCases)
    func asked(form: Scribe.Form) async throws {
        try await withServer(router: Self.steps()) { server in
            let cache = memory()
            _ = try await session(cache).data(from: server.at("/2"))
            let scribe = Scribe()
            session(cache, scribe.delegate(form)).dataTask(with: try server.at("/2")).resume()
            await scribe.transcript.completed.wait()
            #expect(
                scribe.transcript.calls == [
                    "created 1", "redirect 301 GET /1", "redirect 301 GET /0", "response 200", "data", "metrics 3",
                    "complete nil",
                ])
            #expect(scribe.transcript.body == "page" && server.stats.requests == 3)
        }
    }

    @Test(
        "B4.3, B4.34: a kept redirect that the delegate does not follow is the response, with its body",
        arguments: Scribe.Form.allCases)
    func notFollowed(form: Scribe.Form) async throws {
        try await withServer(router: Self.steps()) { server in
            let cache = memory()
            _ = try await session(cache).data(from: server.at("/1"))
            let scribe = Scribe(redirect: { _ in nil })
            let session = session(cache, scribe.delegate(form))
            session.dataTask(with: try server.at("/1")).resume()
            await scribe.transcript.completed.wait()
            #expect(
                scribe.transcript.calls == [
                    "created 1", "redirect 301 GET /0", "response 301", "data", "metrics 1", "complete nil",
                ])
            #expect(scribe.transcript.body == "moved")
            #expect(try await session.visit(server.at("/1")) == "301 moved")
            #expect(server.stats.requests == 2)
        }
    }

    @Test(
        "B4.34: a redirect that the delegate was asked about when it came is kept with its body",
        arguments: Scribe.Form.allCases)
    func keptAfterAsking(form: Scribe.Form) async throws {
        try await withServer(router: Self.steps(301, String(repeating: "x", count: 40_000))) { server in
            let cache = memory()
            _ = try await session(cache, Scribe().delegate(form)).data(from: server.at("/1"))
            let stored = cache.cachedResponse(for: URLRequest(url: try server.at("/1")))
            #expect(stored?.data.count == 40_000)
        }
    }

    @Test("B4.33: a redirect's long body is not read to its end just to keep it")
    func longBody() async throws {
        try await withServer(router: Self.steps(301, String(repeating: "x", count: 70_000))) { server in
            let cache = URLCache(memoryCapacity: 1 << 30, diskCapacity: 0)
            let url = try server.at("/1")
            #expect(try await session(cache).visit(url) == "200 page")
            #expect(cache.cachedResponse(for: URLRequest(url: url)) == nil)
        }
    }

    @Test(
        "B4.33: a redirect whose body does not come is followed soon also where it might be kept, and is not kept",
        arguments: zip([301, 308], [true, false]))
    func stalledBody(status: Int, isAsked: Bool) async throws {
        let never = ServerGate()
        try await withServer(router: { request in
            request.path == "/end"
                ? .text("end")
                : ServerResponse.slow([.init("moved"), .init("rest", when: never)]).with(status: status)
                    .adding("Location", "/end").adding("Cache-Control", "max-age=3600")
        }) { server in
            let cache = memory()
            let session = visitor(isAsked ? RecordingDelegate() : nil) {
                $0.urlCache = cache
                // Without a limit of its own the body would be waited for.
                $0.timeoutIntervalForRequest = 86_400
            }
            let url = try server.at("/")
            #expect(try await session.visit(url) == "200 end")
            #expect(cache.cachedResponse(for: URLRequest(url: url)) == nil)
        }
    }

    @Test("B4.13, B4.34: kept redirects count like others")
    func counted() async throws {
        try await withServer(router: Self.steps()) { server in
            let session = session(memory())
            let (url, further) = (try server.at("/20"), try server.at("/21"))
            #expect(try await session.visit(url) == "200 page")
            #expect(try await session.visit(url) == "200 page")
            #expect(server.stats.requests == 21)
            let error = await #expect(throws: URLError.self) { _ = try await session.data(from: further) }
            #expect(error?.code == .httpTooManyRedirects)
            #expect(error?.failingURL == (try server.at("/1")), "B4.14: the last that was loaded, from the cache")
            #expect(server.stats.requests == 22)
        }
    }

    @Test("B4.34: the target of a kept redirect is looked for on disk without stopping the loop")
    func onDisk() async throws {
        try await withServer(router: Self.steps(302)) { server in
            let folder = CacheFolder()
            let first = session(folder.cache())
            let (end, start) = (try server.at("/0"), try server.at("/1"))
            #expect(try await first.visit(end) == "200 page")
            await first.flush()
            #expect(try await session(folder.cache()).visit(start) == "200 page")
            #expect(server.stats.requests == 2)
        }
    }

    @Test("B7.48: an answer to a user with a password serves requests of this user only")
    func secrets() async throws {
        let visits = Visits()
        let fresh: LoopbackServer.Router = { _ in .text("secret").adding("Cache-Control", "max-age=3600") }
        try await withServer(router: door("r", ["u": "p", "v": "p"], visits, inside: fresh)) { server in
            let cache = memory()
            let url = try server.at("/")
            let (one, other) = (session(cache), session(cache))
            #expect(try await one.visit(url.naming("u:p")) == "200 secret")
            let count = visits.count
            #expect(
                try await one.visit(url) == "200 secret", "from the cache, for it would have been sent with the proof")
            #expect(visits.count == count)
            #expect(try await other.visit(url) == "401 denied")
            #expect(try await other.visit(url.naming("v:p")) == "200 secret")
            #expect(visits.count > count + 2, "for another user the server is asked")
            var request = URLRequest(url: url)
            request.setValue(basic("u", "p"), forHTTPHeaderField: "Authorization")
            let before = visits.count
            for _ in 0..<2 { #expect(try await session(cache).visit(request) == "200 secret") }
            #expect(visits.count == before + 1)
        }
    }

    @Test("B7.48: with Digest, an answer serves its user again although each proof is another one")
    func digest() async throws {
        let door = DigestDoor()
        try await withServer(
            router: { request in
                door.opens(to: request)
                    ? .text("secret").adding("Cache-Control", "max-age=3600") : .denied(door.challenge)
            }
        ) { server in
            let session = session(memory(), GuestDelegate(Guest.once("u", "p")))
            let url = try server.at("/")
            for _ in 0..<3 { #expect(try await session.visit(url) == "200 secret") }
            #expect(server.stats.requests == 2)
        }
    }

    @Test("B7.99: for a hit the delegate is asked neither about the server nor for a password")
    func noChallenge() async throws {
        let identity = try CertificateFactory.root("Caches").issue(.server("localhost")).identity
        try await withServer(.init(tls: ServerTLS(identity: identity)), router: Self.steps()) { server in
            let judge = FullJudge()
            let session = session(memory(), judge)
            _ = try await session.data(from: server.at("/0"))
            let calls = judge.transcript.calls
            #expect(calls.contains("session trust"))
            #expect(try await session.visit(server.at("/0")) == "200 page")
            #expect(Array(judge.transcript.calls.dropFirst(calls.count)) == ["created", "metrics"])
        }
    }
}
