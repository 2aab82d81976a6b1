// Very many handshakes that wait for their delegates at the same time, answered in random order.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Stress: challenges", .serialized)
struct ChallengeStressTests {
    /// Keeps every answer to itself until all have been asked.
    private final class Collector: NSObject, URLSessionDataDelegate {
        let asked = Signal()
        let ended = Signal()
        private let waiting = Guarded<[(URLSessionTask, URLAuthenticationChallenge, ChallengeReply)]>([])
        private let ends = Guarded<[Int: [URLError.Code?]]>([:])

        var questions: [(URLSessionTask, URLAuthenticationChallenge, ChallengeReply)] { waiting.withLock { $0 } }
        var outcomes: [Int: [URLError.Code?]] { ends.withLock { $0 } }

        func forget() { waiting.withLock { $0 = [] } }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            waiting.withLock { $0.append((task, challenge, completionHandler)) }
            asked.fire()
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            ends.withLock { $0[task.taskIdentifier, default: []].append((error as? URLError)?.code) }
            ended.fire()
        }
    }

    private final class Watch: @unchecked Sendable {
        // Written before it is shared, and weak references may be read from any thread.
        weak var session: URLSession?
        weak var delegate: Collector?
    }

    @Test(
        "A thousand handshakes wait for answers in random order, a third refused, a third cancelled: each task ends once and right",
        .timeLimit(.minutes(5)))
    func randomOrder() async throws {
        let total = Sanitizer.isActive ? 120 : 1_000
        let watch = Watch()
        try await withJudgedServer({ _ in }) { judged in
            try await load(total, judged, watch)
            try await until { watch.session == nil && watch.delegate == nil }
            await judged.server.wait { $0.connectionsOpen == 0 }
        }
    }

    private func load(_ total: Int, _ judged: JudgedServer, _ watch: Watch) async throws {
        let configuration = judged.configuration()
        configuration.httpMaximumConnectionsPerHost = total
        let delegate = Collector()
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        (watch.session, watch.delegate) = (session, delegate)
        let tasks = (0..<total).map { _ in session.dataTask(with: judged.url) }
        for task in tasks { task.resume() }
        await delegate.asked.wait(times: total)
        #expect(judged.server.stats.bytesReceived == 0)
        let questions = delegate.questions.shuffled()
        delegate.forget()
        var expected: [Int: URLError.Code?] = [:]
        for (index, (task, challenge, reply)) in questions.enumerated() {
            let (code, answer): (URLError.Code?, @Sendable () -> Void) =
                switch index % 6 {
                case 0, 1: (nil, { Habit.accepts(challenge, reply) })
                case 2, 3: (.serverCertificateUntrusted, { reply(.rejectProtectionSpace, nil) })
                case 4: (.cancelled, { reply(.cancelAuthenticationChallenge, nil) })
                default:
                    // Cancelled from outside, with an answer that comes too late.
                    (
                        .cancelled,
                        {
                            task.cancel()
                            Habit.accepts(challenge, reply)
                        }
                    )
                }
            expected[task.taskIdentifier] = .some(code)
            if index % 2 == 0 { answer() } else { DispatchQueue.global().async(execute: answer) }
        }
        await delegate.ended.wait(times: total)
        let outcomes = delegate.outcomes
        #expect(outcomes.count == total)
        for (identifier, codes) in outcomes {
            #expect(codes.count == 1, "task \(identifier) ended \(codes.count) times")
            #expect(codes.first == expected[identifier], "task \(identifier)")
        }
        #expect(judged.server.stats.requests == questions.indices.count { $0 % 6 < 2 })
        session.invalidateAndCancel()
    }
}
