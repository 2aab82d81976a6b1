// Data tasks that become stream tasks (B1.70): whole lists of calls, and what is read and written.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite(
    "Data tasks that become streams",
    .http1Only("A stream of HTTP/2 cannot be given away: others share its connection"), .endsSessions,
    .timeLimit(.minutes(5)))
struct BecomingStreamTests {
    private static let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n"

    /// Answers a request with a head and these bytes behind it, answers a line, and finishes when the peer has.
    private func script(_ identity: MailIdentity? = nil) -> @Sendable (RawConnection) throws -> Void {
        { peer in
            if let identity { try peer.startTLS(identity.context) }
            try peer.requestHead()
            try peer.send(Self.head + "3\r\nabc\r\n")
            try peer.send("you said \(peer.line())\r\n")
            _ = try peer.rest()
            try peer.send("bye")
            try peer.finish()
        }
    }

    /// Talks to that script, and lists what the delegate was told.
    private func converse(_ session: URLSession, _ scribe: BecomingScribe, _ url: String) async throws -> [String] {
        let data = session.dataTask(with: try #require(URL(string: url)))
        data.resume()
        let task = try await scribe.stream()
        // The bytes behind the head, however many of them came with it.
        let lines = [try await task.line(), try await task.line()]
        #expect(lines == ["3", "abc"])
        try await task.say("hello\n")
        #expect(try await task.line() == "you said hello")
        task.closeWrite()
        #expect(String(decoding: try await task.rest(), as: UTF8.self) == "bye")
        await scribe.transcript.completed.wait()
        #expect(data.state == .completed && task.state == .completed && task.error == nil)
        return scribe.transcript.calls
    }

    private let whole = [
        "created 1", "response 200", "became 1", "write closed", "read closed", "metrics 1 of 200", "complete nil 1",
    ]

    @Test(
        "B1.70, B15.48: the stream reads and writes the bytes behind the head, up to both ends",
        arguments: [false, true])
    func becomes(isSecure: Bool) async throws {
        let identity = try MailIdentity()
        try await withRawServer(script(isSecure ? identity : nil)) { server in
            let scribe = BecomingScribe()
            let session = streamSession(scribe, anchor: identity.anchor)
            let url = "\(isSecure ? "https" : "http")://mail.test:\(server.port)/"
            let calls = try await converse(session, scribe, url)
            #expect(calls == whole)
        }
    }

    @Test(
        "B1.70: a stream gets a long body whole, also on a kept connection, however much came with the head",
        arguments: [false, true])
    func long(isSecure: Bool) async throws {
        let identity = try MailIdentity()
        let sent = pattern(2 << 20)
        try await withRawServer { peer in
            if isSecure { try peer.startTLS(identity.context) }
            try peer.requestHead()
            try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            try peer.requestHead()
            try peer.send(Array("HTTP/1.1 200 OK\r\nContent-Length: \(sent.count)\r\n\r\n".utf8) + sent)
            try peer.finish()
            _ = try peer.rest()
        } _: { server in
            let scribe = BecomingScribe()
            let session = streamSession(scribe, anchor: identity.anchor)
            let url = try #require(URL(string: "\(isSecure ? "https" : "http")://mail.test:\(server.port)/"))
            let (first, _) = try await session.data(from: url)
            #expect(first == Data("ok".utf8))
            session.dataTask(with: url).resume()
            let task = try await scribe.stream()
            let received = try await task.rest()
            #expect(firstDifference(received, sent) == nil)
            #expect(task.countOfBytesReceived == Int64(sent.count))
            task.closeWrite()
            await scribe.transcript.completed.wait()
            #expect(scribe.transcript.calls.last == "complete nil 2")
            #expect(scribe.metrics.value?.transactionMetrics.last?.isReusedConnection == true)
        }
    }

    /// Answers in clear, and says behind TLS what it was told. The connection ends where something else comes than TLS.
    private func answerBeforeTLS(_ identity: MailIdentity) -> @Sendable (RawConnection) throws -> Void {
        { peer in
            try peer.requestHead()
            try peer.send("HTTP/1.1 200 OK\r\n\r\nready\r\n")
            try peer.startTLS(identity.context)
            try peer.send("you said \(peer.line())\r\n")
            _ = try peer.rest()
            try peer.finish()
        }
    }

    @Test(
        "B1.70, B15.45: a stream that was a data task of http gets TLS when it asks for it", arguments: [true, false])
    func startsTLS(isTrusted: Bool) async throws {
        let identity = try MailIdentity(isTrusted ? "mail.test" : "other.test")
        try await withRawServer(answerBeforeTLS(identity)) { server in
            let scribe = BecomingScribe()
            let session = streamSession(scribe, anchor: identity.anchor)
            session.dataTask(with: try server.url).resume()
            let task = try await scribe.stream()
            #expect(try await task.line() == "ready")
            task.startSecureConnection()
            if isTrusted {
                try await task.say("hello\n")
                #expect(try await task.line() == "you said hello")
                task.closeWrite()
                #expect(try await task.rest().isEmpty)
            } else {
                let code = URLError.Code.serverCertificateUntrusted.rawValue
                async let reading = task.readError()
                #expect(await task.writeError()?.code == code)
                #expect(await reading?.code == code)
            }
            await scribe.transcript.completed.wait()
            let end = scribe.transcript.calls.last
            #expect(end == (isTrusted ? "complete nil 1" : "complete -1202 1"))
        }
    }

    @Test("B1.70, B15.45: TLS with a proxy is none with the server: a stream gets that, too, when it asks for it")
    func startsTLSBehindProxy() async throws {
        let identity = try MailIdentity()
        let (root, shown) = try CertificateFactory.server("127.0.0.1")
        let proxy = try LoopbackProxy.start { $0.tls = .init(identity: shown) }
        let port = try #require(NWEndpoint.Port("\(proxy.port)"))
        try await withRawServer(answerBeforeTLS(identity)) { server in
            let scribe = BecomingScribe()
            let session = streamSession(scribe, anchor: identity.anchor + root.pem) { configuration in
                configuration.hostOverrides = [:]
                configuration.proxyConfigurations = [
                    ProxyConfiguration(httpCONNECTProxy: .hostPort(host: "127.0.0.1", port: port), tlsOptions: .init())
                ]
            }
            session.dataTask(with: try server.url).resume()
            let task = try await scribe.stream()
            #expect(try await task.line() == "ready")
            task.startSecureConnection()
            try await task.say("secret\n")
            #expect(try await task.line() == "you said secret")
            task.closeWrite()
            #expect(try await task.rest().isEmpty)
            await scribe.transcript.completed.wait()
            #expect(scribe.transcript.calls.last == "complete nil 1")
            #expect(proxy.asks.map(\.kind) == [.connect])
        }
        await proxy.stop()
    }

    @Test("B1.70: a data task through a proxy's tunnel becomes a stream too")
    func tunnelled() async throws {
        let identity = try MailIdentity()
        let proxy = try LoopbackProxy.start()
        try await withRawServer(script(identity)) { server in
            let scribe = BecomingScribe()
            let session = streamSession(scribe, anchor: identity.anchor) { configuration in
                configuration.hostOverrides = [:]
                configuration.connectionProxyDictionary = [
                    kCFNetworkProxiesHTTPSEnable: 1, kCFNetworkProxiesHTTPSProxy: "127.0.0.1",
                    kCFNetworkProxiesHTTPSPort: proxy.port,
                ]
            }
            let calls = try await converse(session, scribe, "https://mail.test:\(server.port)/")
            #expect(calls == whole)
            #expect(scribe.metrics.value?.transactionMetrics.first?.isProxyConnection == true)
        }
        await proxy.stop()
    }

    @Test("B1.70: behind an answer that a proxy has forwarded, the stream's bytes are the proxy's")
    func forwarded() async throws {
        let proxy = try LoopbackProxy.start()
        try await withServer(router: { _ in .text("hello") }) { server in
            let scribe = BecomingScribe()
            let session = streamSession(scribe) { configuration in
                configuration.connectionProxyDictionary = [
                    kCFNetworkProxiesHTTPEnable: 1, kCFNetworkProxiesHTTPProxy: "127.0.0.1",
                    kCFNetworkProxiesHTTPPort: proxy.port,
                ]
            }
            session.dataTask(with: try server.at("/")).resume()
            let task = try await scribe.stream()
            let (body, _) = try await task.readData(ofMinLength: 5, maxLength: 5, timeout: 60)
            #expect(body == Data("hello".utf8))
            task.cancel()
            await scribe.transcript.completed.wait()
        }
        await proxy.stop()
    }

    @Test("B1.70, B15.44: cancelling the stream, or its former data task, ends it with −999", arguments: [false, true])
    func cancelled(byData: Bool) async throws {
        try await withRawServer { peer in
            try peer.requestHead()
            try peer.send(Self.head)
            _ = try peer.rest()
        } _: { server in
            let scribe = BecomingScribe()
            let data = streamSession(scribe).dataTask(with: try server.url)
            data.resume()
            let task = try await scribe.stream()
            if byData { data.cancel() } else { task.cancel() }
            #expect(await task.readError()?.code == URLError.cancelled.rawValue)
            await scribe.transcript.completed.wait()
            #expect(scribe.transcript.calls.suffix(2) == ["metrics 1 of 200", "complete -999 1"])
            #expect((data.error as? URLError)?.failingURL == data.originalRequest?.url)
            await server.ended()
        }
    }

    @Test(
        "B1.70, B16.3: the stream's connection does not count against the limit, and finishTasksAndInvalidate waits for it"
    )
    func countsNoLonger() async throws {
        try await withRawServer { peer in
            try peer.requestHead()
            try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab")
            _ = try peer.rest()
            try peer.finish()
        } _: { server in
            let scribe = BecomingScribe()
            let session = streamSession(scribe) { $0.httpMaximumConnectionsPerHost = 1 }
            let url = try server.url
            session.dataTask(with: url).resume()
            let first = try await scribe.stream()
            // A second load gets a connection although only one is allowed.
            session.dataTask(with: url).resume()
            let second = try await scribe.stream(2)
            session.finishTasksAndInvalidate()
            for task in [first, second] {
                task.closeWrite()
                #expect(try await task.rest() == Data("ab".utf8))
            }
            await scribe.transcript.invalidated.wait()
            let ends = scribe.transcript.calls.filter { $0.hasPrefix("complete") }
            #expect(ends.sorted() == ["complete nil 1", "complete nil 2"])
        }
    }

    @Test("B1.70, B1.17: invalidateAndCancel cancels the stream")
    func invalidated() async throws {
        try await withRawServer { peer in
            try peer.requestHead()
            try peer.send(Self.head)
            _ = try peer.rest()
        } _: { server in
            let scribe = BecomingScribe()
            let session = streamSession(scribe)
            session.dataTask(with: try server.url).resume()
            _ = try await scribe.stream()
            session.invalidateAndCancel()
            await scribe.transcript.invalidated.wait()
            #expect(scribe.transcript.calls.last == "complete -999 1")
            await server.ended()
        }
    }

    @Test("B1.70, B1.40: a suspended data task becomes a stream that stands still until it is resumed")
    func suspended() async throws {
        try await withRawServer(script()) { server in
            let scribe = BecomingScribe { $0.suspend() }
            let data = streamSession(scribe).dataTask(with: try server.url)
            data.resume()
            let task = try await scribe.stream()
            #expect(task.state == .suspended)
            task.resume()
            #expect(try await task.line() == "3")
            task.cancel()
            await scribe.transcript.completed.wait()
        }
    }

    @Test("B1.70, B15.51: the streams of a task that has become a stream can be captured")
    func captured() async throws {
        try await withRawServer(script()) { server in
            let scribe = BecomingScribe()
            streamSession(scribe).dataTask(with: try server.url).resume()
            try await scribe.stream().captureStreams()
            await scribe.captured.wait()
            #expect(scribe.transcript.calls.last == "streams")
        }
    }

    @Test("EventHandlers' closures hear that a task became a stream, of its ends, and of its captured streams")
    func closures() async throws {
        try await withRawServer(script()) { server in
            let transcript = Transcript()
            let became = Signal()
            let handlers = URLSession.EventHandlers()
            handlers.didReceiveResponse = { _, _, _ in .becomeStream }
            handlers.didBecomeStream = { _, data, stream in
                transcript.note("became \(data.taskIdentifier == stream.taskIdentifier)")
                if data.originalRequest?.httpMethod == "PUT" { stream.captureStreams() } else { stream.closeWrite() }
            }
            handlers.writeClosed = { _, _ in transcript.note("write closed") }
            handlers.readClosed = { _, stream in
                transcript.note("read closed")
                stream.cancel()
            }
            handlers.didBecomeStreams = { _, _, input, output in
                transcript.note("streams \(input.streamStatus == .notOpen && output.streamStatus == .notOpen)")
                became.fire()
            }
            handlers.didComplete = { _, _, error in
                transcript.note("complete")
                transcript.completed.fire()
            }
            let session = streamSession(handlers)
            var request = URLRequest(url: try server.url)
            request.httpMethod = "PUT"
            session.dataTask(with: request).resume()
            await became.wait()
            #expect(transcript.calls == ["became true", "streams true"])
            session.dataTask(with: try server.url).resume()
            await transcript.completed.wait()
            #expect(transcript.calls.suffix(4) == ["became true", "write closed", "read closed", "complete"])
        }
    }

    // MARK: Refusals

    private func expectRefusal(_ scribe: BecomingScribe, _ words: String) async {
        await scribe.transcript.completed.wait()
        #expect(scribe.transcript.calls.last == "complete -1002 1")
        #expect(!scribe.transcript.calls.contains { $0.hasPrefix("became") })
        #expect(scribe.error.value?.localizedDescription.contains(words) == true, "\(scribe.error.value as Any)")
    }

    @Test("A task whose request is not sent whole cannot become a stream: it ends with −1002, and the error says why")
    func unfinishedRequest() async throws {
        try await withRawServer { peer in
            try peer.requestHead()
            try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
            // The rest of the body is more than sockets hold.
            _ = try? peer.line()
        } _: { server in
            let scribe = BecomingScribe()
            var request = URLRequest(url: try server.url)
            request.httpMethod = "POST"
            request.httpBody = Data(count: 64 << 20)
            streamSession(scribe).dataTask(with: request).resume()
            await expectRefusal(scribe, "sent whole")
        }
    }

    @Test("Uploads and responses without a connection cannot become streams", arguments: ["upload", "data", "cache"])
    func others(kind: String) async throws {
        let router: LoopbackServer.Router = { _ in .text("kept").adding("Cache-Control", "max-age=1000") }
        try await withServer(router: router) { server in
            let scribe = BecomingScribe()
            let session = streamSession(scribe)
            switch kind {
            case "upload":
                var request = URLRequest(url: try server.at("/"))
                request.httpMethod = "POST"
                session.uploadTask(with: request, from: Data("x".utf8)).resume()
                await expectRefusal(scribe, "Only a data task")
            case "data":
                session.dataTask(with: try #require(URL(string: "data:,hello"))).resume()
                await expectRefusal(scribe, "no connection")
            default:
                _ = try await session.data(from: try server.at("/"))
                session.dataTask(with: try server.at("/")).resume()
                await scribe.transcript.completed.wait()
                #expect(scribe.transcript.calls.last == "complete -1002 2")
                #expect(!scribe.transcript.calls.contains("data"))
            }
        }
    }

    @Test("A part of a multipart body cannot become a stream")
    func part() async throws {
        let body = "--b\r\nContent-Type: text/plain\r\n\r\none\r\n--b--\r\n"
        let router: LoopbackServer.Router = { _ in
            .slow([.init(body)], framing: .chunked).adding("Content-Type", "multipart/x-mixed-replace; boundary=b")
        }
        try await withServer(router: router) { server in
            let scribe = BecomingScribe(answers: [.allow, .becomeStream])
            streamSession(scribe).dataTask(with: try server.at("/")).resume()
            await expectRefusal(scribe, "part of a multipart body")
        }
    }

    @Test("An async call's response cannot become a stream")
    func awaited() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let session = streamSession()
            let error = await #expect(throws: URLError.self) {
                try await session.data(for: URLRequest(url: try server.at("/")), delegate: BecomingScribe())
            }
            #expect(error?.code == .unsupportedURL)
        }
    }
}

