// A task whose body is delivered in a file.

/// A task that writes its response's body into a temporary file while it arrives, and gives the file to a handler or to
/// the delegate (B9.1).
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {
    /// Makes a task that belongs to no session, for mocks.
    @available(*, deprecated, message: "Tasks are made by sessions")
    public override init() {
        super.init()
    }

    override init(core: TaskCore) {
        super.init(core: core)
    }
}
