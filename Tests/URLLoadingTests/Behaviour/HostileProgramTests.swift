// Programs that do what no program should: each task ends once, rightly, and nothing hangs or stops the process.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Hostile programs")
struct HostileProgramTests {
    // MARK: Requests

    @Test(
        "Targets are sent as they stand in the URL",
        arguments: [
            ("", "/"), ("?", "/?"), ("?a=b", "/?a=b"), ("#frag", "/"), ("?#frag", "/?"), ("/?#", "/?"), ("//", "//"),
            ("/%2F%2f", "/%2F%2f"), ("/%00", "/%00"), ("/%0D%0AX:%20y", "/%0D%0AX:%20y"), ("/a/../b", "/a/../b"),
            ("/;p?q=/?", "/;p?q=/?"), ("/@:!$&'()*+,;=~", "/@:!$&'()*+,;=~"), ("/%E2%98%83", "/%E2%98%83"),
            ("/a%", "/a%25"),
            ("/[x]|y", "/%5Bx%5D%7Cy"),
        ])
    func targets(suffix: String, target: String) async throws {
        try await withServer(router: { .text($0.target) }) { server in
            guard let url = URL(string: "http://127.0.0.1:\(server.port)\(suffix)") else { return }
            let load = await Load(url)
            // Whether Foundation encodes what a URL may not hold is its business; that it is encoded is ours.
            #expect(load.text == target || url.absoluteString.hasSuffix(load.text), "\(load.text) \(load.message)")
            #expect(!load.text.contains(" "))
        }
    }

    @Test("Line ends in a program's fields and methods never reach a server")
    func injection() async throws {
        let evil = "x\r\nX-Injected: yes"
        try await withServer(router: { request in
            let names = (0..<request.fields.count).map { request.fields.name(at: $0).lowercased() }
            return .text(names.contains("x-injected") || request.method != "GET" ? "injected" : "clean")
        }) { server in
            var request = try URLRequest(url: server.at())
            for name in [
                "Host", "Accept", "User-Agent", "Authorization", "Cookie", evil, "X", "X:y", "", " ", "X\u{0}",
            ] {
                request.setValue(evil, forHTTPHeaderField: name)
                request.addValue(evil, forHTTPHeaderField: name)
                request.setValue("v\n w", forHTTPHeaderField: name)
                request.setValue("v\u{0}w", forHTTPHeaderField: name)
            }
            request.allHTTPHeaderFields = ["A": evil, evil: "b", "C\n": "d", "Host": evil]
            let session = URLSession.made {
                $0.httpAdditionalHeaders = ["Y": evil, evil: "z", 5: evil, "Host": evil, "User-Agent": evil]
            }
            let load = await Load(request, in: session)
            #expect(load.text == "clean" || load.error != nil, "\(load.text)")
            #expect(server.stats.malformedRequests == 0)
            for method in ["GET\r\nX-Injected: yes", "GET / HTTP/1.1\r\n\r\nGET", "", " ", "G\u{0}T", "\u{FC}"] {
                let load = try await Load(URLRequest(method, server.at()), in: session)
                #expect(load.code == .unsupportedURL, "\(method)")
            }
        }
    }

    @Test("Lengths and framing that a program claims are not believed (B5.13)")
    func framing() async throws {
        try await withServer(router: { .text("\($0.method) \($0.bodyByteCount)") }) { server in
            for (name, value) in [
                ("Content-Length", "9999"), ("Content-Length", "-1"), ("Transfer-Encoding", "chunked"),
                ("Transfer-Encoding", "gzip"), ("Connection", "close, upgrade"), ("Upgrade", "h2c"), ("TE", "trailers"),
                ("Trailer", "X"), ("Keep-Alive", "timeout=1"), ("Proxy-Connection", "close"),
            ] {
                var request = try URLRequest("POST", server.at(), body: "12345")
                request.setValue(value, forHTTPHeaderField: name)
                let load = await Load(request)
                #expect(load.text == "POST 5", "\(name): \(value) \(load.message)")
            }
        }
    }

    @Test("Large requests are sent: a URL of 60 KiB, 900 fields, an upload of 64 MiB")
    func large() async throws {
        var options = LoopbackServer.Options()
        options.keptBodyBytes = 0
        try await withServer(
            options, router: { .text("\($0.target.utf8.count) \($0.fields.count) \($0.bodyByteCount)") }
        ) {
            server in
            let long = try await Load(server.at("/" + String(repeating: "x", count: 60_000)))
            #expect(long.text.hasPrefix("60001 "), "\(long.message)")
            var request = try URLRequest("POST", server.at())
            for number in 0..<900 { request.setValue("\(number)", forHTTPHeaderField: "F\(number)") }
            request.httpBody = Data(count: 64 << 20)
            let load = await Load(request)
            #expect(load.text.hasSuffix(" \(64 << 20)"), "\(load.message)")
        }
    }

