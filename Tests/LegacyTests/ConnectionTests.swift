// What a connection's delegate is told, in which order and where.

import Foundation
import Testing
import URLLoading
import URLLoadingLegacy
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

@Suite("NSURLConnection", .timeLimit(.minutes(3)))
struct ConnectionTests {
    @available(*, deprecated)
    private func record(
        _ request: URLRequest, _ recorder: Recorder = Recorder()
    ) async -> Recorder {
        await onRunLoop { _ = NSURLConnection(request: request, delegate: recorder) }
        return recorder
    }

    @Test("A load is told in order, on the thread that began it, whose run loop then has nothing left")
    @available(*, deprecated)
    func order() async throws {
        try await withServer(.alone(), router: { _ in .text("hello") }) { server async throws in
            let recorder = await record(try server.request("/page"))
            #expect(recorder.notes.lines == ["send /page", "storage", "response 200", "data", "store", "finish"])
            #expect(recorder.text == "hello")
            #expect(recorder.notes.threads.value.count == 1)
        }
    }

    @Test("Redirects are told; nil takes the redirect as the response")
    @available(*, deprecated)
    func redirects() async throws {
        let router: LoopbackServer.Router = { request in
            request.path == "/old" ? .text("moved", status: 302).adding("Location", "/new") : .text("new")
        }
        try await withServer(.alone(), router: router) { server async throws in
            let followed = await record(try server.request("/old"))
            #expect(
                followed.notes.lines == [
                    "send /old", "storage", "send /new after 302", "response 200", "data", "store", "finish",
                ])
            #expect(followed.text == "new")
            let refusing = Recorder()
            refusing.onSend = { request, response in response == nil ? request : nil }
            _ = await record(try server.request("/old"), refusing)
            #expect(refusing.notes.lines.suffix(3) == ["response 302", "data", "finish"])
            #expect(refusing.text == "moved")
        }
    }

    @Test("The delegate may send another request, or take the first one back")
    @available(*, deprecated)
    func firstRequest() async throws {
        try await withServer(.alone(), router: { .text(String($0.path)) }) { server async throws in
            let other = try server.request("/other")
            let changing = Recorder()
            changing.onSend = { _, _ in other }
            let shown = Guarded<[String?]>([])
            changing.hook = { word, connection in
                if word == "finish" {
                    shown.value = [connection.originalRequest.url?.path, connection.currentRequest.url?.path]
                }
            }
            _ = await record(try server.request("/first"), changing)
            #expect(changing.text == "/other")
            #expect(shown.value == ["/first", "/other"])
            let stopping = Recorder()
            stopping.onSend = { _, _ in nil }
            _ = await record(try server.request("/first"), stopping)
            #expect(stopping.notes.lines == ["send /first", "fail -999"])
            #expect(server.stats.requests == 1)
        }
    }

    @Test("What is sent is told, and a stream that is needed again is asked for")
    @available(*, deprecated)
    func uploads() async throws {
        let router: LoopbackServer.Router = { request in
            request.path == "/old" ? ServerResponse.status(307).adding("Location", "/new") : .echo(request)
        }
        try await withServer(.alone(), router: router) { server async throws in
            var post = try server.request("/new")
            post.httpMethod = "POST"
            post.httpBody = Data("12345".utf8)
            let sender = await record(post)
            #expect(
                sender.notes.lines == ["send /new", "storage", "sent 5 of 5", "response 200", "data", "finish"])
            #expect(sender.text == "12345")

            var streamed = try server.request("/old")
            streamed.httpMethod = "POST"
            let streaming = Recorder()
            streaming.stream = { InputStream(data: Data("again".utf8)) }
            streaming.onSend = { request, response in
                guard response == nil else { return request }
                var request = request
                request.httpBodyStream = InputStream(data: Data("first".utf8))
                return request
            }
            _ = await record(streamed, streaming)
            #expect(streaming.notes.lines.contains("stream"))
            #expect(streaming.text == "again")
            let lacking = Recorder()
            lacking.onSend = streaming.onSend
            _ = await record(streamed, lacking)
            #expect(lacking.notes.lines.last == "fail \(URLError.Code.requestBodyStreamExhausted.rawValue)")
        }
    }

    @Test("Failures are told")
    @available(*, deprecated)
    func failures() async throws {
        let refused = await record(URLRequest(url: try #require(URL(string: "http://127.0.0.1:1/"))))
        #expect(refused.notes.lines.last == "fail \(URLError.Code.cannotConnectToHost.rawValue)")
        let strange = await record(URLRequest(url: try #require(URL(string: "gopher://host/"))))
        #expect(strange.notes.lines.last == "fail \(URLError.Code.unsupportedURL.rawValue)")
    }

    @Test("What may be stored is asked, and what the delegate gives is stored")
    @available(*, deprecated)
    func storing() async throws {
        let router: LoopbackServer.Router = { _ in .text("kept").adding("Cache-Control", "max-age=600") }
        try await withServer(.alone(), router: router) { server async throws in
            let plain = URLRequest(url: try #require(URL(string: server.url("/a"))))
            let keeping = Recorder()
            keeping.stored = { $0 }
            _ = await record(plain, keeping)
            #expect(keeping.notes.lines.suffix(2) == ["store", "finish"])
            let again = await record(plain)
            #expect(again.text == "kept")
            #expect(server.stats.requests == 1, "the shared cache has answered")
            let other = URLRequest(url: try #require(URL(string: server.url("/b"))))
            _ = await record(other)
            _ = await record(other)
            #expect(server.stats.requests == 3, "nothing was stored")
        }
    }

    @Test(
        "Nothing is told after cancel, and nothing is left",
        arguments: [
            "send", "storage", "response", "data", "store", "finish",
        ])
    @available(*, deprecated)
    func cancelling(stage: String) async throws {
        let router: LoopbackServer.Router = { _ in .text("hello").adding("Cache-Control", "max-age=600") }
        try await withServer(.alone(), router: router) { server async throws in
            let request = URLRequest(url: try #require(URL(string: server.url("/\(stage)"))))
            let watch = Watch()
            let lines = await onRunLoop {
                let recorder = Recorder()
                recorder.hook = { word, connection in if word == stage { connection.cancel() } }
                watch.note(NSURLConnection(request: request, delegate: recorder), recorder)
                return recorder.notes
            }.lines
            #expect(lines.last?.hasPrefix(stage) == true)
            try await until { watch.isEmpty }
        }
    }

    @Test("A connection that waits for the server is cancelled from elsewhere; its run loop has nothing left then")
    @available(*, deprecated)
    func cancellingFromElsewhere() async throws {
        let gate = ServerGate()
        let router: LoopbackServer.Router = { _ in .slow([.init("a"), .init("b", when: gate)]) }
        try await withServer(.alone(), router: router) { server async throws in
            let request = try server.request()
            let recorder = Recorder()
            let watch = Watch()
            recorder.hook = { word, connection in
                guard word == "data" else { return }
                let cancel = Cancelling(connection)
                DispatchQueue.global().async { cancel.run() }
            }
            await onRunLoop { watch.note(NSURLConnection(request: request, delegate: recorder), nil) }
            #expect(recorder.notes.lines == ["send /", "storage", "response 200", "data"])
            recorder.hook = { _, _ in }
            await server.wait { $0.connectionsOpen == 0 }
            try await until { watch.isEmpty }
            gate.open()
        }
    }

    @Test("Connection and delegate stay until the end, and no longer")
    @available(*, deprecated)
    func life() async throws {
        let gate = ServerGate()
        try await withServer(.alone(), router: { _ in .slow([.init("late", when: gate)]) }) { server async throws in
            let request = try server.request()
            let watch = Watch()
            let ended = Guarded(false)
            await onRunLoop {
                let recorder = Recorder()
                recorder.hook = { word, _ in
                    if word == "response" { gate.open() }
                    if word == "finish" { ended.value = !watch.isEmpty }
                }
                watch.note(NSURLConnection(request: request, delegate: recorder), recorder)
            }
            #expect(ended.value)
            try await until { watch.isEmpty }
            // A connection that was never started keeps nothing alive.
            let idle = await onRunLoop {
                let watch = Watch()
                let recorder = Recorder()
                watch.note(NSURLConnection(request: request, delegate: recorder, startImmediately: false), recorder)
                return watch
            }
            #expect(idle.isEmpty)
        }
    }

    @Test("Without a delegate the request is sent all the same")
    @available(*, deprecated)
    func unheard() async throws {
        try await withServer(.alone(), router: { _ in .text("hello") }) { server async throws in
            let request = try server.request()
            let watch = Watch()
            await onRunLoop { watch.note(NSURLConnection(request: request, delegate: nil), nil) }
            await server.wait { $0.responses == 1 }
            try await until { watch.isEmpty }
        }
    }

    @Test("A body whose delegate is busy is not fetched beyond a limit, and comes whole in the end")
    @available(*, deprecated)
    func backPressure() async throws {
        let length: Int64 = 64 << 20
        try await withServer(.alone(), router: { _ in .generated(length: length) }) { server async throws in
            let request = try server.request()
            let isBlocked = DispatchSemaphore(value: 0)
            let recorder = Recorder()
            recorder.hook = { word, _ in if word == "response" { isBlocked.wait() } }
            async let ended: Void = onRunLoop { _ = NSURLConnection(request: request, delegate: recorder) }
            await server.wait { $0.blockedWriters == 1 }
            #expect(server.stats.bytesWritten < length)
            isBlocked.signal()
            await ended
            #expect(recorder.body.value.count == Int(length))
            #expect(recorder.notes.lines.last == "finish")
        }
    }

    @Test("A delegate for downloads gets a file, which goes afterwards")
    @available(*, deprecated)
    func file() async throws {
        try await withServer(.alone(), router: { _ in .text("hello") }) { server async throws in
            let request = try server.request()
            let recorder = FileRecorder()
            await onRunLoop { _ = NSURLConnection(request: request, delegate: recorder) }
            #expect(recorder.notes.lines == ["data", "finish"])
            #expect(recorder.text.value == "hello")
            #expect(recorder.written.value == 5)
            let file = try #require(recorder.file.value)
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
    }

    // MARK: Without a delegate

    @Test("A synchronous request needs no run loop")
    @available(*, deprecated)
    func synchronous() async throws {
        let router: LoopbackServer.Router = { request in
            request.path == "/missing" ? .text("none", status: 404) : .text("hello")
        }
        let place = try ReservedPort()
        let server = try LoopbackServer.start(LoopbackServer.Options(port: place.number), router: router)
        // A name of its own: the other tests' connections count together with those to the same host.
        let found = try server.request("/", host: "localhost")
        let missing = try server.request("/missing", host: "localhost")
        let (texts, statuses) = try await onRunLoop {
            Result {
                var response: URLResponse?
                let first = try NSURLConnection.sendSynchronousRequest(found, returning: &response)
                let status = (response as? HTTPURLResponse)?.statusCode
                let second = try NSURLConnection.sendSynchronousRequest(missing, returning: &response)
                let others = try (0..<30).map { _ in
                    try NSURLConnection.sendSynchronousRequest(found, returning: nil)
                }
                return (
                    [first, second, others[0]].map { String(decoding: $0, as: UTF8.self) },
                    [status, (response as? HTTPURLResponse)?.statusCode]
                )
            }
        }.get()
        #expect(texts == ["hello", "none", "hello"])
        #expect(statuses == [200, 404])
        // Another test that registers a class meanwhile makes new sessions necessary, but not for each request.
        #expect(server.stats.connectionsAccepted < 15, "connections are used again")
        await server.stop()
        let failed = await onRunLoop {
            Result {
                var response: URLResponse? = URLResponse()
                _ = try NSURLConnection.sendSynchronousRequest(found, returning: &response)
            }
        }
        #expect(throws: URLError.self) { try failed.get() }
        place.keep()
    }

    @Test("An asynchronous request calls its handler on the queue")
    @available(*, deprecated)
    func asynchronous() async throws {
        let server = try LoopbackServer.start { _ in .text("hello") }
        let request = try server.request()
        let queue = OperationQueue()
        let isThere: @Sendable () -> Bool = { OperationQueue.current === queue }
        let (text, status, here): (String, Int?, Bool) = await withHandover { continuation in
            NSURLConnection.sendAsynchronousRequest(request, queue: queue) { response, data, error in
                continuation.resume(
                    returning: (
                        String(decoding: data ?? Data(), as: UTF8.self), (response as? HTTPURLResponse)?.statusCode,
                        isThere() && error == nil
                    ))
            }
        }
        #expect((text, status) == ("hello", 200))
        #expect(here)
        await server.stop()
        let nowhere = URLRequest(url: try #require(URL(string: "http://127.0.0.1:1/")))
        let failed: (Bool, Int) = await withHandover { continuation in
            NSURLConnection.sendAsynchronousRequest(nowhere, queue: queue) { _, data, error in
                continuation.resume(returning: (data == nil, error.map { code($0) } ?? 0))
            }
        }
        #expect(failed == (true, URLError.Code.cannotConnectToHost.rawValue))
    }

    @Test(
        "canHandle(_:) knows which URLs can be loaded",
        arguments: [
            ("http://host/", true), ("https://host/a?b", true), ("gopher://host/", false), ("http:", false),
            ("file:///etc/hostname", true), ("DATA:,a", true), ("about:blank", true), ("ftp://host/a", true),
            ("ftps://host/", true), ("ftp:", false), ("ftp://host/%0D", false), ("/relative", false),
            ("urlloading-legacy-doubt://x", false),
        ])
    func handled(text: String, isHandled: Bool) throws {
        #expect(NSURLConnection.canHandle(URLRequest(url: try #require(URL(string: text)))) == isHandled)
    }

    @Test("B14.30, B14.31: a registered class carries connections from its registration on, challenges included")
    @available(*, deprecated)
    func registered() async throws {
        let request = URLRequest(url: try #require(URL(string: "urlloading-legacy-test://x/page")))
        #expect(!NSURLConnection.canHandle(request))
        let before = await record(request)
        #expect(before.notes.lines.last == "fail -1002")
        #expect(URLProtocol.registerClass(AskingProtocol.self))
        defer { URLProtocol.unregisterClass(AskingProtocol.self) }
        #expect(NSURLConnection.canHandle(request))
        let recorder = OlderRecorder()
        recorder.answer = { challenge in
            challenge.sender?.performDefaultHandling(for: challenge)
            AskingProtocol.giveUp.signal()
        }
        await onRunLoop { _ = NSURLConnection(request: request, delegate: recorder) }
        #expect(recorder.notes.lines == ["send /page", "storage", "can Default", "asked", "fail -1005"])
    }
}

/// Asks for a password, and fails.
private final class AskingProtocol: URLProtocol {
    static let giveUp = DispatchSemaphore(value: 0)

    override class func canInit(with request: URLRequest) -> Bool {
        request.url?.scheme == "urlloading-legacy-test"
    }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        let space = URLProtectionSpace(
            host: "x", port: 1, protocol: nil, realm: nil, authenticationMethod: NSURLAuthenticationMethodDefault)
        let challenge = URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil, error: nil,
            sender: Mute.shared)
        client?.urlProtocol(self, didReceive: challenge)
        let held = Held(client: client, instance: self)
        Thread.detachNewThread {
            Self.giveUp.wait()
            held.client?.urlProtocol(held.instance, didFailWithError: URLError(.networkConnectionLost))
        }
    }

    override func stopLoading() {}

    private struct Held: @unchecked Sendable {
        // Safe to share: a client may be told from any thread, and takes the instance as an argument only.
        let client: (any URLProtocolClient)?
        let instance: URLProtocol
    }

    private final class Mute: NSObject, URLAuthenticationChallengeSender {
        static let shared = Mute()

        func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
        func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
        func cancel(_ challenge: URLAuthenticationChallenge) {}
        func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
        func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
    }
}

/// Takes a connection to another thread, where it is cancelled.
@available(*, deprecated)
struct Cancelling: @unchecked Sendable {
    // Safe to share: a connection may be cancelled from any thread.
    private let connection: NSURLConnection

    init(_ connection: NSURLConnection) { self.connection = connection }

    func run() { connection.cancel() }
}
