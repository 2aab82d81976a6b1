// A task whose body is delivered in memory.

/// A task that delivers its response's body in memory, to a handler or piece by piece to a delegate.
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {
    // Safe to share: it has no state but the core, which guards its own.

    /// Makes a task that belongs to no session, for mocks.
    @available(*, deprecated, message: "Tasks are made by sessions")
    public override init() {
        super.init()
    }

    override init(core: TaskCore) {
        super.init(core: core)
    }
}
