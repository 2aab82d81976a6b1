// What a hit looks like to a delegate, a handler, an async call and in the metrics (behaviour 7.10), and what a server
// has confirmed.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Hits in the cache")
struct CacheHitTests: CachingSuite {
    @Test("B7.97, B7.100, B7.101: a hit is the stored response, its fields untouched, in every kind of call")
    func everyKind() async throws {
        let visits = Visits()
        try await withServer(
            router: { request in
                visits.note(request)
                return .text("page").adding("Cache-Control", "max-age=3600").adding(
                    "Date", HTTPDate.text(.init(seconds: Int64(Date().timeIntervalSince1970))))
            }
        ) { server in
            let cache = memory()
            let session = session(cache)
            let url = try server.at("/")
            let first = try #require(try await session.data(from: url).1 as? HTTPURLResponse)
            let (data, again) = try await session.data(from: url)
            let hit = try #require(again as? HTTPURLResponse)
            #expect(String(decoding: data, as: UTF8.self) == "page" && hit.statusCode == 200)
            #expect(hit.value(forHTTPHeaderField: "Date") == first.value(forHTTPHeaderField: "Date"))
            #expect(hit.value(forHTTPHeaderField: "Age") == nil)
            #expect(hit.url == url && hit.expectedContentLength == 4)

            let (bytes, _) = try await session.bytes(from: url)
            var text = ""
            for try await line in bytes.lines { text += line }
            #expect(text == "page")
            var kinds: [String] = []
            for await event in session.events(for: URLRequest(url: url)) {
                switch event {
                case .response: kinds.append("response")
                case .body(let data): kinds.append("body \(data.count)")
                case .metrics(let metrics): kinds.append("metrics \(metrics.transactionMetrics.count)")
                case .end(let error): kinds.append("end \(Transcript.text(error))")
                case .informational, .redirect, .retry, .progress: break
                }
            }
            #expect(kinds == ["response", "body 4", "metrics 1", "end nil"])
            let heard = Guarded<[String]>([])
            let done = Signal()
            session.dataTask(with: url) { data, response, error in
                heard.value = ["\(data?.count ?? -1)", "\(response === hit)", "\(error == nil)"]
                done.fire()
            }.resume()
            await done.wait()
            #expect(heard.value == ["4", "true", "true"])
            #expect(visits.count == 1)
        }
    }

