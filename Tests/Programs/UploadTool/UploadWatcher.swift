// Adds up what all exchanges of a task have sent.

import Foundation
import Synchronization
import URLLoading
import URLLoadingTestSupport

/// Listens to metrics, and to the session's end.
final class UploadWatcher: NSObject, URLSessionTaskDelegate {
    private struct State {
        var bytesSent: Int64 = 0
        var hasEnded = false
        var waiting: Handover<Void, Never>?
    }

    private let state = Mutex(State())

    /// Body bytes of all requests together.
    var bytesSent: Int64 { state.withLock { $0.bytesSent } }

    /// Returns when the session is invalid.
    func hasEnded() async {
        await withHandover { continuation in
            let isOver = state.withLock { state in
                if !state.hasEnded { state.waiting = continuation }
                return state.hasEnded
            }
            if isOver { continuation.resume() }
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        let sent = metrics.transactionMetrics.reduce(0) { $0 + $1.countOfRequestBodyBytesSent }
        state.withLock { $0.bytesSent += sent }
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        let waiting = state.withLock { state in
            state.hasEnded = true
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }
}
