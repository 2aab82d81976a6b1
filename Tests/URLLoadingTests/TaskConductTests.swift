// How sessions and tasks conduct themselves towards threads, time and each other (behaviour 1.1 to 1.7).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Conduct of tasks")
struct TaskConductTests {
    @Test("B1.1: creating and resuming a task return at once, and the result comes later")
    func neverBlocks() async throws {
        let gate = ServerGate()
        try await withServer(router: { _ in .slow([.init("x", when: gate)]) }) { server in
            let done = Signal()
            let session = URLSession(configuration: .default)
            let task = session.dataTask(with: try server.at("/")) { _, _, _ in done.fire() }
            task.resume()
            // Were `resume()` to wait for the response, the gate would never be opened.
            #expect(done.count == 0)
            gate.open()
            await done.wait()
        }
    }

    @Test(
        "B1.5, B1.23: shared, default and ephemeral sessions load, without a delegate through handlers and async calls")
    func kinds() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let url = try server.at("/")
            for session in [
                URLSession.shared, URLSession(configuration: .default), URLSession(configuration: .ephemeral),
                URLSession(configuration: .default, delegate: nil, delegateQueue: nil),
            ] {
                #expect(session.delegate == nil && session.configuration.identifier == nil)
                #expect(try await session.data(from: url).0 == Data("hello".utf8))
                let data = await withHandover { continuation in
                    session.dataTask(with: url) { data, _, _ in continuation.resume(returning: data) }.resume()
                }
                #expect(data == Data("hello".utf8))
            }
        }
    }

    @Test(
        "B1.10: the request's cache policy is used if it has one, else the configuration's",
        arguments: [
            (URLRequest.CachePolicy.useProtocolCachePolicy, URLRequest.CachePolicy.useProtocolCachePolicy, "-"),
            (.useProtocolCachePolicy, .reloadIgnoringLocalAndRemoteCacheData, "no-cache"),
            (.reloadIgnoringLocalAndRemoteCacheData, .useProtocolCachePolicy, "no-cache"),
            (.reloadIgnoringLocalCacheData, .returnCacheDataDontLoad, "-"),
        ])
    func policies(
        request policy: URLRequest.CachePolicy, configuration sessionPolicy: URLRequest.CachePolicy, seen: String
    ) async throws {
        try await withServer(router: { .text($0.fields.first(.cacheControl) ?? "-") }) { server in
            let configuration = URLSessionConfiguration.default
            configuration.requestCachePolicy = sessionPolicy
            let session = URLSession(configuration: configuration)
            let request = URLRequest(url: try server.at("/"), cachePolicy: policy)
            #expect(String(decoding: try await session.data(for: request).0, as: UTF8.self) == seen)
        }
    }

    @Test("B1.12, B1.31: sessions, tasks and handlers that answer may be used from any thread")
    func anyThread() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let delegate = RecordingDelegate(onResponse: { _, answer in
                Thread.detachNewThread { answer(.allow) }
            })
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let url = try server.at("/")
            for index in 0..<50 {
                Thread.detachNewThread {
                    let task = session.dataTask(with: url)
                    Thread.detachNewThread {
                        task.priority = 1
                        task.resume()
                        if index % 5 == 0 { Thread.detachNewThread { task.cancel() } }
                    }
                }
            }
            await delegate.transcript.completed.wait(times: 50)
            session.finishTasksAndInvalidate()
            await delegate.transcript.invalidated.wait()
            #expect(delegate.transcript.calls.count { $0.hasPrefix("complete") } == 50)
        }
    }

    @Test("B1.29: a handler runs on the delegate queue, not on the thread that made the task")
    func handlerQueue() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            let session = URLSession(configuration: .default, delegate: nil, delegateQueue: queue)
            let isRight = Guarded(false)
            let done = Signal()
            session.dataTask(with: try server.at("/")) { _, _, _ in
                isRight.value = OperationQueue.current === queue
                done.fire()
            }.resume()
            await done.wait()
            #expect(isRight.value)
        }
    }

    @Test("B1.30: didCreateTask comes on the making thread, before the making method returns, and first")
    func createdAtOnce() async throws {
        final class Maker: NSObject, URLSessionDataDelegate {
            let threads = Guarded<[ObjectIdentifier]>([])
            func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
                threads.change { $0.append(ObjectIdentifier(Thread.current)) }
            }
        }
        let maker = Maker()
        let session = URLSession(configuration: .default, delegate: maker, delegateQueue: nil)
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let finished = Signal()
        let isSame = Guarded(false)
        Thread.detachNewThread {
            _ = session.dataTask(with: url)
            _ = session.dataTask(with: url) { _, _, _ in }
            let current = ObjectIdentifier(Thread.current)
            isSame.value = maker.threads.value == [current, current]
            finished.fire()
        }
        await finished.wait()
        #expect(isSame.value)
        session.invalidateAndCancel()
    }

    @Test("B1.35, B17.9: a task's state, error and response are final when the delegate hears of its end")
    func finalAtCompletion() async throws {
        final class Watcher: NSObject, URLSessionDataDelegate {
            let seen = Guarded<[String]>([])
            let done = Signal()
            func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
                let status = (task.response as? HTTPURLResponse)?.statusCode ?? 0
                let same = (task.error as? URLError)?.code == (error as? URLError)?.code
                seen.change { $0.append("\(task.state.rawValue) \(status) \(Transcript.text(error)) \(same)") }
                done.fire()
            }
        }
        try await withServer(router: { request in
            request.path == "/cut"
                ? .script([.lines("HTTP/1.1 200 OK\nContent-Length: 100\n\n0123456789"), .close]) : .text("hello")
        }) { server in
            let watcher = Watcher()
            let session = URLSession(configuration: .default, delegate: watcher, delegateQueue: nil)
            for (index, path) in ["/", "/cut"].enumerated() {
                session.dataTask(with: try server.at(path)).resume()
                await watcher.done.wait(times: index + 1)
            }
            #expect(watcher.seen.value == ["3 200 nil true", "3 200 -1005 true"])
            let phase = Guarded<Int?>(nil)
            let done = Signal()
            let task = Guarded<URLSessionDataTask?>(nil)
            task.value = session.dataTask(with: try server.at("/")) { _, _, _ in
                phase.value = task.value?.state.rawValue
                done.fire()
            }
            task.value?.resume()
            await done.wait()
            #expect(phase.value == 3)
            session.invalidateAndCancel()
            task.value = nil
        }
    }

    @Test("B1.49: the response is nil until one arrives, and after redirects the last one")
    func lastResponse() async throws {
        let gate = ServerGate()
        try await withServer(router: { request in
            request.path == "/end"
                ? .slow([.init("end", when: gate)])
                : ServerResponse.text("moved", status: 302).adding("Location", "/end")
        }) { server in
            let redirected = Signal()
            let delegate = RecordingDelegate(onRedirect: { request, answer in
                redirected.fire()
                answer(request)
            })
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/"))
            #expect(task.response == nil)
            task.resume()
            await redirected.wait()
            gate.open()
            await delegate.transcript.completed.wait()
            #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
            #expect(task.response?.url?.path == "/end")
            session.invalidateAndCancel()
        }
    }

    @Test("B1.51, B5.19, B5.57: bytes are counted after decoding, also when the application asked for the coding")
    func countsDecoded() async throws {
        let text = String(repeating: "hello ", count: 500)
        try await withServer(router: { _ in ServerResponse.text(text).compressed() }) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            var request = URLRequest(url: try server.at("/"))
            request.setValue("gzip", forHTTPHeaderField: "Accept-Encoding")
            let task = session.dataTask(with: request)
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(task.countOfBytesReceived == 3000)
            #expect(task.countOfBytesExpectedToReceive == -1)
            #expect(delegate.transcript.body == text)
            session.invalidateAndCancel()
        }
    }

    @Test("B1.65: the delegate hears the response when its head is complete, however little of the body has come")
    func responseBeforeBody() async throws {
        let gate = ServerGate()
        try await withServer(router: { _ in
            .script([
                .lines("HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 2\n\n"), .wait(gate), .lines("ok"),
            ])
        }) { server in
            // The body is not sent before the delegate has seen the response.
            let delegate = RecordingDelegate(onResponse: { _, answer in
                gate.open()
                answer(.allow)
            })
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            session.dataTask(with: try server.at("/")).resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.body == "ok")
            session.invalidateAndCancel()
        }
    }

    @Test("B1.108, B1.109: a transfer can be suspended and resumed; one that has failed cannot be started again")
    func noRestart() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/"))
            task.resume()
            task.suspend()
            #expect(task.state == .suspended || task.state == .completed)
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(task.error == nil)
            let failed = session.dataTask(with: try #require(URL(string: "http://127.0.0.1:1/")))
            failed.resume()
            await delegate.transcript.completed.wait(times: 2)
            let calls = delegate.transcript.calls
            failed.resume()
            #expect(failed.state == .completed && delegate.transcript.calls == calls)
            session.finishTasksAndInvalidate()
            await delegate.transcript.invalidated.wait()
            #expect(delegate.transcript.calls == calls + ["invalid nil"])
        }
    }

    @Test("B1.59: kinds of tasks: uploads are data tasks with a body of their own, downloads end in a file")
    func kindsOfTasks() async throws {
        try await withServer(router: { .echo($0) }) { server in
            let session = URLSession(configuration: .ephemeral)
            var request = URLRequest(url: try server.at("/"))
            request.httpMethod = "POST"
            request.httpBody = Data("its own".utf8)
            let tasks: [URLSessionTask] = [
                session.dataTask(with: request), session.uploadTask(with: request, from: Data()),
                session.downloadTask(with: request),
            ]
            #expect(tasks.map { $0 is URLSessionDataTask } == [true, true, false])
            #expect(tasks.map { $0 is URLSessionUploadTask } == [false, true, false])
            #expect(tasks.map { $0 is URLSessionDownloadTask } == [false, false, true])
            for task in tasks { task.cancel() }

            #expect(try await session.data(for: request).0 == Data("its own".utf8))
            #expect(try await session.upload(for: request, from: Data("given".utf8)).0 == Data("given".utf8))
            let (file, _) = try await session.download(for: request)
            #expect(try Data(contentsOf: file) == Data("its own".utf8))
            try FileManager.default.removeItem(at: file)
            session.invalidateAndCancel()
        }
    }

    // MARK: Misuse

    @Test("A task that an ended session made: one clear error for delegates, handlers and async calls (B1.21)")
    func endedSession() async throws {
        let delegate = RecordingDelegate()
        let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
        session.invalidateAndCancel()
        await delegate.transcript.invalidated.wait()
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let code = await withHandover { continuation in
            session.dataTask(with: url) { _, _, error in
                continuation.resume(returning: (error as? URLError)?.code)
            }.resume()
        }
        #expect(code == .cancelled)
        #expect(await codeThrown { _ = try await session.data(from: url) } == .cancelled)
        let task = session.dataTask(with: url)
        task.resume()
        try await until { task.state == .completed }
        #expect((task.error as? URLError)?.code == .cancelled)
        #expect(await session.allTasks.isEmpty)
    }

    @Test(
        "B1.32, B6.8, B6.9: a handler that is never called stops the task: only the resource time-out ends it",
        arguments: ["response", "redirect"])
    func unansweredQuestion(place: String) async throws {
        try await withServer(router: { request in
            request.path == "/redirect"
                ? ServerResponse.text("moved", status: 302).adding("Location", "/end") : .text("hello")
        }) { server in
            let kept = Guarded<[@Sendable () -> Void]>([])
            let delegate = RecordingDelegate(
                onResponse: { _, answer in kept.change { $0.append { answer(.allow) } } },
                onRedirect: { request, answer in kept.change { $0.append { answer(request) } } })
            let configuration = URLSessionConfiguration.default
            configuration.timeoutIntervalForRequest = 6
            configuration.timeoutIntervalForResource = 7
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/\(place)"))
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls.last == "complete -1001")
            #expect(task.error?.localizedDescription.contains("longer than its time-out") == true)
            // An answer that comes after the end, and a second one, change nothing.
            for answer in kept.value {
                answer()
                answer()
            }
            session.finishTasksAndInvalidate()
            await delegate.transcript.invalidated.wait()
            #expect(delegate.transcript.calls.suffix(2) == ["complete -1001", "invalid nil"])
        }
    }

    @Test("A header with a line break never reaches the server, and a URL without host is −1000 (B5.6, B17.11)")
    func brokenRequests() async throws {
        let seen = Guarded<[String]>([])
        try await withServer(router: { request in
            seen.change { $0.append(request.fields.description) }
            return .text("hello")
        }) { server in
            let session = URLSession(configuration: .default)
            var request = URLRequest(url: try server.at("/"))
            request.setValue("a\r\nInjected: b", forHTTPHeaderField: "X-One")
            request.setValue("x", forHTTPHeaderField: "Bad\r\nName")
            _ = try await session.data(for: request)
            #expect(seen.value.count == 1 && !seen.value[0].contains("Injected") && !seen.value[0].contains("Bad"))
            let noHost = try #require(URL(string: "http:///path"))
            #expect(await codeThrown { _ = try await session.data(from: noHost) } == .badURL)
        }
    }
}
