// Downloads that are cancelled or break off, and go on (behaviour 9.2): whole lists of calls, the
// requests, the files left.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Resumed downloads")
struct ResumptionTests {
    @Test(
        "B9.16, B9.17, B9.18: resume data of a cancelled download come on the delegate queue before the end, whose error has them too"
    )
    func cancelled() async throws {
        let half = HalfServer()
        try await withServer(router: half.router) { server in
            let given = Guarded<Data?>(nil)
            let isOnQueue = Guarded(false)
            let scribe = ResumptionScribe(onWrite: { task, transcript in
                task.cancel(byProducingResumeData: { data in
                    given.value = data
                    isOnQueue.value = OperationQueue.current?.name == "URLSession delegate queue"
                    transcript.note("data")
                })
            })
            let session = session(of: scribe)
            let task = session.downloadTask(with: try server.at("/"))
            task.resume()
            await scribe.transcript.completed.wait()
            #expect(scribe.transcript.calls == ["created 1", "wrote 5, 5 of 10", "data", "complete -999"])
            #expect(isOnQueue.value)
            let data = try #require(given.value)
            #expect(scribe.error.value?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data == data)
            #expect((task.error as? URLError)?.downloadTaskResumeData == data)
            let file = try partialFile(of: data)
            #expect(text(of: file) == "hello")
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
            try FileManager.default.removeItem(at: file)
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B1.100, B9.25, B9.26, B9.27, B9.36: a download goes on in another session, with a new identifier, behind the bytes it has"
    )
    func resumed() async throws {
        let half = HalfServer()
        try await withServer(router: half.router) { server in
            let data = try await halfOf(try server.at("/"))
            let scribe = ResumptionScribe()
            let session = session(of: scribe)
            session.dataTask(with: try server.at("/"))
            let task = session.downloadTask(withResumeData: data)
            #expect(task.state == .suspended)
            #expect(task.originalRequest?.url == (try server.at("/")))
            task.resume()
            await scribe.transcript.completed.wait()
            #expect(
                scribe.transcript.calls == [
                    "created 1", "created 2", "resumed 5 of 10", "wrote 5, 10 of 10", "finished helloworld",
                    "complete nil",
                ])
            #expect(half.asked.value == ["/", "/ bytes=5- if \"v1\""])
            #expect(task.countOfBytesReceived == 10)
            #expect(task.countOfBytesExpectedToReceive == 10)
            #expect((task.response as? HTTPURLResponse)?.statusCode == 206)
            #expect(scribe.locations.value.first?.pathExtension == "tmp")
            #expect(!FileManager.default.fileExists(atPath: try partialFile(of: data).path))
            session.invalidateAndCancel()
        }
    }

    @Test("B9.22, B9.26: without a strong ETag the rest is asked for by an old Last-Modified date")
    func byDate() async throws {
        let modified = "Tue, 14 Nov 2023 20:00:00 GMT"
        let half = HalfServer(
            "ETag: W/\"v1\"\r\nLast-Modified: \(modified)\r\nDate: Tue, 14 Nov 2023 21:00:00 GMT\r\nContent-Length: 10\r\n"
        )
        try await withServer(router: half.router) { server in
            let scribe = await goOn(with: try await halfOf(try server.at("/")))
            #expect(half.asked.value == ["/", "/ bytes=5- if \(modified)"])
            #expect(scribe.transcript.calls.contains("finished helloworld"))
        }
    }

