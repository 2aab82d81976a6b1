// A session of the package under the name that the runner gave it.

import Foundation
import Synchronization
import URLLoading

/// An open session.
final class DriverSession: Sendable {
    let redirects: RedirectPolicy
    let cookies: DriverCookies
    let cache: URLCache?
    private let credentials: [CredentialPlan]
    private let trustAnswer: TrustAnswer?
    private let scratch: URL?
    private let session: URLSession
    private let watch: InvalidationWatch

    init(_ plan: SessionPlan) {
        let watch = InvalidationWatch()
        self.watch = watch
        redirects = plan.redirects
        credentials = plan.credentials
        cookies = DriverCookies(plan.configuration.httpCookieStorage)
        trustAnswer = plan.trustAnswer
        cache = plan.configuration.urlCache
        scratch = plan.scratch
        session = URLSession(configuration: plan.configuration, delegate: watch, delegateQueue: nil)
    }

    /// The answers to the challenges of a task.
    func makeAnswers() -> ChallengeAnswers { ChallengeAnswers(credentials, trust: trustAnswer, of: self) }

    /// A request, ready to be carried out.
    func load(_ plan: RequestPlan, from url: URL, reportingTo transfer: Transfer) -> any Load {
        // An upload task asks for its stream.
        let stream = plan.options.task == .upload ? nil : transfer.makeBodyStream()
        let request = plan.request(to: url, stream: stream)
        let task: URLSessionTask
        switch plan.options.task {
        case .bytes: return BytesLoad(session, request, reportingTo: transfer)
        case .download where plan.options.resumes: return ResumedDownload(session, request, reportingTo: transfer)
        case .data: task = session.dataTask(with: request)
        case .download: task = session.downloadTask(with: request)
        case .upload where plan.options.bodyPieces != nil: task = session.uploadTask(withStreamedRequest: request)
        case .upload: task = session.uploadTask(with: request, from: plan.body ?? Data())
        }
        task.delegate = transfer
        return task
    }

    /// A web socket, not begun; nil where its URL is none.
    func webSocket(_ plan: WebSocketPlan) -> DriverWebSocket? {
        plan.task(in: session).map { task in
            DriverWebSocket(task, session: plan.session, redirects: redirects, answers: makeAnswers())
        }
    }

    /// Ends the session with all that is in progress; `completion` is called when nothing of it is left.
    func close(_ completion: @escaping @Sendable () -> Void) {
        watch.arm { [self] in
            removeScratch()
            completion()
        }
        session.invalidateAndCancel()
    }

    private func removeScratch() {
        guard let scratch else { return }
        // What is still to be written would make the directory again.
        cache?.diskCapacity = 0
        try? FileManager.default.removeItem(at: scratch)
    }
}

/// Waits for the last message of a session.
private final class InvalidationWatch: NSObject, URLSessionDelegate {
    private let completion = Mutex<(@Sendable () -> Void)?>(nil)

    func arm(_ completion: @escaping @Sendable () -> Void) {
        self.completion.withLock { $0 = completion }
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        let completion = completion.withLock { stored in
            defer { stored = nil }
            return stored
        }
        completion?()
    }
}
