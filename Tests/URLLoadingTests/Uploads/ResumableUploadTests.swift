// Uploads through lost connections, seen from the program and from the server (behaviour 11.2).

import Foundation
import Testing
import URLLoading
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingTestSupport
import URLLoadingWire

/// A server with an upload store.
func withStore<R>(
    _ change: (inout UploadStore.Settings) -> Void = { _ in },
    router: @escaping LoopbackServer.Router = { .text("\($0.method) \($0.bodyByteCount)") },
    _ body: (LoopbackServer, UploadStore) async throws -> R
) async throws -> R {
    var settings = UploadStore.Settings()
    change(&settings)
    let store = UploadStore(settings)
    var options = LoopbackServer.Options()
    options.uploads = store
    return try await withServer(options, router: router) { try await body($0, store) }
}

/// A configuration that does not wait long.
func hasty(_ configuration: URLSessionConfiguration) {
    var patience = ResumableUploadMachine.Patience()
    patience.attempts = 3
    patience.firstDelay = .milliseconds(1)
    configuration.uploadPatience = patience
}

@Suite("Resumable uploads", .endsSessions)
struct ResumableUploadTests {
    private static func text(_ result: (Data, URLResponse)) -> String {
        "\((result.1 as? HTTPURLResponse)?.statusCode ?? 0) \(String(decoding: result.0, as: UTF8.self))"
    }

    private static func expected(_ file: UploadFile) -> String {
        "200 \(file.bytes.count) \(HashFunctions.sha256(file.bytes))"
    }

    /// A server that says where an upload can go on, takes all of it and drops the connection, with each request of
    /// these methods.
    private static func dropping(_ methods: String...) -> LoopbackServer.Options {
        var options = LoopbackServer.Options()
        options.earlyRouter = { request in
            methods.contains(request.method)
                ? .script([
                    .lines("HTTP/1.1 104 x\nUpload-Draft-Interop-Version: 8\nLocation: /u\n\n"), .waitForRequest, .drop,
                ]) : nil
        }
        return options
    }

