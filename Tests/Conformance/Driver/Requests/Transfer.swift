// One request while it runs: keeps what the package tells about it, cancels where it was asked to, and answers when the
// package says that it is over. Driver protocol, section 4.

import Foundation
import Synchronization
import URLLoading

/// The delegate of one task.
///
/// What has been told is kept on a queue of its own: hashing a large body must not hold up the other requests of the
/// session, which share the delegate queue.
final class Transfer: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, DelegateStandIn {
    private let options: RequestOptions
    private let redirects: RedirectPolicy
    /// The body that is being read, if it comes piece by piece.
    private let body = Mutex<PieceSource?>(nil)
    private let answers: ChallengeAnswers
    private let start = ContinuousClock.now
    private let length = Atomic<Int64>(0)
    private let queue = DispatchQueue(label: "transfer")
    /// Touched on the queue only, so the lock is never waited for.
    private let record: Mutex<TransferRecord>
    /// Holds the package back when hashing does not keep up.
    private let room = DispatchSemaphore(value: 0)
    private let whenEnded: @Sendable () -> Void
    private let completion: @Sendable (TransferRecord) -> Void
    /// Goes on with a download that was stopped on its way; gone when it has.
    private let continuation = Mutex<(@Sendable (Data) -> Void)?>(nil)
    private let hasStopped = Atomic<Bool>(false)

    var principal: AnyObject? { answers.session }

    /// `whenEnded` is called when the task has ended, and `completion` when all that it has told is kept; once each.
    init(
        options: RequestOptions, redirects: RedirectPolicy, answers: ChallengeAnswers,
        whenEnded: @escaping @Sendable () -> Void, completion: @escaping @Sendable (TransferRecord) -> Void
    ) {
        self.options = options
        self.redirects = redirects
        self.answers = answers
        self.whenEnded = whenEnded
        self.completion = completion
        record = Mutex(TransferRecord(mostBodyBytes: options.mostBodyBytes, keepsChunks: options.reportsChunks))
        // Not the initial value: a semaphore must not be let go below that one.
        for _ in 0..<Self.mostWaitingParts { room.signal() }
    }

    /// What is to be done with the resume data of a download that was stopped where its options say.
    func whenStopped(_ continuation: @escaping @Sendable (Data) -> Void) {
        self.continuation.withLock { $0 = continuation }
    }

    /// The body from its first piece; nil where it does not come piece by piece.
    func makeBodyStream() -> InputStream? {
        guard let pieces = options.bodyPieces else { return nil }
        let source = PieceSource(pieces)
        let former = body.withLock { body in
            defer { body = source }
            return body
        }
        former?.giveUp()
        return PieceStream(source)
    }

    // MARK: What the package tells

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(makeBodyStream())
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        switch redirects {
        case .stop:
            completionHandler(nil)
        case .follow:
            let redirect = TransferRecord.Redirect(status: response.statusCode, from: response.url, to: request.url)
            note { $0.redirects.append(redirect) }
            completionHandler(request)
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        if answers.isMeant(by: challenge) {
            let record = TransferRecord.Challenge(challenge)
            note { $0.challenges.append(record) }
        }
        let answer = answers.answer(challenge)
        completionHandler(answer.disposition, answer.credential)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        note { $0.informational.append(response) }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if received(response) { dataTask.cancel() }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        // The delegate of an asynchronous sequence sees the body too.
        if options.task != .bytes, received(data) { dataTask.cancel() }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        if options.reportsChunks {
            let elapsed = elapsed
            note { $0.addChunk(Int(clamping: bytesWritten), at: elapsed) }
        }
        guard let limit = options.cancelAfterBytes, totalBytesWritten >= limit else { return }
        guard options.resumes else { return downloadTask.cancel() }
        // The data comes with the error; the second transfer is not stopped any more.
        if !hasStopped.exchange(true, ordering: .relaxed) { downloadTask.cancel(byProducingResumeData: { _ in }) }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        do {
            let file = try FileHandle(forReadingFrom: location)
            defer { try? file.close() }
            while let data = try file.read(upToCount: 1 << 20), !data.isEmpty { _ = received(data) }
        } catch {
            let failure = TransferError(error)
            note { $0.error = failure }
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        note { $0.metrics = metrics }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if hasStopped.load(ordering: .relaxed), let data = (error as? URLError)?.downloadTaskResumeData,
            let goOn = takeContinuation()
        {
            // The answer describes the second transfer.
            note { [options] in
                $0 = TransferRecord(mostBodyBytes: options.mostBodyBytes, keepsChunks: options.reportsChunks)
            }
            return goOn(data)
        }
        if let response = task.response { _ = received(response) }
        ended(error)
    }

    private func takeContinuation() -> (@Sendable (Data) -> Void)? {
        continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
    }

    // MARK: What is the same in all forms

    /// Notes the response; whether the load is to be cancelled.
    func received(_ response: URLResponse) -> Bool {
        note { $0.response = response }
        return options.cancelAfterBytes == 0
    }

    /// Notes a part of the body; whether the load is to be cancelled.
    func received(_ data: Data) -> Bool {
        let elapsed = elapsed
        let length = length.add(Int64(data.count), ordering: .relaxed).newValue
        room.wait()
        note { [room, options] record in
            record.add(data)
            // A download was delivered when it was written, not when its file is read.
            if options.task != .download { record.addChunk(data.count, at: elapsed) }
            room.signal()
        }
        return options.cancelAfterBytes.map { length >= $0 } ?? false
    }

    private var elapsed: Int64 { (ContinuousClock.now - start).milliseconds }

    /// Answers.
    func ended(_ error: (any Error)?) {
        whenEnded()
        body.withLock { $0 }?.giveUp()
        let failure = error.map(TransferError.init)
        note { $0.error = $0.error ?? failure }
        queue.async { [self] in completion(record.withLock { $0 }) }
    }

    /// Keeps what was told, in the order in which it was told.
    private func note(_ change: @escaping @Sendable (inout TransferRecord) -> Void) {
        queue.async { [self] in record.withLock { change(&$0) } }
    }

    private static let mostWaitingParts = 64
}

extension Duration {
    /// Whole milliseconds.
    var milliseconds: Int64 {
        let parts = components
        return parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000
    }
}
