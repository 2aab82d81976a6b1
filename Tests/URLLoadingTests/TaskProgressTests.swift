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

    @Test("B1.52: a server that announces a length and then a part without content does not stop the program")
    func lengthBecomesNothing() async throws {
        let body = "--frame\r\nContent-Length: 0\r\n\r\n\r\n--frame--\r\n"
        let answer = ServerResponse.bytes(Array(body.utf8), type: "multipart/x-mixed-replace; boundary=frame")
        try await withServer(router: { _ in answer }) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/"))
            #expect(task.progress.isIndeterminate)
            task.resume()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.calls.count { $0 == "response 200" } == 2)
            #expect(task.error == nil && task.progress.isFinished)
            session.invalidateAndCancel()
        }
    }

    @Test("B1.52: a length that becomes another, nothing or unknown overflows no progress, nor the one it is a part of")
    func changingLengths() {
        let great = Int64(1) << 62
        let steps: [(length: Int64, received: Int64, total: Int64, completed: Int64)] = [
            (1000, 0, 1000, 0), (0, 0, -1, 0), (great, 0, great, 0), (great / 2, 0, great / 2, 0),
            // Parts of which all has come, and then a great one.
            (1, 1, 1, 0), (1, 2, -1, 2), (.max, 2, .max, 2), (-1, 5, -1, 5),
        ]
        let progress = TaskProgress(of: nil)
        let whole = Progress(totalUnitCount: 2)
        whole.addChild(progress.shown, withPendingUnitCount: 1)
        func follow(_ received: Int64, of length: Int64, _ stage: ProgressUnits.Stage) {
            let counts = ProgressUnits.Counts(
                received: received, sent: 0, expectedToReceive: length, expectedToSend: 0)
            progress.follow { (counts, stage) }
        }
        for step in steps {
            follow(step.received, of: step.length, .answered)
            #expect(progress.shown.totalUnitCount == step.total)
            #expect(progress.shown.completedUnitCount == step.completed)
            #expect(whole.completedUnitCount == 0)
        }
        follow(5, of: -1, .complete)
        #expect(progress.shown.isFinished && whole.completedUnitCount == 1)
        #expect(whole.fractionCompleted == 0.5)
    }

    @Test("B1.52: a task's progress becomes no part of the current one by itself, so that a program can make it one")
    func asksUnderCurrent() throws {
        let session = URLSession(configuration: .ephemeral)
        let task = session.dataTask(with: try #require(URL(string: "http://127.0.0.1:1/")))
        let whole = Progress(totalUnitCount: 2)
        whole.becomeCurrent(withPendingUnitCount: 1)
        let progress = task.progress
        whole.resignCurrent()
        #expect(whole.completedUnitCount == 1, "nothing became a part")
        whole.addChild(progress, withPendingUnitCount: 1)
        session.invalidateAndCancel()
    }

    @Test("B1.52: a task's progress says that it can be cancelled and paused")
    func saysWhatItCan() throws {
        let session = URLSession(configuration: .ephemeral)
        let task = session.dataTask(with: try #require(URL(string: "http://127.0.0.1:1/")))
        #expect(task.progress.isCancellable && task.progress.isPausable)
        session.invalidateAndCancel()
    }

    @Test("B1.52: a progress that many threads write never goes backwards")
    func manyWriters() async throws {
        let progress = TaskProgress(of: nil)
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

    @Test("B1.52: progresses, which may be parts of one, are set one at a time, whichever threads their tasks are on")
    func oneAtATime() {
        let (first, second) = (TaskProgress(of: nil), TaskProgress(of: nil))
        let counts = ProgressUnits.Counts(received: 1, sent: 0, expectedToReceive: 1, expectedToSend: 0)
        let whole = Progress(totalUnitCount: 2)
        let twin = Twin(of: first.shown)
        whole.addChild(twin, withPendingUnitCount: 1)
        whole.addChild(first.shown, withPendingUnitCount: 1)
        let (isRead, isSet) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let wasSet = Guarded(false)
        var wasSetMeanwhile: Bool?
        twin.onCompare = {
            Thread.detachNewThread {
                second.follow {
                    isRead.signal()
                    return (counts, .complete)
                }
                wasSet.value = true
                isSet.signal()
            }
            isRead.wait()
            // Long enough for what nothing holds up.
            for _ in 0..<10_000 where !wasSet.value { sched_yield() }
            wasSetMeanwhile = wasSet.value
        }
        first.follow { (counts, .complete) }
        isSet.wait()
        #expect(wasSetMeanwhile == false)
        #expect(first.shown.isFinished && second.shown.isFinished && whole.completedUnitCount == 1)
    }

    @Test("B1.52: a progress that is resumed as soon as it was paused, or was paused twice, leaves its task running")
    func pauses() async throws {
        let gate = ServerGate()
        try await withServer(router: { _ in .slow([.init("x"), .init("y", when: gate)]) }) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: try server.at("/"))
            let whole = Progress(totalUnitCount: 1)
            whole.addChild(task.progress, withPendingUnitCount: 1)
            task.progress.resume()
            #expect(task.state == .running, "a new task begins")
            for _ in 0..<1000 {
                task.progress.pause()
                task.progress.resume()
            }
            #expect(task.state == .running)

            task.progress.pause()
            task.progress.pause()
            whole.pause()
            #expect(task.state == .suspended)
            whole.resume()
            #expect(task.state == .running)

            whole.pause()
            task.resume()
            #expect(task.state == .running)
            whole.pause()
            #expect(task.state == .suspended, "also where the task itself was resumed in between")
            whole.resume()

            task.suspend()
            whole.pause()
            whole.resume()
            #expect(task.state == .suspended, "what the program has suspended itself stays so")
            task.resume()
            gate.open()
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.body == "xy" && whole.isFinished)
            session.invalidateAndCancel()
        }
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

/// Looks to a set like another progress of it. So it is compared with that one when Foundation takes that out of its
/// whole, in the middle of the setting of the number that finishes it.
///
/// `@unchecked Sendable`: used by one thread at a time.
private final class Twin: Progress, @unchecked Sendable {
    private let original: Progress
    /// Called at the next comparison.
    var onCompare: (() -> Void)?

    init(of original: Progress) {
        self.original = original
        super.init(parent: nil, userInfo: nil)
    }

    override var hash: Int { original.hash }

    override func isEqual(_ object: Any?) -> Bool {
        if let call = onCompare {
            onCompare = nil
            call()
        }
        return object as? Progress === self
    }
}
