// Download tasks: whole ordered lists of calls, where the file is and how long, errors and
// cancellation (behaviour 9.1).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingWire

@Suite("Download tasks")
struct DownloadTaskTests {
    @Test("B1.100, B9.2, B9.4: a plain download, in order; the file is there during the call and gone afterwards")
    func plainDownload() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let delegate = DownloadRecorder()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let task = session.downloadTask(with: try server.at("/"))
            #expect(task.state == .suspended)
            #expect(!task.prefersIncrementalDelivery)
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(
                delegate.transcript.calls == [
                    "created 1", "wrote 5 of 5", "finished hello", "metrics 1", "complete nil",
                ])
            let location = try #require(delegate.locations.value.first)
            #expect(location.lastPathComponent.hasPrefix("CFNetworkDownload_"))
            #expect(location.pathExtension == "tmp")
            #expect(delegate.modes.value == [0o600])
            #expect(!FileManager.default.fileExists(atPath: location.path))
            #expect(task.state == .completed)
            #expect(task.error == nil)
            #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
            #expect(task.countOfBytesReceived == 5)
            session.invalidateAndCancel()
        }
    }

    @Test("B9.3: a handle opened during the call stays usable; a file moved away stays")
    func handleAndMove() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let handle = Guarded<FileHandle?>(nil)
            let kept = FileManager.default.temporaryDirectory.appendingPathComponent("kept-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: kept) }
            let delegate = DownloadRecorder(onFinish: { location in
                handle.value = try? FileHandle(forReadingFrom: location)
                try? FileManager.default.moveItem(at: location, to: kept)
            })
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            session.downloadTask(with: try server.at("/")).resume()
            await delegate.transcript.completed.wait()
            #expect(try handle.value?.readToEnd() == Data("hello".utf8))
            #expect(try Data(contentsOf: kept) == Data("hello".utf8))
            session.invalidateAndCancel()
        }
    }

    @Test("B1.102: a 404's body is in the file, and is no error")
    func errorStatus() async throws {
        try await withServer(router: { _ in .text("nothing here", status: 404) }) { server in
            let delegate = DownloadRecorder()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            session.downloadTask(with: try server.at("/")).resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls.contains("finished nothing here"))
            #expect(delegate.transcript.calls.last == "complete nil")
            session.invalidateAndCancel()
        }
    }

    @Test("B9.6: an empty body gives an existing, empty file", arguments: ["empty", "204", "HEAD"])
    func emptyBody(kind: String) async throws {
        let router: LoopbackServer.Router = { _ in kind == "HEAD" ? .text("hello") : .status(kind == "204" ? 204 : 200)
        }
        try await withServer(router: router) { server in
            let delegate = DownloadRecorder()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            var request = URLRequest(url: try server.at("/"))
            if kind == "HEAD" { request.httpMethod = "HEAD" }
            session.downloadTask(with: request).resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls == ["created 1", "finished ", "metrics 1", "complete nil"])
            session.invalidateAndCancel()
        }
    }

    @Test("B9.7, B9.8: of a large body the parts written add up to the file, and totals never decrease")
    func progressOfLargeBody() async throws {
        let length: Int64 = 20_000_003
        try await withServer(router: { _ in .generated(length: length) }) { server in
            let delegate = DownloadRecorder()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let task = session.downloadTask(with: try server.at("/"))
            let progress = task.progress
            task.resume()
            await delegate.transcript.completed.wait()
            let written = delegate.written.value
            #expect(!written.isEmpty)
            #expect(written.map(\.new).reduce(0, +) == length)
            #expect(written.map(\.total) == written.map(\.total).sorted())
            #expect(written.last?.total == length)
            #expect(written.allSatisfy { $0.expected == length })
            #expect(delegate.sizes.value == [length])
            #expect(delegate.isAsGenerated.value == [true])
            #expect(progress.completedUnitCount == length)
            #expect(progress.isFinished)
            session.invalidateAndCancel()
        }
    }

    @Test("B9.7, B9.9: with a content coding the file holds decoded bytes, and the expected total is −1")
    func codedBody() async throws {
        let text = String(repeating: "The same again. ", count: 20_000)
        let coded = try #require(Gzip.compress(Array(text.utf8)))
        let router: LoopbackServer.Router = { _ in
            .bytes(coded, type: "text/plain").adding("Content-Encoding", "gzip")
        }
        try await withServer(router: router) { server in
            let delegate = DownloadRecorder()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            session.downloadTask(with: try server.at("/")).resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.sizes.value == [Int64(text.utf8.count)])
            #expect(delegate.written.value.last?.total == Int64(text.utf8.count))
            #expect(delegate.written.value.allSatisfy { $0.expected == -1 })
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B9.5, B9.12, B16.55, B17.47: a fault in the coding ends with −3006, one that only the end shows with −3007",
        arguments: [("corrupt", -3006), ("truncated", -3007)])
    func undecodable(kind: String, code: Int) async throws {
        // The content hardly compresses, so that the fault is in the middle of it, and not in its trailer.
        var state: UInt32 = 1
        let content = (0..<200_000).map { _ -> UInt8 in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 25)
        }
        var coded = try #require(Gzip.compress(content))
        try #require(coded.count > 100_000)
        if kind == "corrupt" {
            coded.replaceSubrange(50_000..<50_064, with: repeatElement(0xFF, count: 64))
        } else {
            coded.removeLast(200)
        }
        let body = coded
        let router: LoopbackServer.Router = { _ in .bytes(body, type: "text/plain").adding("Content-Encoding", "gzip") }
        try await withServer(router: router) { server in
            let delegate = DownloadRecorder()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            session.downloadTask(with: try server.at("/")).resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls.last == "complete \(code)")
            #expect(!delegate.transcript.calls.contains { $0.hasPrefix("finished") })
            session.invalidateAndCancel()
        }
    }

    @Test("B9.5: a connection that breaks off ends without a file")
    func brokenOff() async throws {
        let router: LoopbackServer.Router = { _ in
            .script([
                .send(Array("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n".utf8)),
                .sendGenerated(length: 300_000), .close,
            ])
        }
        try await withServer(router: router) { server in
            let delegate = DownloadRecorder()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            session.downloadTask(with: try server.at("/")).resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls.last == "complete -1005")
            #expect(!delegate.transcript.calls.contains { $0.hasPrefix("finished") })
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B4.3, B1.101: a redirect is followed as for data tasks; where the delegate refuses it its body is in the file",
        arguments: [true, false])
    func redirect(follows: Bool) async throws {
        let router: LoopbackServer.Router = { request in
            request.path == "/end" ? .text("the end") : .text("moved", status: 302).adding("Location", "/end")
        }
        try await withServer(router: router) { server in
            let delegate = DownloadRecorder(follows: follows)
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            session.downloadTask(with: try server.at("/")).resume()
            await delegate.transcript.completed.wait()
            let text = follows ? "the end" : "moved"
            #expect(
                delegate.transcript.calls == [
                    "created 1", "redirect 302", "wrote \(text.utf8.count) of \(text.utf8.count)", "finished \(text)",
                    "metrics \(follows ? 2 : 1)", "complete nil",
                ])
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B1.45, B9.19: a download that is cancelled in the middle ends with −999, without a file and without resume data"
    )
    func cancelled() async throws {
        try await withServer(router: { _ in .generated(length: 1 << 40, framing: .chunked) }) { server in
            let delegate = DownloadRecorder(onWrite: { $0.cancel() })
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let task = session.downloadTask(with: try server.at("/"))
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls.last == "complete -999")
            #expect(!delegate.transcript.calls.contains { $0.hasPrefix("finished") })
            #expect((task.error as? URLError)?.downloadTaskResumeData == nil)
            session.invalidateAndCancel()
        }
    }

    @Test("B1.39: a suspended download goes on where it was when it is resumed")
    func suspended() async throws {
        let length: Int64 = 5_000_000
        let gate = ServerGate()
        let router: LoopbackServer.Router = { _ in
            .script([
                .send(Array("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n".utf8)),
                .sendGenerated(length: length / 2), .wait(gate), .sendGenerated(length: length - length / 2),
            ])
        }
        try await withServer(router: router) { server in
            let hasBegun = Signal()
            let delegate = DownloadRecorder(onWrite: { task in
                if hasBegun.count == 0 {
                    task.suspend()
                    hasBegun.fire()
                }
            })
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let task = session.downloadTask(with: try server.at("/"))
            task.resume()
            await hasBegun.wait()
            #expect(task.state == .suspended)
            gate.open()
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls.last == "complete nil")
            #expect(delegate.sizes.value == [length])
            session.invalidateAndCancel()
        }
    }

    @Test("B1.87, B9.10: a handler gets the file for the length of its call, and the delegate no progress")
    func handler() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let delegate = DownloadRecorder()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let location = Guarded<URL?>(nil)
            let text = Guarded<String?>(nil)
            session.downloadTask(with: try server.at("/")) { url, response, error in
                location.value = url
                text.value = url.flatMap { try? String(contentsOf: $0, encoding: .utf8) }
                #expect((response as? HTTPURLResponse)?.statusCode == 200)
                #expect(error == nil)
            }.resume()
            // The delegate hears of the session's end after everything else.
            session.finishTasksAndInvalidate()
            await delegate.transcript.invalidated.wait()
            #expect(text.value == "hello")
            #expect(!FileManager.default.fileExists(atPath: try #require(location.value).path))
            #expect(delegate.transcript.calls == ["created 1", "metrics 1", "invalid"])
        }
    }

    @Test("B1.87: a handler gets the error, and no file")
    func handlerError() async throws {
        let session = URLSession(configuration: .default)
        let outcome = Guarded<(URL?, URLError.Code?)>((nil, nil))
        let done = Signal()
        let url = try #require(URL(string: "unknown-scheme://host/"))
        session.downloadTask(with: URLRequest(url: url)) { url, _, error in
            outcome.value = (url, (error as? URLError)?.code)
            done.fire()
        }.resume()
        await done.wait()
        #expect(outcome.value.0 == nil)
        #expect(outcome.value.1 == .unsupportedURL)
        session.invalidateAndCancel()
    }

    @Test("B1.91, B1.93: an async download keeps its file; its delegate hears of progress, not of the file")
    func asyncDownload() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let delegate = DownloadRecorder()
            let session = URLSession(configuration: .default)
            let (location, response) = try await session.download(from: try server.at("/"), delegate: delegate)
            defer { try? FileManager.default.removeItem(at: location) }
            #expect(try String(contentsOf: location, encoding: .utf8) == "hello")
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(delegate.transcript.calls == ["created 1", "wrote 5 of 5", "metrics 1"])
            session.invalidateAndCancel()
        }
    }

    @Test("B1.91: an async download without any delegate, and one of a request")
    func asyncWithoutDelegate() async throws {
        try await withServer(router: { .echo($0) }) { server in
            let session = URLSession(configuration: .default)
            var request = URLRequest(url: try server.at("/"))
            request.httpMethod = "PUT"
            request.httpBody = Data("there and back".utf8)
            let (location, _) = try await session.download(for: request)
            defer { try? FileManager.default.removeItem(at: location) }
            #expect(try String(contentsOf: location, encoding: .utf8).contains("there and back"))
            session.invalidateAndCancel()
        }
    }

    @Test("B1.89: cancelling the surrounding task cancels the download")
    func asyncCancelled() async throws {
        let gate = ServerGate()
        let router: LoopbackServer.Router = { _ in
            .script([.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345".utf8)), .wait(gate), .close])
        }
        try await withServer(router: router) { server in
            let delegate = DownloadRecorder(onWrite: { _ in })
            let session = URLSession(configuration: .default)
            let url = try server.at("/")
            let load = Task { try await session.download(from: url, delegate: delegate) }
            await delegate.hasWritten.wait()
            load.cancel()
            let code = await codeThrown { _ = try await load.value }
            #expect(code == .cancelled)
            gate.open()
            session.invalidateAndCancel()
        }
    }

    @Test("Two hundred downloads at once through one session: each file is whole and its own")
    func manyAtOnce() async throws {
        let router: LoopbackServer.Router = { request in
            .generated(length: Int64(request.path.dropFirst()) ?? 0)
        }
        try await withServer(router: router) { server in
            let session = URLSession(configuration: .default)
            try await withThrowingTaskGroup { group in
                for number in 1...200 {
                    let length = number * 1_117
                    let url = try server.at("/\(length)")
                    group.addTask {
                        let (location, _) = try await session.download(from: url)
                        defer { try? FileManager.default.removeItem(at: location) }
                        #expect(try Data(contentsOf: location).count == length)
                    }
                }
                try await group.waitForAll()
            }
            session.invalidateAndCancel()
        }
    }
}

/// Writes down what a download tells its delegate.
private final class DownloadRecorder: NSObject, URLSessionDownloadDelegate {
    let transcript = Transcript()
    let locations = Guarded<[URL]>([])
    let modes = Guarded<[Int]>([])
    let sizes = Guarded<[Int64]>([])
    let isAsGenerated = Guarded<[Bool]>([])
    let written = Guarded<[(new: Int64, total: Int64, expected: Int64)]>([])
    let hasWritten = Signal()
    private let follows: Bool
    private let onWrite: @Sendable (URLSessionDownloadTask) -> Void
    private let onFinish: @Sendable (URL) -> Void

    init(
        follows: Bool = true, onWrite: @escaping @Sendable (URLSessionDownloadTask) -> Void = { _ in },
        onFinish: @escaping @Sendable (URL) -> Void = { _ in }
    ) {
        self.follows = follows
        self.onWrite = onWrite
        self.onFinish = onFinish
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        transcript.note("invalid")
        transcript.invalidated.fire()
    }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        transcript.note("created \(task.taskIdentifier)")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        transcript.note("redirect \(response.statusCode)")
        completionHandler(follows ? request : nil)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        written.change { $0.append((bytesWritten, totalBytesWritten, totalBytesExpectedToWrite)) }
        transcript.note("wrote \(totalBytesWritten) of \(totalBytesExpectedToWrite)")
        onWrite(downloadTask)
        hasWritten.fire()
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        // Not by Data(contentsOf:), which loses its buffer where a file is empty.
        let handle = try? FileHandle(forReadingFrom: location)
        let content = handle.map { (try? $0.readToEnd()) ?? Data() } ?? Data("no file".utf8)
        let attributes = try? FileManager.default.attributesOfItem(atPath: location.path)
        locations.change { $0.append(location) }
        modes.change { $0.append((attributes?[.posixPermissions] as? NSNumber)?.intValue ?? 0) }
        sizes.change { $0.append(Int64(content.count)) }
        isAsGenerated.change { $0.append(content.withUnsafeBytes { GeneratedBytes.matches($0, at: 0) }) }
        transcript.note("finished " + (content.count < 100 ? String(decoding: content, as: UTF8.self) : "much"))
        onFinish(location)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        transcript.note("metrics \(metrics.transactionMetrics.count)")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transcript.note("complete \(Transcript.text(error))")
        transcript.completed.fire()
    }
}
