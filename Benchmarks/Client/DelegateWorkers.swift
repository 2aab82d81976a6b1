// Requests by data tasks whose bodies a session delegate counts and throws away.

import Foundation
import Synchronization

#if FOUNDATION_NETWORKING
    import FoundationNetworking
#else
    import URLLoading
#endif

/// The session's delegate, with one request in flight for each worker.
final class DelegateWorkers: NSObject, URLSessionDataDelegate, Sendable {
    private struct Transfer {
        var start: Moment
        var bytes = 0
        var hasGoodStatus = false
    }

    private struct Run {
        let phase: Phase
        let urls: [URL]
        let session: URLSession
        var transfers: [Int: Transfer] = [:]
        var workers: Int
        var ended: CheckedContinuation<Void, Never>?
    }

    private let run = Mutex<Run?>(nil)

    /// Returns when the phase is over.
    func run(_ phase: Phase, count: Int, urls: [URL], session: URLSession) async {
        await withCheckedContinuation { continuation in
            run.withLock { run in
                run = Run(phase: phase, urls: urls, session: session, workers: count, ended: continuation)
            }
            for _ in 0..<count { startNext() }
        }
    }

    private func startNext() {
        let task = run.withLock { run -> URLSessionDataTask? in
            guard let phase = run?.phase, let session = run?.session, let urls = run?.urls else { return nil }
            let start = Moment.now
            guard let number = phase.take(at: start) else { return nil }
            let task = session.dataTask(with: urls[number % urls.count])
            run?.transfers[task.taskIdentifier] = Transfer(start: start)
            return task
        }
        if let task { task.resume() } else { workerEnded() }
    }

    private func workerEnded() {
        let ended = run.withLock { run -> CheckedContinuation<Void, Never>? in
            run?.workers -= 1
            guard run?.workers == 0 else { return nil }
            defer { run = nil }
            return run?.ended
        }
        ended?.resume()
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let status = (response as? HTTPURLResponse)?.statusCode
        run.withLock { $0?.transfers[dataTask.taskIdentifier]?.hasGoodStatus = status == 200 }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        run.withLock { $0?.transfers[dataTask.taskIdentifier]?.bytes += data.count }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (phase, transfer) = run.withLock { run in
            (run?.phase, run?.transfers.removeValue(forKey: task.taskIdentifier))
        }
        guard let phase, let transfer else { return }
        if let error {
            phase.failed("\(error)")
        } else if transfer.hasGoodStatus {
            phase.finished(since: transfer.start, bytes: transfer.bytes)
        } else {
            phase.failed("not a 200")
        }
        startNext()
    }
}
