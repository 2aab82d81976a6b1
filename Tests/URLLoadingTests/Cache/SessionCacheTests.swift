// Sessions and their caches: which one is asked, and which answers are kept (behaviour 7.1, 7.2, 7.4). What decides
// about freshness and validation runs in CacheSequenceTests.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Sessions with a cache")
struct SessionCacheTests: CachingSuite {
    // MARK: Which cache

    @Test("B7.10, B1.11: the configuration's cache is asked and filled; without one nothing is cached")
    func configured() async throws {
        let visits = Visits()
        try await withServer(router: Self.fresh(visits)) { server in
            let cache = memory()
            let (one, two, none) = (session(cache), session(cache), session(nil))
            let url = try server.at("/")
            #expect(try await one.visit(url) == "200 1")
            #expect(try await two.visit(url) == "200 1", "the cache is both sessions'")
            #expect(try await none.visit(url) == "200 2")
            #expect(try await none.visit(url) == "200 3")
            #expect(one.configuration.urlCache === cache && none.configuration.urlCache == nil)
        }
    }

    @Test("B7.22, B1.7, B1.8: each ephemeral configuration has a cache of its own in memory, which its copies share")
    func ephemeral() async throws {
        let visits = Visits()
        try await withServer(router: Self.fresh(visits)) { server in
            let configuration = URLSessionConfiguration.ephemeral
            #expect(configuration.urlCache?.diskCapacity == 0 && configuration.urlCache?.memoryCapacity ?? 0 > 0)
            #expect(configuration.urlCache !== URLSessionConfiguration.ephemeral.urlCache)
            let copy = try #require(configuration.copy() as? URLSessionConfiguration)
            #expect(try await URLSession(configuration: configuration).visit(server.at("/")) == "200 1")
            #expect(try await URLSession(configuration: copy).visit(server.at("/")) == "200 1")
            #expect(try await URLSession(configuration: .ephemeral).visit(server.at("/")) == "200 2")
        }
    }

    @Test("B7.24: the configuration's policy counts for requests that keep the default one")
    func configuredPolicy() async throws {
        let visits = Visits()
        try await withServer(router: Self.fresh(visits)) { server in
            let cache = memory()
            let url = try server.at("/")
            let only = session(cache) { $0.requestCachePolicy = .returnCacheDataDontLoad }
            let reloading = session(cache) { $0.requestCachePolicy = .reloadIgnoringLocalCacheData }
            #expect(await codeThrown { _ = try await only.visit(url) } == .resourceUnavailable, "B7.32")
            #expect(try await only.visit(request(url, .returnCacheDataElseLoad)) == "200 1")
            #expect(try await only.visit(url) == "200 1")
            #expect(try await reloading.visit(url) == "200 2")
            #expect(try await reloading.visit(request(url, .returnCacheDataDontLoad)) == "200 2", "B7.27: stored again")
        }
    }

    @Test(
        "B7.32: a request that only the cache may answer fails with −1008 and reaches no server, by any task and method"
    )
    func onlyFromCache() async throws {
        let visits = Visits()
        try await withServer(router: Self.fresh(visits)) { server in
            let session = session(memory())
            let url = try server.at("/")
            for method in ["GET", "HEAD", "POST", "OPTIONS"] {
                let request = request(url, .returnCacheDataDontLoad, method)
                #expect(await codeThrown { _ = try await session.data(for: request) } == .resourceUnavailable)
                #expect(await codeThrown { _ = try await session.download(for: request) } == .resourceUnavailable)
            }
            var asking = URLRequest(url: url)
            asking.setValue("only-if-cached", forHTTPHeaderField: "Cache-Control")
            #expect(await codeThrown { _ = try await session.data(for: asking) } == .resourceUnavailable, "B7.66")
            #expect(visits.count == 0)
        }
    }

    // MARK: What is kept

    @Test("B7.42: an answer without no-store is found by cachedResponse(for:), whatever else its Cache-Control says")
    func foundByHand() async throws {
        try await withServer(
            router: { request in
                let value = request.query.map { $0.replacing("_", with: "-") } ?? ""
                return .text("x").adding("Cache-Control", String(value))
            }
        ) { server in
            let cache = memory()
            let session = session(cache)
            for word in ["public", "private", "max_age=0", "max_age=3600", "no_cache", "no_store"] {
                let url = try server.at("/?\(word)")
                _ = try await session.data(from: url)
                #expect((cache.cachedResponse(for: URLRequest(url: url)) != nil) == (word != "no_store"), "\(word)")
            }
        }
    }

    @Test(
        "B7.8: a body above five hundredths of the disk's, else of the memory's capacity is not kept",
        arguments: [true, false])
    func sizes(onDisk: Bool) async throws {
        try await withServer(
            router: { request in
                let body = [UInt8](repeating: 0x78, count: Int(request.query ?? "") ?? 0)
                return request.path == "/chunked" ? .chunks([body]) : .bytes(body)
            }
        ) { server in
            let folder = CacheFolder()
            let cache = onDisk ? folder.cache(memory: 1 << 30, disk: 200_000) : folder.cache(memory: 200_000, disk: 0)
            let session = session(cache)
            for (path, count) in [("/", 10_000), ("/", 10_001), ("/chunked", 10_000), ("/chunked", 10_001)] {
                let url = try server.at("\(path)?\(count)")
                let body = try await session.data(from: url).0
                #expect(body.count == count)
                let found = cache.cachedResponse(for: URLRequest(url: url))
                #expect(found?.data == (count == 10_000 ? body : nil), "\(path) \(count)")
            }
        }
    }

