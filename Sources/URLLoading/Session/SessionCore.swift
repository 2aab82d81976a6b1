// One session: its settings, its engine, its tasks and how it ends.
//
// Must not know: what tasks do.

import Dispatch
import Foundation
import Synchronization
import URLLoadingEngine

/// What a session is behind its face.
final class SessionCore: Sendable {
    let settings: SessionSettings
    let builder: RequestBuilder
    let relay: DelegateRelay
    /// Classes of the program that may carry loads; nil in ordinary sessions, whose loads then cost nothing more.
    let protocols: SessionProtocols?
    /// What a background session is beyond others; nil in those.
    let background: BackgroundSession?
    /// What its tasks have done.
    let totals = SessionTotals()
    /// The delegates of its tasks that judge connections.
    let judges = TaskJudges()
    /// Whether the delegate is one that comes with notifications.
    let postsNotices: Bool
    private let isShared: Bool
    private let state: Mutex<State>

    private struct State: Sendable {
        var tasks = TaskTable()
        var engine: Engine?
        var nextIdentifier = 1
        /// Tasks whose last message has not been delivered.
        var outstanding = 0
        var ending = Ending.none
        var delegate: (any URLSessionDelegate)?
        var delegateView: DelegateView?
        var description: String?
    }

    private enum Ending {
        case none
        /// No new tasks; the session ends with the last one.
        case afterTasks
        /// The last message is on its way, or was delivered.
        case done
    }

    init(
        settings: SessionSettings, protocols: SessionProtocols? = nil, background: BackgroundSession? = nil,
        delegate: (any URLSessionDelegate)?,
        queue: OperationQueue?,
        makeQueue: @escaping @Sendable () -> OperationQueue,
        isShared: Bool
    ) {
        self.settings = settings
        self.protocols = protocols
        self.background = background
        self.isShared = isShared
        postsNotices = delegate is URLSession.EventHandlers
        builder = RequestBuilder(settings: settings)
        relay = DelegateRelay(queue: queue, otherwise: makeQueue)
        state = Mutex(State(delegate: delegate, delegateView: delegate.map { DelegateView($0) }))
    }

    var authentication: SessionAuthentication { settings.authentication }

    /// Made with the first request, so that a session which loads nothing costs no thread.
    var engine: Engine {
        state.withLock { state in
            if let made = state.engine { return made }
            _ = Self.dispatchHasItsDescriptors
            let made = Engine(configuration: settings.engine)
            state.engine = made
            return made
        }
    }

    /// Dispatch opens descriptors when its first timer is set, and stops the process where there are none left. So it
    /// is made to do so before the first connection can take the last one.
    private static let dispatchHasItsDescriptors: Void = DispatchQueue.global().asyncAfter(deadline: .now()) {}

    /// The engine, if the session has loaded something.
    var engineAtHand: Engine? { state.withLock { $0.engine } }

    /// How many of its tasks have not told their end, and whether there may be more.
    var outstanding: (tasks: Int, mayBeMore: Bool) {
        state.withLock { ($0.outstanding, $0.ending != .done) }
    }

    var delegate: (any URLSessionDelegate)? { state.withLock { $0.delegate } }
    var delegateView: DelegateView? { state.withLock { $0.delegateView } }

    var description: String? {
        get { state.withLock { $0.description } }
        set { state.withLock { $0.description = newValue } }
    }

    // MARK: Tasks

    /// Makes a task, suspended; on an ended session one that fails as soon as it is resumed (B1.21).
    func makeTask(_ new: borrowing NewTask, session: URLSession) -> TaskCore {
        let view = new.delegate.map { DelegateView($0) }
        let (core, isRefused) = state.withLock { state -> (TaskCore, Bool) in
            let asksProgram = new.delegate != nil || state.delegate != nil || settings.storesAreThePrograms
            let isRefused = state.ending != .none
            let identifier = new.number ?? state.nextIdentifier
            let core = TaskCore(
                new, identifier: identifier, session: self, slot: isRefused ? nil : state.tasks.nextSlot,
                engine: state.engine, usesRelay: !new.outlet.isAwaited || asksProgram
            ) {
                TaskState(new, delegateView: view, session: session)
            }
            state.nextIdentifier = max(state.nextIdentifier, identifier + 1)
            guard !isRefused else { return (core, true) }
            state.outstanding += 1
            state.tasks.add(core)
            return (core, false)
        }
        if isRefused { reportRefusedTask() }
        if background != nil { BackgroundRefusal(of: new, hasDelegate: delegate != nil)?.report() }
        return core
    }