    @Test("B7.97: a hit comes to a delegate in the order of a load", arguments: Scribe.Form.allCases)
    func hitTranscript(form: Scribe.Form) async throws {
        try await withServer(router: Self.fresh(Visits())) { server in
            let cache = memory()
            _ = try await session(cache).data(from: server.at("/"))
            let scribe = Scribe()
            let session = session(cache, scribe.delegate(form))
            let task = session.dataTask(with: try server.at("/"))
            task.resume()
            await scribe.transcript.completed.wait()
            #expect(
                scribe.transcript.calls == ["created 1", "response 200", "data", "metrics 1", "complete nil"])
            #expect(scribe.transcript.body == "1" && task.countOfBytesReceived == 1)
            #expect(server.stats.requests == 1)
        }
    }

    @Test("B7.97: a delegate that refuses a hit hears no more of it but the end", arguments: Scribe.Form.allCases)
    func refused(form: Scribe.Form) async throws {
        try await withServer(router: Self.fresh(Visits())) { server in
            let cache = memory()
            _ = try await session(cache).data(from: server.at("/"))
            let scribe = Scribe(disposition: .cancel)
            session(cache, scribe.delegate(form)).dataTask(with: try server.at("/")).resume()
            await scribe.transcript.completed.wait()
            #expect(scribe.transcript.calls == ["created 1", "response 200", "metrics 1", "complete -999"])
        }
    }

    @Test(
        "B7.73, B7.97: an answer that the server confirms with 304 is delivered as it was stored",
        arguments: Scribe.Form.allCases)
    func confirmed(form: Scribe.Form) async throws {
        let visits = Visits()
        try await withServer(
            router: { request in
                visits.note(request)
                if request.fields.contains(.ifNoneMatch) {
                    return ServerResponse(status: 304, body: .none).adding("ETag", "\"v\"").adding("X-New", "1")
                }
                return .text("page").adding("ETag", "\"v\"")
            }
        ) { server in
            let cache = memory()
            _ = try await session(cache).data(from: server.at("/"))
            let scribe = Scribe()
            let task = session(cache, scribe.delegate(form)).dataTask(with: try server.at("/"))
            task.resume()
            await scribe.transcript.completed.wait()
            #expect(scribe.transcript.calls == ["created 1", "response 200", "data", "metrics 1", "complete nil"])
            #expect(scribe.transcript.body == "page")
            #expect((task.response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-New") == "1")
            #expect(visits.count == 2)
        }
    }

    @Test("B7.73, B4.33: what the server confirms over HTTP/2 is delivered though the 304 does not end")
    func endlessConfirmation() async throws {
        var http2 = ServerHTTP2.offered
        http2.script = { _ in
            .instead([
                .send(HTTP2Frames.settings() + HTTP2Frames.settingsAcknowledgement), .until(.requests(1)),
                .send(HTTP2Frames.headers([":status": "200", "etag": "\"v\""], on: 1)),
                .send(HTTP2Frames.data(Array("page".utf8), on: 1, ends: true)), .until(.requests(2)),
                .send(HTTP2Frames.headers([":status": "304", "etag": "\"v\"", "x-new": "1"], on: 3)), .until(.end),
            ])
        }
        let change: (URLSessionConfiguration) -> Void = {
            $0.urlCache = memory()
            // A load that waits for the end of the 304 ends by this.
            $0.timeoutIntervalForResource = 30
        }
        try await withHTTP2Session(http2, session: change, router: { _ in .text("never") }) { server, session in
            for isConfirmed in [false, true] {
                let (body, response) = try await session.data(from: server.at())
                #expect(body == Data("page".utf8))
                let new = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-New")
                #expect(new == (isConfirmed ? "1" : nil))
            }
        }
    }

    @Test("B7.98, B12.12, B12.13, B12.16, B12.18: the metrics of a hit, and of an answer that the server has confirmed")
    func metrics() async throws {
        try await withServer(
            router: { request in
                request.fields.contains(.ifNoneMatch)
                    ? ServerResponse(status: 304, body: .none) : .text("page").adding("ETag", "\"v\"")
            }
        ) { server in
            let cache = memory()
            let heard = Guarded<URLSessionTaskMetrics?>(nil)
            let session = session(cache, RecordingDelegate(onMetrics: { heard.value = $1 }))
            func transaction(_ policy: NSURLRequest.CachePolicy) async throws -> URLSessionTaskTransactionMetrics {
                _ = try await session.data(for: request(server.at("/"), policy))
                let metrics = try #require(heard.value)
                #expect(metrics.transactionMetrics.count == 1 && metrics.redirectCount == 0)
                return try #require(metrics.transactionMetrics.first)
            }
            #expect(try await transaction(.useProtocolCachePolicy).resourceFetchType == .networkLoad)
            let hit = try await transaction(.returnCacheDataElseLoad)
            #expect(hit.resourceFetchType == .localCache && hit.networkProtocolName == nil)
            let url = try server.at("/")
            #expect((hit.response as? HTTPURLResponse)?.statusCode == 200 && hit.request.url == url)
            #expect(hit.fetchStartDate != nil && hit.requestStartDate != nil && hit.requestEndDate != nil)
            #expect(hit.responseStartDate != nil && hit.responseEndDate != nil)
            #expect(hit.domainLookupStartDate == nil && hit.connectStartDate == nil && hit.connectEndDate == nil)
            #expect(hit.secureConnectionStartDate == nil && !hit.isReusedConnection && hit.remoteAddress == nil)
            #expect(hit.countOfResponseBodyBytesReceived == 0 && hit.countOfRequestHeaderBytesSent == 0)
            #expect(hit.countOfResponseBodyBytesAfterDecoding == 4)
            let confirmed = try await transaction(.useProtocolCachePolicy)
            #expect(
                confirmed.resourceFetchType == .localCache && confirmed.networkProtocolName == ProtocolUnderTest.name)
            #expect((confirmed.response as? HTTPURLResponse)?.statusCode == 200)
            #expect(confirmed.countOfResponseBodyBytesReceived == 0 && confirmed.countOfRequestHeaderBytesSent > 0)
            #expect(confirmed.requestStartDate != nil && confirmed.remotePort == server.port)
            #expect(confirmed.request.value(forHTTPHeaderField: "If-None-Match") == "\"v\"")
        }
    }
}
