// A session of the package under the name that the runner gave it.

import Foundation
import Synchronization
import URLLoading

/// An open session.
final class DriverSession: Sendable {
    let redirects: RedirectPolicy
    private let session: URLSession
    private let watch = InvalidationWatch()

    init(_ plan: SessionPlan) {
        redirects = plan.redirects
        session = URLSession(configuration: plan.configuration, delegate: watch, delegateQueue: nil)
    }

    /// Makes a task that reports to `delegate`.
    func task(
        for plan: RequestPlan, _ request: URLRequest, reportingTo delegate: any URLSessionDataDelegate
    ) -> URLSessionDataTask {
        let task =
            switch (plan.options.task, plan.options.bodyPieces) {
            case (.data, _): session.dataTask(with: request)
            case (.upload, nil): session.uploadTask(with: request, from: plan.body ?? Data())
            case (.upload, _): session.uploadTask(withStreamedRequest: request)
            }
        task.delegate = delegate
        return task
    }

    /// Ends the session with all that is in progress; `completion` is called when nothing of it is left.
    func close(_ completion: @escaping @Sendable () -> Void) {
        watch.arm(completion)
        session.invalidateAndCancel()
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