    @Test("B9.19, B9.5: a plain cancellation keeps nothing, also where a later one asks for resume data")
    func plainly() async throws {
        let half = HalfServer()
        try await withServer(router: half.router) { server in
            let scribe = ResumptionScribe(onWrite: { task, transcript in
                task.cancel()
                task.cancel(byProducingResumeData: { transcript.note($0 == nil ? "no data" : "data") })
            })
            let session = session(of: scribe)
            session.downloadTask(with: try server.at("/")).resume()
            await scribe.transcript.completed.wait()
            #expect(scribe.transcript.calls == ["created 1", "wrote 5, 5 of 10", "no data", "complete -999"])
            #expect(scribe.error.value?.downloadTaskResumeData == nil)
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B9.20, B17.7: a download whose connection is lost or silent too long ends with resume data, and goes on by them",
        arguments: [("reset", -1005), ("close", -1005), ("silence", -1001)])
    func lost(kind: String, code: Int) async throws {
        let gate = ServerGate()
        let written = ServerGate()
        let ending: [ScriptStep] =
            switch kind {
            case "reset": [.wait(written), .reset]
            case "close": [.close]
            default: [.wait(gate)]
            }
        let half = HalfServer(ending: ending)
        try await withServer(router: half.router) { server in
            let scribe = ResumptionScribe(onWrite: { _, _ in written.open() })
            let session = session(of: scribe) { $0.timeoutIntervalForRequest = kind == "silence" ? 5 : 60 }
            session.downloadTask(with: try server.at("/")).resume()
            await scribe.transcript.completed.wait()
            #expect(scribe.transcript.calls.last == "complete \(code)")
            #expect(!scribe.transcript.calls.contains { $0.hasPrefix("finished") })
            let data = try #require(scribe.error.value?.downloadTaskResumeData)
            #expect(await goOn(with: data).transcript.calls.contains("finished helloworld"))
            gate.open()
            session.invalidateAndCancel()
        }
    }

    @Test("B9.20: a resumed download that fails before its answer has come keeps its file and its resume data")
    func lostAgain() async throws {
        let count = Guarded(0)
        let half = HalfServer(then: { request in
            count.change { $0 += 1 }
            return count.value == 1 ? .script([.waitForClose]) : HalfServer.rest(request)
        })
        try await withServer(router: half.router) { server in
            let data = try await halfOf(try server.at("/"))
            let scribe = ResumptionScribe()
            let session = session(of: scribe) { $0.timeoutIntervalForRequest = 0.3 }
            session.downloadTask(withResumeData: data).resume()
            await scribe.transcript.completed.wait()
            // A server that comes to the request only now would take the next one for the first.
            try await until { count.value == 1 }
            #expect(scribe.transcript.calls == ["created 1", "complete -1001"])
            #expect(scribe.error.value?.downloadTaskResumeData == data)
            #expect(await goOn(with: data).transcript.calls.contains("finished helloworld"))
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B9.16, B9.21, B9.23: a download that cannot be continued gives no resume data, and leaves no file",
        arguments: [
            "Content-Length: 10\r\n", "ETag: W/\"v1\"\r\nContent-Length: 10\r\n",
            "ETag: \"v1\"\r\nAccept-Ranges: none\r\nContent-Length: 10\r\n",
        ])
    func impossible(fields: String) async throws {
        let half = HalfServer(fields)
        try await withServer(router: half.router) { server in
            let scribe = ResumptionScribe.cancelling()
            let session = session(of: scribe)
            session.downloadTask(with: try server.at("/")).resume()
            await scribe.transcript.completed.wait()
            #expect(scribe.transcript.calls == ["created 1", "wrote 5, 5 of 10", "no data", "complete -999"])
            #expect(scribe.error.value?.downloadTaskResumeData == nil)
            session.invalidateAndCancel()
        }
    }

    @Test("B9.16, B9.23: a task without a byte has no resume data; one made from resume data gives those back")
    func nothingCame() async throws {
        let half = HalfServer()
        try await withServer(router: half.router) { server in
            let data = try await halfOf(try server.at("/"))
            let session = session(of: nil)
            #expect(await session.downloadTask(with: try server.at("/")).cancelByProducingResumeData() == nil)
            let task = session.downloadTask(withResumeData: data)
            #expect(await task.cancelByProducingResumeData() == data)
            // A task that has ended gives the resume data of its error.
            #expect(await task.cancelByProducingResumeData() == data)
            #expect(await goOn(with: data).transcript.calls.contains("finished helloworld"))
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B9.28, B9.30: an answer that does not fit the bytes at hand makes the download start over, once",
        arguments: ["other range", "other length", "416", "other tag"])
    func startsOver(kind: String) async throws {
        let half = HalfServer(then: { request in
            guard request.fields.contains(.range) else { return .text("helloworld") }
            let part = ServerResponse.text("orld!", status: 206)
            return switch kind {
            case "other range": part.adding("Content-Range", "bytes 6-10/11")
            case "other length": part.adding("Content-Range", "bytes 5-9/12")
            case "other tag": part.adding("Content-Range", "bytes 5-9/10").adding("ETag", "\"v2\"")
            default: .text("no", status: 416).adding("Content-Range", "bytes */4")
            }
        })
        try await withServer(router: half.router) { server in
            let data = try await halfOf(try server.at("/"))
            let scribe = await goOn(with: data)
            #expect(half.asked.value == ["/", "/ bytes=5- if \"v1\"", "/"])
            #expect(
                scribe.transcript.calls == [
                    "created 1", "wrote 10, 10 of 10", "finished helloworld", "complete nil",
                ])
            #expect(!FileManager.default.fileExists(atPath: try partialFile(of: data).path))
        }
    }

    @Test("B9.28, B9.20: a rest that ends well before its range does keeps what has come, and the download goes on")
    func tooShort() async throws {
        let half = HalfServer(then: { request in
            switch request.fields.first(.range) {
            case "bytes=5-": Self.rest("wo", of: "5-9/10")
            case "bytes=7-": Self.rest("rld", of: "7-9/10")
            default: .text("another text")
            }
        })
        try await withServer(router: half.router) { server in
            let short = await goOn(with: try await halfOf(try server.at("/")))
            #expect(
                short.transcript.calls == ["created 1", "resumed 5 of 10", "wrote 2, 7 of 10", "complete -1005"])
            let data = try #require(short.error.value?.downloadTaskResumeData)
            #expect(await goOn(with: data).transcript.calls.contains("finished helloworld"))
            #expect(half.asked.value == ["/", "/ bytes=5- if \"v1\"", "/ bytes=7- if \"v1\""])
        }
    }

    @Test("B9.28, B9.5: a rest that goes on behind its range is an error, and nothing is kept")
    func restTooLong() async throws {
        let half = HalfServer(then: { _ in Self.rest("world and more", of: "5-9/10") })
        try await withServer(router: half.router) { server in
            let data = try await halfOf(try server.at("/"))
            let long = await goOn(with: data)
            #expect(long.transcript.calls.last == "complete -1017")
            #expect(!long.transcript.calls.contains { $0.hasPrefix("finished") })
            #expect(long.error.value?.downloadTaskResumeData == nil)
            #expect(!FileManager.default.fileExists(atPath: try partialFile(of: data).path))
        }
    }

    /// A 206 for that range whose body is one chunk, and ends as it should.
    private static func rest(_ body: String, of range: String) -> ServerResponse {
        .script([
            .lines(
                "HTTP/1.1 206 Partial Content\nContent-Range: bytes \(range)\nTransfer-Encoding: chunked\n\n"
                    + "\(String(body.utf8.count, radix: 16))\n\(body)\n0\n\n")
        ])
    }

    @Test("B9.29: after a 200 the download starts from the beginning, and its old bytes are gone")
    func changed() async throws {
        let half = HalfServer(then: { _ in .text("another text").adding("ETag", "\"v2\"") })
        try await withServer(router: half.router) { server in
            let data = try await halfOf(try server.at("/"))
            let scribe = await goOn(with: data)
            #expect(
                scribe.transcript.calls == [
                    "created 1", "wrote 12, 12 of 12", "finished another text", "complete nil",
                ])
            #expect(!FileManager.default.fileExists(atPath: try partialFile(of: data).path))
        }
    }