    @Test("Odd settings: no connections, all connections, absurd priorities, overrides that lead nowhere")
    func settings() async throws {
        try await withServer(router: { _ in .text("x") }) { server in
            for count in [Int.min, -1, 0, 1, Int.max] {
                let load = try await Load(server.at(), in: .made { $0.httpMaximumConnectionsPerHost = count })
                #expect(load.text == "x")
            }
            let session = URLSession.made()
            for priority: Float in [.nan, .infinity, -.infinity, -1, 2, 0, .leastNonzeroMagnitude] {
                let notebook = Notebook()
                let task = try session.dataTask(with: server.at())
                task.delegate = notebook
                task.priority = priority
                task.resume()
                task.priority = priority
                await notebook.ended.wait()
                #expect(notebook.error == nil)
            }
            for address in ["", " ", "localhost", "999.1.1.1", "127.0.0.1:80", "[::1]", "\u{0}", "127.0.0.1%lo"] {
                let session = URLSession.made {
                    $0.hostOverrides = ["shop.test": address, "": address, "127.0.0.1": address]
                    $0.timeoutIntervalForResource = 10
                }
                let load = try await Load(server.at("/", host: "shop.test"), in: session)
                #expect(load.text == "x" || load.error != nil)
                #expect(load.code != .timedOut, "\(address)")
            }
        }
    }

    // MARK: Life

    @Test("A delegate that never answers: only the resource time-out, a cancellation or an invalidation end the task")
    func silence() async throws {
        for path in ["/", "/redirect"] {
            try await withServer(router: { request in
                request.path == "/redirect" ? ServerResponse.status(302).adding("Location", "/") : .text("x")
            }) { server in
                for end in ["timeout", "cancel", "invalidate"] {
                    let asked = Signal()
                    let notebook = Notebook(
                        answers: false,
                        act: { call, _, _ in
                            // On a machine that is too busy the end comes first.
                            if [.response, .redirect, .completed].contains(call) { asked.fire() }
                        })
                    let configuration = URLSessionConfiguration.ephemeral
                    // Longer than an answer takes on a busy machine, shorter than the wait for the delegate's.
                    configuration.timeoutIntervalForRequest = end == "timeout" ? 3 : 600
                    configuration.timeoutIntervalForResource = end == "timeout" ? 4 : 600
                    let session = URLSession(configuration: configuration, delegate: notebook, delegateQueue: nil)
                    let task = try session.dataTask(with: server.at(path))
                    task.resume()
                    await asked.wait()
                    if end == "cancel" { task.cancel() }
                    if end == "invalidate" { session.invalidateAndCancel() }
                    await notebook.ended.wait()
                    #expect((notebook.error as? URLError)?.code == (end == "timeout" ? .timedOut : .cancelled))
                    if end != "invalidate" { session.finishTasksAndInvalidate() }
                    await notebook.invalidated.wait()
                    #expect(notebook.ended.count == 1)
                }
            }
        }
    }

    @Test("Two thousand tasks invalidated at once: each ends once, the session last, and no connection stays")
    func massInvalidation() async throws {
        let gate = ServerGate()
        try await withServer(router: { _ in .slow([.init("x", when: gate)]) }) { server in
            let notebook = Notebook()
            let session = URLSession(configuration: .ephemeral, delegate: notebook, delegateQueue: nil)
            let url = try server.at()
            for _ in 0..<2000 { session.dataTask(with: url).resume() }
            await server.wait { $0.requestsBegun >= 6 }
            session.invalidateAndCancel()
            await notebook.invalidated.wait()
            #expect(notebook.ended.count == 2000 && notebook.calls.last == .invalid)
            #expect((notebook.error as? URLError)?.code == .cancelled)
            await server.wait { $0.connectionsOpen == 0 }
            gate.open()
        }
    }

