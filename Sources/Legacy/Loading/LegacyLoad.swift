// One load of an older class: a task of a session, and what it tells, put into the deliveries of its listener.
//
// The task waits wherever the listener is asked something. Bytes that are not taken stop the task beyond a limit, so
// that a run loop that does not run costs no memory.
//
// Must not know: the words of delegates, files.

import Foundation
import Synchronization
import URLLoading

/// A load, from its beginning to its last message.
final class LegacyLoad: NSObject, Sendable {
    let deliveries = DeliveryQueue()
    private let original: URLRequest
    /// Whether the body goes to a file.
    private let savesFile: Bool
    private let state = Mutex(State())

    private struct State: Sendable {
        var phase = Phase.idle
        var listener: (any LoadListener)?
        var task: URLSessionTask?
        /// The request that is being sent.
        var request: URLRequest?
        /// Why the load ends, where that is not the task's doing.
        var failure: (any Error)?
        var challenge: URLAuthenticationChallenge?
        var file: URL?
        /// Bytes that were received and not told.
        var untold = 0
        /// Whether the task is suspended for them.
        var isHeld = false
    }

    private enum Phase {
        case idle, running, over
    }

    init(_ request: URLRequest, savesFile: Bool = false) {
        original = request
        self.savesFile = savesFile
    }

    /// The request that is being sent, with the fields that were added.
    var currentRequest: URLRequest {
        let (request, task) = state.withLock { ($0.request, $0.task) }
        return task?.currentRequest ?? request ?? original
    }

    /// Whether the load has begun, and neither ended nor been cancelled.
    var isRunning: Bool { state.withLock { $0.phase == .running } }

    /// Begins, once; without a listener the body is dropped.
    func begin(_ listener: (any LoadListener)?) {
        let isFirst = state.withLock { state in
            guard state.phase == .idle else { return false }
            state.phase = .running
            state.listener = listener
            return true
        }
        guard isFirst else { return }
        if listener == nil { return load(original, usesCredentialStorage: true) }
        tell { [self] listener in
            listener.begins()
            guard isRunning else { return }
            let request = listener.willSend(original, after: nil)
            guard isRunning else { return }
            guard let request else { return end(with: failure ?? cancellation) }
            let usesStorage = listener.usesCredentialStorage()
            load(request, usesCredentialStorage: usesStorage)
        }
    }

    private func load(_ request: URLRequest, usesCredentialStorage: Bool) {
        let session = LegacySessions.session(usesCredentialStorage: usesCredentialStorage)
        let task = savesFile ? session.downloadTask(with: request) : session.dataTask(with: request)
        let isWanted = state.withLock { state in
            guard state.phase == .running else { return false }
            state.request = request
            state.task = task
            // Its end is not told.
            if state.listener == nil { state.phase = .over }
            return true
        }
        guard isWanted else { return task.cancel() }
        if !isUnheard { task.delegate = self }
        task.resume()
    }

    private var failure: (any Error)? { state.withLock { state -> (any Error)? in state.failure } }

    private var isUnheard: Bool { state.withLock { $0.listener == nil } }

    /// Ends without another message; says whether there was something to end.
    @discardableResult
    func cancel() -> Bool {
        let (wasRunning, task, listener, file) = state.withLock { state in
            defer {
                state.phase = .over
                state.listener = nil
                state.challenge = nil
                state.file = nil
            }
            return (state.phase == .running, state.task, state.listener, state.file)
        }
        task?.cancel()
        deliveries.close()
        if let file { try? FileManager.default.removeItem(at: file) }
        // Goes with no lock held.
        withExtendedLifetime(listener) {}
        return wasRunning
    }

    /// Ends the load with an error, after the messages that are under way.
    func fail(with error: any Error) {
        let task = state.withLock { state in
            if state.failure == nil { state.failure = error }
            return state.task
        }
        task?.cancel()
    }

    // MARK: Telling

    /// Calls the listener in its place, unless the load is over by then.
    private func tell(_ message: @escaping @Sendable (any LoadListener) -> Void) {
        deliveries.post { [self] in
            guard let listener = state.withLock({ $0.phase == .running ? $0.listener : nil }) else { return }
            message(listener)
        }
    }