    @Test("B7.53, B7.78: a body is kept decoded, is not decoded again, and stays fresh after a validation")
    func decoded() async throws {
        let visits = Visits()
        try await withServer(
            router: { request in
                visits.note(request)
                if request.fields.contains(.ifNoneMatch) {
                    return ServerResponse(status: 304, body: .none).adding("Cache-Control", "max-age=3600")
                        .adding("ETag", "\"v\"")
                }
                return .text("plain").compressed().adding("Cache-Control", "max-age=0").adding("ETag", "\"v\"")
            }
        ) { server in
            let session = session(memory())
            let url = try server.at("/")
            for _ in 0..<4 {
                let (data, response) = try await session.data(from: url)
                #expect(String(decoding: data, as: UTF8.self) == "plain")
                #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Encoding") == "gzip")
            }
            #expect(visits.count == 2)
        }
    }

    @Test("B7.52: a hit does not set its cookies again")
    func cookies() async throws {
        try await withServer(
            router: { _ in .text("x").adding("Cache-Control", "max-age=3600").adding("Set-Cookie", "a=1") }
        ) { server in
            let storage = HTTPCookieStorage()
            let session = session(memory()) { $0.httpCookieStorage = storage }
            let url = try server.at("/")
            _ = try await session.data(from: url)
            let cookie = try #require(storage.cookies?.first)
            storage.deleteCookie(cookie)
            _ = try await session.data(from: url)
            #expect(storage.cookies?.isEmpty ?? true)
        }
    }

    @Test("B7.54, B7.96: uploads are not kept; downloads are neither answered nor kept")
    func otherTasks() async throws {
        let visits = Visits()
        try await withServer(router: Self.fresh(visits)) { server in
            let cache = memory()
            let session = session(cache)
            let url = try server.at("/")
            _ = try await session.upload(for: request(url, .useProtocolCachePolicy, "POST"), from: Data("x".utf8))
            let (file, _) = try await session.download(from: url)
            try FileManager.default.removeItem(at: file)
            #expect(cache.currentMemoryUsage == 0)
            #expect(try await session.visit(url) == "200 3")
            let (second, _) = try await session.download(from: url)
            #expect(try String(contentsOf: second, encoding: .utf8) == "4")
            try FileManager.default.removeItem(at: second)
            #expect(try await session.visit(url) == "200 3")
            // B7.84: whichever task sends it.
            let (third, _) = try await session.download(for: request(url, .useProtocolCachePolicy, "DELETE"))
            try FileManager.default.removeItem(at: third)
            #expect(try await session.visit(url) == "200 6")
        }
    }

    @Test("B7.84: an answer that was under way when a write made it worthless is not kept")
    func underWay() async throws {
        let gate = ServerGate()
        let count = Guarded(0)
        let router: LoopbackServer.Router = { request in
            guard request.method == "GET" else { return .text("written") }
            count.change { $0 += 1 }
            let page: ServerResponse = count.value == 1 ? .slow([.init("old", when: gate)]) : .text("new")
            return page.adding("Cache-Control", "max-age=3600")
        }
        try await withServer(router: router) { server in
            let session = session(memory())
            let url = try server.at("/")
            async let slow = session.visit(url)
            await server.wait { $0.requests == 1 }
            #expect(try await session.visit(request(url, .useProtocolCachePolicy, "PUT")) == "200 written")
            gate.open()
            #expect(try await slow == "200 old")
            #expect(try await session.visit(url) == "200 new")
            #expect(try await session.visit(url) == "200 new")
            #expect(count.value == 2)
        }
    }

    @Test("B7.50: a body that was not read to its end is not kept")
    func cancelled() async throws {
        let gate = ServerGate()
        try await withServer(router: { _ in .slow([.init("first"), .init("rest", when: gate)]) }) { server in
            let cache = memory()
            let session = session(cache)
            let (bytes, _) = try await session.bytes(from: server.at("/"))
            var iterator = bytes.makeAsyncIterator()
            #expect(try await iterator.next() == UInt8(ascii: "f"))
            bytes.task.cancel()
            await server.wait { $0.connectionsOpen == 0 }
            gate.open()
            #expect(cache.currentMemoryUsage == 0)
        }
    }

    @Test("Loads of one URL that is not stored yet do not wait for one another")
    func concurrentMisses() async throws {
        let gate = ServerGate()
        try await withServer(
            router: { _ in .slow([.init("x", when: gate)]).adding("Cache-Control", "max-age=3600") }
        ) { server in
            let session = session(memory())
            let url = try server.at("/")
            async let one = session.visit(url)
            async let two = session.visit(url)
            await server.wait { $0.requests == 2 }
            gate.open()
            #expect(try await [one, two] == ["200 x", "200 x"])
            #expect(try await session.visit(url) == "200 x")
            #expect(server.stats.requests == 2)
        }
    }

    @Test("B1.26: reset empties the cache, flush brings it to the disk")
    func resetting() async throws {
        let visits = Visits()
        try await withServer(router: Self.fresh(visits)) { server in
            let folder = CacheFolder()
            let session = session(folder.cache(memory: 1 << 20))
            let url = try server.at("/")
            #expect(try await session.visit(url) == "200 1")
            await session.flush()
            #expect(folder.entries.count == 1)
            #expect(try await self.session(folder.cache()).visit(url) == "200 1")
            await session.reset()
            #expect(folder.entries.isEmpty)
            #expect(try await session.visit(url) == "200 2")
        }
    }
}
