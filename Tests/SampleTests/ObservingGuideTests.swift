// The code of docs/observing.md: it is that of the samples, and does what the page says.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingSamplesSwift6
import URLLoadingTestSupport

@Suite("The guide to observing", .timeLimit(.minutes(5)))
struct ObservingGuideTests {
    private func session(
        _ hooks: URLSession.TraceHooks? = nil, _ interceptor: (any URLSession.Interceptor)? = nil
    ) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.traceHooks = [hooks].compactMap { $0 }
        configuration.interceptors = [interceptor].compactMap { $0 }
        return URLSession(configuration: configuration)
    }

    private func url(_ server: LoopbackServer, _ path: String) throws -> URL {
        try #require(URL(string: server.url(path)))
    }

    @Test("The time to the first byte is measured for each request")
    func firstBytes() async throws {
        try await withServer(router: { _ in .text("good") }) { server in
            let measured = FirstBytes()
            let session = session(measured.hooks)
            defer { session.invalidateAndCancel() }
            for _ in 0..<3 { _ = try await session.data(from: url(server, "/")) }
            #expect(measured.all.count == 3 && measured.all.allSatisfy { $0 > .zero })
        }
        #expect(talkativeConfiguration().traceHooks.count == 1)
        let idle = session()
        await printLoad(of: idle)
        idle.invalidateAndCancel()
    }

    @Test("The lines that the page shows are those of a load")
    func shownLines() async throws {
        let shown = try #require(ProjectFiles.text(of: "docs/observing.md")).components(separatedBy: "\n")
            .filter { $0.hasPrefix("    ") && $0.contains("=") && !$0.hasPrefix("     ") }
            .filter { $0.contains(" task=") || $0.contains(" connection=") }.map { String($0.dropFirst(4)) }
        try await withServer(router: { _ in .text("good") }) { server async throws in
            let lines = Guarded<[String]>([])
            let session = session(.log(from: .debug) { line in lines.withLock { $0.append(line.description) } })
            defer { session.invalidateAndCancel() }
            _ = try await session.data(from: url(server, "/a"))
            let written = lines.value.map {
                $0.replacing(":\(server.port)", with: ":38211").replacing(/exchange=[0-9]+/, with: "exchange=1")
            }
            #expect(written == shown)
        }
    }

    @Test("swift-log gets the lines with their levels and what they are about")
    func log() async throws {
        try await withServer(router: { _ in .text("good") }) { server in
            let lines = Guarded<[String]>([])
            let logger = Logger { level, message, metadata in
                if level != .debug {
                    lines.withLock { $0.append("\(level) \(message) \(metadata["task"] == .string("1"))") }
                }
            }
            let session = session(.log(to: logger))
            defer { session.invalidateAndCancel() }
            _ = try await session.data(from: url(server, "/a"))
            #expect(lines.value == ["info GET \(server.url("/a")) is done, status 200 true"])
        }
    }

    @Test("swift-metrics has what the session has done when it has ended")
    func metrics() async throws {
        try await withServer(router: { _ in .text("good") }) { server in
            let session = session()
            for _ in 0..<3 { _ = try await session.data(from: url(server, "/a")) }
            session.finishTasksAndInvalidate()
            await measure(session, as: "guide", every: 0.001)
            let metrics = StandInRecord.shared.metrics
            #expect(metrics["guide.requests"] == 3 && (metrics["guide.received_bytes"] ?? 0) > 3 * 20)
            #expect(metrics["guide.open_connections,state=active"] == 0 && metrics["guide.waiting_requests"] == 0)
        }
    }

    @Test(
        "A span has the conventions' names, the server gets traceparent, and failures are told",
        arguments: [200, 404, 0])
    func tracing(status: Int) async throws {
        let sent = Guarded<[String]>([])
        try await withServer(router: { request in
            sent.withLock { $0.append(request.fields.first("traceparent") ?? "none") }
            return status == 0 ? .script([.close]) : .text("x", status: status)
        }) { server in
            let session = session(nil, TracingInterceptor())
            defer { session.invalidateAndCancel() }
            let place = server.url("/\(status)")
            _ = try? await session.data(from: try #require(URL(string: place + "?hush")))
            let span = try #require(
                StandInRecord.shared.spans.first { $0.attributes["url.full"] == .string(place) })
            #expect(span.operationName == "GET" && span.attributes["server.address"] == "127.0.0.1")
            #expect(span.attributes["server.port"] == .int(Int(server.port)))
            #expect(span.attributes["http.response.status_code"] == (status == 0 ? nil : .int(status)))
            let type: SpanAttribute? = status == 200 ? nil : status == 404 ? "404" : "NSURLErrorDomain -1005"
            #expect(span.attributes["error.type"] == type && (span.status?.code == .error) == (status != 200))
            let field = try #require(sent.value.first)
            #expect(field.wholeMatch(of: /00-[0-9a-f]{32}-[0-9a-f]{16}-01/) != nil)
        }
    }
}
