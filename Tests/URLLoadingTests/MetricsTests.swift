// Metrics (behaviour chapter 12).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingWire

@Suite("Metrics")
struct MetricsTests {
    /// Loads some requests one after the other and gives their metrics.
    private func metrics(
        _ server: LoopbackServer, _ requests: [URLRequest], _ configuration: URLSessionConfiguration = .ephemeral
    ) async throws -> [URLSessionTaskMetrics] {
        let all = Guarded<[URLSessionTaskMetrics]>([])
        let delegate = RecordingDelegate(onMetrics: { _, metrics in all.change { $0.append(metrics) } })
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        for request in requests { _ = try? await session.data(for: request) }
        session.invalidateAndCancel()
        return all.value
    }

    @Test(
        "B12.1, B12.3, B12.6, B12.8 to B12.18, B12.20, B12.22, B12.23: a first request and one on the same connection")
    func twoRequests() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let request = URLRequest(url: try server.at("/x"))
            let before = Date()
            let all = try await metrics(server, [request, request])
            let after = Date()
            #expect(all.count == 2)
            let first = try #require(all.first?.transactionMetrics.first)
            let second = try #require(all.last?.transactionMetrics.first)
            #expect(all.allSatisfy { $0.transactionMetrics.count == 1 && $0.redirectCount == 0 })

            #expect(first.request.url == request.url)
            #expect(first.request.value(forHTTPHeaderField: "Accept-Encoding") == CodingLibraries.system.acceptEncoding)
            #expect((first.response as? HTTPURLResponse)?.statusCode == 200)
            #expect(first.domainLookupStartDate == nil, "B12.9: an IP literal needs no look-up")
            #expect(first.secureConnectionStartDate == nil, "B12.11")
            let dates = [
                first.fetchStartDate, first.connectStartDate, first.connectEndDate, first.requestStartDate,
                first.requestEndDate, first.responseStartDate, first.responseEndDate,
            ]
            let known = dates.compactMap(\.self)
            #expect(known.count == dates.count)
            #expect(known == known.sorted(), "B12.15: \(known.map { $0.timeIntervalSince(known[0]) })")
            // A second of leeway: wall-clock dates are reckoned from the steady clock, and the wall
            // clock may be set meanwhile.
            #expect(before.addingTimeInterval(-1)...after.addingTimeInterval(1) ~= known[0])
            let interval = try #require(all.first?.taskInterval)
            #expect(interval.start <= known[0].addingTimeInterval(1) && interval.end.addingTimeInterval(1) >= known[6])

