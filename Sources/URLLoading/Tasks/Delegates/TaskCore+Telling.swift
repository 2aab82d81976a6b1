// What a task tells its delegates without waiting for an answer, on the delegate queue: each method of the task's delegate or, if that
// has none such, of the session's (B1.95, B1.96). A delegate that has only a method's default does not have the method (`DelegateProbe`).

import Foundation
import URLLoadingEngine
import URLLoadingSystem

extension TaskCore {
    // MARK: Whom

    /// Calls a method that every kind of task has.
    func tell(
        _ method: DelegateMethod, _ call: (any URLSessionTaskDelegate, URLSession, URLSessionTask) -> Void
    ) {
        tellFirst(method, \.task) { call($0, $1, face) }
    }

    /// Calls a method of one kind of delegate; of the task's alone unless `sessions`.
    func tellFirst<Delegate>(
        _ method: DelegateMethod, _ kind: (DelegateView) -> Delegate?, sessions: Bool = true,
        _ call: (Delegate, URLSession) -> Void
    ) {
        let (own, urlSession) = state.withLock { ($0.delegateView, $0.session) }
        guard let urlSession else { return }
        func has(_ delegate: Delegate) -> Bool {
            probe.arm(method)
            call(delegate, urlSession)
            return probe.disarm()
        }
        if let delegate = own.flatMap(kind), has(delegate) { return }
        if sessions, let delegate = session?.delegateView.flatMap(kind) { _ = has(delegate) }
    }

    // MARK: What

    /// What of the body has been sent since the last call.
    func tellSent(_ total: Int64) {
        // The body is sent once more, from its beginning.
        let base = kind.isUpload ? state.withLock { $0.upload?.base ?? 0 } : 0
        guard total > base else { return state.withLock { $0.sentTold = base } }
        let before = state.withLock { state in
            defer { state.sentTold = total }
            // A replay or a redirect starts again from the beginning. What a journal of another process says was told may be any
            // number.
            return total < state.sentTold ? base : max(state.sentTold, base)
        }
        let expected = counters.expectedToSend.load(ordering: .relaxed)
        tell(.sendBodyData) {
            $0.urlSession(
                $1, task: $2, didSendBodyData: total - before, totalBytesSent: total,
                totalBytesExpectedToSend: expected)
        }
    }

    /// A piece of the body; the session's delegate has it only where the task was made for delegates.
    func tellData(_ data: Data) {
        guard !isOver, let task = face as? URLSessionDataTask else { return }
        let isDelegates = if case .delegate = outlet { true } else { false }
        tellFirst(.data, \.data, sessions: isDelegates) { $0.urlSession($1, dataTask: task, didReceive: data) }
    }

    /// Tells the delegate that was, or would have been, told of the data.
    func tellBecame(_ method: DelegateMethod, _ call: (any URLSessionDataDelegate, URLSession) -> Void) {
        tellFirst(method, \.data, call)
    }

    // MARK: Of downloads

    /// Whether anybody hears of what is written (B9.10, B1.93).
    func tellsWritten(_ taskView: DelegateView?, _ sessionView: DelegateView?) -> Bool {
        switch outlet {
        case .delegate, .handler, .awaiting, .stream, .file(.handler): false
        case .file(.delegate): taskView?.download != nil || sessionView?.download != nil
        case .file(.awaiting): taskView?.download != nil
        }
    }

    /// B9.8: what is new since the last call, which may be more than one write.
    func tellWritten(_ total: Int64) {
        // Totals of another process, told or in its journal, may be any numbers.
        let total = max(total, 0)
        let before = state.withLock { state in
            defer { state.writtenTold = total }
            return max(state.writtenTold, 0)
        }
        let expected = counters.expectedToReceive.load(ordering: .relaxed)
        tellOfDownload(.writeData) {
            $0.urlSession(
                $1, downloadTask: $2, didWriteData: total - before, totalBytesWritten: total,
                totalBytesExpectedToWrite: expected)
        }
    }

    /// The download goes on where it was, once; to whom progress is told.
    func tellResumed(at offset: Int64, total: Int64) {
        switch outlet {
        case .delegate, .handler, .awaiting, .stream, .file(.handler): return
        case .file(.delegate), .file(.awaiting): break
        }
        tellOfDownload(.resumeAtOffset) {
            $0.urlSession($1, downloadTask: $2, didResumeAtOffset: offset, expectedTotalBytes: total)
        }
    }

    private func tellOfDownload(
        _ method: DelegateMethod,
        _ call: (any URLSessionDownloadDelegate, URLSession, URLSessionDownloadTask) -> Void
    ) {
        guard let task = face as? URLSessionDownloadTask else { return }
        let isDelegates = if case .file(.delegate) = outlet { true } else { false }
        tellFirst(method, \.download, sessions: isDelegates) { call($0, $1, task) }
    }

    /// Lends the file to the delegate and removes it afterwards (B9.2); handlers and async calls get it at the end.
    func tellFinished(_ file: TemporaryFile) {
        guard case .file(.delegate) = outlet else { return }
        defer { file.remove() }
        let (isOver, view, urlSession) = state.withLock { ($0.isOver, $0.delegateView, $0.session) }
        guard !isOver, let urlSession, let task = face as? URLSessionDownloadTask,
            let delegate = view?.download ?? session?.delegateView?.download
        else { return }
        delegate.urlSession(urlSession, downloadTask: task, didFinishDownloadingTo: file.url)
    }
}