    /// Tasks that are made from now on have higher numbers than this one.
    func count(from identifier: Int) {
        state.withLock { $0.nextIdentifier = max($0.nextIdentifier, identifier + 1) }
    }

    private func reportRefusedTask() {
        ErrorText.reportMisuse(
            "a task was created in a session that has been invalidated; it ends with URLError.cancelled")
    }

    /// The tasks that have neither ended nor been cancelled, in the order of their making (B1.57).
    var listedTasks: [TaskCore] {
        let tasks = state.withLock { $0.tasks.all }
        return tasks.filter { $0.phase == .running || $0.phase == .suspended }
    }

    /// The task has ended; its last message is about to be delivered. `false` if it was never one of the session's.
    func unlist(_ task: TaskCore) -> Bool {
        state.withLock { $0.tasks.remove(task) }
    }

    /// The last message of one of the session's tasks has been delivered.
    func taskEnded(of session: URLSession?) {
        let isLast = state.withLock { state in
            state.outstanding -= 1
            return state.outstanding == 0 && state.ending == .afterTasks
        }
        if isLast, let session { becomeInvalid(session) }
    }

    /// Both at once, for a task whose end only its caller hears of.
    func ended(_ task: TaskCore, of session: URLSession?) {
        let isLast = state.withLock { state in
            guard state.tasks.remove(task) else { return false }
            state.outstanding -= 1
            return state.outstanding == 0 && state.ending == .afterTasks
        }
        if isLast, let session { becomeInvalid(session) }
    }

    // MARK: The end

    /// B1.15, B1.16.
    func invalidate(_ session: URLSession, cancelling: Bool) {
        guard !isShared else { return }
        let (tasks, isEmpty, engine) = state.withLock { state -> ([TaskCore], Bool, Engine?) in
            let tasks = cancelling ? state.tasks.all : []
            guard state.ending == .none else { return (tasks, false, state.engine) }
            state.ending = .afterTasks
            return (tasks, state.outstanding == 0, state.engine)
        }
        // Order: those that wait go first, or the end of one would give its connection to another that
        // is about to be cancelled.
        let cancellations = tasks.map { $0.driver.beginCancelling() }
        if cancelling { engine?.cancelWaiting() }
        for (task, cancellation) in zip(tasks, cancellations) { task.driver.finishCancelling(cancellation) }
        if isEmpty { becomeInvalid(session) }
    }

    /// Sends the session's last message and lets the delegate go (B1.14, B1.17).
    private func becomeInvalid(_ session: URLSession) {
        let isFirst = state.withLock { state in
            defer { state.ending = .done }
            return state.ending != .done
        }
        guard isFirst else { return }
        if let background { background.end { [self] in tellInvalid(session) } } else { tellInvalid(session) }
    }

    private func tellInvalid(_ session: URLSession) {
        state.withLock { $0.engine }?.shutDown(immediately: false)
        relay.run { [self] in
            delegate?.urlSession(session, didBecomeInvalidWithError: nil)
            if postsNotices { NotificationCenter.default.post(name: .urlSessionDidInvalidate, object: session) }
            // Order: the delegate goes when the lock is free, since its deinit may call its session.
            state.letGo { state in
                defer { (state.delegate, state.delegateView) = (nil, nil) }
                return (state.delegate, state.delegateView)
            }
        }
    }

    /// Makes later requests use new connections (B1.26).
    func renewConnections() {
        state.withLock { $0.engine }?.renewConnections()
    }
}

extension RequestValues {
    /// The length of the body as far as it is known before sending (B1.50).
    var expectedBodyLength: Int64 {
        switch body {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .stream: madeStream?.byteCount ?? announcedLength ?? NSURLSessionTransferSizeUnknown
        }
    }

    /// The Content-Length that the application set, which counts for streams (B5.28).
    var announcedLength: Int64? {
        fields.value("Content-Length").flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}
