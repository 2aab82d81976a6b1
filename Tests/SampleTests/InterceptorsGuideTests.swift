// The code of docs/interceptors.md: it is that of the samples, and does what the page says.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingSamplesSwift5
import URLLoadingSamplesSwift6
import URLLoadingTestSupport

@Suite("The guide to interceptors", .timeLimit(.minutes(5)))
struct InterceptorsGuideTests {
    /// What a server of tokens and secrets does, and has seen.
    private final class Service: Sendable {
        struct State: Sendable {
            var tokens = 0
            var refused = 0
            var served = 0
        }

        let state = Guarded(State())
        /// Refusals wait until so many are due.
        private let crowd: Int
        private let gate = ServerGate()
        /// What the first requests for a token are answered with.
        private let failures: Int

        init(crowd: Int = 1, failures: Int = 0) {
            self.crowd = crowd
            self.failures = failures
        }

        var router: LoopbackServer.Router {
            { [self] request in
                if request.path == "/token" {
                    let number = state.withLock { state in
                        state.tokens += 1
                        return state.tokens
                    }
                    #expect(!request.fields.contains(.authorization))
                    return number <= failures ? .text("no", status: 500) : .text("token-\(number)")
                }
                // The first token has expired.
                guard let shown = request.fields.first(.authorization), shown != "Bearer token-1" else {
                    let count = state.withLock { state in
                        state.refused += 1
                        return state.refused
                    }
                    if count >= crowd { gate.open() }
                    var answer = ServerResponse.slow([.init("expired", when: gate)])
                    answer.status = 401
                    return answer
                }
                state.withLock { $0.served += 1 }
                return .text(shown)
            }
        }
    }

