// Uploads that are cancelled or fail, and go on later: resume data (behaviour 11.2).

import Foundation
import Testing
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingTestSupport
import URLLoadingWire

@testable import URLLoading

@Suite("Resume data of uploads", .endsSessions)
struct UploadResumeDataTests {
    /// Larger than what the kernel's buffers take of it, so that an upload is still under way when it is cancelled.
    private static let count = 8_000_000

    private static func text(_ result: (Data, URLResponse)) -> String {
        "\((result.1 as? HTTPURLResponse)?.statusCode ?? 0) \(String(decoding: result.0, as: UTF8.self))"
    }

    private static func expected(_ file: UploadFile) -> String {
        "200 \(file.bytes.count) \(HashFunctions.sha256(file.bytes))"
    }

    /// Sessions that do not go on by themselves.
    static func impatient(_ configuration: URLSessionConfiguration) {
        hasty(configuration)
        var patience = configuration.uploadPatience
        patience.attempts = 0
        configuration.uploadPatience = patience
    }

    /// Resume data of an upload of this file that broke off after so many bytes.
    private func interrupted(_ file: UploadFile, _ server: LoopbackServer, fields: [String: String] = [:]) async throws
        -> Data
    {
        var request = uploading(try server.at("/files"))
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        do {
            _ = try await visitor(nil, storage: nil, Self.impatient).upload(for: request, fromFile: file.url)
        } catch let error as URLError {
            #expect(error.code == .networkConnectionLost)
            return try #require(error.uploadTaskResumeData)
        }
        throw URLError(.unknown)
    }

    @Test("B11.27, B11.29: a failed upload has resume data, by which each kind of call goes on in another session")
    func afterFailure() async throws {
        for way in 0..<3 {
            try await withStore {
                $0.cuts = [400_000]
            } _: { server, store in
                let file = try UploadFile(count: 1_000_000)
                let data = try await interrupted(file, server)
                #expect(store.log == ["POST ?1"])
                switch way {
                case 0:
                    let result = try await visitor().upload(resumeFrom: data)
                    #expect(Self.text(result) == Self.expected(file))
                case 1:
                    let ended = Signal()
                    let result = Guarded("")
                    visitor().uploadTask(withResumeData: data) { data, _, error in
                        result.value = String(decoding: data ?? Data(), as: UTF8.self)
                        ended.fire()
                    }.resume()
                    await ended.wait()
                    #expect("200 " + result.value == Self.expected(file))
                default:
                    let delegate = ResumingDelegate()
                    let task = visitor(delegate).uploadTask(withResumeData: data)
                    #expect(task.originalRequest?.url == (try server.at("/files")))
                    task.resume()
                    await delegate.transcript.completed.wait()
                    #expect(delegate.transcript.calls == ["response 200 /files", "data", "complete nil"])
                    // B11.10: the counts that the delegate hears go on from the offset.
                    #expect(delegate.progress.value.first.map { $0[1] - $0[0] } == 400_000)
                    #expect(delegate.progress.value.last.map { Array($0[1...]) } == [1_000_000, 1_000_000])
                }
                #expect(store.log == ["POST ?1", "HEAD", "PATCH 400000 ?1"])
            }
        }
    }

    @Test("B11.29, B10.5: an upload goes on in a background session, which sends what is left of the file")
    func inBackground() async throws {
        try await withStore {
            $0.cuts = [400_000]
        } _: { server, store in
            let file = try UploadFile(count: 1_000_000)
            let data = try await interrupted(file, server)
            let folder = BackgroundFolder()
            try await withBackgroundSession(folder.configuration()) { session, scribe in
                session.uploadTask(withResumeData: data).resume()
                await scribe.ended.wait()
                #expect(scribe.transcript.calls.last == "end 1 nil")
            }
            #expect(folder.names.isEmpty)
            #expect(store.log == ["POST ?1", "HEAD", "PATCH 400000 ?1"])
        }
    }

