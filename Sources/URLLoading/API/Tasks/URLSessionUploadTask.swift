// A task whose body is given beside its request.

import Foundation

/// A data task that sends data, a file or a stream as the request's body. Its response is delivered like that of any
/// data task (B11.16).
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {
    // Safe to share: it has no state but the core, which guards its own.

    /// Makes a task that belongs to no session, for mocks.
    @available(*, deprecated, message: "Tasks are made by sessions")
    public override init() {
        super.init()
    }

    override init(core: TaskCore) {
        super.init(core: core)
    }

    /// Cancels the task and gives what is needed to go on with the upload later, or nil where its server does not offer
    /// that (B11.26). The handler is called on the delegate queue, before the task's last message.
    @preconcurrency
    open func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        core.upload.cancel(producing: completionHandler)
    }

    /// Cancels the task and gives what is needed to go on with the upload later, or nil where its server does not offer
    /// that (B11.26).
    @discardableResult
    open func cancelByProducingResumeData() async -> Data? {
        await withUnsafeContinuation { continuation in
            cancel { continuation.resume(returning: $0) }
        }
    }
}