    /// The last message, in the listener's place.
    private func end(with error: (any Error)?) {
        let (listener, challenge, file) = state.withLock { state in
            defer {
                state.phase = .over
                state.listener = nil
                state.challenge = nil
                state.file = nil
            }
            return (state.phase == .running ? state.listener : nil, state.challenge, state.file)
        }
        if let challenge { listener?.isAskedNoMore(challenge) }
        listener?.ends(error, file: file)
        deliveries.close()
        if let file { try? FileManager.default.removeItem(at: file) }
    }

    private var cancellation: URLError {
        LegacyFailure.make(.cancelled, original.url, "The delegate has taken the request back.")
    }

    /// Stops the task where more is waiting to be told than there should be. Holding and letting go both happen on the
    /// session's serial queue: told by two threads, a task could hear of them in the wrong order.
    private func received(_ count: Int, by task: URLSessionTask) {
        let holds = state.withLock { state in
            state.untold += count
            guard state.untold > Self.mostUntold, !state.isHeld else { return false }
            state.isHeld = true
            return true
        }
        if holds { task.suspend() }
    }

    private func told(_ count: Int, by task: URLSessionTask, of session: URLSession) {
        let mayGoOn = state.withLock { state in
            state.untold -= count
            return state.isHeld && state.untold <= Self.mostUntold / 2
        }
        guard mayGoOn else { return }
        session.delegateQueue.addOperation { [self] in
            let goesOn = state.withLock { state in
                guard state.isHeld, state.untold <= Self.mostUntold / 2 else { return false }
                state.isHeld = false
                return true
            }
            if goesOn { task.resume() }
        }
    }

    /// Picked by feel: a few of the largest pieces.
    private static let mostUntold = 1 << 20
}

// MARK: The task

extension LegacyLoad: DelegateStandIn {
    /// Loads of one delegate share connections.
    var principal: AnyObject? { state.withLock { $0.listener }?.principal }
}

extension LegacyLoad: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        tell { completionHandler($0.willSend(request, after: response)) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let url = task.currentRequest?.url
        let sender = LegacyChallengeSender { [weak self] disposition, credential in
            self?.answered(disposition, url)
            completionHandler(disposition, credential)
        }
        let shown = URLAuthenticationChallenge(authenticationChallenge: challenge, sender: sender)
        state.withLock { $0.challenge = shown }
        tell { $0.isAsked(shown) }
    }

    private func answered(_ disposition: URLSession.AuthChallengeDisposition, _ url: URL?) {
        state.withLock { state in
            state.challenge = nil
            // B17.24.
            if disposition == .cancelAuthenticationChallenge, state.failure == nil {
                state.failure = LegacyFailure.make(
                    .userCancelledAuthentication, url, "The delegate has cancelled the challenge.")
            }
        }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard let listener = state.withLock({ $0.listener }) else { return }
        listener.prepareResponse { [self] in
            tell { listener in
                // What follows is told from within, where a delegate runs its run loop in here.
                if !listener.preparesForBody { completionHandler(.allow) }
                listener.receives(response)
                if listener.preparesForBody { completionHandler(.allow) }
            }
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let listener = state.withLock({ $0.listener }) else { return }
        received(data.count, by: dataTask)
        listener.prepare(data) { [self] in
            tell { [self] listener in
                listener.receives(piece: data)
                told(data.count, by: dataTask, of: session)
            }
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        tell { $0.hasSent(bytesSent, total: totalBytesSent, expected: totalBytesExpectedToSend) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        tell { [original] in completionHandler($0.bodyStream(for: task.currentRequest ?? original)) }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        tell { completionHandler($0.stores(proposedResponse)) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let listener = state.withLock({ $0.listener }) else { return }
        listener.prepareEnd { [self] preparing in
            // A failure of ours has cancelled the task; one that came too late for that counts as well.
            deliveries.post { [self] in end(with: failure ?? error ?? preparing) }
        }
    }
}

extension LegacyLoad: URLSessionDownloadDelegate {
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        tell { $0.hasWritten(bytesWritten, total: totalBytesWritten, expected: totalBytesExpectedToWrite) }
    }

    /// The file is the session's for the length of this call: a second name keeps it for the message.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let kept = location.appendingPathExtension("download")
        do {
            try FileManager.default.moveItem(at: location, to: kept)
        } catch {
            return state.withLock { state in
                state.failure = LegacyFailure.make(
                    .cannotMoveFile, original.url, "The downloaded file could not be kept.", underlying: error)
            }
        }
        let isWanted = state.withLock { state in
            guard state.phase == .running else { return false }
            state.file = kept
            return true
        }
        if !isWanted { try? FileManager.default.removeItem(at: kept) }
    }
}
