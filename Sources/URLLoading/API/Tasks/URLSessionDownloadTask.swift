// A task whose body is delivered in a file.

import Foundation

/// A task that writes its response's body into a temporary file while it arrives, and gives the file to a handler or to
/// the delegate (B9.1).
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {
    // Safe to share: it has no state but the core, which guards its own.

    /// Makes a task that belongs to no session, for mocks.
    @available(*, deprecated, message: "Tasks are made by sessions")
    public override init() {
        super.init()
    }

    override init(core: TaskCore) {
        super.init(core: core)
    }

    /// Ends the task with `URLError.cancelled` and gives, on the delegate queue and before the task's last message,
    /// what is needed to go on with the download later; nil where that is impossible (B9.16, B9.17). The error has the
    /// same data (B9.18).
    ///
    /// The data are of use as long as the file exists that they name, in the directory for temporary files.
    @preconcurrency
    open func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        core.download.cancel(producing: completionHandler)
    }

    /// Ends the task with `URLError.cancelled` and returns what is needed to go on with the download later; nil where
    /// that is impossible.
    @discardableResult
    open func cancelByProducingResumeData() async -> Data? {
        await withUnsafeContinuation { continuation in
            cancel(byProducingResumeData: { continuation.resume(returning: $0) })
        }
    }
}
