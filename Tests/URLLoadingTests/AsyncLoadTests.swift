// `data(for:)` and handler tasks (behaviour 1.7).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Async calls and handler tasks")
struct AsyncLoadTests {
    @Test("B1.88: data(from:) returns body and response; an HTTP error status does not throw")
    func returnsBodyAndResponse() async throws {
        try await withServer(router: { _ in .text("not here", status: 404) }) { server in
            let session = URLSession(configuration: .default)
            let (data, response) = try await session.data(from: try server.at("/a?b=c#d"))
            #expect(String(decoding: data, as: UTF8.self) == "not here")
            let http = try #require(response as? HTTPURLResponse)
            #expect(http.statusCode == 404)
            #expect(http.mimeType == "text/plain")
            #expect(http.textEncodingName == "utf-8")
            #expect(http.url == (try server.at("/a?b=c#d")))
        }
    }

    @Test("B1.83: a successful empty body is empty data")
    func emptyBody() async throws {
        try await withServer(router: { _ in .status(200) }) { server in
            let session = URLSession(configuration: .default)
            let (data, _) = try await session.data(from: try server.at("/"))
            #expect(data.isEmpty)
        }
    }

    @Test("A large body arrives whole", arguments: [ServerResponse.Framing.automatic, .chunked, .untilClose])
    func largeBody(framing: ServerResponse.Framing) async throws {
        try await withServer(router: { _ in .generated(length: 3_000_000, framing: framing) }) { server in
            let session = URLSession(configuration: .default)
            let (data, response) = try await session.data(from: try server.at("/"))
            #expect(data.count == 3_000_000)
            let expected: Int64 = if case .automatic = framing { 3_000_000 } else { -1 }
            #expect(response.expectedContentLength == expected, "B5.55, B5.59")
        }
    }

    @Test("B5.57, B5.60: a decoded body has an unknown length and keeps its fields")
    func decodedBody() async throws {
        let text = String(repeating: "hello ", count: 1000)
        try await withServer(router: { _ in ServerResponse.text(text).compressed() }) { server in
            let session = URLSession(configuration: .default)
            let (data, response) = try await session.data(from: try server.at("/"))
            #expect(String(decoding: data, as: UTF8.self) == text)
            let http = try #require(response as? HTTPURLResponse)
            #expect(http.expectedContentLength == -1)
            #expect(http.value(forHTTPHeaderField: "content-encoding") == "gzip")
            #expect(http.value(forHTTPHeaderField: "CONTENT-LENGTH") != nil)
        }
    }

