// The table of answers that stands in for servers in programs' own tests.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Stubbed sessions", .timeLimit(.minutes(5)))
struct SessionMockTests {
    private func url(_ path: String = "/") throws -> URL {
        try #require(URL(string: "https://api.example.com" + path))
    }

    @Test("A stub answers with status, fields and body, and the request is noted")
    func answers() async throws {
        let mock = URLSession.Mock()
        mock.stub(try url("/users"), .text("[]", status: 201, headers: ["content-type": "application/json"]))
        mock.stub(try url("/bytes"), .response(body: Data([1, 2, 3])))
        let session = mock.session()
        let (data, response) = try await session.data(from: try url("/users"))
        let http = try #require(response as? HTTPURLResponse)
        #expect(data == Data("[]".utf8) && http.statusCode == 201 && http.mimeType == "application/json")
        let users = try url("/users")
        #expect(http.expectedContentLength == 2 && http.url == users)
        let (bytes, _) = try await session.bytes(from: try url("/bytes"))
        var collected: [UInt8] = []
        for try await byte in bytes { collected.append(byte) }
        #expect(collected == [1, 2, 3])
        #expect(mock.requests.compactMap(\.url?.path) == ["/users", "/bytes"])
        mock.reset()
        #expect(mock.requests.isEmpty)
    }

    /// Asks the mock in its deinit.
    private final class Captured: Sendable {
        let mock: URLSession.Mock
        let gone: Signal

        init(_ mock: URLSession.Mock, _ gone: Signal) {
            self.mock = mock
            self.gone = gone
        }

        deinit { if mock.requests.isEmpty { gone.fire() } }
    }

    @Test("What only a stub's closures hold may use the mock in its deinit, when the stubs are forgotten")
    func resetting() {
        let mock = URLSession.Mock()
        let gone = Signal()
        mock.stub(
            where: { [captured = Captured(mock, gone)] _ in captured.gone.count > 0 },
            .answering { [captured = Captured(mock, gone)] _ in .text("\(captured.gone.count)") })
        mock.reset()
        #expect(gone.count == 2)
    }

