// Many tasks at once, cancelled at random moments, and bodies larger than memory should be: each answers exactly once,
// and nothing is left behind.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Stress", .serialized)
struct StressTests {
    @Test("Of many async calls a third is cancelled at a random moment: each answers exactly once")
    func cancelledAtRandom() async throws {
        let total = 3000
        let flights = 100
        try await withServer(router: { request in
            switch request.number % 4 {
            case 0: .text("hello")
            case 1: .generated(length: 20_000, framing: .chunked)
            case 2: ServerResponse.text("moved", status: 302).adding("Location", "/x")
            default: .slow([.init("a", after: .milliseconds(1)), .init("b")])
            }
        }) { server in
            let session = URLSession(configuration: .default)
            let url = try server.at("/")
            let counts = Counts()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for flight in 0..<flights {
                    group.addTask {
                        for index in 0..<(total / flights) {
                            let load = Task { try await session.data(from: url) }
                            if (flight + index) % 3 == 0 {
                                for _ in 0..<Int.random(in: 0..<200) { await Task.yield() }
                                load.cancel()
                            }
                            switch await load.result {
                            case .success: counts.succeeded.add(1)
                            case .failure(let error):
                                let code = (error as? URLError)?.code
                                #expect(code == .cancelled || code == .httpTooManyRedirects)
                                counts.failed.add(1)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let answered = counts.succeeded.value + counts.failed.value
            #expect(answered == total)
            #expect(await session.allTasks.isEmpty)
            session.invalidateAndCancel()
            await server.wait { $0.connectionsOpen == 0 }
        }
    }

    /// Ends its session, or does not answer, at one of its calls.
    private final class Awkward: NSObject, URLSessionDataDelegate {
        enum Habit: Int, CaseIterable, Sendable {
            case cancelsSessionInResponse, finishesSessionInResponse, cancelsSessionInData, cancelsSessionInMetrics,
                finishesSessionInCompletion, neverAnswers, answersLate, answersTwiceFromElsewhere
        }

        let habit: Habit
        let asked = Signal()
        let invalidated = Signal()
        private let ends = Guarded(0)
        var endCount: Int { ends.value }

        init(_ habit: Habit) { self.habit = habit }

        func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { invalidated.fire() }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            switch habit {
            case .cancelsSessionInResponse: session.invalidateAndCancel()
            case .finishesSessionInResponse: session.finishTasksAndInvalidate()
            case .neverAnswers: return asked.fire()
            case .answersLate:
                return DispatchQueue.global().async { completionHandler(.allow) }
            case .answersTwiceFromElsewhere:
                DispatchQueue.global().async { completionHandler(.allow) }
                return DispatchQueue.global().async { completionHandler(.cancel) }
            case .cancelsSessionInData, .cancelsSessionInMetrics, .finishesSessionInCompletion: break
            }
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            if habit == .cancelsSessionInData { session.invalidateAndCancel() }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            if habit == .cancelsSessionInMetrics { session.invalidateAndCancel() }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            ends.add(1)
            if habit == .finishesSessionInCompletion { session.finishTasksAndInvalidate() }
        }
    }

    @Test("A thousand sessions whose delegates do not answer, answer late, or end the session inside a call: all end")
    func awkwardDelegates() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let url = try server.at("/")
            // A queue that others keep busy: what is told comes late.
            let slow = OperationQueue()
            slow.maxConcurrentOperationCount = 1
            for repetition in 0..<1000 {
                let habit = Awkward.Habit(rawValue: repetition % Awkward.Habit.allCases.count) ?? .neverAnswers
                let delegate = Awkward(habit)
                let isSlow = repetition % 3 == 0
                if isSlow { slow.addOperation { sched_yield() } }
                let session = URLSession(
                    configuration: .default, delegate: delegate, delegateQueue: isSlow ? slow : nil)
                let tasks = (0..<3).map { _ in session.dataTask(with: url) }
                for task in tasks { task.resume() }
                if habit == .neverAnswers {
                    await delegate.asked.wait(times: 3)
                    session.invalidateAndCancel()
                }
                session.finishTasksAndInvalidate()
                await delegate.invalidated.wait()
                #expect(delegate.endCount == 3 && tasks.allSatisfy { $0.state == .completed }, "\(habit)")
            }
        }
    }

    @Test(
        "84 delegate tasks through a 303 to another host, one of them cancelled, on no more threads than there should be"
    )
    func manyRedirects() async throws {
        // Nothing arrives before the cancellation, which would come too late where this thread has
        // to wait for a processor.
        let cancelled = ServerGate()
        try await withServer(router: { _ in .slow([.init("arrived", when: cancelled)]) }) { other in
            let port = other.port
            try await withServer(router: { _ in
                ServerResponse.text("see", status: 303).adding("Location", "http://127.0.0.1:\(port)/")
            }) { server in
                let delegate = RecordingDelegate()
                let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
                let url = try server.at("/")
                let tasks = (0..<84).map { _ in session.dataTask(with: url) }
                for task in tasks { task.resume() }
                tasks[41].cancel()
                cancelled.open()
                session.finishTasksAndInvalidate()
                let most = try await Self.mostThreads { await delegate.transcript.invalidated.wait() }
                // Every session of the process shares the loops and the four threads for look-ups; other
                // tests use them too. There are four loops on any machine, once a test of several shards
                // has run (`ShardedSessionTests`). Threads that read body streams (url-body) are not among
                // them: this test has none.
                #expect(most <= 4 + 4)
                let calls = delegate.transcript.calls
                #expect(calls.filter { $0 == "complete nil" }.count == 83)
                #expect(calls.filter { $0 == "complete -999" }.count == 1)
                #expect(calls.last == "invalid nil")
            }
        }
    }

    /// The largest number of the library's threads at any time while `work` runs.
    private static func mostThreads(
        during work: @escaping @Sendable () async -> Void
    ) async throws -> Int {
        let isDone = Signal()
        return try await withThrowingTaskGroup(of: Void.self, returning: Int.self) { group in
            group.addTask {
                await work()
                isDone.fire()
            }
            var most = 0
            var before: Set<String> = []
            try await until {
                // A thread counts when it is seen twice: one that Dispatch starts from a thread of the library bears
                // that thread's name at first.
                let now = ProcessCounts.threadNumbers(named: "urlloading-")
                most = max(most, now.intersection(before).count)
                before = now
                return isDone.count > 0
            }
            return most
        }
    }

    @Test("Two hundred handlers wait for a suspended queue and are then called, each once")
    func suspendedQueue() async throws {
        try await withServer(router: { .text($0.target) }) { server in
            let queue = OperationQueue.held()
            let session = URLSession(configuration: .default, delegate: nil, delegateQueue: queue)
            let done = Signal()
            let wrong = Signal()
            for index in 0..<200 {
                session.dataTask(with: try server.at("/\(index)")) { data, _, _ in
                    if data != Data("/\(index)".utf8) { wrong.fire() }
                    done.fire()
                }.resume()
            }
            await server.wait { $0.responses == 200 }
            #expect(done.count == 0)
            queue.isSuspended = false
            await done.wait(times: 200)
            #expect(done.count == 200 && wrong.count == 0)
        }
    }

    @Test("A large body is streamed to a delegate in little memory")
    func largeBodyInLittleMemory() async throws {
        let length: Int64 = 512 * 1024 * 1024
        final class Counter: NSObject, URLSessionDataDelegate {
            let bytes = Guarded<Int64>(0)
            let wrong = Guarded(0)
            let mostMemory = Guarded(0)
            let done = Signal()
            func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
                let now = bytes.add(Int64(data.count))
                if (now - Int64(data.count)) >> 24 != now >> 24 {
                    let memory = ProcessCounts.now().residentBytes
                    mostMemory.withLock { $0 = max($0, memory) }
                }
            }
            func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
                if error != nil { wrong.add(1) }
                done.fire()
            }
        }
        try await withServer(router: { _ in .generated(length: length) }) { server in
            let delegate = Counter()
            let memoryBefore = ProcessCounts.now().residentBytes
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            session.dataTask(with: try server.at("/")).resume()
            await delegate.done.wait()
            #expect(delegate.bytes.value == length)
            #expect(delegate.wrong.value == 0)
            // Half of the body: other suites run beside this one and use some memory too.
            // A sanitizer keeps freed memory on purpose.
            if !Sanitizer.isActive {
                #expect(delegate.mostMemory.value - memoryBefore < 256 << 20)
            }
            session.invalidateAndCancel()
        }
    }

    /// How calls ended.
    private final class Counts: Sendable {
        let succeeded = Guarded(0)
        let failed = Guarded(0)
    }
}