    @Test("B1.89: cancelling the Swift task throws URLError.cancelled and ends the transfer")
    func cancellingTheSwiftTask() async throws {
        let gate = ServerGate()
        let arrived = Signal()
        let router: LoopbackServer.Router = { _ in
            arrived.fire()
            return .slow([.init("never", when: gate)])
        }
        try await withServer(router: router) { server in
            let session = URLSession(configuration: .default)
            let url = try server.at("/")
            let load = Task { try await session.data(from: url) }
            await arrived.wait()
            load.cancel()
            let result = await load.result
            #expect(throws: URLError.self) { try result.get() }
            if case .failure(let error) = result { #expect((error as? URLError)?.code == .cancelled) }
            #expect(await session.allTasks.isEmpty)
        }
    }

    @Test("B1.90: data(from:) in a Swift task that is cancelled already sends no request")
    func cancelledOnEntry() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let session = URLSession(configuration: .default)
            let url = try server.at("/")
            let start = Signal()
            let load = Task {
                await start.wait()
                return try await session.data(from: url)
            }
            load.cancel()
            start.fire()
            let result = await load.result
            if case .failure(let error) = result {
                #expect((error as? URLError)?.code == .cancelled)
            } else {
                Issue.record("no error")
            }
            #expect(server.stats.connectionsAccepted == 0)
        }
    }

    @Test("B1.82: the handler gets data and response, or the error", arguments: [true, false])
    func handler(succeeds: Bool) async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let session = URLSession(configuration: .default)
            let url = succeeds ? try server.at("/") : try #require(URL(string: "gopher://example.com"))
            let (data, response, error) = await withHandover { continuation in
                session.dataTask(with: url) { continuation.resume(returning: ($0, $1, $2)) }.resume()
            }
            #expect(data == (succeeds ? Data("hello".utf8) : nil))
            #expect((response != nil) == succeeds)
            #expect((error as? URLError)?.code == (succeeds ? nil : .unsupportedURL))
        }
    }

    @Test("B1.76, B1.77, B1.78: a handler task tells its delegate neither response nor data nor completion")
    func handlerTaskWithDelegate() async throws {
        let router: LoopbackServer.Router = { request in
            request.path == "/from" ? ServerResponse.status(302).adding("Location", "/to") : .text("hello")
        }
        try await withServer(router: router) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let url = try server.at("/from")
            let queue = session.delegateQueue
            let isOnQueue = await withHandover { continuation in
                session.dataTask(with: url) { _, _, _ in
                    continuation.resume(returning: OperationQueue.current === queue)
                }.resume()
            }
            #expect(isOnQueue, "B1.29")
            #expect(delegate.transcript.calls == ["created 1", "redirect 302 GET /to", "metrics 2"])
        }
    }

    @Test("B1.93: the delegate of an async call sees response and data, but never the completion")
    func asyncCallWithTaskDelegate() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let sessions = RecordingDelegate(name: "session's ")
            let own = RecordingDelegate()
            let session = URLSession(configuration: .default, delegate: sessions, delegateQueue: nil)
            let (data, _) = try await session.data(from: try server.at("/"), delegate: own)
            #expect(data == Data("hello".utf8))
            #expect(own.transcript.calls == ["created 1", "response 200", "data", "metrics 1"])
            #expect(sessions.transcript.calls.isEmpty)
        }
    }

    @Test("B1.24: an async call without a delegate of its own tells the session's")
    func asyncCallWithSessionDelegate() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            _ = try await session.data(from: try server.at("/"))
            #expect(delegate.transcript.calls == ["created 1", "metrics 1"])
        }
    }

    @Test("B1.2: of a hundred calls at once in one session each gets its own answer")
    func manyAtOnce() async throws {
        try await withServer(router: { request in .text(request.target) }) { server in
            let session = URLSession(configuration: .default)
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for index in 0..<100 {
                    let url = try server.at("/\(index)")
                    group.addTask {
                        let (data, _) = try await session.data(from: url)
                        return String(decoding: data, as: UTF8.self) == "/\(index)"
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
            #expect(server.stats.connectionsAccepted <= 6, "B16.1")
        }
    }

    @Test("A body from a stream is sent")
    func streamBody() async throws {
        try await withServer(router: { .echo($0) }) { server in
            let session = URLSession(configuration: .default)
            var request = URLRequest(url: try server.at("/"))
            request.httpMethod = "PUT"
            request.httpBodyStream = InputStream(data: Data("streamed".utf8))
            let (data, _) = try await session.data(for: request)
            #expect(String(decoding: data, as: UTF8.self) == "streamed")
        }
    }

    @Test("B1.88: a session meets a protocol that asks for the async calls without a delegate")
    func sessionBehindProtocol() async throws {
        try await withServer(router: { .echo($0) }) { server in
            let client: any Loading = URLSession(configuration: .ephemeral)
            let file = try UploadFile(count: 100)
            let request = uploading(try server.at("/"), method: "PUT")
            var withBody = request
            withBody.httpBody = Data("own".utf8)
            #expect(try await client.data(from: try server.at("/")).0.isEmpty)
            #expect(try await client.data(for: withBody).0 == Data("own".utf8))
            #expect(try await client.upload(for: request, from: Data("given".utf8)).0 == Data("given".utf8))
            #expect(try await client.upload(for: request, fromFile: file.url).0 == Data(file.bytes))
        }
    }

    @Test("B5.29: a body stream shorter than its announced length fails with −1021")
    func shortStream() async throws {
        try await withServer(router: { .echo($0) }) { server in
            let session = URLSession(configuration: .default)
            var request = URLRequest(url: try server.at("/"))
            request.httpMethod = "PUT"
            request.setValue("20", forHTTPHeaderField: "Content-Length")
            request.httpBodyStream = InputStream(data: Data("short".utf8))
            let prepared = request
            #expect(await codeThrown { _ = try await session.data(for: prepared) } == .requestBodyStreamExhausted)
        }
    }
}

/// What programs put between themselves and a session, to be met by an empty extension.
private protocol Loading: Sendable {
    func data(for request: URLRequest) async throws -> (Data, URLResponse)
    func data(from url: URL) async throws -> (Data, URLResponse)
    func upload(for request: URLRequest, from bodyData: Data) async throws -> (Data, URLResponse)
    func upload(for request: URLRequest, fromFile fileURL: URL) async throws -> (Data, URLResponse)
}

extension URLSession: Loading {}
