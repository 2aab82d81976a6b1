// A stored answer serves only sessions that would have trusted its server: a test for each way in which a server can be
// trusted (B7.102). Rules that every session knows by name are in TrustRuleTests; two processes are in FetchTests.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingTestSupport
import URLLoadingTrust
import URLLoadingWire

@Suite("Stored answers and trust", .endsSessions, .timeLimit(.minutes(5)))
struct CachedTrustTests: CachingSuite {
    typealias Evaluation = URLSessionConfiguration.ServerTrustEvaluation

    /// A server whose pages are fresh for an hour and say how often it was asked.
    private struct Place {
        let root: Certificate
        let identity: Identity
        let url: URL
        let visits: Visits

        var leaf: Certificate { identity.chain.leaf }
        var anchors: Evaluation { .anchors(pem: root.pem) }
    }

    private func withPlace(
        _ router: LoopbackServer.Router? = nil, _ body: (Place) async throws -> Void
    ) async throws {
        let (root, identity) = try CertificateFactory.server("127.0.0.1")
        let visits = Visits()
        let noting: LoopbackServer.Router = { request in
            visits.note(request, .ifNoneMatch)
            return router?(request) ?? .text("\(visits.count)").adding("Cache-Control", "max-age=3600")
        }
        try await withServer(.init(tls: ServerTLS(identity: identity)), router: noting) { server in
            try await body(Place(root: root, identity: identity, url: server.at("/"), visits: visits))
        }
    }

    private func judging(
        _ evaluation: Evaluation, _ cache: URLCache, _ delegate: (any URLSessionDelegate)? = nil
    ) -> URLSession {
        visitor(delegate) {
            $0.urlCache = cache
            $0.serverTrustEvaluation = evaluation
        }
    }

