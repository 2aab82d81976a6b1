// The session's thread as an executor (ours): what runs there, what does not, and that nothing gets stuck.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("A session's thread as a task executor")
struct TaskExecutorTests {
    @Test("A task with this preference stays on one thread through its loads")
    func staysOnOneThread() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let session = URLSession(configuration: .default)
            let url = try server.at("/")
            let threads = try await withTaskExecutorPreference(session.taskExecutor) {
                var threads = [currentThread()]
                for _ in 0..<3 {
                    let (data, _) = try await session.data(from: url)
                    #expect(String(decoding: data, as: UTF8.self) == "hello")
                    threads.append(currentThread())
                }
                return threads
            }
            #expect(Set(threads).count == 1)
            #expect(threads.first != currentThread())
        }
    }

    @Test("Tasks on the session's thread and on others load side by side, and each gets its own answer")
    func manyTasks() async throws {
        try await withServer(router: { request in .text(request.target) }) { server in
            let session = URLSession(configuration: .default)
            let urls = try (0..<100).map { try server.at("/\($0)") }
            let answers = try await withThrowingTaskGroup(of: (Int, String).self) { group in
                for (index, url) in urls.enumerated() {
                    group.addTask(executorPreference: index.isMultiple(of: 2) ? session.taskExecutor : nil) {
                        let (data, _) = try await session.data(from: url)
                        return (index, String(decoding: data, as: UTF8.self))
                    }
                }
                return try await group.reduce(into: [Int: String]()) { $0[$1.0] = $1.1 }
            }
            #expect(answers.count == urls.count)
            #expect(answers.allSatisfy { $0.value == "/\($0.key)" })
        }
    }

    @Test("B1.89: cancelling a task on the session's thread ends its load with URLError.cancelled")
    func cancellation() async throws {
        let gate = ServerGate()
        let arrived = Signal()
        let router: LoopbackServer.Router = { _ in
            arrived.fire()
            return .slow([.init("never", when: gate)])
        }
        try await withServer(router: router) { server in
            let session = URLSession(configuration: .default)
            let url = try server.at("/")
            let load = Task(executorPreference: session.taskExecutor) {
                await codeThrown { _ = try await session.data(from: url) }
            }
            await arrived.wait()
            load.cancel()
            #expect(await load.value == .cancelled)
            #expect(await session.allTasks.isEmpty)
        }
    }

    @Test("Delegates and handlers are called on the delegate queue, also for tasks made on the session's thread")
    func delegateQueue() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let session = URLSession(configuration: .default, delegate: QueueWatch(), delegateQueue: nil)
            let url = try server.at("/")
            let (own, handlers, delegates) = try await withTaskExecutorPreference(session.taskExecutor) {
                let watch = QueueWatch()
                let (data, _) = try await session.data(for: URLRequest(url: url), delegate: watch)
                #expect(data.count == 5)
                let handler = await withHandover { continuation in
                    session.dataTask(with: url) { _, _, _ in continuation.resume(returning: currentThread()) }.resume()
                }
                return (currentThread(), handler, watch.threads.value)
            }
            #expect(handlers != own)
            #expect(!delegates.isEmpty)
            #expect(!delegates.contains(own))
            session.invalidateAndCancel()
        }
    }

    @Test("Tasks on one session's thread may wait for loads of other sessions")
    func nestedSessions() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let sessions = (0..<8).map { _ in URLSession(configuration: .default) }
            let url = try server.at("/")
            let sizes = try await withThrowingTaskGroup(of: Int.self) { group in
                for outer in sessions {
                    group.addTask(executorPreference: outer.taskExecutor) {
                        var size = 0
                        for inner in sessions { size += try await inner.data(from: url).0.count }
                        return size
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(sizes == Array(repeating: 5 * 8, count: 8))
        }
    }

    @Test("B1.90: a load in a task on the session's thread that is cancelled already sends no request")
    func cancelledOnEntry() async throws {
        let requests = Signal()
        let router: LoopbackServer.Router = { _ in
            requests.fire()
            return .text("hello")
        }
        try await withServer(router: router) { server in
            let session = URLSession(configuration: .default)
            let url = try server.at("/")
            let code = await withTaskExecutorPreference(session.taskExecutor) {
                withUnsafeCurrentTask { $0?.cancel() }
                return await codeThrown { _ = try await session.data(from: url) }
            }
            #expect(code == .cancelled)
            #expect(requests.count == 0)
        }
    }
}

/// The calling thread, for comparing.
private func currentThread() -> UInt { UInt(pthread_self()) }

/// Notes the threads on which it is called.
private final class QueueWatch: NSObject, URLSessionDataDelegate, Sendable {
    let threads = Guarded<Set<UInt>>([])

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        _ = threads.change { $0.insert(currentThread()) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        _ = threads.change { $0.insert(currentThread()) }
    }
}