    @Test("Every kind of task gets the answer, in the usual order")
    func transcript() async throws {
        let mock = URLSession.Mock()
        mock.stub(try url(), .text("hello"))
        let delegate = RecordingDelegate()
        let session = mock.session(delegate: delegate)
        session.dataTask(with: try url()).resume()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.calls == ["created 1", "response 200", "data", "metrics 1", "complete nil"])
        let (file, _) = try await mock.session().download(from: try url())
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try String(contentsOf: file, encoding: .utf8) == "hello")
        var head = URLRequest(url: try url())
        head.httpMethod = "HEAD"
        let (data, response) = try await mock.session().data(for: head)
        #expect(data.isEmpty && response.expectedContentLength == 5)
    }

    @Test("A request that no stub matches fails, and the error names the URL without its password")
    func unmatched() async throws {
        let mock = URLSession.Mock()
        mock.stub(try url("/other"), .text("x"))
        mock.stub(try url("/users"), method: "POST", .text("x"))
        let wanted = try #require(URL(string: "https://u:secret@api.example.com/users?page=2"))
        let error = await mock.session().handled(wanted).2 as? URLError
        #expect(error?.code == .resourceUnavailable && error?.failingURL == wanted)
        #expect(
            error?.localizedDescription
                == "No stub of this URLSession.Mock matches GET https://u@api.example.com/users?page=2.")
        let get = await mock.session().handled(try url("/users")).2 as? URLError
        #expect(get?.code == .resourceUnavailable)
        // Nothing else is loaded either.
        let local = try #require(URL(string: "data:,x"))
        #expect((await mock.session().handled(local).2 as? URLError)?.code == .resourceUnavailable)
    }

    @Test("Stream and web socket tasks of a session with a mock fail with −1002, and connect to nothing")
    func noConnections() async throws {
        try await withServer(router: { _ in .text("real") }) { server async throws in
            let session = URLSession.Mock().session()
            let stream = session.streamTask(withHostName: "127.0.0.1", port: server.port)
            stream.resume()
            #expect(await codeThrown { try await stream.write(Data("x".utf8), timeout: 60) } == .unsupportedURL)
            let socket = session.webSocketTask(with: try #require(URL(string: "ws://127.0.0.1:\(server.port)/")))
            socket.resume()
            #expect(await codeThrown { _ = try await socket.receive() } == .unsupportedURL)
            #expect(server.stats.connectionsAccepted == 0)
        }
    }

    @Test("The newest stub wins; its answers are given in turn, the last again and again")
    func turns() async throws {
        let mock = URLSession.Mock()
        mock.stub(where: { _ in true }, .text("old"))
        mock.stub(try url(), .text("one"), .failure(OddError(number: 2)), .text("three"))
        let session = mock.session()
        let target = try url()
        #expect(await session.handled(target).0 == Data("one".utf8))
        #expect(await session.handled(target).2 as? OddError == OddError(number: 2))
        #expect(await session.handled(target).0 == Data("three".utf8))
        #expect(await session.handled(target).0 == Data("three".utf8))
        #expect(await session.handled(try url("/else")).0 == Data("old".utf8))
    }

    @Test("A stub's closure answers by the request, and sees its body from data, a file or a stream")
    func closures() async throws {
        let mock = URLSession.Mock()
        mock.stub(
            where: { $0.httpMethod == "POST" },
            .answering { request in
                guard let body = request.httpBody else { throw OddError(number: 1) }
                return .response(status: 200 + body.count, body: body)
            })
        var request = URLRequest(url: try url())
        request.httpMethod = "POST"
        let bare = request
        let session = mock.session()
        #expect(await session.handled(bare).2 as? OddError == OddError(number: 1))
        #expect(try await session.upload(for: bare, from: Data("data".utf8)).0 == Data("data".utf8))
        let file = try UploadFile(count: 200_000)
        let (echo, _) = try await session.upload(for: bare, fromFile: file.url)
        #expect(firstDifference(echo, file.bytes) == nil)
        request.httpBodyStream = InputStream(data: Data("stream".utf8))
        #expect(await session.handled(request).0 == Data("stream".utf8))
        #expect(mock.requests.map { $0.httpBody?.count } == [nil, 4, 200_000, 6])
        // It comes in several pieces.
        request.httpBodyStream = InputStream(data: Data(file.bytes))
        let long = try #require(await session.handled(request).0)
        #expect(firstDifference(long, file.bytes) == nil)
        #expect(mock.requests.last?.httpBody?.count == 200_000)
    }

    @Test("Redirects follow the rules of HTTP, and a delegate is asked")
    func redirects() async throws {
        let mock = URLSession.Mock()
        mock.stub(try url("/old"), .redirect(to: try url("/new"), status: 303))
        mock.stub(try url("/new"), .text("here"))
        var request = URLRequest(url: try url("/old"))
        request.httpMethod = "POST"
        request.httpBody = Data("x".utf8)
        let delegate = RecordingDelegate()
        mock.session(delegate: delegate).dataTask(with: request).resume()
        await delegate.transcript.completed.wait()
        #expect(
            delegate.transcript.calls == [
                "created 1", "redirect 303 GET /new", "response 200", "data", "metrics 2", "complete nil",
            ])
        #expect(mock.requests.map(\.httpMethod) == ["POST", "GET"] && mock.requests.last?.httpBody == nil)
    }

    @Test("A delayed answer comes; one that never comes ends by time-out or cancellation")
    func delays() async throws {
        let mock = URLSession.Mock()
        mock.stub(try url("/slow"), .text("slow").delayed(by: .milliseconds(30)))
        mock.stub(try url("/never"), .silence)
        mock.stub(try url("/aeons"), .text("x").delayed(by: .seconds(1 << 60)))
        let session = mock.session()
        #expect(await session.handled(try url("/slow")).0 == Data("slow".utf8))
        for path in ["/never", "/aeons"] {
            let request = URLRequest(url: try url(path), timeoutInterval: 0.05)
            #expect((await session.handled(request).2 as? URLError)?.code == .timedOut)
        }
        let target = try url("/never")
        let waiting = Task { try await session.data(from: target) }
        try await until { mock.requests.count == 4 }
        waiting.cancel()
        #expect(await codeThrown { _ = try await waiting.value } == .cancelled)
    }

    @Test("Mocks are independent, and each takes requests from many tasks at once")
    func independence() async throws {
        let target = try url()
        let mocks = (0..<4).map { number in
            let mock = URLSession.Mock()
            mock.stub(target, .text("\(number)"))
            return mock
        }
        try await withThrowingTaskGroup(of: (Int, Data).self) { group in
            for (number, mock) in mocks.enumerated() {
                let session = mock.session()
                for _ in 0..<25 { group.addTask { (number, try await session.data(from: target).0) } }
            }
            for try await (number, data) in group { #expect(data == Data("\(number)".utf8)) }
        }
        #expect(mocks.map(\.requests.count) == [25, 25, 25, 25])
    }

    @Test("Any configuration can be answered, and keeps its other settings")
    func ownConfiguration() async throws {
        let mock = URLSession.Mock()
        mock.stub(where: { $0.value(forHTTPHeaderField: "X-Key") == "k" }, .text("in"))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Key": "k"]
        configuration.mock = mock
        let session = URLSession(configuration: configuration)
        #expect(await session.handled(try url()).0 == Data("in".utf8))
        #expect(session.configuration.mock === mock && URLSessionConfiguration.default.mock == nil)
    }
}