/// Makes streams of data tasks and writes down what it is told.
private final class BecomingScribe: NSObject, URLSessionDataDelegate, URLSessionStreamDelegate {
    let transcript = Transcript()
    let error = Guarded<URLError?>(nil)
    let metrics = Guarded<URLSessionTaskMetrics?>(nil)
    let captured = Signal()
    private let became = Signal()
    private let streams = Guarded<[URLSessionStreamTask]>([])
    private let answers: Guarded<[URLSession.ResponseDisposition]>
    private let onResponse: @Sendable (URLSessionDataTask) -> Void

    init(
        answers: [URLSession.ResponseDisposition] = [.becomeStream],
        onResponse: @escaping @Sendable (URLSessionDataTask) -> Void = { _ in }
    ) {
        self.answers = Guarded(answers)
        self.onResponse = onResponse
    }

    /// The task that has become a stream, the first one or another.
    func stream(_ number: Int = 1) async throws -> URLSessionStreamTask {
        await became.wait(times: number)
        return try #require(streams.value.count >= number ? streams.value[number - 1] : nil)
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        transcript.invalidated.fire()
    }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        transcript.note("created \(task.taskIdentifier)")
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transcript.note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
        onResponse(dataTask)
        var answer = URLSession.ResponseDisposition.becomeStream
        answers.change { if $0.count > 1 { answer = $0.removeFirst() } else { answer = $0[0] } }
        completionHandler(answer)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
    ) {
        let isSame =
            dataTask.taskIdentifier == streamTask.taskIdentifier && dataTask !== streamTask
            && dataTask.originalRequest == streamTask.originalRequest && streamTask.originalRequest != nil
            && dataTask.response == streamTask.response && streamTask.response != nil
        transcript.note("became \(streamTask.taskIdentifier)\(isSame ? "" : " DIFFERENT")")
        streams.change { $0.append(streamTask) }
        became.fire()
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transcript.note(data: data)
    }

    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
        transcript.note("read closed")
    }

    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
        transcript.note("write closed")
    }

    func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) {
        transcript.note("streams")
        captured.fire()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        self.metrics.value = metrics
        let status = (metrics.transactionMetrics.last?.response as? HTTPURLResponse)?.statusCode ?? 0
        transcript.note("metrics \(metrics.transactionMetrics.count) of \(status)")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.error.value = error as? URLError
        transcript.note("complete \(Transcript.text(error)) \(task.taskIdentifier)")
        transcript.completed.fire()
    }
}

extension RawServer {
    /// Its root, over plain HTTP.
    fileprivate var url: URL {
        get throws { try #require(URL(string: "http://mail.test:\(port)/")) }
    }
}

extension RawConnection {
    /// Reads a request's head.
    fileprivate func requestHead() throws { while try !line().isEmpty {} }
}
