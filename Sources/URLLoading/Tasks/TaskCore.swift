// One task: the state that users see, and the steering of the engine.
//
// The state is behind one Mutex, counters are atomic, events go through a mailbox. Nothing is called while a lock is
// held. What every task does is in `HopPreparation` (towards the engine), `TaskCore+Loading` (hops), `TaskCore+Delivery` (events),
// `TaskCore+Telling` and `TaskCore+Questions` (delegates) and `TaskCore+End`; what only some do, in their parts: `TaskDownload`,
// `TaskUpload`, `TaskStream`, `TaskWebSocket`, `TaskCaching`, `TaskAuthentication`, `TaskTrust` and
// `TaskTransfer`.
//
// Must not know: bytes on the wire, the loop.

import Foundation
import Synchronization
import URLLoadingEngine
import URLLoadingPolicy

/// The state and the conduct of one task.
final class TaskCore: Sendable {
    let identifier: Int
    /// `nil` for a mock, which belongs to no session.
    let session: SessionCore?
    /// Its place among the session's tasks; `nil` also where the session had been invalidated before (B1.21).
    let slot: Int?
    /// The session's engine, if it had one when the task was made: found without the session's lock.
    let engine: Engine?
    private let givenOutlet: TaskOutlet
    private let givenKind: TaskKind
    private let changePlace = TaskChangePlace()
    let creation = ContinuousClock.now
    /// Whether anybody has to be told on the delegate queue; an async call without any delegate goes without.
    let usesRelay: Bool

    let state: Mutex<TaskState>
    let mailbox = Mutex(TaskMailbox())
    let counters = TaskCounters()
    let probe = DelegateProbe()
    /// For the `async` forms, which may outlive the question that they were asked.
    let asyncProbe = DelegateProbe()
    private let hasProgress = Atomic<Bool>(false)

    init(
        _ new: borrowing NewTask, identifier: Int, session: SessionCore?, slot: Int?, engine: Engine?, usesRelay: Bool,
        state makeState: () -> TaskState
    ) {
        self.identifier = identifier
        self.session = session
        self.slot = slot
        self.engine = engine
        givenOutlet = new.outlet
        self.usesRelay = usesRelay
        givenKind = new.kind
        state = Mutex(makeState())
        // The counters of a new task are at nothing.
        let (sent, received) = (new.expectedToSend, new.expectedToReceive)
        if sent != 0 { counters.expectedToSend.store(sent, ordering: .relaxed) }
        if received != 0 { counters.expectedToReceive.store(received, ordering: .relaxed) }
    }

    /// A task that belongs to no session.
    static func detached() -> TaskCore {
        let new = NewTask(nil, outlet: .delegate)
        return TaskCore(new, identifier: 0, session: nil, slot: nil, engine: nil, usesRelay: false) { TaskState() }
    }

    /// Where the result goes: what the task was made for, unless a delegate has decided otherwise (B1.68).
    var outlet: TaskOutlet { changePlace.change?.outlet ?? givenOutlet }

    /// Whether it is a download, whose body goes to a file.
    var savesFile: Bool {
        // Without a copy of the outlet.
        if let change = changePlace.change, let outlet = change.outlet { return outlet.savesFile }
        return givenOutlet.savesFile
    }

    /// Whether the end is told to the waiting async call alone: all of it may then happen at once. No other task becomes one.
    var endsQuietly: Bool { if case .whole(.awaiting) = givenOutlet { !usesRelay } else { false } }

    /// Whether it sends a body that was given beside its request. No other task becomes one.
    var isUpload: Bool { givenKind.isUpload }

    /// What it is asked to do as a web socket; nil where it is none.
    var webSocketCalls: WebSocketCalls? { givenKind.webSocket }

    /// What the user sees: what the task was made as, unless a delegate has decided otherwise (B1.70).
    var kind: TaskKind { changePlace.change?.kind ?? givenKind }

    /// The name of that, without a copy.
    var kindName: TaskKind.Name { changePlace.change?.kind?.name ?? givenKind.name }

    /// From now on the task is something else than it was made as; the first change counts.
    func become(_ change: TaskChange) { changePlace.note(change) }

    // MARK: What users see

    var phase: URLSessionTask.State { URLSessionTask.State(state.withLock { $0.machine.phase }) }
    var originalRequest: URLRequest? { state.withLock { $0.originalRequest } }
    var response: URLResponse? { state.withLock { $0.response } }
    var error: (any Error)? { state.withLock { $0.error } }
    var delegate: (any URLSessionTaskDelegate)? { state.withLock { $0.delegate } }
    var priority: Float { state.withLock { $0.priority } }
    var hints: TaskHints { state.withLock { $0.hints } }

    /// The request of the current hop, with the fields that the loader added once it was sent (B1.47).
    var currentRequest: URLRequest? {
        let (request, fields) = state.withLock { state in
            // What an upload goes on with is nobody's business (B11.34).
            let isOwn = isUpload && state.upload?.isHelper ?? false
            return (isOwn ? state.ownRequest : state.currentRequest, isOwn ? nil : state.sentFields)
        }
        return request.map { $0.showing(fields) }
    }

