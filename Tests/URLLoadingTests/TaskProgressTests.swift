// `task.progress`: one writer, whatever a server announces and whichever thread counts.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingTestSupport

@testable import URLLoading

@Suite("Progress of tasks", .timeLimit(.minutes(5)))
struct TaskProgressTests {
    @Test(
        "B1.52: an answer that announces the greatest length, beside a body that is sent, does not overflow the progress"
    )
    func greatestLength() async throws {
        let text = "HTTP/1.1 200 OK\nContent-Length: 9223372036854775807\n\nhello"
        try await withServer(router: { _ in .script([.lines(text), .close]) }) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
            var request = URLRequest(url: try server.at("/"))
            request.httpMethod = "POST"
            request.httpBody = Data("12345".utf8)
            let task = session.dataTask(with: request)
            // Part of another one, so that Foundation calculates with the numbers too.
            let whole = Progress(totalUnitCount: 10)
            whole.addChild(task.progress, withPendingUnitCount: 5)
            task.resume()
            await delegate.transcript.completed.wait()
            #expect((task.error as? URLError)?.code == .networkConnectionLost)
            #expect(task.progress.totalUnitCount == .max)
            #expect(task.progress.completedUnitCount == 10)
            #expect(task.progress.fractionCompleted < 0.01 && whole.fractionCompleted < 0.01)
            session.invalidateAndCancel()
        }
    }

    @Test("B1.52: a progress that many threads write never goes backwards")
    func manyWriters() async throws {
        let progress = TaskProgress()
        let tally = Tally()
        let writers = 4
        let rounds = 20_000
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<writers {
                group.addTask {
                    for _ in 0..<rounds {
                        tally.counted.add(1)
                        progress.follow {
                            tally.steps.withLock { $0.append(progress.shown.completedUnitCount) }
                            return (
                                ProgressUnits.Counts(
                                    received: tally.counted.value, sent: 0, expectedToReceive: -1,
                                    expectedToSend: 0), .answered
                            )
                        }
                    }
                }
            }
        }
        let seen = tally.steps.withLock { $0 }
        #expect(firstDifference(seen, seen.sorted()) == nil)
        #expect(progress.shown.completedUnitCount == Int64(writers * rounds))
    }

    @Test("B1.52: a progress that is asked for after the end shows a task that is complete")
    func askedLate() async throws {
        try await withServer(router: { _ in .text("hello") }) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/"))
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(task.progress.isFinished && task.progress.totalUnitCount == 5)
            session.invalidateAndCancel()
        }
    }
}

/// What the writers of a progress count, and what each of them has found there.
private final class Tally: Sendable {
    let counted = Guarded<Int64>(0)
    let steps = Guarded<[Int64]>([])
}