    @Test("B11.26: cancelling gives resume data if the server has named a resource, and the error has them too")
    func cancelled() async throws {
        try await withStore { server, store in
            let file = try UploadFile(count: Self.count)
            let delegate = ResumingDelegate()
            let session = visitor(delegate)
            let task = session.uploadTask(with: uploading(try server.at("/files")), fromFile: file.url)
            task.resume()
            await delegate.informed.wait()
            let data = await task.cancelByProducingResumeData()
            await delegate.transcript.completed.wait()
            // The last bytes may have been faster than the cancellation.
            if delegate.error.value == nil {
                #expect(data == nil)
            } else {
                #expect(delegate.error.value?.code == .cancelled)
                #expect(delegate.error.value?.uploadTaskResumeData == data)
                let result = try await visitor().upload(resumeFrom: try #require(data))
                #expect(["204 ", Self.expected(file)].contains(Self.text(result)))
            }
            #expect(store.summaries.map(\.byteCount) == [Int64(Self.count)])
            #expect(await task.cancelByProducingResumeData() == nil)
        }
    }

    @Test(
        "B11.26: there are no resume data without a 104, without a file, before the beginning, or after a plain cancel")
    func nothingToGoOnWith() async throws {
        let gate = ServerGate()
        var options = LoopbackServer.Options()
        options.earlyRouter = { _ in .script([.wait(gate), .drop]) }
        try await withServer(options, router: { _ in .status(500) }) { server in
            let file = try UploadFile(count: 10)
            let request = uploading(try server.at("/"))
            let session = visitor()
            let task = session.uploadTask(with: request, fromFile: file.url)
            #expect(await task.cancelByProducingResumeData() == nil)
            let begun = session.uploadTask(with: request, fromFile: file.url)
            begun.resume()
            await server.wait { $0.requestsBegun >= 1 }
            #expect(await begun.cancelByProducingResumeData() == nil)
            gate.open()
        }
        try await withStore { server, _ in
            let file = try UploadFile(count: Self.count)
            let delegate = ResumingDelegate()
            let task = visitor(delegate).uploadTask(with: uploading(try server.at("/files")), fromFile: file.url)
            task.resume()
            await delegate.informed.wait()
            task.cancel()
            await delegate.transcript.completed.wait()
            #expect(delegate.error.value?.uploadTaskResumeData == nil)
        }
    }

    @Test("B11.29: resume data of a task that never began are given back")
    func givenBack() async throws {
        try await withStore {
            $0.cuts = [10]
        } _: { server, _ in
            let file = try UploadFile(count: 1000)
            let data = try await interrupted(file, server)
            #expect(await visitor().uploadTask(withResumeData: data).cancelByProducingResumeData() == data)
        }
    }

    @Test("B11.34: an upload of which the server has everything counts everything, although nothing is left to send")
    func wholeAlready() async throws {
        try await withStore {
            $0.losesFirstAnswer = true
        } _: { server, store in
            let file = try UploadFile(count: 1000)
            let data = try await interrupted(file, server)
            let delegate = ResumingDelegate(Data())
            let task = visitor(delegate).uploadTask(withResumeData: data)
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls.last == "complete nil")
            #expect(task.countOfBytesSent == 1000 && task.countOfBytesExpectedToSend == 1000)
            #expect(store.log == ["POST ?1", "HEAD"])
        }
    }