    /// The face that delegates and `allTasks` see; made when it is first needed.
    var face: URLSessionTask {
        let made = state.withLock { $0.face }
        if let made { return made }
        let new: URLSessionTask =
            switch kindName {
            case .data where savesFile: URLSessionDownloadTask(core: self)
            case .data: URLSessionDataTask(core: self)
            case .upload: URLSessionUploadTask(core: self)
            case .stream: URLSessionStreamTask(core: self)
            case .webSocket: URLSessionWebSocketTask(core: self)
            }
        return state.withLock { state in
            if let made = state.face { return made }
            // Held only until the end: afterwards the face would keep itself alive.
            if state.machine.phase != .completed { state.face = new }
            return new
        }
    }

    func setHint<Value: Sendable>(_ path: WritableKeyPath<TaskHints, Value> & Sendable, _ value: Value) {
        state.withLock { $0.hints[keyPath: path] = value }
    }

    func setDelegate(_ delegate: (any URLSessionTaskDelegate)?) {
        if session?.background != nil, delegate != nil {
            // B10.28: it would not be there when the task is met again.
            ErrorText.reportMisuse(
                "fault: Tasks of background sessions have no delegates of their own; the assignment is ignored.")
            return
        }
        let view = delegate.map { DelegateView($0) }
        let isLate = state.withLock { state in
            guard !state.machine.hasStarted, !state.isOver else { return true }
            state.delegate = delegate
            state.delegateView = view
            return false
        }
        if isLate {
            ErrorText.reportMisuse("a task's delegate cannot be changed after resume(); the assignment is ignored")
        }
    }

    func setPriority(_ priority: Float) {
        let handle = state.withLock { state in
            state.priority = priority
            return state.load.handle
        }
        handle?.setPriority(Self.usable(priority))
    }

    /// A priority for the engine, whatever number it was set to.
    static func usable(_ priority: Float) -> Float {
        priority.isNaN ? URLSessionTask.defaultPriority : min(max(priority, 0), 1)
    }

    // MARK: Steering

    /// Balances one suspension; the first time, the load starts.
    func resume() {
        // A mock only pretends to run.
        finishResuming(state.withLock { $0.machine.resume(pretends: session == nil) })
    }

    /// Does what a `resume()` has led to.
    func finishResuming(_ step: TaskMachine.Resumption) {
        if step != .none { postNotice(.urlSessionTaskDidResume) }
        switch step {
        case .none: break
        case .begin: start()
        case .tellExchange: tellLoadOfSuspension()
        }
    }

    func suspend() {
        guard state.withLock({ $0.machine.suspend() }) else { return }
        tellLoadOfSuspension()
        postNotice(.urlSessionTaskDidSuspend)
    }

    /// Tells whoever observes the tasks of a session with `URLSession.EventHandlers`.
    func postNotice(_ name: Notification.Name) {
        guard let session, session.postsNotices else { return }
        NotificationCenter.default.post(name: name, object: face)
    }

    /// Brings the suspension of whoever carries the exchange in line with the task's.
    func tellLoadOfSuspension() {
        while true {
            let step = state.withLock { state -> (load: any LoadHandle, suspends: Bool)? in
                guard let load = state.load.handle, let suspends = state.machine.tell() else { return nil }
                return (load, suspends)
            }
            guard let step else { return }
            if step.suspends { step.load.suspend() } else { step.load.resume() }
            state.withLock { $0.machine.told() }
        }
    }

    /// Ends the task with −999, unless it has ended (B1.41, B1.43).
    func cancel() { finishCancelling(beginCancelling()) }

    /// What is left to do of a cancellation.
    enum Cancellation { case none, load(any LoadHandle), end(URL?) }

    /// Decides that the task is cancelled: whatever befalls it from now on, that is its end.
    func beginCancelling() -> Cancellation {
        state.withLock { state in
            switch state.machine.cancel() {
            case .none: .none
            case .exchange: state.load.handle.map { .load($0) } ?? .none
            case .end: .end(state.currentRequest?.url)
            }
        }
    }

    /// Does the rest of it.
    func finishCancelling(_ step: Cancellation) {
        switch step {
        case .none: break
        case .load(let load): load.cancel()
        case .end(let url): endUnloaded(LoadFailure.cancelled(url))
        }
        stopAskingForRoutes()
        if usesRelay, mailbox.withLock({ $0.abandonWaiting() }) { session?.relay.schedule(self) }
    }

    // MARK: Progress

    /// Made when it is first asked for; steers the task (B1.52).
    var progress: Progress {
        let made = state.withLock { $0.progress }
        if let made { return made.shown }
        let new = TaskProgress()
        new.shown.cancellationHandler = { [weak self] in self?.cancel() }
        new.shown.pausingHandler = { [weak self] in self?.suspend() }
        new.shown.resumingHandler = { [weak self] in self?.resume() }
        let progress = state.withLock { state in
            if let made = state.progress { return made }
            state.progress = new
            return new
        }
        hasProgress.store(true, ordering: .releasing)
        updateProgress()
        return progress.shown
    }

    /// Carries the counters over into the progress, if somebody looks at it; from any thread.
    func updateProgress() {
        guard hasProgress.load(ordering: .acquiring) else { return }
        guard let progress = state.withLock({ $0.progress }) else { return }
        progress.follow { (counters.units, state.withLock { $0.progressStage }) }
    }
}

extension URLSessionTask.State {
    fileprivate init(_ phase: TaskMachine.Phase) {
        switch phase {
        case .suspended: self = .suspended
        case .running: self = .running
        case .canceling: self = .canceling
        case .completed: self = .completed
        }
    }
}