    @Test("Steering one task from many threads at once ends it once")
    func steering() async throws {
        try await withServer(router: { _ in .generated(length: 1 << 20) }) { server in
            let url = try server.at()
            let session = URLSession.made()
            for round in 0..<200 {
                let ends = Signal()
                let task = session.dataTask(with: url) { _, _, _ in ends.fire() }
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<6 {
                        group.addTask {
                            switch (number + round) % 6 {
                            case 0, 1: task.resume()
                            case 2: task.suspend()
                            case 3: task.priority = Float(round) / 200
                            case 4: if round % 2 == 0 { task.cancel() }
                            default: _ = (task.state, task.currentRequest, task.progress.fractionCompleted)
                            }
                        }
                    }
                }
                task.resume()
                task.resume()
                if round % 4 == 1 { task.progress.cancel() }
                await ends.wait()
                #expect(task.state == .completed && ends.count == 1)
            }
        }
    }

    @Test("A task that is suspended in every call goes on when it is resumed, and loses nothing")
    func suspensions() async throws {
        let length: Int64 = 8 << 20
        try await withServer(router: { _ in .generated(length: length) }) { server in
            let notebook = Notebook(act: { _, _, task in
                guard let task, task.state != .completed else { return }
                task.suspend()
                DispatchQueue.global().async { task.resume() }
            })
            let session = URLSession(configuration: .ephemeral, delegate: notebook, delegateQueue: nil)
            try session.dataTask(with: server.at()).resume()
            await notebook.ended.wait()
            #expect(notebook.error == nil && notebook.byteCount == Int(length))
            session.invalidateAndCancel()
        }
    }

    @Test("A session that the program has let go of lets its tasks end")
    func forgottenSession() async throws {
        try await withServer(router: { _ in .text("x") }) { server in
            let url = try server.at()
            let ends = Signal()
            for _ in 0..<50 {
                URLSession(configuration: .ephemeral).dataTask(with: url) { data, _, _ in
                    if data == Data("x".utf8) { ends.fire() }
                }.resume()
            }
            await ends.wait(times: 50)
            await server.wait { $0.connectionsOpen == 0 }
        }
    }

    @Test("A handler that starts the next task, a thousand times over")
    func recursion() async throws {
        try await withServer(router: { _ in .text("x") }) { server in
            let url = try server.at()
            let session = URLSession.made()
            let ends = Signal()
            @Sendable func next(_ left: Int) {
                guard left > 0 else { return ends.fire() }
                session.dataTask(with: url) { data, _, error in
                    if data?.count == 1, error == nil { next(left - 1) }
                }.resume()
            }
            next(1000)
            await ends.wait()
            #expect(server.stats.connectionsAccepted == 1)
        }
    }

    @Test("A delegate queue that stands still holds up its own session only, and nothing is lost")
    func standingQueue() async throws {
        try await withServer(router: { _ in .generated(length: 4 << 20) }) { server in
            let queue = OperationQueue()
            queue.isSuspended = true
            let notebook = Notebook()
            let session = URLSession(configuration: .ephemeral, delegate: notebook, delegateQueue: queue)
            for _ in 0..<3 { try session.dataTask(with: server.at()).resume() }
            let other = try await Load(server.at(), in: .made())
            #expect(other.body.count == 4 << 20)
            #expect(notebook.calls.isEmpty)
            queue.isSuspended = false
            await notebook.ended.wait(times: 3)
            #expect(notebook.byteCount == 12 << 20)
            session.invalidateAndCancel()
            await notebook.invalidated.wait()
        }
    }

    @Test("A concurrent delegate queue keeps the order of each task's calls")
    func concurrentQueue() async throws {
        try await withServer(router: { _ in .generated(length: 256 << 10) }) { server in
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 8
            let session = URLSession(configuration: .ephemeral, delegate: nil, delegateQueue: queue)
            let url = try server.at()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<40 {
                    group.addTask {
                        let notebook = Notebook()
                        let task = session.dataTask(with: url)
                        task.delegate = notebook
                        task.resume()
                        await notebook.ended.wait()
                        #expect(notebook.calls == [.response, .data, .metrics, .completed])
                        #expect(notebook.byteCount == 256 << 10)
                    }
                }
                try await group.waitForAll()
            }
            session.invalidateAndCancel()
        }
    }

    @Test("Handlers answered twice, from other threads, and after the task's end do no harm")
    func repeatedAnswers() async throws {
        final class Repeater: NSObject, URLSessionDataDelegate {
            let ended = Signal()
            let kept = Guarded<[Int: @Sendable (URLSession.ResponseDisposition) -> Void]>([:])
            func urlSession(
                _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
                completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
            ) {
                kept.withLock { $0[dataTask.taskIdentifier] = completionHandler }
                DispatchQueue.global().async { completionHandler(.allow) }
                DispatchQueue.global().async { completionHandler(.allow) }
            }
            func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
                kept.withLock { $0[task.taskIdentifier] }?(.cancel)
                if error == nil { ended.fire() }
            }
        }
        try await withServer(router: { _ in .text("x") }) { server in
            let repeater = Repeater()
            let session = URLSession(configuration: .ephemeral, delegate: repeater, delegateQueue: nil)
            for _ in 0..<20 { try session.dataTask(with: server.at()).resume() }
            await repeater.ended.wait(times: 20)
            session.invalidateAndCancel()
        }
    }
}
