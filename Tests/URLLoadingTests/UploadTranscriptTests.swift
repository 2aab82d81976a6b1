// Whole ordered lists of calls for uploads whose body is needed more than once, each with the delegate's methods in
// their completion-handler form and in their `async` form: redirects before and after the whole body is out, and
// connections that are lost (behaviour chapter 11, 4.2 and 6.26).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Transcripts of uploads")
struct UploadTranscriptTests {
    enum Source: CaseIterable, Sendable { case data, file, stream }

    private static let content = Array("the content of the upload".utf8)
    private static let count = content.count

    /// `/from` redirects with the given status; everything else says what it got.
    private static func router(_ status: Int = 307) -> LoopbackServer.Router {
        { request in
            request.path == "/from"
                ? ServerResponse.status(status).adding("Location", "/to")
                : .text("\(request.method) \(String(decoding: request.body, as: UTF8.self))")
        }
    }

    private static func scribe(_ hook: @escaping Scribe.Hook = { _, _, _ in }) -> Scribe {
        Scribe(stream: { InputStream(data: Data(content)) }, hook: hook)
    }

    private func task(_ source: Source, _ session: URLSession, _ request: URLRequest, _ file: UploadFile)
        -> URLSessionUploadTask
    {
        switch source {
        case .data: session.uploadTask(with: request, from: Data(Self.content))
        case .file: session.uploadTask(with: request, fromFile: file.url)
        case .stream: session.uploadTask(withStreamedRequest: request)
        }
    }

    private func file() throws -> UploadFile {
        let file = try UploadFile(count: 0)
        try Data(Self.content).write(to: file.url)
        return file
    }

