// Whole ordered lists of delegate calls (behaviour 1.6 to 1.8).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingWire

@Suite("Delegate transcripts")
struct DelegateTranscriptTests {
    @Test("B1.60, B1.61, B1.71: a plain data task, in order")
    func plainDataTask() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/"))
            #expect(task.state == .suspended)
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(
                delegate.transcript.calls == ["created 1", "response 200", "data", "metrics 1", "complete nil"])
            #expect(delegate.transcript.body == "hello")
            #expect(task.state == .completed)
            #expect(task.error == nil)
            #expect(task.countOfBytesReceived == 5)
            #expect(task.countOfBytesExpectedToReceive == 5)
            session.invalidateAndCancel()
        }
    }

    @Test("B1.60: the body's progress and informational responses come before the response")
    func bodyAndInformational() async throws {
        let router: LoopbackServer.Router = { request in
            var response = ServerResponse.text("done")
            response.informational = [ResponseHead(status: 103)]
            return response
        }
        try await withServer(router: router) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            var request = URLRequest(url: try server.at("/"))
            request.httpMethod = "POST"
            request.httpBody = Data("12345".utf8)
            session.dataTask(with: request).resume()
            await delegate.transcript.completed.wait()
            #expect(
                delegate.transcript.calls == [
                    "created 1", "sent 5 of 5", "informational 103", "response 200", "data", "metrics 1",
                    "complete nil",
                ])
            session.invalidateAndCancel()
        }
    }

    @Test("B1.63: no data call for HEAD, 204, 304 and an empty body", arguments: ["HEAD", "204", "304", "empty"])
    func noDataCall(kind: String) async throws {
        let router: LoopbackServer.Router = { request in
            switch kind {
            case "204": .status(204)
            case "304": .status(304)
            default: kind == "HEAD" ? .text("hello") : .status(200)
            }
        }
        try await withServer(router: router) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            var request = URLRequest(url: try server.at("/"))
            if kind == "HEAD" { request.httpMethod = "HEAD" }
            session.dataTask(with: request).resume()
            await delegate.transcript.completed.wait()
            let status = kind == "204" || kind == "304" ? kind : "200"
            #expect(delegate.transcript.calls == ["created 1", "response \(status)", "metrics 1", "complete nil"])
            session.invalidateAndCancel()
        }
    }

    @Test("B1.66: disposition cancel ends with −999 and without data")
    func dispositionCancel() async throws {
        try await withServer(router: { _ in .generated(length: 1_000_000) }) { server in
            let delegate = RecordingDelegate(onResponse: { $1(.cancel) })
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            session.dataTask(with: try server.at("/")).resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls == ["created 1", "response 200", "metrics 1", "complete -999"])
            session.invalidateAndCancel()
        }
    }

    @Test("B1.31: nothing is delivered before the response's handler is called, from wherever it is called")
    func waitsForDisposition() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let handlers = Guarded<[@Sendable (URLSession.ResponseDisposition) -> Void]>([])
            let asked = Signal()
            let delegate = RecordingDelegate(onResponse: { _, handler in
                handlers.change { $0.append(handler) }
                asked.fire()
            })
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            session.dataTask(with: try server.at("/")).resume()
            await asked.wait()
            #expect(delegate.transcript.calls == ["created 1", "response 200"])
            handlers.value.first?(.allow)
            await delegate.transcript.completed.wait()
            // A second answer is ignored.
            handlers.value.first?(.cancel)
            #expect(
                delegate.transcript.calls == ["created 1", "response 200", "data", "metrics 1", "complete nil"])
            session.invalidateAndCancel()
        }
    }

    @Test("B1.32, B1.41: a task whose handler is never called can still be cancelled")
    func cancelWhileAsked() async throws {
        try await withServer(router: { _ in .generated(length: 1_000_000) }) { server in
            let asked = Signal()
            let delegate = RecordingDelegate(onResponse: { _, _ in asked.fire() })
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/"))
            task.resume()
            await asked.wait()
            task.cancel()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls == ["created 1", "response 200", "metrics 1", "complete -999"])
            session.invalidateAndCancel()
        }
    }

    @Test("B1.66: a delegate that has the async form of the method is asked by it")
    func asyncForm() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            // Twice: the first time the form is learnt, the second time it is known.
            for _ in 0..<2 {
                let delegate = AsyncDelegate()
                let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
                session.dataTask(with: try server.at("/")).resume()
                await delegate.transcript.completed.wait()
                #expect(delegate.transcript.calls == ["async response", "data", "complete nil"])
                session.invalidateAndCancel()
            }
            let cancelling = AsyncDelegate(disposition: .cancel)
            let session = URLSession(configuration: .default, delegate: cancelling, delegateQueue: nil)
            session.dataTask(with: try server.at("/")).resume()
            await cancelling.transcript.completed.wait()
            #expect(cancelling.transcript.calls == ["async response", "complete -999"])
            session.invalidateAndCancel()
        }
    }

    @Test("B1.66: a delegate without the method allows the response")
    func noForm() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            for _ in 0..<2 {
                let delegate = SilentDelegate()
                let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
                let task = session.dataTask(with: try server.at("/"))
                task.resume()
                await delegate.transcript.completed.wait()
                #expect(delegate.transcript.calls == ["complete nil"])
                #expect(task.countOfBytesReceived == 5)
                session.invalidateAndCancel()
            }
        }
    }

    @Test("B1.95, B12.5: metrics pass over a delegate that is known not to take them, and lack nothing")
    func metricsOfOthers() async throws {
        final class OnlyCreation: NSObject, URLSessionTaskDelegate {}
        let router: LoopbackServer.Router = { request in
            request.path == "/from" ? ServerResponse.status(302).adding("Location", "/to") : .text("hello")
        }
        try await withServer(router: router) { server in
            let sessions = RecordingDelegate()
            let session = URLSession(configuration: .ephemeral, delegate: sessions, delegateQueue: nil)
            for time in 1...3 {
                let task = session.dataTask(with: try server.at("/from"))
                task.delegate = OnlyCreation()
                task.resume()
                await sessions.transcript.completed.wait(times: time)
            }
            #expect(
                sessions.transcript.calls.filter { $0.hasPrefix("metrics") } == ["metrics 2", "metrics 2", "metrics 2"])
            session.invalidateAndCancel()
        }
    }

    @Test("B1.95, B1.96: the task's delegate is asked first, and the session's for what it lacks")
    func taskDelegateFirst() async throws {
        final class OnlyData: NSObject, URLSessionDataDelegate {
            let transcript: Transcript
            init(_ transcript: Transcript) { self.transcript = transcript }
            func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
                transcript.note("task's data")
            }
        }
        try await withServer(router: { _ in .text("hello") }) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/"))
            task.delegate = OnlyData(delegate.transcript)
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(
                delegate.transcript.calls == [
                    "created 1", "response 200", "task's data", "metrics 1", "complete nil",
                ])
            session.finishTasksAndInvalidate()
            await delegate.transcript.invalidated.wait()
            #expect(task.delegate == nil, "B1.97: let go at the end")
        }
    }

    @Test("B1.73: a task that fails before a response only completes")
    func failsBeforeResponse() async throws {
        let delegate = RecordingDelegate()
        let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
        session.dataTask(with: try #require(URL(string: "gopher://example.com/x"))).resume()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.calls == ["created 1", "metrics 0", "complete -1002"])
        session.invalidateAndCancel()
    }

    @Test("B1.74, B17.16: a connection closed mid-body delivers what came and completes with −1005")
    func closedMidBody() async throws {
        let router: LoopbackServer.Router = { _ in
            .script([.lines("HTTP/1.1 200 OK\nContent-Length: 100\n\n0123456789"), .close])
        }
        try await withServer(router: router) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/"))
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(
                delegate.transcript.calls == ["created 1", "response 200", "data", "metrics 1", "complete -1005"])
            #expect(delegate.transcript.body == "0123456789")
            #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
            #expect((task.error as? URLError)?.code == .networkConnectionLost)
            let text = (task.error as? URLError)?.localizedDescription ?? ""
            #expect(text.contains(ProtocolUnderTest.isHTTP2 ? "INTERNAL_ERROR" : "10 of 100"), "\(text)")
            session.invalidateAndCancel()
        }
    }

    @Test("B17.54: cancelling from inside a callback ends with −999", arguments: ["response", "data", "metrics"])
    func cancelInsideCallback(place: String) async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let delegate = RecordingDelegate(
                onResponse: { task, handler in
                    if place == "response" { task.cancel() }
                    handler(.allow)
                },
                onData: { if place == "data" { $0.cancel() } },
                onMetrics: { task, _ in if place == "metrics" { task.cancel() } })
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            session.dataTask(with: try server.at("/")).resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls.last == "complete -999")
            session.finishTasksAndInvalidate()
            await delegate.transcript.invalidated.wait()
            #expect(delegate.transcript.calls.filter { $0.hasPrefix("complete") }.count == 1)
        }
    }

    @Test("B1.27, B1.28: calls come on the given queue, also when it is concurrent")
    func givenQueue() async throws {
        final class QueueDelegate: NSObject, URLSessionDataDelegate {
            let done = Signal()
            let wrong = Signal()
            let overlapping = Signal()
            let busy = Guarded<Set<Int>>([])
            let queue: OperationQueue
            init(_ queue: OperationQueue) { self.queue = queue }
            func check(_ task: URLSessionTask) {
                if OperationQueue.current !== queue { wrong.fire() }
            }
            func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
                check(dataTask)
                busy.change { if !$0.insert(dataTask.taskIdentifier).inserted { overlapping.fire() } }
                busy.change { _ = $0.remove(dataTask.taskIdentifier) }
            }
            func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
                check(task)
                done.fire()
            }
        }
        try await withServer(router: { _ in .generated(length: 300_000) }) { server in
            let queue = OperationQueue()
            let delegate = QueueDelegate(queue)
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: queue)
            for _ in 0..<20 { session.dataTask(with: try server.at("/")).resume() }
            await delegate.done.wait(times: 20)
            #expect(delegate.wrong.count == 0)
            #expect(delegate.overlapping.count == 0)
            session.invalidateAndCancel()
        }
    }
}