    private func withService(
        _ service: Service, _ body: (_ url: URL, _ make: @Sendable (LanguageMode) -> URLSession) async throws -> Void
    ) async throws {
        let root = try CertificateFactory.root()
        let tls = ServerTLS(identity: try root.issue(.server("api.example.com")).identity)
        let server = try LoopbackServer.start(.init(tls: tls), router: service.router)
        let token = try #require(URL(string: server.url("/token", host: "api.example.com")))
        let make = { @Sendable (mode: LanguageMode) in
            let configuration = URLSessionConfiguration.ephemeral
            configuration.hostOverrides = ["*": "127.0.0.1"]
            configuration.serverTrustEvaluation = .anchors(pem: root.certificate.pem)
            configuration.httpMaximumConnectionsPerHost = 100
            return switch mode {
            case .swift5:
                URLLoadingSamplesSwift5.signedInSession(
                    host: "api.example.com", tokenURL: token, configuration: configuration)
            case .swift6:
                URLLoadingSamplesSwift6.signedInSession(
                    host: "api.example.com", tokenURL: token, configuration: configuration)
            }
        }
        do {
            try await body(try #require(URL(string: server.url("/secret", host: "api.example.com"))), make)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private static func status(_ url: URL, in session: URLSession) async throws -> Int? {
        (try await session.data(from: url).1 as? HTTPURLResponse)?.statusCode
    }

    @Test("Fifty requests find the token expired, and one fetches another", arguments: LanguageMode.allCases)
    func crowd(mode: LanguageMode) async throws {
        let service = Service(crowd: 50)
        try await withService(service) { url, make in
            let session = make(mode)
            defer { session.invalidateAndCancel() }
            let statuses = try await withThrowingTaskGroup(of: Int?.self) { group in
                for _ in 0..<50 { group.addTask { try await Self.status(url, in: session) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == Array(repeating: 200, count: 50))
            let state = service.state.withLock { $0 }
            // The first token of all was fetched once, too.
            #expect(state.tokens == 2 && state.refused == 50 && state.served == 50)
        }
    }

    @Test(
        "A token that cannot be fetched fails the requests that wait for it, and the next request fetches one",
        arguments: LanguageMode.allCases)
    func failure(mode: LanguageMode) async throws {
        let service = Service(failures: 1)
        try await withService(service) { url, make in
            let session = make(mode)
            defer { session.invalidateAndCancel() }
            await #expect(throws: URLError(.userAuthenticationRequired)) { try await Self.status(url, in: session) }
            #expect(service.state.withLock { $0.tokens } == 1)
            let status = try await Self.status(url, in: session)
            #expect(status == 200 && service.state.withLock { $0.tokens } == 2)
        }
    }

    @Test(
        "Requests that wait for a token share its end, and one that is cancelled takes it from no other",
        arguments: LanguageMode.allCases, [true, false])
    func waiting(mode: LanguageMode, succeeds: Bool) async throws {
        struct NoToken: Error {}
        let server = try LoopbackServer.start { .text($0.fields.first(.authorization) ?? "none") }
        let (asked, gate) = (Signal(), Signal())
        let fetch = { @Sendable (session: URLSession) async throws -> String in
            asked.fire()
            await gate.wait()
            if !succeeds { throw NoToken() }
            return "fresh"
        }
        let configuration = URLSessionConfiguration.ephemeral
        let keeper: any URLSession.Interceptor =
            switch mode {
            case .swift5: URLLoadingSamplesSwift5.TokenKeeper(host: "api.example.com", token: nil, fetchToken: fetch)
            case .swift6: URLLoadingSamplesSwift6.TokenKeeper(host: "api.example.com", token: nil, fetchToken: fetch)
            }
        // What is behind the keeper needs no TLS.
        configuration.interceptors = [keeper, Plain(port: server.port)]
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: "https://api.example.com/"))
        let held = WaitingTasks()
        func begin() -> Task<String, any Error> {
            Task(executorPreference: held.executor) {
                String(decoding: try await session.data(from: url).0, as: UTF8.self)
            }
        }
        let first = begin()
        try await until {
            held.runNext()
            return asked.count == 1
        }
        // They run as far as they come by themselves: all wait for the first one's token.
        let tasks = [first] + (1..<10).map { _ in begin() }
        while held.runNext() {}
        tasks[0].cancel()
        tasks[5].cancel()
        gate.fire()
        held.open()
        for (number, task) in tasks.enumerated() {
            let result = await task.result
            if !succeeds {
                #expect(throws: NoToken.self) { try result.get() }
            } else if number == 0 || number == 5 {
                let error = #expect(throws: URLError.self) { try result.get() }
                #expect(error?.code == .cancelled)
            } else {
                #expect(try result.get() == "Bearer fresh")
            }
        }
        #expect(asked.count == 1)
        await server.stop()
    }

    /// Asks a server on this machine in another's place.
    private struct Plain: URLSession.Interceptor {
        let port: Int

        func intercept(
            _ request: URLRequest, next: URLSession.InterceptorChain
        ) async throws -> URLSession.InterceptedAnswer {
            var request = request
            request.url = URL(string: "http://127.0.0.1:\(port)/")
            return try await next(request)
        }
    }

    @Test(
        "A token goes to its own host only, and a request that is refused with a new one stays refused",
        arguments: LanguageMode.allCases)
    func elsewhere(mode: LanguageMode) async throws {
        // The server refuses every request.
        let refused = Guarded(0)
        let root = try CertificateFactory.root()
        let leaf = try root.issue(.server("api.example.com", "other.example.com"))
        let server = try LoopbackServer.start(.init(tls: ServerTLS(identity: leaf.identity))) { request in
            if request.path == "/token" { return .text("token") }
            if request.fields.contains(.authorization) { refused.withLock { $0 += 1 } }
            return .text("refused", status: 401)
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.hostOverrides = ["*": "127.0.0.1"]
        configuration.serverTrustEvaluation = .anchors(pem: root.certificate.pem)
        let token = try #require(URL(string: server.url("/token", host: "api.example.com")))
        let session =
            switch mode {
            case .swift5:
                URLLoadingSamplesSwift5.signedInSession(
                    host: "api.example.com", tokenURL: token, configuration: configuration)
            case .swift6:
                URLLoadingSamplesSwift6.signedInSession(
                    host: "api.example.com", tokenURL: token, configuration: configuration)
            }
        for (host, requests) in [("other.example.com", 0), ("api.example.com", 2)] {
            let url = try #require(URL(string: server.url("/secret", host: host)))
            #expect(try await Self.status(url, in: session) == 401)
            #expect(refused.withLock { $0 } == requests)
        }
        session.invalidateAndCancel()
        await server.stop()
    }

    @Test("A field, an answer out of a table, and a body that is counted", arguments: LanguageMode.allCases)
    func small(mode: LanguageMode) async throws {
        try await withServer(router: { .text($0.fields.first("X-Client") ?? "nobody") }) { server in
            let url = try #require(URL(string: server.url("/page")))
            let known = try #require(URL(string: server.url("/known")))
            let named =
                switch mode {
                case .swift5: URLLoadingSamplesSwift5.namedSession()
                case .swift6: URLLoadingSamplesSwift6.namedSession()
                }
            #expect(try await named.data(from: url).0 == Data("almanac/3".utf8))
            named.invalidateAndCancel()

            let count = Guarded(0)
            let note = { @Sendable (bytes: Int) in count.withLock { $0 += bytes } }
            let configuration = URLSessionConfiguration.ephemeral
            let texts = ["/known": "by heart"]
            configuration.interceptors =
                switch mode {
                case .swift5:
                    [URLLoadingSamplesSwift5.BodyMeter(note: note), URLLoadingSamplesSwift5.Rehearsal(texts: texts)]
                case .swift6:
                    [URLLoadingSamplesSwift6.BodyMeter(note: note), URLLoadingSamplesSwift6.Rehearsal(texts: texts)]
                }
            let session = URLSession(configuration: configuration)
            defer { session.invalidateAndCancel() }
            #expect(try await session.data(from: known).0 == Data("by heart".utf8))
            #expect(try await session.data(from: url).0 == Data("nobody".utf8))
            #expect(count.withLock { $0 } == 14 && server.stats.requests == 2)
        }
    }
}
