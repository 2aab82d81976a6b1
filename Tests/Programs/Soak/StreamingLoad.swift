// A body far larger than memory should be goes to a delegate; then a delegate that stops taking it stops the sender.

import Dispatch
import Foundation
import Synchronization
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

/// Streams a large body and reports what it cost.
enum StreamingLoad {
    /// What was seen.
    struct Report: CustomStringConvertible {
        let bytes: Int64
        let peakResidentKiB: Int
        let writtenWhileAsleep: Int64
        let wasBlocked: Bool

        var description: String {
            "bytes=\(bytes) peakKiB=\(peakResidentKiB) writtenWhileAsleep=\(writtenWhileAsleep) blocked=\(wasBlocked)"
        }
    }

    static func run(bytes: Int64) async throws -> Report {
        let server = try LoopbackServer.start { _ in .generated(length: bytes) }
        let sleeper = BodyTaker(sleepsAfter: 4 << 20)
        let session = URLSession(configuration: .ephemeral, delegate: sleeper, delegateQueue: nil)
        guard let url = URL(string: server.url("/large")) else { throw URLError(.badURL) }
        let task = session.dataTask(with: url)
        task.resume()

        // The delegate is inside a callback and does not return: the sender must come to a stand.
        await sleeper.asleep.wait()
        let blocked = await server.wait { $0.blockedWriters == 1 }
        let written = server.stats.bytesWritten
        sleeper.wakeUp()

        let received = try await sleeper.ended.value()
        session.invalidateAndCancel()
        await server.stop()
        return Report(
            bytes: received, peakResidentKiB: PeakMemory.residentKiB, writtenWhileAsleep: written,
            wasBlocked: blocked != nil)
    }
}

/// A delegate that counts, and falls asleep once in the middle of a callback until it is woken.
private final class BodyTaker: NSObject, URLSessionDataDelegate {
    let asleep = Signal()
    let ended = Outcome<Int64>()
    private let alarm = DispatchSemaphore(value: 0)
    private let sleepsAfter: Int64
    private let state = Mutex((received: Int64(0), hasSlept: false))

    init(sleepsAfter: Int64) {
        self.sleepsAfter = sleepsAfter
    }

    func wakeUp() { alarm.signal() }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let mustSleep = state.withLock { state in
            state.received += Int64(data.count)
            guard !state.hasSlept, state.received >= sleepsAfter else { return false }
            state.hasSlept = true
            return true
        }
        guard mustSleep else { return }
        asleep.raise()
        alarm.wait()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let error {
            ended.fail(error)
        } else {
            ended.succeed(state.withLock { $0.received })
        }
    }
}
