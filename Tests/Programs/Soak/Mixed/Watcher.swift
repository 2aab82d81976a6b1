// The delegate of one task of the load: collects what it is told, cancels or stops where it was asked to, and notices a
// second completion.

import Foundation
import Synchronization
import URLLoading
import URLLoadingTestSupport

/// Where a request is cancelled.
enum CancelPoint: Sendable {
    case afterYields(Int)
    case after(Duration)
    case afterBytes(Int)
}

/// Watches one task.
final class Watcher: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
    private struct State {
        var ending = Ending()
        var isSuspendedOnce = false
        var hasStopped = false
        var hasEnded = false
        var waiting: Handover<Ending, Never>?
    }

    private let state = Mutex(State())
    private let cancelAfter: Int?
    /// Whether the task is suspended for a moment at its first bytes.
    private let suspends: Bool
    /// Called with each completion; false where there was one before.
    private let isFirst: @Sendable () -> Bool
    /// The stream of the request's body once more, where it has one.
    private let newBody: (@Sendable () -> InputStream?)?

    init(
        cancelAfter: Int? = nil, suspends: Bool = false, newBody: (@Sendable () -> InputStream?)? = nil,
        isFirst: @escaping @Sendable () -> Bool = { true }
    ) {
        self.cancelAfter = cancelAfter
        self.suspends = suspends
        self.newBody = newBody
        self.isFirst = isFirst
    }

    /// Our ports of the connections, and what was spoken on them.
    var ways: (ports: [Int?], protocols: [String]) { state.withLock { ($0.ending.ports, $0.ending.protocols) } }

    /// Starts a task and waits for its end.
    func run(_ task: URLSessionTask) async -> Ending {
        task.delegate = self
        return await end(of: task)
    }

    /// Starts a task that this watches already, and waits for its end, which may have come before by a cancellation.
    func end(of task: URLSessionTask) async -> Ending {
        await withHandover { handover in
            let ending = state.withLock { state -> Ending? in
                if !state.hasEnded { state.waiting = handover }
                return state.hasEnded ? state.ending : nil
            }
            task.resume()
            if let ending { handover.resume(returning: ending) }
        }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        state.withLock { $0.ending.response = response }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let (count, mustSuspend) = state.withLock { state in
            state.ending.body.append(data)
            defer { state.isSuspendedOnce = true }
            return (state.ending.body.count, suspends && !state.isSuspendedOnce)
        }
        if let cancelAfter, count >= cancelAfter { dataTask.cancel() }
        guard mustSuspend else { return }
        dataTask.suspend()
        Task {
            try? await Task.sleep(for: .milliseconds(5))
            dataTask.resume()
        }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        guard let cancelAfter, totalBytesWritten >= cancelAfter else { return }
        let isNew = state.withLock { state in
            defer { state.hasStopped = true }
            return !state.hasStopped
        }
        if isNew { downloadTask.cancel(byProducingResumeData: { _ in }) }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let body = (try? Data(downloadedTo: location)) ?? Data("the file cannot be read".utf8)
        state.withLock { $0.ending.body = body }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic,
            challenge.previousFailureCount == 0
        else { return completionHandler(.performDefaultHandling, nil) }
        completionHandler(.useCredential, URLCredential(user: "me", password: "secret", persistence: .forSession))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(newBody?())
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        state.withLock { state in
            state.ending.ports = metrics.transactionMetrics.map(\.localPort)
            state.ending.protocols = metrics.transactionMetrics.compactMap(\.networkProtocolName)
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard isFirst() else { return }
        let (waiting, ending) = state.withLock { state in
            state.hasEnded = true
            state.ending.error = error
            state.ending.response = task.response
            defer { state.waiting = nil }
            return (state.waiting, state.ending)
        }
        waiting?.resume(returning: ending)
    }
}