    /// Whether a session finds something that it may use.
    private func finds(
        _ session: URLSession, _ url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async -> Bool {
        let only = request(url, .returnCacheDataDontLoad)
        let code = await codeThrown { _ = try await session.visit(only, delegate: delegate) }
        #expect(code == nil || code == .resourceUnavailable)
        return code == nil
    }

    /// Every kind of evaluation that may accept a server that the default one refuses.
    private func evaluations(_ place: Place, _ folder: CacheFolder) throws -> [String: Evaluation] {
        let stranger = try CertificateFactory.root("Stranger").certificate
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        return [
            "anybody": .dangerouslyAcceptAnyCertificate,
            "anchors": place.anchors,
            "anchors and system": .anchorsAndSystem(pem: place.root.pem),
            "pinned certificate": .pinnedCertificates(.pem(place.leaf.pem), besides: place.anchors),
            "pinned key": .pinnedKeys([place.leaf.pin], besides: place.anchors),
            "self-signed": .selfSigned(.pem(place.leaf.pem), host: "127.0.0.1"),
            "any of": .anyOf([.system, place.anchors]),
            "all of": .allOf([place.anchors, .pinnedKeys([place.leaf.pin], besides: place.anchors)]),
            "known hosts": .knownHosts(file: folder.url.appending(path: "known")),
            "per host": .perHost(["127.0.0.1": place.anchors], otherwise: .system),
            "soft revocation": place.anchors.checkingRevocation(.soft()),
            "no revocation": place.anchors.checkingRevocation(.none),
            "date": place.anchors.judging(asOf: Date()),
            "any host": place.anchors.dangerouslyIgnoringHostNames(),
            "anchors, a stranger's too": .anchors(pem: place.root.pem + stranger.pem),
        ]
    }

    // MARK: Evaluations

    @Test(
        "B7.102: an answer accepted by a session's own evaluation serves that session, and no other one with the cache")
    func evaluations() async throws {
        try await withPlace { place in
            let folder = CacheFolder()
            for (name, evaluation) in try evaluations(place, folder) {
                let cache = memory()
                let one = judging(evaluation, cache)
                let first = try await one.visit(place.url)
                #expect(try await one.visit(place.url) == first, "\(name): its own")
                let strict = judging(.system, cache)
                let reserve = try CertificateFactory.root("Reserve").certificate.pin
                let pinned = judging(.pinnedKeys([reserve], besides: evaluation), cache)
                let strangers = judging(.anchors(pem: try CertificateFactory.root("Other").certificate.pem), cache)
                for other in [strict, pinned, strangers] {
                    #expect(await !finds(other, place.url), "\(name)")
                    #expect(await codeThrown { _ = try await other.visit(place.url) } == .serverCertificateUntrusted)
                }
                #expect(await !finds(judging(evaluation, cache), place.url), "\(name): B7.102, no other session")
                #expect(await finds(one, place.url), "\(name): no load has changed it")
            }
        }
    }

    @Test("B7.102: an answer accepted by a session's own evaluation serves no session of a later run")
    func evaluationsOnDisk() async throws {
        try await withPlace { place in
            let known = CacheFolder()
            for (name, evaluation) in try evaluations(place, known) {
                let folder = CacheFolder()
                let one = judging(evaluation, folder.cache())
                let first = try await one.visit(place.url)
                await one.flush()
                #expect(try await one.visit(place.url) == first, "\(name): its own, from the disk")
                for other in [evaluation, .system] {
                    #expect(await !finds(judging(other, folder.cache()), place.url), "\(name)")
                }
            }
        }
    }

    // MARK: Delegates

    @Test("B7.102: an answer of a server that a session's delegate has accepted serves that session alone")
    func sessionDelegates() async throws {
        try await withPlace { place in
            let judges: [@Sendable () -> any URLSessionDelegate] = [
                { SessionJudge() }, { AsyncSessionJudge() }, { TaskJudge() }, { AsyncTaskJudge() }, { FullJudge() },
            ]
            for make in judges {
                let cache = memory()
                let one = judging(.system, cache, make())
                let first = try await one.visit(place.url)
                #expect(try await one.visit(place.url) == first)
                #expect(await !finds(judging(.system, cache), place.url))
                #expect(await !finds(judging(.dangerouslyAcceptAnyCertificate, cache), place.url))
                #expect(await !finds(judging(.system, cache, make()), place.url), "another session's delegate")
                #expect(await finds(one, place.url))
            }
        }
    }

    @Test("B7.102: an answer accepted by SecTrustSetExceptions in a delegate serves that session alone")
    func exceptions() async throws {
        try await withPlace { place in
            let excusing: ChallengeHabit = { challenge, reply in
                guard let trust = challenge.protectionSpace.serverTrust,
                    let exceptions = SecTrustCopyExceptions(trust), SecTrustSetExceptions(trust, exceptions)
                else { return reply(.rejectProtectionSpace, nil) }
                reply(.useCredential, URLCredential(trust: trust))
            }
            let cache = memory()
            let one = judging(.system, cache, SessionJudge(excusing))
            let first = try await one.visit(place.url)
            #expect(try await one.visit(place.url) == first)
            #expect(await !finds(judging(.system, cache), place.url))
            #expect(await !finds(judging(.system, cache, SessionJudge(excusing)), place.url))
        }
    }

    @Test("B7.102: an answer that came by default handling serves the session whose evaluation that is")
    func defaultHandling() async throws {
        try await withPlace { place in
            let delegates: [any URLSessionDelegate] = [
                SessionJudge(Habit.says(.performDefaultHandling)), TaskJudge(Habit.says(.performDefaultHandling)),
            ]
            for delegate in delegates {
                let cache = memory()
                let one = judging(place.anchors, cache, delegate)
                let first = try await one.visit(place.url)
                #expect(try await one.visit(place.url) == first)
                #expect(await !finds(judging(place.anchors, cache), place.url))
                #expect(await !finds(judging(.system, cache), place.url))
            }
        }
    }

    @Test("B7.102: an answer of a server that a task's own delegate has accepted serves no other task")
    func taskDelegates() async throws {
        try await withPlace { place in
            let cache = memory()
            let session = judging(.system, cache)
            _ = try await session.visit(place.url, delegate: TaskJudge())
            #expect(await !finds(session, place.url))
            #expect(await !finds(session, place.url, delegate: TaskJudge()))
            #expect(cache.cachedResponse(for: URLRequest(url: place.url)) == nil, "it could serve no task")
        }
    }

    @Test("B7.102: an answer serves no session or task whose delegate would be asked about the server and might refuse")
    func refusingDelegates() async throws {
        try await withPlace { place in
            let cache = memory()
            let trusting = judging(place.anchors, cache)
            _ = try await trusting.visit(place.url)
            let refusing = Habit.says(.rejectProtectionSpace)
            #expect(await !finds(trusting, place.url, delegate: TaskJudge(refusing)))
            let strict = judging(place.anchors, cache, SessionJudge(refusing))
            #expect(await !finds(strict, place.url))
            #expect(await codeThrown { _ = try await strict.visit(place.url) } == .serverCertificateUntrusted)
            #expect(await finds(trusting, place.url), "the session itself still has it")
        }
    }

    @Test("B7.102: delegates that are not asked about servers change nothing about which answers serve")
    func delegatesWithoutASay() async throws {
        try await withPlace { place in
            let cache = memory()
            let refusing = Habit.says(.rejectProtectionSpace)
            let trusting = visitor(SessionJudge(refusing)) {
                $0.urlCache = cache
                $0.serverTrustEvaluation = place.anchors
                $0.asksDelegatesAboutServers = false
            }
            _ = try await trusting.visit(place.url)
            #expect(await finds(trusting, place.url))
            #expect(await finds(trusting, place.url, delegate: TaskJudge(refusing)))
            let strict = visitor(SessionJudge()) {
                $0.urlCache = cache
                $0.asksDelegatesAboutServers = false
            }
            #expect(await !finds(strict, place.url))
            #expect(await codeThrown { _ = try await strict.visit(place.url) } == .serverCertificateUntrusted)
        }
    }

    // MARK: Validation

    @Test(
        "B7.102: an answer that another evaluation has accepted is not validated with a 304, even with the right ETag")
    func noBaseForValidation() async throws {
        let router: LoopbackServer.Router = { request in
            request.fields.contains(.ifNoneMatch)
                ? ServerResponse(status: 304, body: .none) : .text("page").adding("ETag", "\"v\"")
        }
        try await withPlace(router) { place in
            let cache = memory()
            let trusting = judging(.dangerouslyAcceptAnyCertificate, cache)
            let first = try await trusting.visit(place.url)
            let second = try await judging(place.anchors, cache).visit(place.url)
            #expect(first == "200 page" && second == "200 page")
            #expect(place.visits.lines == ["GET /", "GET /"], "asked without conditions")
        }
    }

    // MARK: What programs make of it

    @Test(
        "B7.89, B7.102: an answer that a delegate stores instead of the proposed one keeps how its server was trusted")
    func otherWords() async throws {
        try await withPlace { place in
            let cache = memory()
            let rewriting = Rewriting()
            // Delegates of ephemeral sessions are not asked (B7.88).
            let one = session(cache, rewriting) { $0.serverTrustEvaluation = .dangerouslyAcceptAnyCertificate }
            _ = try await load(one, place.url, rewriting)
            #expect(cache.cachedResponse(for: URLRequest(url: place.url))?.data == Data("mine".utf8))
            #expect(await !finds(judging(.system, cache), place.url))
        }
    }

    @Test("B7.102: a program's own cache that copies answers into new objects does not make them trusted")
    func rewrapping() async throws {
        try await withPlace { place in
            let cache = Rewrapping(memoryCapacity: 1 << 20, diskCapacity: 0)
            let one = judging(.dangerouslyAcceptAnyCertificate, cache)
            let first = try await one.visit(place.url)
            #expect(try await one.visit(place.url) == first)
            #expect(await !finds(judging(.system, cache), place.url))
        }
    }

    @Test("B7.102: an answer that a program has stored by hand serves every session, in a later run too")
    func byHand() async throws {
        let folder = CacheFolder()
        let url = "https://h.example/"
        try Stored.store(url, "mine", in: folder.cache(memory: 1 << 20))
        for cache in [folder.cache(memory: 1 << 20), folder.cache()] {
            for evaluation in [Evaluation.system, .pinnedKeys([]), .dangerouslyAcceptAnyCertificate] {
                let request = request(try #require(URL(string: url)), .returnCacheDataDontLoad)
                #expect(try await judging(evaluation, cache).visit(request) == "200 mine")
                #expect(try await judging(evaluation, cache, SessionJudge()).visit(request) == "200 mine")
            }
        }
    }

    @Test("B7.102: an archive keeps how the server was trusted; one that says nothing of it counts as not known")
    func archives() async throws {
        try await withPlace { place in
            let cache = memory()
            let one = judging(.dangerouslyAcceptAnyCertificate, cache)
            _ = try await one.visit(place.url)
            let request = URLRequest(url: place.url)
            let stored = try #require(cache.cachedResponse(for: request))
            let archive = try NSKeyedArchiver.archivedData(withRootObject: stored, requiringSecureCoding: true)
            let read = try #require(
                try NSKeyedUnarchiver.unarchivedObject(ofClass: CachedURLResponse.self, from: archive))
            let copies = [read, CachedURLResponse(response: read.response, data: read.data)]
            for copy in copies {
                let other = memory()
                other.storeCachedResponse(copy, for: request)
                #expect(await !finds(judging(.system, other), place.url))
            }
        }
    }

    // MARK: Earlier versions

    @Test("B7.102: answers that earlier versions of the library have stored serve http URLs, and no https URL")
    func earlierVersions() async throws {
        for (url, serves) in [("https://h.example/", false), ("http://h.example/", true)] {
            let folder = CacheFolder()
            try Stored.store(url, "old", in: folder.cache())
            let name = try #require(folder.entries.first)
            let file = folder.url.appending(path: name)
            try Self.asWrittenEarlier(try Data(contentsOf: file)).write(to: file)
            #expect(folder.cache().cachedResponse(for: try Stored.request(url))?.data == Data("old".utf8))
            let url = try #require(URL(string: url))
            for evaluation in [Evaluation.system, .dangerouslyAcceptAnyCertificate] {
                #expect(await finds(judging(evaluation, folder.cache()), url) == serves)
            }
        }
    }

    /// The file as the version before the marks would have it.
    private static func asWrittenEarlier(_ file: Data) -> Data {
        func number<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
            withUnsafeBytes(of: number.littleEndian) { Array($0) }
        }
        let bytes = Array(file)
        let length = bytes[8..<12].reversed().reduce(0) { $0 << 8 | Int($1) }
        let head = Array(bytes[48..<(48 + length - 1)])
        var preamble = Array("URLLCV01".utf8) + number(UInt32(head.count)) + bytes[12..<32]
        preamble += number(head.withUnsafeBytes { CacheRecord.digest($0) })
        preamble += number(preamble.withUnsafeBytes { CacheRecord.digest($0) })
        return Data(preamble + head + bytes[(48 + length)...])
    }

    private func load(_ session: URLSession, _ url: URL, _ delegate: Rewriting) async throws {
        session.dataTask(with: url).resume()
        await delegate.completed.wait()
    }
}

/// Stores words of its own in the place of each answer.
private final class Rewriting: NSObject, URLSessionDataDelegate {
    let completed = Signal()

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse? {
        let response = proposedResponse.response as? HTTPURLResponse
        return response?.url.flatMap {
            HTTPURLResponse(
                url: $0, statusCode: 200, httpVersion: nil, headerFields: ["Cache-Control": "max-age=9999"])
        }.map { CachedURLResponse(response: $0, data: Data("mine".utf8)) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        completed.fire()
    }
}

/// Makes a new object of what it is given, as classes do that note something beside it.
private final class Rewrapping: URLCache, @unchecked Sendable {
    // Safe to share: it has nothing of its own.
    override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        let made = CachedURLResponse(
            response: cachedResponse.response, data: cachedResponse.data, userInfo: ["seen": true],
            storagePolicy: .allowed)
        super.storeCachedResponse(made, for: dataTask)
    }
}