    @Test("B11.29: a file that has changed, or is gone, is not sent")
    func changedFiles() async throws {
        try await withStore {
            $0.cuts = [10]
        } _: { server, store in
            let file = try UploadFile(count: 1000)
            let data = try await interrupted(file, server)
            let session = visitor()
            // The file has its old length, and was written to at another time.
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_000_000)], ofItemAtPath: file.url.path)
            #expect(await codeThrown { _ = try await session.upload(resumeFrom: data) } == .cannotOpenFile)
            try Data(file.bytes + [0]).write(to: file.url)
            #expect(await codeThrown { _ = try await session.upload(resumeFrom: data) } == .cannotOpenFile)
            try FileManager.default.removeItem(at: file.url)
            #expect(await codeThrown { _ = try await session.upload(resumeFrom: data) } == .fileDoesNotExist)
            #expect(store.log == ["POST ?1"])
        }
    }

    @Test("B11.29: a task from data that are no resume data fails with −1002, by each kind of call")
    func garbage() async throws {
        let session = visitor()
        var random = SeededRandomBytes()
        for data in [Data(), Data("{}".utf8), Data("bplist00".utf8), random.data(1000), Data(count: 9 << 20)] {
            do {
                _ = try await session.upload(resumeFrom: data)
                Issue.record("it did not fail")
            } catch let error as URLError {
                #expect(error.code == .unsupportedURL)
                #expect(error.localizedDescription.contains("resumed"))
                #expect(error.uploadTaskResumeData == nil)
            }
        }
        let delegate = ResumingDelegate()
        visitor(delegate).uploadTask(withResumeData: Data("x".utf8)).resume()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.calls == ["complete -1002"])
    }

    @Test("B11.29: forged resume data are refused: no other resource is asked, and no other file is sent")
    func forged() async throws {
        try await withStore {
            $0.cuts = [10]
        } _: { server, store in
            let file = try UploadFile(count: 1000)
            let data = try await interrupted(file, server)
            let text = String(decoding: data, as: UTF8.self)
            let resource = #""resource":"http:\/\/127.0.0.1:\#(server.port)\/uploads\/1""#
            try #require(text.contains(resource))
            let forgeries = [
                (resource, #""resource":"http:\/\/127.0.0.2:1\/u""#), (resource, #""resource":"file:\/\/\/u""#),
                (resource, #""resource":"""#), (#""version":1"#, #""version":2"#),
                (#""version":1"#, #""version":null"#),
                (#""byteCount":1000"#, #""byteCount":-1"#), (#""byteCount":1000"#, #""byteCount":1e99"#),
                (#""path":"\/"#, #""path":"..\/"#), (#""isStream":false"#, #""isStream":true"#),
            ]
            let session = visitor()
            for (part, other) in forgeries {
                try #require(text.contains(part), "\(part) in \(text)")
                let forged = Data(text.replacingOccurrences(of: part, with: other).utf8)
                let code = await codeThrown { _ = try await session.upload(resumeFrom: forged) }
                #expect(code == .unsupportedURL, "\(other)")
            }
            #expect(store.log == ["POST ?1"])
        }
    }

    @Test("B11.27: resume data hold no secrets")
    func noSecrets() async throws {
        try await withStore {
            $0.cuts = [10]
        } _: { server, _ in
            let file = try UploadFile(count: 1000)
            let fields = [
                "Authorization": "Bearer secret", "Cookie": "a=secret", "Proxy-Authorization": "secret",
                "X-Kind": "kept",
            ]
            let text = String(decoding: try await interrupted(file, server, fields: fields), as: UTF8.self)
            #expect(!text.contains("secret"))
            #expect(text.contains("kept"))
        }
    }

    @Test("B11.38: two tasks may go on with one upload one after the other, but not at the same time")
    func oneAtATime() async throws {
        let gate = ServerGate()
        let begun = Signal()
        try await withStore {
            $0.cuts = [10]
            $0.answer = { _ in
                begun.fire()
                return .slow([ServerResponse.Piece("done", when: gate)])
            }
        } _: { server, store in
            let file = try UploadFile(count: 1000)
            let data = try await interrupted(file, server)
            let session = visitor()
            async let first = session.upload(resumeFrom: data)
            await begun.wait()
            let code = await codeThrown { _ = try await session.upload(resumeFrom: data) }
            #expect(code == .cannotConnectToHost)
            gate.open()
            #expect(Self.text(try await first) == "200 done")
            #expect(Self.text(try await session.upload(resumeFrom: data)) == "204 ")
            #expect(store.log == ["POST ?1", "HEAD", "PATCH 10 ?1", "HEAD"])
        }
    }

    @Test("B11.38: an upload that has moved to where another task is at work (B11.35) does not go on there, but later")
    func oneAtATimeBehindMoves() async throws {
        let gate = ServerGate()
        let begun = Signal()
        let visits = Visits()
        var options = LoopbackServer.Options()
        options.earlyRouter = { request in
            guard request.method == "POST" else { return nil }
            return .script([
                .lines("HTTP/1.1 104 x\nUpload-Draft-Interop-Version: 8\nLocation: /old\(request.path)\n\n"),
                .waitForRequest, .drop,
            ])
        }
        try await withServer(options) { request in
            visits.note(request)
            guard request.path == "/one" else {
                return ServerResponse(status: 308, body: .none).adding("Location", "/one")
            }
            guard request.method == "PATCH" else {
                return ServerResponse(status: 204, body: .none).adding("Upload-Offset", "4")
            }
            guard visits.lines.count(where: { $0 == "PATCH /one" }) == 1 else {
                return ServerResponse.text("later").adding("Upload-Complete", "?1")
            }
            begun.fire()
            return ServerResponse.slow([ServerResponse.Piece("done", when: gate)]).adding("Upload-Complete", "?1")
        } _: { server in
            let file = try UploadFile(count: 10)
            let url = file.url
            let session = visitor(nil, storage: nil, hasty)
            let requests = [uploading(try server.at("/a")), uploading(try server.at("/b"))]
            async let first = session.upload(for: requests[0], fromFile: url)
            await begun.wait()
            // Where the upload was before is free again.
            let left = try server.at("/old/a").absoluteString
            #expect(UploadClaim.take(left) != nil)
            var data: Data?
            do {
                let second = try await session.upload(for: requests[1], fromFile: url)
                Issue.record("two at one resource: \(Self.text(second))")
            } catch let error as URLError {
                #expect(error.code == .cannotConnectToHost)
                data = error.uploadTaskResumeData
            }
            gate.open()
            #expect(Self.text(try await first) == "200 done")
            let later = try await session.upload(resumeFrom: try #require(data))
            #expect(Self.text(later) == "200 later")
            #expect(
                visits.lines == [
                    "HEAD /old/a", "HEAD /one", "PATCH /one", "HEAD /old/b", "HEAD /one", "PATCH /one",
                ])
        }
    }

    @Test("B11.30: the rest of a stream is asked for where the server left off, and without one the task fails")
    func streams() async throws {
        for hasStream in [true, false] {
            try await withStore {
                $0.cuts = [300_000]
            } _: { server, store in
                let file = try UploadFile(count: 500_000)
                let delegate = ResumingDelegate(Data(file.bytes))
                let session = visitor(delegate) {
                    Self.impatient($0)
                    $0.resumableUploads = .always
                }
                session.uploadTask(withStreamedRequest: uploading(try server.at("/files"))).resume()
                await delegate.transcript.completed.wait()
                let data = try #require(delegate.error.value?.uploadTaskResumeData)
                if hasStream {
                    let later = ResumingDelegate(Data(file.bytes))
                    visitor(later).uploadTask(withResumeData: data).resume()
                    await later.transcript.completed.wait()
                    #expect(later.transcript.calls == ["stream 300000", "response 200 /files", "data", "complete nil"])
                    #expect("200 " + later.transcript.body == Self.expected(file))
                } else {
                    let later = NoStreams()
                    visitor(later).uploadTask(withResumeData: data).resume()
                    await later.transcript.completed.wait()
                    #expect(later.transcript.calls == ["complete -1021"])
                    #expect(store.summaries.isEmpty)
                }
            }
        }
    }

    @Test("B11.34: the requests that go on carry credentials and cookies like all others")
    func authentication() async throws {
        let visits = Visits()
        var options = LoopbackServer.Options()
        // Lets in the first request to send something, and loses it.
        options.earlyRouter = { request in
            request.method == "POST" && request.fields.first(.authorization) != nil
                ? .script([
                    .lines("HTTP/1.1 104 x\nUpload-Draft-Interop-Version: 8\nLocation: /u\n\n"), .waitForRequest, .drop,
                ]) : nil
        }
        try await withServer(options) { request in
            visits.note(
                "\(request.method) \(request.fields.first(.authorization) != nil) \(request.fields.first(.cookie) ?? "-")"
            )
            guard request.fields.first(.authorization) == basic("u", "p") else {
                return ServerResponse.denied("Basic realm=\"r\"").adding("Set-Cookie", "a=\(request.method); Path=/")
            }
            return request.method == "HEAD"
                ? ServerResponse(status: 204, body: .none).adding("Upload-Offset", "4")
                : .text("\(request.method) \(request.bodyByteCount)").adding("Upload-Complete", "?1")
        } _: { server in
            let file = try UploadFile(count: 10)
            let storage = URLCredentialStorage()
            let space = URLProtectionSpace(
                host: "127.0.0.1", port: server.port, protocol: "http", realm: "r",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            storage.setDefaultCredential(URLCredential(user: "u", password: "p", persistence: .forSession), for: space)
            let session = visitor(nil, storage: storage, hasty)
            let result = try await session.upload(for: uploading(try server.at("/files")), fromFile: file.url)
            #expect(Self.text(result) == "200 PATCH 6")
            #expect(visits.lines.first == "POST false -")
            #expect(
                visits.lines.suffix(2) == ["HEAD true a=POST", "PATCH true a=POST"]
                    || visits.lines.contains("HEAD false a=POST"))
            #expect(visits.lines.last == "PATCH true a=\(visits.lines.contains("HEAD false a=POST") ? "HEAD" : "POST")")
        }
    }

    @Test("B11.35: a 401 without a credential for it ends the upload, and the response stays unseen")
    func refusedQuestion() async throws {
        try await withStore {
            $0.cuts = [10]
            $0.refusals = ["HEAD": [401]]
        } _: { server, store in
            let file = try UploadFile(count: 1000)
            let delegate = ResumingDelegate()
            visitor(delegate, storage: nil, hasty).uploadTask(
                with: uploading(try server.at("/files")), fromFile: file.url
            )
            .resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls == ["104", "complete -1011"])
            #expect(delegate.error.value?.uploadTaskResumeData != nil)
            #expect(store.log == ["POST ?1", "HEAD"])
        }
    }

    @Test(
        "B11.28: a task that waits before it goes on can be cancelled for resume data, and is released then",
        .timeLimit(.minutes(5)))
    func cancelledWhileWaiting() async throws {
        try await withStore {
            $0.cuts = [10]
        } _: { server, store in
            let file = try UploadFile(count: 1000)
            let delegate = ResumingDelegate()
            let session = visitor(delegate, storage: nil) { configuration in
                var patience = configuration.uploadPatience
                patience.firstDelay = .seconds(1000)
                patience.longestDelay = .seconds(1000)
                configuration.uploadPatience = patience
            }
            let left = LeftBehind()
            let request = uploading(try server.at("/files"))
            let data = await {
                let task = session.uploadTask(with: request, fromFile: file.url)
                left.core = task.core
                task.resume()
                await delegate.informed.wait()
                await server.wait { $0.connectionsAccepted == 1 && $0.connectionsOpen == 0 }
                let data = await task.cancelByProducingResumeData()
                await delegate.transcript.completed.wait()
                // B11.34: not the request that was going to ask for the offset.
                #expect(task.currentRequest?.httpMethod == "POST")
                return data
            }()
            #expect(delegate.error.value?.code == .cancelled)
            #expect(store.log == ["POST ?1"])
            // The pause would be over in a quarter of an hour.
            try await until { left.core == nil }
            let result = try await visitor().upload(resumeFrom: try #require(data))
            #expect(Self.text(result) == Self.expected(file))
        }
    }

    @Test(
        "B11.28, B11.33: through twenty lost connections everything arrives once and whole, without being held in memory"
    )
    func torment() async throws {
        let run = try await ChildRun.run(testProgram: "upload", ["torment", "67108864", "20", "7"])
        #expect(run.exitCode == 0, "\(run.outputText) \(run.complaintsText)")
        #expect(run.outputText.contains("arrived         once and whole"))
        #expect(run.outputText.contains("connections cut 20 of 20"))
    }
}

/// An object that should be released.
private final class LeftBehind: @unchecked Sendable {
    // Written once, before it is read, and weak references may be read from any thread.
    weak var core: TaskCore?
}

/// Random bytes.
private struct SeededRandomBytes {
    private var state: UInt64 = 42

    mutating func data(_ count: Int) -> Data {
        Data(
            (0..<count).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 33)
            })
    }
}
