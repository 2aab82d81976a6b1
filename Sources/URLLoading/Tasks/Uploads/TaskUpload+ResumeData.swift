// The end of an upload that can go on later: which handler gets resume data, and when (B11.26, B11.27).

import Foundation
import URLLoadingPolicy

extension TaskUpload {
    /// Cancels the task and gives what is needed to go on, or nil, on the delegate queue, before
    /// the task's last message.
    func cancel(producing handler: @escaping @Sendable (Data?) -> Void) {
        guard let session = task.session else {
            // It uploads nothing, whatever it is called.
            task.driver.cancel()
            return handler(nil)
        }
        let isOver = task.state.withLock { state in
            guard !state.isOver else { return true }
            state.resumeDataHandlers.append(handler)
            return false
        }
        if isOver { session.relay.run { handler(nil) } } else { task.driver.cancel() }
    }

    /// The error of an upload, with the data to resume it where there are some; handlers that wait for them are called.
    func ending(_ failure: (any Error)?) -> (any Error)? {
        let (progress, untouched, handlers, isCancelled, claim, owners) = task.state.withLock { state in
            defer { state.resumeDataHandlers = [] }
            let untouched: ResumedUpload? = if case .resuming(let resumed) = state.body { resumed } else { nil }
            return (
                state.upload, untouched, state.resumeDataHandlers, state.machine.phase == .canceling, state.takeClaim(),
                state.ownersResumeData
            )
        }
        // Order: a handler may resume the upload at once.
        claim?.release()
        let failure = isCancelled ? LoadFailure.cancelled(task.originalRequest?.url) : failure
        let ours = failure as? URLError
        var data: Data?
        // B9.19: a program that only cancels does not ask for data.
        if let ours, ours.code != .cancelled || !handlers.isEmpty {
            if let owners {
                data = owners
            } else if let progress {
                data = progress.isLost ? nil : ResumedUpload.data(of: progress)
            } else if isCancelled {
                // What was not begun can be begun anew.
                data = untouched?.usableData
            }
        }
        tell(handlers, data)
        guard let data, let ours else { return failure }
        var userInfo = ours.userInfo
        userInfo[NSURLSessionUploadTaskResumeData] = data
        return URLError(ours.code, userInfo: userInfo)
    }

    /// The upload is over: it lets go of its body, and those that came too late to be told before are
    /// told that there is nothing.
    func ended() {
        let (handlers, claim) = task.state.withLockLettingGo { state in
            defer { state.resumeDataHandlers = [] }
            return ((state.resumeDataHandlers, state.takeClaim()), state.takeUploaded())
        }
        claim?.release()
        tell(handlers, nil)
    }

    private func tell(_ handlers: [@Sendable (Data?) -> Void], _ data: Data?) {
        guard !handlers.isEmpty else { return }
        // The end of a task that calls nothing on the delegate queue comes on the loop.
        if task.usesRelay {
            for handler in handlers { handler(data) }
        } else {
            task.session?.relay.run { for handler in handlers { handler(data) } }
        }
    }
}