    @Test("B9.30: a 416 behind the last byte means that the download is complete")
    func complete() async throws {
        let gate = ServerGate()
        let router: LoopbackServer.Router = { request in
            guard request.fields.contains(.range) else {
                let head = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
                return .script([.send(Array(head.utf8)), .wait(gate)])
            }
            return .text("no such part", status: 416).adding("Content-Range", "bytes */5")
        }
        try await withServer(router: router) { server in
            let data = try await halfOf(try server.at("/"))
            let scribe = ResumptionScribe()
            let session = session(of: scribe)
            let task = session.downloadTask(withResumeData: data)
            task.resume()
            await scribe.transcript.completed.wait()
            #expect(
                scribe.transcript.calls == ["created 1", "resumed 5 of 5", "finished hello", "complete nil"])
            let response = try #require(task.response as? HTTPURLResponse)
            #expect(response.statusCode == 206)
            #expect(response.value(forHTTPHeaderField: "Content-Range") == "bytes 0-4/5")
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B9.31: a response with an error status is the result; the partial file stays, and can be continued later",
        arguments: [503, 401])
    func errorStatus(status: Int) async throws {
        let count = Guarded(0)
        let half = HalfServer(then: { request in
            count.change { $0 += 1 }
            guard count.value == 1 else { return HalfServer.rest(request) }
            // A refusal that is not answered is decided about later than other answers.
            return .text("not now", status: status).adding("WWW-Authenticate", "Basic realm=\"x\"")
        })
        try await withServer(router: half.router) { server in
            let data = try await halfOf(try server.at("/"))
            #expect(
                await goOn(with: data).transcript.calls == [
                    "created 1", "wrote 7, 7 of 7", "finished not now", "complete nil",
                ])
            #expect(await goOn(with: data).transcript.calls.contains("finished helloworld"))
        }
    }

    @Test("B9.20, B2.38: a cancelled challenge ends a resumed download with its resume data, by which it goes on later")
    func challengeCancelled() async throws {
        let count = Guarded(0)
        let half = HalfServer(then: { request in
            count.change { $0 += 1 }
            guard count.value == 1 else { return HalfServer.rest(request) }
            return .text("who?", status: 401).adding("WWW-Authenticate", "Basic realm=\"x\"")
        })
        try await withServer(router: half.router) { server in
            let data = try await halfOf(try server.at("/"))
            let judge = FullJudge(Habit.says(.cancelAuthenticationChallenge))
            let session = URLSession(configuration: .ephemeral, delegate: judge, delegateQueue: nil)
            let task = session.downloadTask(withResumeData: data)
            task.resume()
            await judge.transcript.completed.wait()
            #expect(judge.transcript.calls.last == "complete -999")
            #expect((task.error as? URLError)?.downloadTaskResumeData == data)
            #expect(FileManager.default.fileExists(atPath: try partialFile(of: data).path))
            #expect(await goOn(with: data).transcript.calls.contains("finished helloworld"))
            session.invalidateAndCancel()
        }
    }

    @Test("B9.20, B2.38: so does a server's certificate that the delegate refuses by cancelling")
    func trustCancelled() async throws {
        let half = HalfServer()
        try await withJudgedServer(router: half.router) { judged async throws in
            let data: Data
            do {
                let scribe = ResumptionScribe.cancelling()
                let session = judged.session(scribe, trusts: true)
                session.downloadTask(with: judged.url).resume()
                await scribe.transcript.completed.wait()
                data = try #require(scribe.error.value?.downloadTaskResumeData)
                session.invalidateAndCancel()
            }
            let judge = FullJudge(Habit.says(.cancelAuthenticationChallenge))
            let session = judged.session(judge, trusts: true)
            let task = session.downloadTask(withResumeData: data)
            task.resume()
            await judge.transcript.completed.wait()
            #expect(judge.transcript.calls.last == "complete -999")
            #expect((task.error as? URLError)?.downloadTaskResumeData == data)
            try FileManager.default.removeItem(at: try partialFile(of: data))
            session.invalidateAndCancel()
        }
    }

    @Test("B9.33, B9.34: where the partial file is gone or too short the download starts over without an error")
    func fileGone() async throws {
        for kind in ["gone", "short"] {
            let half = HalfServer()
            try await withServer(router: half.router) { server in
                let data = try await halfOf(try server.at("/"))
                let file = try partialFile(of: data)
                try FileManager.default.removeItem(at: file)
                if kind == "short" {
                    try Data("hel".utf8).write(to: file)
                    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
                }
                let scribe = await goOn(with: data)
                #expect(half.asked.value == ["/", "/"])
                #expect(scribe.transcript.calls.contains("finished helloworld"))
                #expect(!scribe.transcript.calls.contains { $0.hasPrefix("resumed") })
                try? FileManager.default.removeItem(at: file)
            }
        }
    }

    @Test("B9.35: a resumed download asks the first URL, and asks for the rest on every hop of a redirect")
    func redirected() async throws {
        let half = HalfServer()
        let starts = Guarded<[String]>([])
        let router: LoopbackServer.Router = { request in
            guard request.path == "/start" else { return half.router(request) }
            starts.change { $0.append(request.fields.first(.range) ?? "all") }
            return .text("there", status: 302).adding("Location", "/end")
        }
        try await withServer(router: router) { server in
            let scribe = await goOn(with: try await halfOf(try server.at("/start")))
            #expect(starts.value == ["all", "bytes=5-"])
            #expect(half.asked.value == ["/end", "/end bytes=5- if \"v1\""])
            #expect(scribe.transcript.calls.contains("finished helloworld"))
        }
    }

    @Test("B9.38: of two tasks with the same resume data the second starts over, and both get everything")
    func twice() async throws {
        let gate = ServerGate()
        let half = HalfServer(then: { request in
            guard request.fields.contains(.range) else { return .text("helloworld") }
            let head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 5-9/10\r\nContent-Length: 5\r\n\r\nwo"
            return .script([.send(Array(head.utf8)), .wait(gate), .send(Array("rld".utf8))])
        })
        try await withServer(router: half.router) { server in
            let data = try await halfOf(try server.at("/"))
            let begun = Signal()
            let watcher = ResumptionScribe(onWrite: { _, _ in begun.fire() })
            let firstSession = session(of: watcher)
            firstSession.downloadTask(withResumeData: data).resume()
            await begun.wait()
            let second = await goOn(with: data)
            #expect(second.transcript.calls.contains("finished helloworld"))
            #expect(!second.transcript.calls.contains { $0.hasPrefix("resumed") })
            gate.open()
            await watcher.transcript.completed.wait()
            #expect(watcher.transcript.calls.contains("finished helloworld"))
            // The resume data can be used also afterwards, when the first task's file is whole and has been moved.
            #expect(await goOn(with: data).transcript.calls.contains("finished helloworld"))
            #expect(half.asked.value == ["/", "/ bytes=5- if \"v1\"", "/", "/"])
            firstSession.invalidateAndCancel()
        }
    }

    @Test("B9.38: resume data that were used for a finished download do not touch its file")
    func finishedFile() async throws {
        let half = HalfServer()
        try await withServer(router: half.router) { server in
            let data = try await halfOf(try server.at("/"))
            let session = session(of: nil)
            let (location, response) = try await session.download(resumeFrom: data)
            #expect((response as? HTTPURLResponse)?.statusCode == 206)
            _ = await goOn(with: data)
            #expect(text(of: location) == "helloworld")
            try FileManager.default.removeItem(at: location)
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B9.33, B14.30: a download resumed by a custom protocol class starts over: the class delivers the whole file"
    )
    func carriedElsewhere() async throws {
        let half = HalfServer()
        try await withServer(router: half.router) { server in
            let data = try await halfOf(try server.at("/"))
            let scribe = ResumptionScribe()
            let session = session(of: scribe) { $0.protocolClasses = [WholeBringer.self] }
            session.downloadTask(withResumeData: data).resume()
            await scribe.transcript.completed.wait()
            session.invalidateAndCancel()
            #expect(scribe.transcript.calls.contains("finished the whole of it"))
            #expect(!scribe.transcript.calls.contains { $0.hasPrefix("resumed") })
            // The partial file is still there, and the resume data can be used again.
            #expect(await goOn(with: data).transcript.calls.contains("finished helloworld"))
        }
    }

    @Test("B9.25: a download that breaks off twice goes on twice, the second time with a handler")
    func handler() async throws {
        let count = Guarded(0)
        let half = HalfServer(then: { request in
            count.change { $0 += 1 }
            guard count.value == 1 else {
                return .text("ld", status: 206).adding("Content-Range", "bytes 8-9/10")
            }
            let head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 5-9/10\r\nContent-Length: 5\r\n\r\nwor"
            return .script([.send(Array(head.utf8)), .close])
        })
        try await withServer(router: half.router) { server in
            let data = try await halfOf(try server.at("/"))
            let again = await goOn(with: data)
            #expect(again.transcript.calls == ["created 1", "resumed 5 of 10", "wrote 3, 8 of 10", "complete -1005"])
            let next = try #require(again.error.value?.downloadTaskResumeData)
            let done = Signal()
            let result = Guarded<String?>(nil)
            let session = session(of: nil)
            session.downloadTask(withResumeData: next) { location, _, error in
                result.value = error == nil ? location.map { text(of: $0) } : "\(String(describing: error))"
                done.fire()
            }.resume()
            await done.wait()
            #expect(result.value == "helloworld")
            #expect(half.asked.value.last == "/ bytes=8- if \"v1\"")
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B9.36, B9.37: through resets, silence and deaths of the process a download comes whole, and no byte is written twice",
        .http1Only("The tool counts the bytes of HTTP/1.1"),
        arguments: [["7"], ["8", "--without-kills"]])
    func torment(last words: [String]) async throws {
        // A tool that dies or is ended leaves its files behind: this test removes them.
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("torment-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let run = try await ChildRun.run(
            testProgram: "resume", ["torment", "\(24 << 20)", "10"] + words, changing: ["TMPDIR": folder.path])
        #expect(run.exitCode == 0, "\(run.outputText)\(run.complaintsText)")
        #expect(run.outputText.contains("written twice 0 bytes"), "\(run.outputText)")
        #expect(run.outputText.contains("left behind 0 files"), "\(run.outputText)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("B9.36: a download goes on behind bytes that a killed process wrote after those its resume data count")
    func writtenBehind() async throws {
        let half = HalfServer(then: { request in
            guard request.fields.first(.range) == "bytes=7-" else { return .status(500) }
            return .text("rld", status: 206).adding("Content-Range", "bytes 7-9/10")
        })
        try await withServer(router: half.router) { server in
            let data = try await halfOf(try server.at("/"))
            let handle = try FileHandle(forUpdating: try partialFile(of: data))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data("wo".utf8))
            try handle.close()
            let scribe = await goOn(with: data)
            #expect(half.asked.value == ["/", "/ bytes=7- if \"v1\""])
            #expect(scribe.transcript.calls.contains("resumed 7 of 10"))
            #expect(scribe.transcript.calls.contains("finished helloworld"))
        }
    }

    @Test("B9.24: of a partial file that is longer than the whole only the bytes that the resume data count are used")
    func tooLong() async throws {
        let half = HalfServer()
        try await withServer(router: half.router) { server in
            let data = try await halfOf(try server.at("/"))
            let handle = try FileHandle(forUpdating: try partialFile(of: data))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data("and more".utf8))
            try handle.close()
            let scribe = await goOn(with: data)
            #expect(half.asked.value == ["/", "/ bytes=5- if \"v1\""])
            #expect(scribe.transcript.calls.contains("finished helloworld"))
        }
    }
}

/// Delivers one text as the whole body, whatever range is asked for.
private final class WholeBringer: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { true }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let url = request.url else { return }
        let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 15, textEncodingName: nil)
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data("the whole of it".utf8))
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}
