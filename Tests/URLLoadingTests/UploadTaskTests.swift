// Upload tasks (behaviour chapter 11 without resumable uploads).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Upload tasks")
struct UploadTaskTests {
    enum Source: CaseIterable, Sendable { case data, file, stream }

    private static let content = Array("the content of the upload".utf8)

    private func session(_ delegate: (any URLSessionDelegate)? = nil) -> URLSession {
        URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
    }

    /// Begins an upload of the content, of this file's, or of what the delegate supplies.
    @discardableResult
    private func upload(
        _ request: URLRequest, _ source: Source, _ file: UploadFile, in session: URLSession
    ) -> URLSessionUploadTask {
        let task: URLSessionUploadTask =
            switch source {
            case .data: session.uploadTask(with: request, from: Data(Self.content))
            case .file: session.uploadTask(with: request, fromFile: file.url)
            case .stream: session.uploadTask(withStreamedRequest: request)
            }
        task.resume()
        return task
    }

    /// Answers with the request's method, the framing of its body, and the body.
    private static let describing: LoopbackServer.Router = { request in
        let framing = request.fields.first(.contentLength).map { "length \($0)" } ?? "chunked"
        return .text("\(request.method) \(framing): \(String(decoding: request.body, as: UTF8.self))")
    }

    @Test(
        "B11.1, B11.3, B11.4, B11.10, B11.16, B1.103: an upload from each source, and the request's own body is ignored",
        arguments: Source.allCases)
    func eachSource(source: Source) async throws {
        try await withServer(router: Self.describing) { server in
            let file = try UploadFile(count: 0)
            try Data(Self.content).write(to: file.url)
            let delegate = UploadDelegate(.stream { InputStream(data: Data(Self.content)) })
            let session = session(delegate)
            var request = uploading(try server.at("/"))
            request.httpBody = Data("not this".utf8)
            let task = upload(request, source, file, in: session)
            await delegate.transcript.completed.wait()
            let text = String(decoding: Self.content, as: UTF8.self)
            let framing = source == .stream ? "chunked" : "length \(Self.content.count)"
            #expect(delegate.transcript.body == "POST \(framing): \(text)")
            let asked = source == .stream ? ["stream"] : []
            #expect(delegate.transcript.calls == asked + ["sent", "response 200", "data", "complete nil"])
            let count = Int64(Self.content.count)
            #expect(delegate.progress.value.last?[1] == count)
            #expect(delegate.progress.value.last?[2] == (source == .stream ? -1 : count))
            #expect(task.countOfBytesSent == count)
            session.invalidateAndCancel()
        }
    }

