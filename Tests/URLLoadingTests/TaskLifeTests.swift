// States, suspension, cancellation, properties of tasks (behaviour 1.4, 1.5).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Life of tasks")
struct TaskLifeTests {
    @Test("B1.33, B1.34, B1.36 to B1.38: a task does nothing before resume, and each suspend needs one resume")
    func countsSuspensions() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/"))
            task.suspend()
            task.resume()
            #expect(task.state == .suspended, "B1.37")
            #expect(server.stats.connectionsAccepted == 0)
            task.resume()
            #expect(task.state == .running || task.state == .completed)
            // B1.38: extra resumes bank no credit.
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(task.state == .completed)
            task.suspend()
            #expect(task.state == .completed, "B1.34: nothing leaves completed")
            session.invalidateAndCancel()
        }
    }

    @Test("B1.39, B1.40: a suspended task reads nothing more until it is resumed")
    func suspendStopsReading() async throws {
        try await withServer(router: { _ in .generated(length: 50_000_000) }) { server in
            let first = Signal()
            let delegate = RecordingDelegate(onData: { task in
                if first.count == 0 {
                    task.suspend()
                    first.fire()
                }
            })
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/"))
            task.resume()
            await first.wait()
            #expect(task.state == .suspended)
            // The sender's writes block: the client has stopped reading.
            await server.wait { $0.blockedWriters > 0 }
            #expect(task.countOfBytesReceived < 50_000_000)
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.byteCount == 50_000_000)
            #expect(delegate.transcript.calls.last == "complete nil")
            session.invalidateAndCancel()
        }
    }

    @Test("B1.41, B1.42, B1.44, B12.2: a task cancelled before it was resumed completes with −999 and has no metrics")
    func cancelBeforeResume() async throws {
        let delegate = RecordingDelegate()
        let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
        let task = session.dataTask(with: try #require(URL(string: "http://127.0.0.1:1/")))
        task.cancel()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.calls == ["created 1", "complete -999"])
        let error = try #require(task.error as? URLError)
        #expect(error.localizedDescription == "cancelled", "B1.42")
        #expect(error.failingURL?.absoluteString == "http://127.0.0.1:1/")
        #expect(error.userInfo["NSErrorFailingURLStringKey"] as? String == "http://127.0.0.1:1/")
        // B1.44: it does not come back.
        task.resume()
        #expect(task.state == .completed)
        #expect(await session.allTasks.isEmpty)
        session.invalidateAndCancel()
    }

    @Test("B1.43: a task that is cancelled many times from many threads completes once")
    func cancelManyTimes() async throws {
        let gate = ServerGate()
        try await withServer(router: { _ in .slow([.init("x"), .init("y", when: gate)]) }) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/"))
            task.resume()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<50 { group.addTask { task.cancel() } }
            }
            await delegate.transcript.completed.wait()
            session.finishTasksAndInvalidate()
            await delegate.transcript.invalidated.wait()
            #expect(delegate.transcript.calls.filter { $0.hasPrefix("complete") } == ["complete -999"])
        }
    }

    @Test("B1.46 to B1.49, B1.53 to B1.56: identifiers, requests, descriptions and hints")
    func properties() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            var request = URLRequest(url: try server.at("/"))
            request.setValue("1", forHTTPHeaderField: "X-One")
            let task = session.dataTask(with: request)
            request.setValue("2", forHTTPHeaderField: "X-One")
            #expect(task.taskIdentifier == 1)
            #expect(session.dataTask(with: request).taskIdentifier == 2)
            #expect(task.originalRequest?.value(forHTTPHeaderField: "X-One") == "1")
            task.taskDescription = "first"
            #expect(task.taskDescription == "first")
            #expect(task.priority == URLSessionTask.defaultPriority)
            task.priority = URLSessionTask.highPriority
            #expect(task.priority == 0.75, "B1.53")
            #expect(task.countOfBytesClientExpectsToSend == -1, "B1.55")
            #expect(task.prefersIncrementalDelivery, "B1.56")
            #expect(!session.dataTask(with: request) { _, _, _ in }.prefersIncrementalDelivery, "B1.56")
            #expect(task.response == nil, "B1.49")
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(task.originalRequest?.value(forHTTPHeaderField: "Accept") == nil)
            #expect(task.currentRequest?.value(forHTTPHeaderField: "Accept") == "*/*", "B1.47")
            #expect(task.copy() as? URLSessionDataTask === task, "B1.4")
            session.invalidateAndCancel()
        }
    }

    @Test("B1.50: expected lengths are 0 without body and −1 when unknown")
    func expectedLengths() async throws {
        try await withServer(router: { request in
            request.path == "/none" ? .status(204) : .chunks([Array("ab".utf8), Array("cd".utf8)])
        }) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            var upload = URLRequest(url: try server.at("/chunks"))
            upload.httpMethod = "POST"
            upload.httpBody = Data("12345".utf8)
            let chunks = session.dataTask(with: upload)
            let none = session.dataTask(with: try server.at("/none"))
            #expect(chunks.countOfBytesExpectedToSend == 5)
            #expect(none.countOfBytesExpectedToSend == 0)
            chunks.resume()
            none.resume()
            await delegate.transcript.completed.wait(times: 2)
            #expect(chunks.countOfBytesExpectedToReceive == -1)
            #expect(chunks.countOfBytesReceived == 4)
            #expect(chunks.countOfBytesSent == 5)
            #expect(none.countOfBytesExpectedToReceive == 0)
            session.invalidateAndCancel()
        }
    }

    @Test("B1.52: progress follows the transfer, and cancelling it cancels the task")
    func progress() async throws {
        let gate = ServerGate()
        try await withServer(router: { request in
            request.path == "/slow" ? .slow([.init("x"), .init("y", when: gate)]) : .generated(length: 100_000)
        }) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/"))
            #expect(task.progress.isIndeterminate)
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(task.progress.completedUnitCount == 100_000)
            #expect(task.progress.totalUnitCount == 100_000)
            #expect(task.progress.isFinished)

            let slow = session.dataTask(with: try server.at("/slow"))
            slow.resume()
            slow.progress.pause()
            #expect(slow.state == .suspended)
            slow.progress.resume()
            #expect(slow.state == .running)
            slow.progress.cancel()
            await delegate.transcript.completed.wait(times: 2)
            #expect((slow.error as? URLError)?.code == .cancelled)
            session.invalidateAndCancel()
        }
    }

    @Test("B1.57: allTasks lists tasks that have neither ended nor been cancelled, in the order of their making")
    func listsTasks() async throws {
        let delegate = RecordingDelegate()
        let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let tasks = [session.dataTask(with: url), session.dataTask(with: url), session.dataTask(with: url)]
        tasks[1].cancel()
        #expect(await session.allTasks == [tasks[0], tasks[2]])
        session.invalidateAndCancel()
        await delegate.transcript.invalidated.wait()
    }

    @Test("B1.98: a delegate assigned after resume is ignored")
    func lateDelegate() async throws {
        let gate = ServerGate()
        try await withServer(router: { _ in .slow([.init("x", when: gate)]) }) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/"))
            task.resume()
            task.delegate = SilentDelegate()
            #expect(task.delegate == nil)
            gate.open()
            await delegate.transcript.completed.wait()
            session.invalidateAndCancel()
        }
    }

    /// A delegate that its task alone holds, and that calls the task in its deinit.
    private final class Holder: NSObject, URLSessionTaskDelegate {
        private let task: URLSessionTask
        private let gone: Signal

        init(_ task: URLSessionTask, _ gone: Signal) {
            self.task = task
            self.gone = gone
        }

        deinit {
            task.cancel()
            if task.originalRequest != nil { gone.fire() }
        }
    }

    @Test(
        "B1.13: a task's delegate may call its task in its deinit, after the task's end and where another takes its place"
    )
    func delegateCallsTask() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let session = URLSession(configuration: .ephemeral)
            let gone = Signal()
            let ending = session.dataTask(with: try server.at("/"))
            ending.delegate = Holder(ending, gone)
            ending.resume()
            await gone.wait()
            let waiting = session.dataTask(with: try server.at("/"))
            waiting.delegate = Holder(waiting, gone)
            waiting.delegate = SilentDelegate()
            await gone.wait(times: 2)
            session.invalidateAndCancel()
        }
    }

    @Test("B1.50: no body is expected of the answer to HEAD, also where a delegate refuses the redirect")
    func refusedRedirectOfHEAD() async throws {
        let moved = ServerResponse.text("moved", status: 302).adding("Location", "/end")
        try await withServer(router: { _ in moved }) { server in
            let delegate = RecordingDelegate(onRedirect: { $1(nil) })
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            var request = URLRequest(url: try server.at("/"))
            request.httpMethod = "HEAD"
            let task = session.dataTask(with: request)
            task.resume()
            await delegate.transcript.completed.wait()
            #expect((task.response as? HTTPURLResponse)?.statusCode == 302)
            #expect(task.countOfBytesExpectedToReceive == 0)
            session.invalidateAndCancel()
        }
    }

    @Test("Back-pressure: the server stops sending while a delegate does not return")
    func slowDelegateStopsSender() async throws {
        try await withServer(router: { _ in .generated(length: 50_000_000) }) { server in
            let release = DispatchSemaphore(value: 0)
            let first = Signal()
            let delegate = RecordingDelegate(onData: { _ in
                if first.count == 0 {
                    first.fire()
                    release.wait()
                }
            })
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            session.dataTask(with: try server.at("/")).resume()
            await first.wait()
            await server.wait { $0.blockedWriters > 0 }
            release.signal()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.byteCount == 50_000_000)
            session.invalidateAndCancel()
        }
    }
}