    /// The error that ends the upload of a file of so many bytes, by a session that does not wait long.
    private func errorOfUpload(count: Int = 10, to url: URL) async throws -> URLError? {
        let file = try UploadFile(count: count)
        let session = visitor(nil, storage: nil, hasty)
        return await #expect(throws: URLError.self) {
            _ = try await session.upload(for: uploading(url), fromFile: file.url)
        }
    }

    // MARK: Ordinary uploads

    @Test(
        "B11.23, B11.24, B11.39: uploads of files offer resumption, other uploads if that is set, and data tasks never"
    )
    func offers() async throws {
        typealias Mode = URLSessionConfiguration.ResumableUploads
        let router: LoopbackServer.Router = { request in
            let fields = ["Upload-Complete", "Upload-Draft-Interop-Version"].map {
                request.fields.first(FieldName($0)) ?? "-"
            }
            return .text(fields.joined(separator: " "))
        }
        try await withServer(router: router) { server in
            let file = try UploadFile(count: 10)
            let empty = try UploadFile(count: 0)
            var request = uploading(try server.at("/"))
            for (mode, ofFile, ofData) in [
                (nil, "?1 8", "- -"), (Mode.never, "- -", "- -"), (.ofFiles, "?1 8", "- -"), (.always, "?1 8", "?1 8"),
            ] {
                let session = visitor { if let mode { $0.resumableUploads = mode } }
                #expect(session.configuration.resumableUploads == mode ?? .ofFiles)
                #expect(try await Self.text(session.upload(for: request, fromFile: file.url)) == "200 \(ofFile)")
                #expect(try await Self.text(session.upload(for: request, from: Data("x".utf8))) == "200 \(ofData)")
                #expect(try await Self.text(session.upload(for: request, fromFile: empty.url)) == "200 - -")
                request.httpBody = Data("x".utf8)
                #expect(try await Self.text(session.data(for: request)) == "200 - -")
                request.httpBody = nil
            }
            // A program that speaks the protocol itself is left alone.
            request.setValue("?0", forHTTPHeaderField: "Upload-Complete")
            #expect(try await Self.text(visitor().upload(for: request, fromFile: file.url)) == "200 ?0 -")
        }
    }

    @Test("B11.25: without a loss a resumable upload is one request on one connection")
    func noLoss() async throws {
        try await withStore { server, store in
            let file = try UploadFile(count: 300_000)
            let session = visitor()
            let result = try await session.upload(for: uploading(try server.at("/files")), fromFile: file.url)
            #expect(Self.text(result) == Self.expected(file))
            #expect(store.log == ["POST ?1"])
            #expect(server.stats.connectionsAccepted == 1)
        }
    }

    @Test("B11.25, B11.28: without a 104 a loss ends the upload, and nothing can go on")
    func ordinaryLoss() async throws {
        var options = LoopbackServer.Options()
        options.earlyRouter = { _ in .script([.drop]) }
        try await withServer(options, router: { _ in .status(500) }) { server in
            let error = try await errorOfUpload(to: server.at("/"))
            #expect(error?.code == .networkConnectionLost)
            #expect(error?.uploadTaskResumeData == nil)
            #expect(server.stats.requestsBegun == 1)
        }
    }

    // MARK: Losses

    enum Source: CaseIterable, Sendable { case file, data, stream }

    @Test(
        "B11.28, B11.30, B11.31, B11.32, B11.34: an upload goes on by itself, and the delegate sees nothing but its answer",
        arguments: Source.allCases)
    func goesOn(source: Source) async throws {
        try await withStore {
            $0.cuts = [100_000, 700_000]
        } _: { server, store in
            let file = try UploadFile(count: 1_000_000)
            let delegate = ResumingDelegate(Data(file.bytes))
            let session = visitor(delegate) {
                hasty($0)
                $0.resumableUploads = .always
            }
            let request = uploading(try server.at("/files"))
            let task: URLSessionUploadTask =
                switch source {
                case .file: session.uploadTask(with: request, fromFile: file.url)
                case .data: session.uploadTask(with: request, from: Data(file.bytes))
                case .stream: session.uploadTask(withStreamedRequest: request)
                }
            task.resume()
            await delegate.transcript.completed.wait()
            let streams = source == .stream ? ["stream 0", "stream 100000", "stream 700000"] : []
            #expect(
                delegate.transcript.calls.filter { !$0.hasPrefix("stream") } == [
                    "104", "response 200 /files", "data", "complete nil",
                ])
            #expect(delegate.transcript.calls.filter { $0.hasPrefix("stream") } == streams)
            #expect("200 " + delegate.transcript.body == Self.expected(file))
            #expect(store.log == ["POST ?1", "HEAD", "PATCH 100000 ?1", "HEAD", "PATCH 700000 ?1"])
            #expect(store.cutCount == 2)
            #expect(task.currentRequest?.httpMethod == "POST")
            #expect(task.currentRequest?.url?.path == "/files")
            #expect(task.countOfBytesSent == 1_000_000)
            #expect(delegate.metrics.value == 5)
            // The counts that the delegate hears add up behind each offset, and end with the whole length.
            let last = try #require(delegate.progress.value.last)
            #expect(last[1] == 1_000_000)
            #expect(last[2] == (source == .stream ? -1 : 1_000_000))
            for (before, after) in zip(delegate.progress.value, delegate.progress.value.dropFirst()) {
                let start = [before[1], 100_000, 700_000]
                #expect(start.contains(after[1] - after[0]))
            }
        }
    }

    @Test("B11.28, B6.29: over HTTP/2 an upload with PUT goes on where it was, too, and is not begun anew")
    func goesOnOverHTTP2() async throws {
        var settings = UploadStore.Settings()
        // Behind the stream's first window, which does not grow before the 104 has been heard of.
        settings.cuts = [1_100_000]
        let store = UploadStore(settings)
        let gate = ServerGate()
        var options = LoopbackServer.Options()
        options.http2 = .offered
        options.uploads = store
        options.bodyGate = { $0.method == "PUT" ? gate : nil }
        try await withServer(options, router: { _ in ServerResponse(status: 204, body: .none) }) { server in
            let file = try UploadFile(count: 1_200_000)
            let delegate = ResumingDelegate()
            let session = visitor(delegate) {
                hasty($0)
                $0.http2 = .priorKnowledge
            }
            session.dataTask(with: try server.at("/")).resume()
            await delegate.transcript.completed.wait()
            session.uploadTask(with: uploading(try server.at("/files"), method: "PUT"), fromFile: file.url).resume()
            await delegate.informed.wait()
            gate.open()
            await delegate.transcript.completed.wait(times: 2)
            #expect("200 " + delegate.transcript.body == Self.expected(file))
            #expect(store.log == ["PUT ?1", "HEAD", "PATCH 1100000 ?1"])
            #expect(server.stats.http2Connections == 2)
        }
    }

    @Test("B11.34: if the server has the whole body and its answer was lost, its answer to the next HEAD is the task's")
    func lostAnswer() async throws {
        try await withStore {
            $0.losesFirstAnswer = true
        } _: { server, store in
            let file = try UploadFile(count: 1000)
            let session = visitor(nil, storage: nil, hasty)
            let result = try await session.upload(for: uploading(try server.at("/files")), fromFile: file.url)
            #expect(Self.text(result) == "204 ")
            #expect(store.log == ["POST ?1", "HEAD"])
            #expect(store.summaries.count == 1)
        }
    }

    @Test("B11.34: any answer to the rest of the body is the task's, redirects included")
    func answers() async throws {
        let moved: @Sendable (UploadStore.Summary) -> ServerResponse = { _ in
            ServerResponse.status(303).adding("Location", "../done?a")
        }
        try await withStore {
            $0.cuts = [10]
            $0.answer = moved
        } router: {
            .text("\($0.method) \($0.target)")
        } _: { server, store in
            let file = try UploadFile(count: 1000)
            let session = visitor(nil, storage: nil, hasty)
            let result = try await session.upload(for: uploading(try server.at("/a/b/files")), fromFile: file.url)
            #expect(Self.text(result) == "200 GET /done?a")
            #expect(store.summaries.count == 1)
        }
        try await withStore {
            $0.cuts = [10]
            $0.answer = { _ in .text("no", status: 422) }
        } _: { server, _ in
            let file = try UploadFile(count: 1000)
            let session = visitor(nil, storage: nil, hasty)
            let result = try await session.upload(for: uploading(try server.at("/a/files")), fromFile: file.url)
            #expect(Self.text(result) == "422 no")
        }
    }

    @Test("B11.35: a busy server is asked again; another refusal ends the upload")
    func refusals() async throws {
        for (refusals, code) in [
            (["HEAD": [503, 500]], nil), (["PATCH": [409]], nil), (["PATCH": [500], "HEAD": [503]], nil),
            (["HEAD": [503, 503, 503, 503]], URLError.Code.networkConnectionLost),
            (["HEAD": [404]], .badServerResponse),
            (["PATCH": [410]], .badServerResponse), (["PATCH": [403]], .badServerResponse),
            (["HEAD": [307]], .badServerResponse),
        ] {
            try await withStore {
                $0.cuts = [600]
                $0.refusals = refusals
            } _: { server, store in
                let file = try UploadFile(count: 1000)
                let session = visitor(nil, storage: nil, hasty)
                let request = uploading(try server.at("/files"))
                let thrown = await codeThrown {
                    let result = try await session.upload(for: request, fromFile: file.url)
                    #expect(Self.text(result) == Self.expected(file))
                }
                #expect(thrown == code, "\(refusals)")
                #expect(!store.log.contains("DELETE"))
            }
        }
    }

    @Test("B11.35, B4.33: an upload does not wait for the body of an answer to a request of its own")
    func unfinishedAnswer() async throws {
        let visits = Visits()
        let never = ServerGate()
        try await withServer(Self.dropping("POST")) { request in
            visits.note(request)
            if request.method == "HEAD" {
                return ServerResponse(status: 204, body: .none).adding("Upload-Offset", "5")
            }
            let isFirst = visits.count == 2
            return isFirst ? .slow([.init("busy"), .init("rest", when: never)]).with(status: 503) : .text("all of it")
        } _: { server in
            let file = try UploadFile(count: 10)
            let session = visitor(nil, storage: nil) {
                hasty($0)
                // An upload that waits for the rest ends by this.
                $0.timeoutIntervalForResource = 30
            }
            let result = try await session.upload(for: uploading(server.at("/")), fromFile: file.url)
            #expect(Self.text(result) == "200 all of it")
            #expect(visits.lines == ["HEAD /u", "PATCH /u", "HEAD /u", "PATCH /u"])
        }
    }

    @Test("B11.33: an upload is given up when the server has lost bytes that it had confirmed")
    func lostBytes() async throws {
        let visits = Visits()
        try await withServer(Self.dropping("POST", "PATCH")) { request in
            visits.note(request)
            // 5 bytes, then 3.
            return ServerResponse(status: 204, body: .none).adding("Upload-Offset", visits.count == 1 ? "5" : "3")
        } _: { server in
            let error = try await errorOfUpload(to: server.at("/"))
            #expect(error?.code == .badServerResponse)
            // B17.4: in a log of many servers each text says whose answer it was.
            let text = "The server has lost a part of the upload: it had 5 bytes and has 3 (127.0.0.1)."
            #expect(error?.localizedDescription == text)
            #expect(visits.lines == ["HEAD /u", "HEAD /u", "DELETE /u"])
        }
    }

    @Test(
        "B11.29: a file that was written to before its upload goes on is no rest of the one that was begun with",
        arguments: [false, true])
    func rewrittenFile(hasHandler: Bool) async throws {
        let visits = Visits()
        let file = try UploadFile(count: 10)
        let path = file.url.path
        try await withServer(Self.dropping("POST")) { request in
            visits.note(request)
            guard request.method == "HEAD" else { return .text("all of it") }
            // The same length, and another time.
            try? FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_000_000)], ofItemAtPath: path)
            return ServerResponse(status: 204, body: .none).adding("Upload-Offset", "5")
        } _: { server in
            let session = visitor(nil, storage: nil, hasty)
            let request = uploading(try server.at("/"))
            var failure: URLError?
            if hasHandler {
                failure = await withHandover { said in
                    let task = session.uploadTask(with: request, fromFile: file.url) { _, _, error in
                        said.resume(returning: error as? URLError)
                    }
                    task.resume()
                }
            } else {
                do { _ = try await session.upload(for: request, fromFile: file.url) } catch {
                    failure = error as? URLError
                }
            }
            #expect(failure?.code == .cannotOpenFile)
            #expect(failure?.uploadTaskResumeData == nil)
            #expect(visits.lines == ["HEAD /u"])
        }
    }

    @Test("B11.36: an upload is sent in parts of the size that the server takes")
    func parts() async throws {
        try await withStore {
            $0.cuts = [100]
            $0.limit = "max-append-size=400, max-size=2000"
        } _: { server, store in
            let file = try UploadFile(count: 1000)
            let session = visitor(nil, storage: nil, hasty)
            let result = try await session.upload(for: uploading(try server.at("/files")), fromFile: file.url)
            #expect(Self.text(result) == Self.expected(file))
            #expect(store.log == ["POST ?1", "HEAD", "PATCH 100 ?0", "PATCH 500 ?0", "PATCH 900 ?1"])
        }
    }

    @Test("B11.36: an upload above the server's max-size fails, and its resource is deleted")
    func tooLarge() async throws {
        try await withStore {
            $0.limit = "max-size=999999"
        } _: { server, store in
            let code = try await errorOfUpload(count: 1_000_000, to: server.at("/files"))?.code
            #expect(code == .dataLengthExceedsMaximum)
            #expect(store.log == ["POST ?1", "DELETE"])
            #expect(store.count == 0)
        }
    }

    // MARK: Hostile servers

    @Test(
        "B11.33, B11.37: impossible offsets end the upload after a few requests",
        arguments: ["-1", "999999999999999", "11", "99999999999999999999", "x", "1.0", ""])
    func hostileOffsets(offset: String) async throws {
        let visits = Visits()
        try await withServer(Self.dropping("POST")) { request in
            visits.note(request)
            return ServerResponse(status: 204, body: .none).adding("Upload-Offset", offset)
        } _: { server in
            let code = try await errorOfUpload(to: server.at("/"))?.code
            #expect(code == .badServerResponse || code == .networkConnectionLost)
            #expect(visits.count <= 10)
            #expect(visits.lines.first == "HEAD /u")
            #expect(!visits.lines.contains { $0.hasPrefix("PATCH") })
        }
    }

    @Test("B11.35: offsets that never advance end the upload after a fixed number of attempts")
    func noProgress() async throws {
        var options = LoopbackServer.Options()
        options.earlyRouter = { request in
            request.method == "HEAD"
                ? nil
                : .script([.lines("HTTP/1.1 104 x\nUpload-Draft-Interop-Version: 8\nLocation: /u\n\n"), .drop])
        }
        let visits = Visits()
        try await withServer(options) { request in
            visits.note(request)
            return ServerResponse(status: 204, body: .none).adding("Upload-Offset", "0").adding("Upload-Complete", "?0")
        } _: { server in
            let error = try await errorOfUpload(to: server.at("/"))
            #expect(error?.code == .networkConnectionLost)
            #expect(error?.uploadTaskResumeData != nil)
            #expect(visits.lines == ["HEAD /u", "HEAD /u", "HEAD /u"])
        }
    }

    @Test(
        "B11.23, B11.25: a resource of another origin or scheme is not used",
        arguments: ["http://127.0.0.2:1/u", "https://127.0.0.1/u", "file:///etc/passwd", "//evil.example/u"])
    func foreignResources(location: String) async throws {
        try await withStore {
            $0.cuts = [10]
            $0.location = { _ in location }
        } _: { server, store in
            let code = try await errorOfUpload(count: 100, to: server.at("/files"))?.code
            #expect(code == .networkConnectionLost)
            #expect(store.log == ["POST ?1"])
        }
    }

    @Test("B11.23, B11.25: a resource of another version of the protocol is not used")
    func foreignVersion() async throws {
        try await withStore {
            $0.cuts = [10]
            $0.version = "7"
        } _: { server, store in
            let code = try await errorOfUpload(count: 100, to: server.at("/files"))?.code
            #expect(code == .networkConnectionLost)
            #expect(store.log == ["POST ?1"])
        }
    }

    @Test("B11.25, B11.20: endless 104s are an error, not an endless task")
    func endlessInformation() async throws {
        var options = LoopbackServer.Options()
        let one = "HTTP/1.1 104 x\nUpload-Draft-Interop-Version: 8\nLocation: /u\nUpload-Offset: 0\n\n"
        options.earlyRouter = { _ in .script([.lines(String(repeating: one, count: 1000)), .waitForClose, .drop]) }
        try await withServer(options, router: { _ in .status(500) }) { server in
            let code = try await errorOfUpload(to: server.at("/"))?.code
            #expect(code == .badServerResponse)
        }
    }
}