    @Test(
        "B1.60, B4.12, B11.8, B11.12: an upload, redirected with 307 or 303", arguments: Scribe.Form.allCases,
        Source.allCases)
    func redirected(form: Scribe.Form, source: Source) async throws {
        for status in [307, 303] {
            try await withServer(router: Self.router(status)) { server in
                let file = try file()
                let scribe = Self.scribe()
                let session = URLSession(
                    configuration: .ephemeral, delegate: scribe.delegate(form), delegateQueue: nil)
                task(source, session, uploading(try server.at("/from")), file).resume()
                session.finishTasksAndInvalidate()
                await scribe.transcript.invalidated.wait()
                let stream = source == .stream ? ["stream"] : []
                let sent = ["sent \(Self.count) of \(source == .stream ? -1 : Self.count)"]
                let again = status == 307 ? stream + sent : []
                #expect(
                    scribe.transcript.calls
                        == ["created 1"] + stream + sent
                        + ["redirect \(status) \(status == 307 ? "POST" : "GET") /to"] + again
                        + ["response 200", "data", "metrics 2", "complete nil", "invalid nil"])
                #expect(
                    scribe.transcript.body == (status == 307 ? "POST the content of the upload" : "GET "))
                #expect(server.stats.connectionsAccepted == 1)
            }
        }
    }

    @Test(
        "B4.33, B11.8: a redirect that comes while the body is on its way ends that sending and its connection",
        .http1Only("A stream is reset, and its connection used again"),
        arguments: Scribe.Form.allCases, [307, 303])
    func redirectedEarly(form: Scribe.Form, status: Int) async throws {
        var options = LoopbackServer.Options()
        options.earlyRouter = { request in
            request.path == "/from" ? ServerResponse.status(status).adding("Location", "/to") : nil
        }
        try await withServer(options, router: Self.router()) { server in
            let hand = StreamHand()
            hand.supply(Self.content)
            let isFirst = Guarded(true)
            let scribe = Scribe(stream: {
                defer { isFirst.value = false }
                return isFirst.value ? HandStream(hand) : InputStream(data: Data(Self.content))
            })
            let session = URLSession(configuration: .ephemeral, delegate: scribe.delegate(form), delegateQueue: nil)
            session.uploadTask(withStreamedRequest: uploading(try server.at("/from"))).resume()
            await scribe.transcript.completed.wait()
            // The stream is closed although it never came to an end, unless the redirect was there before the stream
            // was opened.
            hand.end()
            if hand.opened.count > 0 { await hand.closed.wait() }
            let method = status == 307 ? "POST" : "GET"
            let calls = scribe.transcript.calls
            let unsent = calls.filter { !$0.hasPrefix("sent") }
            #expect(
                unsent
                    == ["created 1", "stream", "redirect \(status) \(method) /to"] + (status == 307 ? ["stream"] : [])
                    + ["response 200", "data", "metrics 2", "complete nil"])
            #expect(
                scribe.transcript.body == (status == 307 ? "POST the content of the upload" : "GET "))
            #expect(server.stats.connectionsAccepted == 2, "the first has half a request in it")
            #expect(server.stats.requests == 1, "the first never became whole")
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B6.26, B6.30, B11.8: a reused connection that is lost: another stream is asked for, and the request sent again",
        arguments: Scribe.Form.allCases, [true, false])
    func lostConnection(form: Scribe.Form, isUpload: Bool) async throws {
        try await withServer(router: Self.dropping) { server in
            let scribe = Self.scribe()
            let session = URLSession(configuration: .ephemeral, delegate: scribe.delegate(form), delegateQueue: nil)
            session.dataTask(with: try server.at("/first")).resume()
            await scribe.transcript.completed.wait()
            var request = uploading(try server.at("/second"), method: "PUT")
            if !isUpload { request.httpBodyStream = InputStream(data: Data(Self.content)) }
            let task = isUpload ? session.uploadTask(withStreamedRequest: request) : session.dataTask(with: request)
            task.resume()
            await scribe.transcript.completed.wait(times: 2)
            let asked = isUpload ? ["stream"] : []
            let calls = scribe.transcript.calls.split(separator: "complete nil").last.map { Array($0) }
            #expect(
                calls
                    == ["created 2"] + asked + ["sent 25 of -1", "stream", "sent 25 of -1"]
                    + ["response 200", "data", "metrics 2"])
            #expect(task.error == nil)
            #expect(scribe.transcript.body.hasSuffix("PUT the content of the upload"))
            #expect(server.stats.connectionsAccepted == 2)
            #expect(task.countOfBytesSent == 25)
            session.invalidateAndCancel()
        }
    }

    /// The first connection serves one request and is dropped under the second, whole as it has come.
    private static let dropping: LoopbackServer.Router = { request in
        if request.path == "/first" { return .text("") }
        return request.connection == 1 ? .script([.drop]) : router()(request)
    }

    @Test(
        "B6.26 to B6.28: −1005 without another stream from the delegate, for POST, and when the second sending is lost too"
    )
    func lostForGood() async throws {
        for (path, method, supplies, sendings) in [
            ("/second", "PUT", 1, 1), ("/second", "POST", 9, 1), ("/never", "PUT", 9, 2),
        ] {
            let router: LoopbackServer.Router = { request in
                request.path == "/never" ? .script([.drop]) : Self.dropping(request)
            }
            try await withServer(router: router) { server in
                let left = Guarded(supplies)
                let scribe = Scribe(stream: {
                    left.change { $0 -= 1 }
                    return left.value < 0 ? nil : InputStream(data: Data(Self.content))
                })
                let session = URLSession(
                    configuration: .ephemeral, delegate: scribe.delegate(.handler), delegateQueue: nil)
                session.dataTask(with: try server.at("/first")).resume()
                await scribe.transcript.completed.wait()
                session.uploadTask(withStreamedRequest: uploading(try server.at(path), method: method)).resume()
                await scribe.transcript.completed.wait(times: 2)
                let calls = scribe.transcript.calls.filter { !$0.hasPrefix("sent") }
                let asked = method == "POST" ? ["stream"] : ["stream", "stream"]
                #expect(
                    Array(calls.suffix(asked.count + 3))
                        == ["created 2"] + asked + ["metrics \(sendings)", "complete -1005"])
                session.invalidateAndCancel()
            }
        }
    }

    @Test("B6.26: an async call without a delegate throws the lost connection")
    func lostWithoutDelegate() async throws {
        try await withServer(router: Self.dropping) { server in
            let session = URLSession(configuration: .ephemeral)
            _ = try await session.data(from: try server.at("/first"))
            var request = uploading(try server.at("/second"), method: "PUT")
            request.httpBodyStream = InputStream(data: Data(Self.content))
            let stream = request
            #expect(await codeThrown { _ = try await session.data(for: stream) } == .networkConnectionLost)
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B17.54: an upload is cancelled inside the first or the second question for a stream",
        arguments: Scribe.Form.allCases)
    func cancelledInside(form: Scribe.Form) async throws {
        for place in [1, 2] {
            try await withServer(router: Self.router()) { server in
                let asked = Guarded(0)
                let scribe = Self.scribe { call, _, task in
                    guard call == "stream" else { return }
                    asked.change { $0 += 1 }
                    if asked.value == place { task.cancel() }
                }
                let session = URLSession(
                    configuration: .ephemeral, delegate: scribe.delegate(form), delegateQueue: nil)
                session.uploadTask(withStreamedRequest: uploading(try server.at("/from"))).resume()
                await scribe.transcript.completed.wait()
                let before = ["sent 25 of -1", "redirect 307 POST /to", "stream"]
                #expect(
                    scribe.transcript.calls
                        == ["created 1", "stream"] + (place == 1 ? ["metrics 0"] : before + ["metrics 1"])
                        + ["complete -999"])
                session.invalidateAndCancel()
            }
        }
    }

    // MARK: Over TLS

    @Test(
        "B11.5, B4.12: over TLS a file is sent whole, and again after a redirect", arguments: Scribe.Form.allCases,
        [307, nil])
    func fileOverTLS(form: Scribe.Form, status: Int?) async throws {
        let root = try CertificateFactory.root()
        var options = LoopbackServer.Options(tls: ServerTLS(identity: try root.issue(.server("localhost")).identity))
        options.keptBodyBytes = 8 << 20
        let router: LoopbackServer.Router = { request in
            if let status, request.path == "/from" { return .status(status).adding("Location", "/to") }
            return .bytes(request.body)
        }
        try await withServer(options, router: router) { server in
            // More than any buffer on the way, and no multiple of a record.
            let file = try UploadFile(count: 3_000_001)
            let configuration = URLSessionConfiguration.ephemeral
            configuration.hostOverrides = ["localhost": "127.0.0.1"]
            configuration.serverTrustEvaluation = .anchors(pem: root.certificate.pem)
            let received = Guarded(Data())
            let scribe = Scribe()
            let session = URLSession(
                configuration: configuration, delegate: scribe.delegate(form), delegateQueue: nil)
            let (data, response) = try await session.upload(
                for: uploading(try server.at("/from", host: "localhost")), fromFile: file.url)
            received.value = data
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(firstDifference(received.value, file.bytes) == nil)
            #expect(
                scribe.transcript.calls.filter { $0.hasPrefix("redirect") }
                    == (status == nil ? [] : ["redirect 307 POST /to"]))
            #expect(
                scribe.transcript.calls.count { $0 == "sent 3000001 of 3000001" } == (status == nil ? 1 : 2))
            #expect(server.stats.handshakes == 1)
            session.invalidateAndCancel()
        }
    }
}