            #expect(!first.isReusedConnection && second.isReusedConnection)
            #expect(second.connectStartDate == nil && second.connectEndDate == nil, "B12.12")
            #expect(second.requestStartDate != nil)
            #expect(first.networkProtocolName == ProtocolUnderTest.name, "B12.16")
            #expect(first.resourceFetchType == .networkLoad, "B12.18")
            #expect(first.remoteAddress == "127.0.0.1" && first.remotePort == server.port)
            #expect(first.localAddress == "127.0.0.1" && (first.localPort ?? 0) > 0)
            #expect(first.negotiatedTLSProtocolVersion == nil && first.negotiatedTLSCipherSuite == nil)
            #expect(!first.isProxyConnection && !first.isCellular && !first.isExpensive, "B12.17, B12.22")
            #expect(!first.isConstrained && !first.isMultipath)
            #expect(first.domainResolutionProtocol == .unknown, "B12.23")
        }
    }

    @Test("B12.3, B12.15: no date is before the making of the task, also where the session's thread has made it")
    func madeOnLoop() async throws {
        try await withServer(router: { _ in .text("hello") }) { server async throws in
            let isInOrder = Guarded<[Bool]>([])
            let delegate = RecordingDelegate(onMetrics: { _, metrics in
                let start = metrics.transactionMetrics.first?.fetchStartDate
                isInOrder.change { $0.append(start.map { $0 >= metrics.taskInterval.start } ?? false) }
            })
            let session = URLSession(configuration: .ephemeral)
            let url = try server.at("/")
            try await withTaskExecutorPreference(session.taskExecutor) {
                for _ in 0..<10 { _ = try await session.data(from: url, delegate: delegate) }
            }
            #expect(isInOrder.value == Array(repeating: true, count: 10))
            session.invalidateAndCancel()
        }
    }

    @Test("B12.19: counts of bytes", .http1Only("Fields are compressed and bodies framed"))
    func counts() async throws {
        let text = String(repeating: "hello ", count: 500)
        try await withServer(router: { _ in ServerResponse.text(text).compressed() }) { server in
            var request = URLRequest(url: try server.at("/"))
            request.httpMethod = "POST"
            request.httpBody = Data("12345".utf8)
            let metrics = try #require(try await metrics(server, [request]).first?.transactionMetrics.first)
            #expect(metrics.countOfRequestBodyBytesSent == 5)
            #expect(metrics.countOfRequestBodyBytesBeforeEncoding == 5)
            #expect(metrics.countOfRequestHeaderBytesSent > 50)
            #expect(metrics.countOfRequestHeaderBytesSent + 5 == server.stats.bytesReceived)
            #expect(metrics.countOfResponseHeaderBytesReceived > 20)
            #expect(metrics.countOfResponseBodyBytesAfterDecoding == 3000)
            #expect(metrics.countOfResponseBodyBytesReceived < 300)
            let received =
                metrics.countOfResponseHeaderBytesReceived + metrics.countOfResponseBodyBytesReceived
            // The server counts bytes only after it has written them.
            await server.wait { $0.bytesWritten >= received }
            #expect(server.stats.bytesWritten == received)
        }
    }

    @Test(
        "B12.19: chunk framing counts as received, and neither before nor after decoding",
        .http1Only("There are no chunks"), arguments: [false, true])
    func framing(isCompressed: Bool) async throws {
        let text = ServerResponse.text(String(repeating: "hello ", count: 500))
        var response = isCompressed ? text.compressed() : text
        guard case .bytes(let bytes) = response.body else { return }
        response.body = .pieces(bytes.map { ServerResponse.Piece([$0]) })
        response.framing = .chunked
        let chunked = response
        try await withServer(router: { _ in chunked }) { server in
            let request = URLRequest(url: try server.at("/"))
            let metrics = try #require(try await metrics(server, [request]).first?.transactionMetrics.first)
            #expect(metrics.countOfResponseBodyBytesAfterDecoding == 3000)
            #expect(metrics.countOfResponseBodyBytesBeforeDecoding == Int64(bytes.count))
            // "1", two line ends and the byte for each, and the last chunk.
            #expect(metrics.countOfResponseBodyBytesReceived == Int64(bytes.count) * 6 + 5)
        }
    }

    @Test("B12.6, B12.7: after a failure the dates stop where the load stopped")
    func failure() async throws {
        try await withServer(router: { _ in .script([.close]) }) { server in
            let request = URLRequest(url: try server.at("/"))
            let metrics = try #require(try await metrics(server, [request]).first?.transactionMetrics.first)
            #expect(metrics.response == nil)
            #expect(metrics.requestStartDate != nil)
            #expect(metrics.responseStartDate == nil && metrics.responseEndDate == nil)
        }
    }

    @Test("B12.7, B12.20: a load that gets no connection tells how far it came")
    func noConnection() async throws {
        try await withJudgedServer { judged async throws in
            let configuration = URLSessionConfiguration.ephemeral
            configuration.hostOverrides = ["localhost": "127.0.0.1"]
            let closed = try #require(URL(string: "http://127.0.0.1:1/"))
            let all = try await metrics(
                judged.server, [URLRequest(url: judged.url), URLRequest(url: closed)], configuration)
            let transactions = all.compactMap(\.transactionMetrics.first)
            #expect(transactions.count == 2)
            let (noTLS, refused) = (try #require(transactions.first), try #require(transactions.last))

            #expect(noTLS.domainLookupStartDate != nil && noTLS.domainLookupEndDate != nil)
            #expect(noTLS.connectStartDate != nil && noTLS.secureConnectionStartDate != nil)
            #expect(noTLS.secureConnectionEndDate == nil && noTLS.connectEndDate == nil)
            #expect(noTLS.remoteAddress == "127.0.0.1" && noTLS.remotePort == judged.server.port)
            // The connection is closed when this is told.
            #expect(noTLS.localAddress == "127.0.0.1" && (noTLS.localPort ?? 0) > 0)

            #expect(refused.connectStartDate != nil && refused.connectEndDate == nil)
            #expect(refused.remoteAddress == nil && refused.localAddress == nil)
            #expect(transactions.allSatisfy { $0.response == nil && $0.requestStartDate == nil })
        }
    }

    @Test("Empty metrics, for mocks")
    @available(*, deprecated)
    func mocks() {
        let metrics = URLSessionTaskMetrics()
        #expect(metrics.transactionMetrics.isEmpty && metrics.redirectCount == 0)
        let transaction = URLSessionTaskTransactionMetrics()
        #expect(transaction.fetchStartDate == nil && transaction.resourceFetchType == .unknown)
        #expect(transaction.request.url == nil && transaction.countOfRequestHeaderBytesSent == 0)
    }
}
