// HTTP/2 with nginx: what its access log says about our connections is the proof.

import Foundation
import Testing
import URLLoading

@Suite("nginx over HTTP/2", .enabled(if: Peers.nginx != nil, "nginx is not installed"))
struct NginxHTTP2Tests {
    private func session(_ nginx: Nginx, _ use: URLSessionConfiguration.HTTP2Use = .offered) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.serverTrustEvaluation = .anchors(pem: nginx.directory.anchor)
        configuration.http2 = use
        return URLSession(configuration: configuration)
    }

    @Test(
        "H1.1, H1.2, H1.9: what is offered both chooses HTTP/2, and metrics say so; what has only HTTP/1.1 is spoken to in that"
    )
    func chosen() async throws {
        let nginx = try await Nginx()
        let session = session(nginx)
        for (port, expected) in [(nginx.http2, "h2"), (nginx.tls13, "http/1.1")] {
            let metrics = MetricsCollector()
            let (data, response) = try await session.data(
                for: URLRequest(url: nginx.url("https", port, "/hello")), delegate: metrics)
            #expect(String(decoding: data, as: UTF8.self) == "Hello from nginx.\n")
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(metrics.value?.transactionMetrics.last?.networkProtocolName == expected)
        }
        let log = try await nginx.log(2)
        #expect(log[0].contains("protocol=HTTP/2.0 ") && log[1].contains("protocol=HTTP/1.1 "))
        session.invalidateAndCancel()
    }

    @Test("H1.5: switched off, HTTP/1.1 alone is offered")
    func off() async throws {
        let nginx = try await Nginx()
        let session = session(nginx, .off)
        _ = try await session.data(from: nginx.url("https", nginx.http2, "/hello"))
        #expect(try await nginx.log(1)[0].contains("protocol=HTTP/1.1 "))
        session.invalidateAndCancel()
    }

    @Test("H2.1: a hundred requests at once on one connection")
    func many() async throws {
        let nginx = try await Nginx()
        let session = session(nginx)
        // So that it is known what the server speaks.
        _ = try await session.data(from: nginx.url("https", nginx.http2, "/hello?first"))
        try await withThrowingTaskGroup(of: Data.self) { group in
            for number in 0..<100 {
                let url = try nginx.url("https", nginx.http2, "/hello?\(number)")
                group.addTask { try await session.data(from: url).0 }
            }
            for try await data in group { #expect(String(decoding: data, as: UTF8.self) == "Hello from nginx.\n") }
        }
        let log = try await nginx.log(101)
        let connections = Set(log.compactMap { $0.split(separator: " ").first { $0.hasPrefix("connection=") } })
        #expect(connections.count == 1, "\(connections)")
        session.invalidateAndCancel()
    }

    @Test("Compressed content is undone, redirects are followed, and the fields of an answer are joined as ever")
    func above() async throws {
        let nginx = try await Nginx()
        let session = session(nginx)
        let (text, _) = try await session.data(from: nginx.url("https", nginx.http2, "/long.txt"))
        #expect(text.count == 4096 * 16)
        let (data, response) = try await session.data(from: nginx.url("https", nginx.http2, "/moved"))
        #expect(String(decoding: data, as: UTF8.self) == "Hello from nginx.\n" && response.url?.path == "/hello")
        let (_, fields) = try await session.data(from: nginx.url("https", nginx.http2, "/fields"))
        #expect((fields as? HTTPURLResponse)?.value(forHTTPHeaderField: "x-two") == "a, b")
        session.invalidateAndCancel()
    }
}

/// Keeps a task's metrics.
private final class MetricsCollector: NSObject, URLSessionTaskDelegate, @unchecked Sendable {
    // Written once before the load ends, and read after it.
    private(set) var value: URLSessionTaskMetrics?

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        value = metrics
    }
}
