// The order of delegate calls and of work that a program itself puts on the delegate queue, or on the dispatch queue
// below it (B1.110).

import Dispatch
import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Delegate calls on a queue that a program uses too", .timeLimit(.minutes(5)))
struct DelegateOrderTests {
    /// Writes down every call, and does something behind it.
    private final class Scribe: NSObject, URLSessionDataDelegate {
        let lines = Guarded<[String]>([])
        let ended = Signal()
        let completed = Signal()
        private let enqueue: @Sendable (URLSession, @escaping @Sendable () -> Void) -> Void

        init(_ enqueue: @escaping @Sendable (URLSession, @escaping @Sendable () -> Void) -> Void) {
            self.enqueue = enqueue
        }

        func note(_ line: String) { lines.withLock { $0.append(line) } }

        private func called(_ name: String, _ session: URLSession) {
            note(name)
            enqueue(session) { [self] in
                note("behind \(name)")
                if name == "complete" { ended.fire() }
            }
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            called("response", session)
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            called("data", session)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            called("metrics", session)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            note("end \(task.taskIdentifier)")
            called("complete", session)
            completed.fire()
        }
    }

    private static let calls = ["response", "data", "metrics", "complete"]

    /// Loads once and says what was written down, but for the numbers of tasks.
    private func lines(_ scribe: Scribe, _ queue: OperationQueue?) async throws -> [String] {
        try await withServer(router: { _ in .text("hello") }) { server in
            let session = URLSession(configuration: .ephemeral, delegate: scribe, delegateQueue: queue)
            session.dataTask(with: try server.at("/")).resume()
            await scribe.ended.wait()
            session.invalidateAndCancel()
            return scribe.lines.withLock { $0.filter { !$0.hasPrefix("end ") } }
        }
    }

    @Test("B1.110: work that a call puts on the dispatch queue below the delegate queue runs before the next call")
    func underlyingQueue() async throws {
        let root = DispatchQueue(label: "root")
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.underlyingQueue = root
        let seen = try await lines(Scribe { root.async(execute: $1) }, queue)
        #expect(seen == Self.calls.flatMap { [$0, "behind \($0)"] })
    }

    @Test("B1.110: work that a call puts on the program's own delegate queue runs before the next call")
    func givenQueue() async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let seen = try await lines(Scribe { queue.addOperation($1) }, queue)
        #expect(seen == Self.calls.flatMap { [$0, "behind \($0)"] })
    }

    @Test("B1.110: work that a call puts on the session's own queue runs before the next call")
    func ownQueue() async throws {
        let seen = try await lines(Scribe { $0.delegateQueue.addOperation($1) }, nil)
        #expect(seen == Self.calls.flatMap { [$0, "behind \($0)"] })
    }

    @Test("B1.28: calls whose operations the program cancels come in later ones", arguments: [1, 4])
    func cancelledOperations(width: Int) async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        queue.isSuspended = true
        try await withServer(router: { _ in .text("hello") }) { server in
            let scribe = Scribe { _, work in work() }
            let session = URLSession(configuration: .ephemeral, delegate: scribe, delegateQueue: queue)
            let tasks = try (0..<8).map { _ in session.dataTask(with: try server.at("/")) }
            for task in tasks { task.resume() }
            try await until { queue.operationCount >= width }
            queue.cancelAllOperations()
            queue.isSuspended = false
            await scribe.completed.wait(times: tasks.count)
            #expect(tasks.allSatisfy { $0.error == nil })
            session.invalidateAndCancel()
        }
    }

    @Test("B1.110: a mark that was put on the queue before a task is cancelled comes before that task's end")
    func marks() async throws {
        let gate = ServerGate()
        try await withServer(router: { _ in .slow([.init("x"), .init("y", when: gate)]) }) { server in
            let root = DispatchQueue(label: "root")
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            queue.underlyingQueue = root
            let scribe = Scribe { _, work in work() }
            let session = URLSession(configuration: .ephemeral, delegate: scribe, delegateQueue: queue)
            let tasks = try (0..<100).map { _ in session.dataTask(with: try server.at("/")) }
            for task in tasks { task.resume() }
            for task in tasks {
                root.async { scribe.note("mark \(task.taskIdentifier)") }
                task.cancel()
            }
            await scribe.completed.wait(times: tasks.count)
            let seen = scribe.lines.withLock { $0 }
            for task in tasks {
                let mark = try #require(seen.firstIndex(of: "mark \(task.taskIdentifier)"))
                let end = try #require(seen.firstIndex(of: "end \(task.taskIdentifier)"))
                #expect(mark < end)
            }
            session.invalidateAndCancel()
        }
    }
}
