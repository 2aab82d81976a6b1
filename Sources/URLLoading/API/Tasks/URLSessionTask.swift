// The face of a task. Everything it says or does is `TaskCore`'s; tasks of async calls get a face only when the program
// wants to see one.
//
// Mock classes subclass these; a task made with `init()` belongs to no session and never loads anything.

import Foundation

/// A transfer in a session.
open class URLSessionTask: NSObject, NSCopying, ProgressReporting, @unchecked Sendable {
    // Safe to share: the core guards its own state.
    let core: TaskCore

    /// Makes a task that belongs to no session, for mocks.
    @available(*, deprecated, message: "Tasks are made by sessions")
    public override init() {
        core = TaskCore.detached()
        super.init()
    }

    init(core: TaskCore) {
        self.core = core
        super.init()
    }

    /// Gives the task itself (B1.4).
    open func copy(with zone: NSZone? = nil) -> Any { self }

    open override func copy() -> Any { self }

    /// The task's number, unique within its session (B1.46).
    open var taskIdentifier: Int { core.identifier }

    /// The request as it was given when the task was made (B1.47).
    open var originalRequest: URLRequest? { core.originalRequest }

    /// The request that is being sent: after redirects another one, with the fields that the loader added.
    open var currentRequest: URLRequest? { core.currentRequest }

    /// The response, once its head has come; after redirects the last one (B1.49).
    open var response: URLResponse? { core.response }

    /// Is asked before the session's delegate, and instead of it for what it implements (B1.95, B1.96). Held until the
    /// task has ended (B1.97); an assignment after the first `resume()` is ignored and reported (B1.98).
    ///
    /// What it answers about a server, or for a client certificate, holds for tasks with this same delegate only: they
    /// share connections with one another, and with no other task (B2.8).
    open var delegate: (any URLSessionTaskDelegate)? {
        get { core.settings.delegate }
        set { core.settings.setDelegate(newValue) }
    }

    /// Follows the transfer; cancelling, pausing or resuming it does the same to the task (B1.52).
    open var progress: Progress { core.counting.progress }

    /// When the load may start at the earliest, in sessions whose configuration says
    /// `honorsEarliestBeginDate`, as that of background sessions does (B6.22). While the task waits for it, a
    /// later date counts and an earlier one does not.
    open var earliestBeginDate: Date? {
        get { core.settings.hints.earliestBeginDate }
        set { core.settings.setEarliestBeginDate(newValue) }
    }

    /// The most bytes that the program expects to send; a hint that changes nothing (B1.55).
    open var countOfBytesClientExpectsToSend: Int64 {
        get { core.settings.hints.bytesToSend }
        set { core.settings.setHint(\.bytesToSend, newValue) }
    }

    /// The most bytes that the program expects to receive; a hint that changes nothing (B1.55).
    open var countOfBytesClientExpectsToReceive: Int64 {
        get { core.settings.hints.bytesToReceive }
        set { core.settings.setHint(\.bytesToReceive, newValue) }
    }

    /// Bytes of the request's body that were sent.
    open var countOfBytesSent: Int64 { core.counters.sent.load(ordering: .relaxed) }

    /// Bytes of the response's body that came, after decoding (B1.51).
    open var countOfBytesReceived: Int64 { core.counters.received.load(ordering: .relaxed) }

    /// The length of the request's body; 0 when there is none, −1 when it is not known (B1.50).
    open var countOfBytesExpectedToSend: Int64 { core.counters.expectedToSend.load(ordering: .relaxed) }

    /// The length of the response's body; 0 when there is none, −1 when it is not known (B1.50).
    open var countOfBytesExpectedToReceive: Int64 { core.counters.expectedToReceive.load(ordering: .relaxed) }

    /// Free text.
    open var taskDescription: String? {
        get { core.settings.hints.description }
        set { core.settings.setDescription(newValue) }
    }

    /// Ends the task with `URLError.cancelled`, soon; a task that has ended stays as it is (B1.41, B1.43).
    open func cancel() { core.driver.cancel() }

    /// Where the task stands (B1.34).
    open var state: URLSessionTask.State { core.phase }

    /// Why the task failed; the same error that its completion got.
    open var error: (any Error)? { core.error }

    /// Stops the transfer; each call needs one `resume()` (B1.36). Nothing is read meanwhile, and the request's
    /// time-out stands still; the resource time-out does not (B1.40).
    open func suspend() { core.driver.suspend() }

    /// Starts a new task, or undoes one `suspend()`.
    open func resume() { core.driver.resume() }

    /// Order among tasks that wait for a connection, 0 to 1 (B1.53). Over HTTP/2 the server is told of it (RFC 9218).
    open var priority: Float {
        get { core.settings.priority }
        set { core.settings.setPriority(newValue) }
    }

    /// Whether the body should be delivered as it comes; a hint (B1.56). Over HTTP/2 the server is told of it with a
    /// `priority` that is not the default (RFC 9218).
    open var prefersIncrementalDelivery: Bool {
        get { core.settings.hints.prefersIncrementalDelivery }
        set { core.settings.setHint(\.prefersIncrementalDelivery, newValue) }
    }

    /// The priority of a new task.
    public static let defaultPriority: Float = 0.5
    /// A priority below the default.
    public static let lowPriority: Float = 0.25
    /// A priority above the default.
    public static let highPriority: Float = 0.75

    /// Where a task stands.
    public enum State: Int, Sendable {
        /// It loads.
        case running = 0
        /// It waits for `resume()`.
        case suspended = 1
        /// It was cancelled and has not said so yet.
        case canceling = 2
        /// It has ended, with or without an error.
        case completed = 3
    }
}