    @Test("B11.2, B5.33, B1.104: the default GET with a body fails with −1103", arguments: Source.allCases)
    func getWithBody(source: Source) async throws {
        try await withServer(router: Self.describing) { server in
            let file = try UploadFile(count: 10)
            let delegate = UploadDelegate(.stream { InputStream(data: Data(Self.content)) })
            let session = session(delegate)
            let request = URLRequest(url: try server.at("/"))
            upload(request, source, file, in: session)
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls.filter { $0 != "stream" } == ["complete -1103"])
            #expect(server.stats.connectionsAccepted == 0)
            session.invalidateAndCancel()
        }
    }

    @Test("B1.88, B1.79, B1.85: handlers and async calls upload too, also a nil body")
    func handlersAndAsync() async throws {
        try await withServer(router: Self.describing) { server in
            let file = try UploadFile(count: 0)
            try Data(Self.content).write(to: file.url)
            let session = session()
            let request = uploading(try server.at("/"), method: "PUT")
            let expected = "PUT length 25: the content of the upload"
            #expect(try await text(session.upload(for: request, from: Data(Self.content))) == expected)
            #expect(try await text(session.upload(for: request, fromFile: file.url)) == expected)

            let results = Guarded<[String]>([])
            let ended = Signal()
            let handler: @Sendable (Data?, URLResponse?, (any Error)?) -> Void = { data, _, _ in
                results.change { $0.append(String(decoding: data ?? Data(), as: UTF8.self)) }
                ended.fire()
            }
            session.uploadTask(with: request, fromFile: file.url, completionHandler: handler).resume()
            await ended.wait()
            session.uploadTask(with: request, from: Data(Self.content), completionHandler: handler).resume()
            await ended.wait(times: 2)
            session.uploadTask(with: request, from: nil, completionHandler: handler).resume()
            await ended.wait(times: 3)
            #expect(results.value == [expected, expected, "PUT length 0: "])
            session.invalidateAndCancel()
        }
    }

    private func text(_ result: (Data, URLResponse)) -> String { String(decoding: result.0, as: UTF8.self) }

    // MARK: Files

    @Test("B11.6, B14.8, B17.33 to B17.35: files that cannot be read fail before any connection")
    func unusableFiles() async throws {
        try await withServer(router: Self.describing) { server in
            let session = session()
            let request = uploading(try server.at("/"))
            for (path, code) in [
                ("/no/such/file", URLError.Code.fileDoesNotExist), ("/tmp", .fileIsDirectory),
                ("/dev/null", .cannotOpenFile),
            ] {
                let file = URL(fileURLWithPath: path)
                #expect(await codeThrown { _ = try await session.upload(for: request, fromFile: file) } == code)
            }
            let remote = try #require(URL(string: "http://127.0.0.1/file"))
            #expect(
                await codeThrown { _ = try await session.upload(for: request, fromFile: remote) } == .unsupportedURL)
            // B14.8: the path of another machine's file may lead to one here.
            let known = try UploadFile(count: 1)
            let elsewhere = try #require(URL(string: "file://other\(known.url.path)"))
            #expect(await codeThrown { _ = try await session.upload(for: request, fromFile: elsewhere) } == .badURL)
            // A privileged user may read everything, so this one is only mapped.
            let denied = ErrorMapping.unreadableFile(
                URL(fileURLWithPath: "/x"), of: request.url, SystemError(errno: EACCES, call: "open"))
            #expect(denied.code == .noPermissionsToReadFile)
            #expect(denied.failingURL == request.url)
            #expect(server.stats.connectionsAccepted == 0)
            session.invalidateAndCancel()
        }
    }

    @Test("B11.5: a file that does not say its length is sent whole", arguments: unsaidFiles)
    func unsaidLength(path: String) async throws {
        let file = URL(fileURLWithPath: path)
        let content = try #require(try FileHandle(forReadingFrom: file).readToEnd())
        try await withServer(router: { .echo($0) }) { server async throws in
            let session = session()
            let request = uploading(try server.at("/"))
            #expect(try await session.upload(for: request, fromFile: file).0 == content)
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B11.5: the file is closed when its upload has ended, however that was, though the program keeps the task",
        .timeLimit(.minutes(5)))
    func closedAtEnd() async throws {
        try await withServer(router: Self.describing) { server async throws in
            let (file, refusing) = (try UploadFile(count: 1000), try ReservedPort())
            let nowhere = try #require(URL(string: "http://127.0.0.1:\(refusing.number)/"))
            let delegate = UploadDelegate()
            let session = session(delegate)
            var tasks: [URLSessionUploadTask] = []
            for url in [try server.at("/"), nowhere] {
                tasks.append(session.uploadTask(with: uploading(url), fromFile: file.url))
                tasks.last?.resume()
                await delegate.transcript.completed.wait(times: tasks.count)
            }
            let ends = delegate.transcript.calls.filter { $0.hasPrefix("complete") }
            #expect(ends == ["complete nil", "complete -1004"])
            // The loop that has sent it lets go of it in its own time.
            try await until { Self.descriptors(of: file.url) == 0 }
            #expect(tasks.map(\.countOfBytesExpectedToSend) == [1000, 1000])
            #expect(tasks.map(\.originalRequest?.url) == [try server.at("/"), nowhere])
            session.invalidateAndCancel()
            refusing.keep()
        }
    }

    /// How many descriptors of this process lead to a file.
    private static func descriptors(of file: URL) -> Int {
        let folder = "/proc/self/fd"
        let path = file.resolvingSymlinksInPath().path
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return numbers.count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == path
        }
    }

    @Test("B11.5, B11.11: the file is opened at resume, and its size is fixed then")
    func openedAtResume() async throws {
        var options = LoopbackServer.Options()
        options.keptBodyBytes = 0
        try await withServer(options, router: { .text("\($0.bodyByteCount)") }) { server in
            let file = try UploadFile(count: 10)
            let delegate = UploadDelegate()
            let session = session(delegate)
            let task = session.uploadTask(with: uploading(try server.at("/")), fromFile: file.url)
            // 64 MiB of nothing: a file with a hole takes no disk.
            #expect(truncate(file.url.path, 64 << 20) == 0)
            task.resume()
            #expect(task.countOfBytesExpectedToSend == 64 << 20)
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.body == "\(64 << 20)")
            let progress = delegate.progress.value
            #expect(progress.map { $0[1] } == progress.map { $0[1] }.sorted())
            #expect(progress.map { $0[0] }.reduce(0, +) == 64 << 20)
            #expect(progress.allSatisfy { $0[2] == 64 << 20 })
            #expect(task.progress.fractionCompleted == 1)
            session.invalidateAndCancel()
        }
    }

    // MARK: Streams

    @Test(
        "B11.8, B5.36: a streamed upload asks its delegate for a stream first, by whichever form of the method it has")
    func formsOfAsking() async throws {
        try await withServer(router: { .echo($0) }) { server in
            let session = session()
            let forms: [(any URLSessionTaskDelegate, String)] = [
                (AsyncStreams(), "async"), (OffsetStreams(), "offset 0"), (AsyncOffsetStreams(), "async offset 0"),
            ]
            // Twice: the first time a form is learnt, the second time it is known.
            for (form, text) in forms + forms {
                let recorder = NoStreams()
                let recording = self.session(recorder)
                let task = recording.uploadTask(withStreamedRequest: uploading(try server.at("/")))
                task.delegate = form
                task.resume()
                await recorder.transcript.completed.wait()
                #expect(recorder.transcript.body == text)
                recording.invalidateAndCancel()
            }
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B11.9: where the delegate gives no stream the task ends with −1021, and nothing is sent",
        arguments: [true, false])
    func noStream(isImplemented: Bool) async throws {
        try await withServer(router: { .echo($0) }) { server in
            let saysNil = UploadDelegate(.stream { nil })
            let hasNone = NoStreams()
            let session = session(isImplemented ? saysNil : hasNone)
            session.uploadTask(withStreamedRequest: uploading(try server.at("/"))).resume()
            let transcript = isImplemented ? saysNil.transcript : hasNone.transcript
            await transcript.completed.wait()
            #expect(transcript.calls == (isImplemented ? ["stream"] : []) + ["complete -1021"])
            #expect(server.stats.connectionsAccepted == 0)
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B6.5, B6.8, B1.32: a delegate that never answers is waited for until the time is over, or the task cancelled")
    func neverAnswered() async throws {
        try await withServer(router: { .echo($0) }) { server in
            for isCancelled in [false, true] {
                let delegate = UploadDelegate(.never)
                let configuration = URLSessionConfiguration.ephemeral
                if !isCancelled { configuration.timeoutIntervalForResource = 3 }
                let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
                let task = session.uploadTask(withStreamedRequest: uploading(try server.at("/")))
                task.resume()
                if isCancelled {
                    await delegate.asked.wait()
                    task.cancel()
                }
                await delegate.transcript.completed.wait()
                let calls = delegate.transcript.calls
                #expect(calls.last == "complete \(isCancelled ? -999 : -1001)")
                // A slow machine may not have come to the question in time.
                #expect((isCancelled ? [["stream"]] : [["stream"], []]).contains(Array(calls.dropLast())))
                session.invalidateAndCancel()
            }
        }
    }

    @Test("B11.11: an explicit Content-Length is the length that a stream is expected to have")
    func announcedStream() async throws {
        try await withServer(router: Self.describing) { server in
            let delegate = UploadDelegate(.stream { InputStream(data: Data("0123456789".utf8)) })
            let session = session(delegate)
            var request = uploading(try server.at("/"))
            request.setValue("10", forHTTPHeaderField: "Content-Length")
            request.httpBodyStream = InputStream(data: Data())
            let task = session.uploadTask(withStreamedRequest: request)
            #expect(task.countOfBytesExpectedToSend == 10)
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.body == "POST length 10: 0123456789")
            #expect(delegate.progress.value == [[10, 10, 10]])
            session.invalidateAndCancel()
        }
    }

    @Test("B5.29: a piece of a stream that goes across the announced length is not cut: the task fails with −1103")
    func longerStream() async throws {
        try await withServer(router: Self.describing) { server in
            let delegate = UploadDelegate(.stream { InputStream(data: Data("0123456789 and more".utf8)) })
            let session = session(delegate)
            var request = uploading(try server.at("/"))
            request.setValue("10", forHTTPHeaderField: "Content-Length")
            let task = session.uploadTask(withStreamedRequest: request)
            task.resume()
            await delegate.transcript.completed.wait()
            #expect((task.error as? URLError)?.code == .dataLengthExceedsMaximum)
            session.invalidateAndCancel()
        }
    }

    // MARK: Sending again

    @Test(
        "B4.12, B11.8, B11.12: after a 307 an upload's body is sent again and counted from the beginning",
        arguments: Source.allCases)
    func redirected(source: Source) async throws {
        let router: LoopbackServer.Router = { request in
            request.path == "/to" ? Self.describing(request) : .status(307).adding("Location", "/to")
        }
        try await withServer(router: router) { server in
            let file = try UploadFile(count: 0)
            try Data(Self.content).write(to: file.url)
            let delegate = UploadDelegate(.stream { InputStream(data: Data(Self.content)) })
            let session = session(delegate)
            let request = uploading(try server.at("/from"))
            upload(request, source, file, in: session)
            await delegate.transcript.completed.wait()
            let asked = source == .stream ? ["stream"] : []
            #expect(
                delegate.transcript.calls == asked + ["sent", "redirect 307"] + asked
                    + ["sent", "response 200", "data", "complete nil"])
            #expect(delegate.transcript.body.hasSuffix("the content of the upload"))
            let count = Int64(Self.content.count)
            #expect(delegate.progress.value.map { $0[0] }.reduce(0, +) == 2 * count)
            #expect(delegate.progress.value.last?[1] == count)
            session.invalidateAndCancel()
        }
    }

    @Test("B4.9, B4.11: after a 303 an upload goes on as a GET without body", arguments: Source.allCases)
    func seeOther(source: Source) async throws {
        let router: LoopbackServer.Router = { request in
            request.path == "/to"
                ? .text("\(request.method) \(request.body.count)") : .status(303).adding("Location", "/to")
        }
        try await withServer(router: router) { server in
            let file = try UploadFile(count: 100)
            let delegate = UploadDelegate(.stream { InputStream(data: Data(Self.content)) })
            let session = session(delegate)
            let request = uploading(try server.at("/from"))
            upload(request, source, file, in: session)
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.body == "GET 0")
            #expect(delegate.transcript.calls.last == "complete nil")
            session.invalidateAndCancel()
        }
    }

    // MARK: Progress and early answers

    @Test("B11.14, B11.15: a data task with a body reports progress, an empty body does not")
    func dataTaskProgress() async throws {
        try await withServer(router: { _ in .status(200) }) { server in
            for body in ["12345", ""] {
                let delegate = UploadDelegate()
                let session = session(delegate)
                var request = uploading(try server.at("/"))
                request.httpBody = Data(body.utf8)
                session.dataTask(with: request).resume()
                await delegate.transcript.completed.wait()
                #expect(delegate.progress.value == (body.isEmpty ? [] : [[5, 5, 5]]))
                session.uploadTask(with: request, from: Data(body.utf8)).resume()
                await delegate.transcript.completed.wait(times: 2)
                #expect(delegate.progress.value == (body.isEmpty ? [] : [[5, 5, 5], [5, 5, 5]]))
                session.invalidateAndCancel()
            }
        }
    }

    @Test(
        "B11.17, B5.42: the answer of a server that refuses early and closes is delivered, for every source of the body",
        arguments: Source.allCases)
    func refusedEarly(source: Source) async throws {
        var options = LoopbackServer.Options()
        options.keptBodyBytes = 0
        options.earlyRouter = { _ in ServerResponse.text("too large", status: 413).closing() }
        try await withServer(options, router: { _ in .status(500) }) { server in
            let file = try UploadFile(count: 10)
            #expect(truncate(file.url.path, 64 << 20) == 0)
            let hand = StreamHand()
            hand.supply([UInt8](repeating: 1, count: 100_000))
            let delegate = UploadDelegate(.stream { HandStream(hand) })
            let session = session(delegate)
            let request = uploading(try server.at("/"))
            switch source {
            case .data: session.uploadTask(with: request, from: Data(count: 64 << 20)).resume()
            case .file: session.uploadTask(with: request, fromFile: file.url).resume()
            case .stream: session.uploadTask(withStreamedRequest: request).resume()
            }
            await delegate.transcript.completed.wait()
            hand.end()
            #expect(delegate.transcript.body == "too large")
            #expect(delegate.transcript.calls.suffix(3) == ["response 413", "data", "complete nil"])
            #expect(server.stats.bytesReceived < 64 << 20)
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B11.18, B11.19, B11.21, B5.41: the delegate hears of 1xx answers, which are never the response, but not of 100"
    )
    func informational() async throws {
        let script: [ScriptStep] = [
            .lines("HTTP/1.1 100 Continue\n\n"), .lines("HTTP/1.1 103 Early Hints\nLink: </a>\n\n"),
            .lines("HTTP/1.1 200 OK\nContent-Length: 0\n\n"),
        ]
        try await withServer(router: { _ in .script(script) }) { server in
            let delegate = RecordingDelegate()
            let session = session(delegate)
            let task = session.uploadTask(with: uploading(try server.at("/")), from: Data(Self.content))
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(
                delegate.transcript.calls.filter { !$0.hasPrefix("sent") } == [
                    "created 1", "informational 103", "response 200", "metrics 1", "complete nil",
                ])
            #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
            session.invalidateAndCancel()
        }
    }

    @Test("B5.40: an upload with Expect sends its body to a server that stays silent, and not to one that refuses")
    func expectation() async throws {
        var options = LoopbackServer.Options()
        options.earlyRouter = { $0.path == "/refused" ? ServerResponse.text("no", status: 401).closing() : nil }
        try await withServer(options, router: Self.describing) { server in
            let session = session()
            var refused = uploading(try server.at("/refused"))
            refused.setValue("100-continue", forHTTPHeaderField: "Expect")
            let (body, response) = try await session.upload(for: refused, from: Data(Self.content))
            #expect((response as? HTTPURLResponse)?.statusCode == 401)
            #expect(String(decoding: body, as: UTF8.self) == "no")
            #expect(server.stats.requests == 0, "the body never came")
            var silent = refused
            silent.url = try server.at("/silent")
            let (late, _) = try await session.upload(for: silent, from: Data(Self.content))
            #expect(String(decoding: late, as: UTF8.self).hasSuffix("the content of the upload"))
            session.invalidateAndCancel()
        }
    }
}
