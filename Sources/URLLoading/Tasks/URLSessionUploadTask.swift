// A task whose body is given beside its request.

/// A data task that sends data, a file or a stream as the request's body. Its response is delivered like that of any data
/// task (B11.16).
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {
    /// Makes a task that belongs to no session, for mocks.
    @available(*, deprecated, message: "Tasks are made by sessions")
    public override init() {
        super.init()
    }

    override init(core: TaskCore) {
        super.init(core: core)
    }
}