/// Hears everything about an upload, and has streams that begin anywhere.
final class ResumingDelegate: NSObject, URLSessionDataDelegate {
    let transcript = Transcript()
    let progress = Guarded<[[Int64]]>([])
    let metrics = Guarded(0)
    let informed = Signal()
    let sent = Signal()
    let error = Guarded<URLError?>(nil)
    private let content: Data

    init(_ content: Data = Data()) { self.content = content }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        transcript.note("stream \(offset)")
        completionHandler(InputStream(data: Data(content.dropFirst(Int(offset)))))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        transcript.note("\(response.statusCode)")
        informed.fire()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        progress.change { $0.append([bytesSent, totalBytesSent, totalBytesExpectedToSend]) }
        sent.fire()
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transcript.note("response \((response as? HTTPURLResponse)?.statusCode ?? 0) \(response.url?.path ?? "-")")
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transcript.note(data: data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        self.metrics.change { $0 += metrics.transactionMetrics.count }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.error.value = error as? URLError
        transcript.note("complete \(Transcript.text(error))")
        transcript.completed.fire()
    }
}

extension HashFunctions {
    /// In hexadecimal digits.
    static func sha256(_ bytes: [UInt8]) -> String {
        (HashFunctions.system.hash(.sha256, bytes) ?? []).map { String(format: "%02x", $0) }.joined()
    }
}
