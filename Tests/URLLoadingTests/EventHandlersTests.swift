// A delegate of closures, and its notifications.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer

@Suite("A delegate of closures")
struct EventHandlersTests {
    private let router: LoopbackServer.Router = { request in
        request.path == "/from" ? ServerResponse.status(302).adding("Location", "/to") : .text("hello")
    }

    /// Takes a closure away in its deinit.
    private final class Captured: Sendable {
        let handlers: URLSession.EventHandlers
        let gone: Signal

        init(_ handlers: URLSession.EventHandlers, _ gone: Signal) {
            self.handlers = handlers
            self.gone = gone
        }

        deinit {
            handlers.didReceiveData = nil
            gone.fire()
        }
    }

    @Test("What only a closure holds may use the handlers in its deinit, when another closure takes its place")
    func replacing() {
        let handlers = URLSession.EventHandlers()
        let gone = Signal()
        handlers.didComplete = { [captured = Captured(handlers, gone)] _, _, _ in captured.gone.fire() }
        handlers.didComplete = nil
        #expect(gone.count == 1)
    }

    /// Handlers that write everything down.
    private func recording(_ transcript: Transcript) -> URLSession.EventHandlers {
        let handlers = URLSession.EventHandlers()
        handlers.didBecomeInvalid = { _, error in
            transcript.note("invalid \(Transcript.text(error))")
            transcript.invalidated.fire()
        }
        handlers.didCreateTask = { _, task in transcript.note("created \(task.taskIdentifier)") }
        handlers.willPerformHTTPRedirection = { _, _, response, request in
            transcript.note("redirect \(response.statusCode) \(request.url?.path ?? "")")
            return request
        }
        handlers.didSendBodyData = { _, _, _, sent, expected in transcript.note("sent \(sent) of \(expected)") }
        handlers.didReceiveInformationalResponse = { transcript.note("informational \($2.statusCode)") }
        handlers.didFinishCollectingMetrics = { transcript.note("metrics \($2.transactionMetrics.count)") }
        handlers.didReceiveResponse = { _, _, response in
            transcript.note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
            return .allow
        }
        handlers.didReceiveData = { transcript.note(data: $2) }
        handlers.didComplete = { _, _, error in
            transcript.note("complete \(Transcript.text(error))")
            transcript.completed.fire()
        }
        return handlers
    }

