// The lines for a log, and that they hold no secret.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Log lines", .endsSessions, .timeLimit(.minutes(2)))
struct TraceLogTests {
    private final class Lines: Sendable {
        private let lines = Guarded<[URLSession.LogLine]>([])
        var all: [URLSession.LogLine] { lines.value }

        func session(
            from level: URLSession.LogLevel, _ change: (URLSessionConfiguration) -> Void = { _ in }
        ) -> URLSession {
            URLSession.made {
                $0.traceHooks = [.log(from: level) { [self] line in lines.withLock { $0.append(line) } }]
                change($0)
            }
        }
    }

    @Test(
        "B12.28: at `info` a load is one line, at `warning` none unless it fails or is tried again",
        .http1Only("shows a port"))
    func levels() async throws {
        try await withServer(router: { _ in .text("good", status: 404) }) { server async throws in
            let (info, warning) = (Lines(), Lines())
            _ = try await Load(server.at("/a%20b"), in: info.session(from: .info))
            #expect(info.all.map(\.message) == ["GET \(server.url("/a%20b")) is done, status 404"])
            #expect(info.all.map(\.description) == ["GET \(server.url("/a%20b")) is done, status 404 task=1"])
            _ = try await Load(server.at("/a"), in: warning.session(from: .warning) { $0.retryPolicy = .init() })
            #expect(warning.all.isEmpty)
        }
    }

    @Test("B12.28: a failure is an error, and an attempt after it a warning")
    func failure() async throws {
        let lines = Lines()
        let session = lines.session(from: .warning) {
            $0.retryPolicy = .init(maximumRetries: 1)
            $0.retryPolicy?.firstPause = 0
        }
        let url = try #require(URL(string: "http://127.0.0.1:1/a"))
        _ = await Load(url, in: session)
        #expect(lines.all.map(\.level) == [.warning, .error])
        #expect(lines.all[0].message.hasPrefix("GET http://127.0.0.1:1/a is tried again in 0.0 s after "))
        #expect(lines.all[1].message.hasPrefix("GET http://127.0.0.1:1/a failed: "))
        #expect(lines.all[1].message.hasSuffix(" (-1004)"))
    }

    @Test("B12.28: names, passwords, queries, fragments, fields, contents and proxies' passwords are in no line")
    func secrets() async throws {
        try await withServer(router: { request in
            request.path == "/a"
                ? ServerResponse.status(302).adding("Location", "/b?token=hush#hush").adding("Set-Cookie", "a=hush")
                : .text("hush", status: 503)
        }) { server async throws in
            let lines = Lines()
            let session = lines.session(from: .debug) {
                $0.retryPolicy = .init(maximumRetries: 1)
                $0.retryPolicy?.firstPause = 0
            }
            let place = try server.at("/a?q=hush#hush").absoluteString.replacing("http://", with: "http://hush:hush@")
            var request = URLRequest(url: try #require(URL(string: place)))
            request.setValue("Bearer hush", forHTTPHeaderField: "Authorization")
            request.httpMethod = "POST"
            request.httpBody = Data("hush".utf8)
            _ = await Load(request, in: session)
            _ = await Load(try #require(URL(string: "data:,hush")), in: session)
            _ = await Load(try #require(URL(string: "http://hush:hush@127.0.0.1:1/?hush")), in: session)
            _ = await Load(try #require(URL(string: "nothing://hush:hush@a.test/?hush")), in: session)
            #expect(lines.all.count > 20)
            for line in lines.all { #expect(!line.description.contains("hush"), "\(line)") }
        }
    }

    @Test("B12.28: at `debug` every step has a line that says what it is about")
    func debug() async throws {
        try await withServer(router: { _ in .text("good") }) { server async throws in
            let lines = Lines()
            let session = lines.session(from: .debug)
            _ = try await Load(server.at("/a"), in: session)
            let all = lines.all
            #expect(all.allSatisfy { $0.level <= .info } && all.count >= 9)
            #expect(all.first?.metadata == ["task": "1"] && all.last?.metadata == ["task": "1"])
            let connections = Set(all.compactMap { $0.metadata["connection"] })
            let exchanges = Set(all.compactMap { $0.metadata["exchange"] })
            #expect(connections.count == 1 && exchanges.count == 1)
        }
    }
}