    @Test("Every closure is called, in the order of the delegate's methods")
    func everyClosure() async throws {
        let hints = [ScriptStep.lines("HTTP/1.1 103 Early Hints\n\nHTTP/1.1 200 OK\nContent-Length: 2\n\nok")]
        try await withServer(router: { request in request.path == "/hints" ? .script(hints) : router(request) }) {
            server in
            let transcript = Transcript()
            let session = URLSession(
                configuration: .default, delegate: recording(transcript), delegateQueue: nil)
            session.dataTask(with: try server.at("/from")).resume()
            await transcript.completed.wait()
            var request = URLRequest(url: try server.at("/hints"))
            request.httpMethod = "POST"
            request.httpBody = Data("12345".utf8)
            session.dataTask(with: request).resume()
            await transcript.completed.wait(times: 2)
            session.finishTasksAndInvalidate()
            await transcript.invalidated.wait()
            #expect(
                transcript.calls == [
                    "created 1", "redirect 302 /to", "response 200", "data", "metrics 2", "complete nil",
                    "created 2", "sent 5 of 5", "informational 103", "response 200", "data", "metrics 1",
                    "complete nil", "invalid nil",
                ])
        }
    }

    @Test("Download tasks have closures too")
    func downloads() async throws {
        try await withServer(router: router) { server in
            let transcript = Transcript()
            let handlers = URLSession.EventHandlers()
            handlers.didWriteData = { transcript.note("wrote \($3) of \($4)") }
            handlers.didFinishDownloading = { _, _, location in
                transcript.note("file \((try? String(contentsOf: location, encoding: .utf8)) ?? "none")")
            }
            handlers.didComplete = { _, _, _ in transcript.completed.fire() }
            let session = URLSession(configuration: .default, delegate: handlers, delegateQueue: nil)
            session.downloadTask(with: try server.at("/")).resume()
            await transcript.completed.wait()
            #expect(transcript.calls == ["wrote 5 of 5", "file hello"])
            session.invalidateAndCancel()
        }
    }

    @Test("B6.23: a delayed request may be changed or cancelled by a closure, and goes on without one")
    func delayed() async throws {
        try await withServer(router: { .text(String($0.path)) }) { server in
            let transcript = Transcript()
            let handlers = recording(transcript)
            let configuration = URLSessionConfiguration.default
            configuration.honorsEarliestBeginDate = true
            let session = URLSession(configuration: configuration, delegate: handlers, delegateQueue: nil)
            let other = URLRequest(url: try server.at("/other"))
            let answers: [(URLSession.DelayedRequestDisposition, URLRequest?)] = [
                (.useNewRequest, other), (.cancel, nil),
            ]
            func run(_ count: Int) async throws {
                let task = session.dataTask(with: try server.at("/original"))
                task.earliestBeginDate = Date(timeIntervalSinceNow: 1)
                task.resume()
                await transcript.completed.wait(times: count)
            }
            for (index, answer) in answers.enumerated() {
                handlers.willBeginDelayedRequest = { _, _, request in
                    transcript.note("delayed \(request.url?.path ?? "")")
                    return answer
                }
                try await run(index + 1)
            }
            handlers.willBeginDelayedRequest = nil
            try await run(3)
            let loaded = ["response 200", "data", "metrics 1", "complete nil"]
            #expect(
                transcript.calls == ["created 1", "delayed /original"] + loaded
                    + ["created 2", "delayed /original", "metrics 0", "complete -999", "created 3"] + loaded)
            #expect(transcript.body == "/other/original")
            session.invalidateAndCancel()
        }
    }

    @Test("B6.16: a closure hears of a task that waits for a network; without one the session's delegate does")
    func waiting() async throws {
        let configuration = URLSessionConfiguration.default
        configuration.waitsForConnectivity = true
        // No TCP connection can be opened to a multicast address: the system says that there is no way.
        configuration.hostOverrides = ["nowhere.test": "224.0.0.1"]
        let url = try #require(URL(string: "http://nowhere.test/"))
        let told = Signal()
        let scribe = Scribe { call, _, _ in if call == "waiting" { told.fire() } }
        let session = URLSession(configuration: configuration, delegate: scribe.delegate(.handler), delegateQueue: nil)
        for isSet in [true, false] {
            let transcript = Transcript()
            let handlers = recording(transcript)
            if isSet {
                handlers.taskIsWaitingForConnectivity = { _, _ in
                    transcript.note("waiting")
                    told.fire()
                }
            }
            let task = session.dataTask(with: url)
            task.delegate = handlers
            task.resume()
            await told.wait(times: isSet ? 1 : 2)
            task.cancel()
            await transcript.completed.wait()
            #expect(transcript.calls == (isSet ? ["waiting"] : []) + ["metrics 1", "complete -999"])
        }
        #expect(scribe.transcript.calls == ["created 1", "created 2", "waiting"])
        session.invalidateAndCancel()
    }

    @Test("B1.95: a closure that is not set is a method that is not implemented: the session's delegate is asked")
    func fallsThrough() async throws {
        try await withServer(router: router) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/from"))
            let handlers = URLSession.EventHandlers()
            let redirects = Signal()
            handlers.willPerformHTTPRedirection = { _, _, _, request in
                redirects.fire()
                return request
            }
            task.delegate = handlers
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(redirects.count == 1)
            #expect(
                delegate.transcript.calls == ["created 1", "response 200", "data", "metrics 2", "complete nil"])
            session.invalidateAndCancel()
        }
    }

    @Test("A closure is used from the moment it is set until it is taken away")
    func comesAndGoes() async throws {
        try await withServer(router: router) { server in
            let handlers = URLSession.EventHandlers()
            let session = URLSession(configuration: .default, delegate: handlers, delegateQueue: nil)
            let url = try server.at("/from")
            #expect(try await session.data(from: url).0 == Data("hello".utf8))
            handlers.willPerformHTTPRedirection = { _, _, _, _ in nil }
            #expect(try await (session.data(from: url).1 as? HTTPURLResponse)?.statusCode == 302)
            let exchanges = Guarded<[Int]>([])
            handlers.willPerformHTTPRedirection = { [weak handlers] _, _, _, request in
                handlers?.didFinishCollectingMetrics = { _, _, metrics in
                    exchanges.change { $0.append(metrics.transactionMetrics.count) }
                }
                return request
            }
            #expect(try await session.data(from: url).0 == Data("hello".utf8))
            #expect(exchanges.value == [2], "also of what was before it was set")
            handlers.willPerformHTTPRedirection = nil
            #expect(try await session.data(from: url).0 == Data("hello".utf8))
            #expect(exchanges.value == [2, 2])
            handlers.didFinishCollectingMetrics = nil
            #expect(try await session.data(from: url).0 == Data("hello".utf8))
            #expect(exchanges.value == [2, 2])
            session.invalidateAndCancel()
        }
    }

    @Test("B1.25: notifications tell of tasks that resume, suspend and complete, and of the session's end")
    func notifications() async throws {
        let gate = ServerGate()
        try await withServer(router: { _ in .slow([.init("hello", when: gate)]) }) { server in
            let names: [Notification.Name: String] = [
                .urlSessionTaskDidResume: "resume", .urlSessionTaskDidSuspend: "suspend",
                .urlSessionTaskDidComplete: "complete", .urlSessionDidInvalidate: "invalid",
            ]
            let session = URLSession(
                configuration: .default, delegate: URLSession.EventHandlers(), delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/"))
            let lines = Guarded<[String]>([])
            let completed = Signal()
            let invalidated = Signal()
            let observers = names.map { name, line in
                NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { note in
                    let object = note.object as AnyObject
                    guard object === task || object === session else { return }
                    lines.change { $0.append(line) }
                    if line == "complete" { completed.fire() }
                    if line == "invalid" { invalidated.fire() }
                }
            }
            defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
            task.suspend()
            task.resume()
            task.resume()
            task.suspend()
            task.suspend()
            task.resume()
            task.resume()
            gate.open()
            await completed.wait()
            session.finishTasksAndInvalidate()
            await invalidated.wait()
            #expect(lines.value == ["resume", "suspend", "resume", "complete", "invalid"])
        }
    }

    @Test("A session whose delegate is not EventHandlers posts no notifications")
    func otherSessions() async throws {
        try await withServer(router: router) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/"))
            let posts = Signal()
            let observer = NotificationCenter.default.addObserver(
                forName: .urlSessionTaskDidComplete, object: task, queue: nil
            ) { _ in posts.fire() }
            task.resume()
            await delegate.transcript.completed.wait()
            session.finishTasksAndInvalidate()
            await delegate.transcript.invalidated.wait()
            NotificationCenter.default.removeObserver(observer)
            #expect(posts.count == 0)
        }
    }
}
